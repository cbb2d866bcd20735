"""The real DALI as the source of expected values: its CPU backend, one operator on one batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest


def dali() -> Any:
    """The `nvidia.dali` module; skips the test where it is not installed."""
    return pytest.importorskip("nvidia.dali", reason="the oracle nvidia-dali-cuda120 is not installed")


def torch_plugin() -> Any:
    """DALI's iterators for PyTorch: they have PARTIAL, and hand out what lies in host memory."""
    dali()
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("nvidia.dali.plugin.pytorch")


def function(name: str) -> Any:
    """DALI's `fn` function of a dotted operator name."""
    dali()
    import nvidia.dali.fn as fn

    found: Any = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def layouts(name: str) -> list[str]:
    """Layouts that DALI's schema lists for the first input of `name`; empty: any, or it has no such operator."""
    dali()
    from nvidia.dali.backend import GetSchema

    try:
        schema = GetSchema(function(name)._schema_name)
    except AttributeError:  # no function, or one that is made of others
        return []
    return [str(layout) for layout in schema.GetSupportedLayouts(0)] if schema.MaxNumInput() else []


def run(
    name: str,
    inputs: Sequence[Sequence[np.ndarray]],
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    layout: str | Sequence[str] = "",
    outputs: int = 1,
    seed: int = 1,
) -> list[list[np.ndarray]]:
    """Outputs of DALI's operator `name`: for each output a list of arrays, one a sample.

    Args:
        name: dotted name under `nvidia.dali.fn`.
        inputs: for each positional input the samples of the batch.
        args: arguments that are the same for all samples (jdali's enums and dtypes are translated).
        per_sample: arguments given a value a sample; floats are fed as FLOAT, ints as INT32.
        layout: of all inputs, or one for each.
        outputs: how many outputs the operator has.
    """
    found, _ = run_call(function(name), inputs, args, per_sample, layout=layout, seed=seed)
    assert len(found) == outputs, f"{name} has {len(found)} outputs"
    return found


def run_call(
    call: Callable[..., Any],
    inputs: Sequence[Sequence[np.ndarray]],
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    layout: str | Sequence[str] = "",
    seed: int = 1,
    batch_size: int | None = None,
) -> tuple[list[list[np.ndarray]], list[str]]:
    """As `run`, for any function of DALI's graph nodes and those arguments; and the layouts of the outputs.

    Args: see `run`, and
        call: the function.
        batch_size: None: as many samples as there are.
    """
    nvidia_dali = dali()
    import nvidia.dali.fn as fn

    layouts = [layout] * len(inputs) if isinstance(layout, str) else list(layout)
    per_sample = {k: [_argument(v) for v in vs] for k, vs in (per_sample or {}).items()}
    args = {k: translate(v) for k, v in (args or {}).items()}
    size = len(inputs[0]) if inputs else len(next(iter(per_sample.values()))) if per_sample else 1
    size = batch_size or size
    pipe = nvidia_dali.Pipeline(batch_size=size, num_threads=1, device_id=None, seed=seed)
    with pipe:
        nodes = [
            fn.external_source(source=[list(samples)], cycle=True, batch=True, layout=name or None)
            for samples, name in zip(inputs, layouts, strict=True)
        ]
        fed = {k: fn.external_source(source=[v], cycle=True, batch=True) for k, v in per_sample.items()}
        result = call(*nodes, **args, **fed)
        pipe.set_outputs(*(result if isinstance(result, (list, tuple)) else (result,)))
    pipe.build()
    outs = pipe.run()
    return [[np.array(out.at(i)) for i in range(len(out))] for out in outs], [out.layout() for out in outs]


def translate(value: Any) -> Any:
    """jdali's enum or NumPy dtype as DALI's; anything else as it is."""
    import nvidia.dali.types as dali_types

    import jdali.types as types

    if isinstance(value, types.DALIDataType):
        return getattr(dali_types, value.name)
    if isinstance(value, (types.DALIInterpType, types.DALIImageType)):
        return getattr(getattr(dali_types, type(value).__name__), value.name)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dali_types.to_dali_type(np.dtype(value).name)
    return value


def _argument(value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    return array.astype(np.int32) if array.dtype == np.int64 else array
