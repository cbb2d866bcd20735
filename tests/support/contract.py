"""The contract of an operator, checked in one place: every operator's test calls `check`.

For a batch of samples of different sizes it holds that
* the pure function of each sample equals the reference (DALI, or values given by the test);
* `setup` and `run` agree on shape and dtype;
* the compiled batch of padded samples equals the pure function, whatever lies in the padding;
* a second batch in the same padded shapes does not trace again.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._call import PerBatch, plan_call, pure_call, run_call
from jdali._extent import BatchSpec
from jdali._operator import Operator
from jdali._random import sample_key, seed_words
from support import oracle

PAD = 5


def check(
    op: Operator,
    inputs: Sequence[Sequence[np.ndarray]],
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    layout: str | Sequence[str] = "",
    expected: Sequence[Sequence[np.ndarray]] | None = None,
    oracle_args: Mapping[str, Any] | None = None,
    atol: float = 0,
    compiled_atol: float | None = None,
    x64: bool = False,
    pad: int = PAD,
) -> list[list[np.ndarray]]:
    """Checks `op` on one batch; see the module's docstring. Returns jdali's results.

    Args:
        op: the operator.
        inputs: for each positional input the samples of the batch.
        args: arguments with one value for all samples.
        per_sample: arguments with a value a sample.
        layout: of all inputs, or one for each.
        expected: for each output the samples; None: what the real DALI gives (test is skipped
            where it is not installed). Never take these from jdali.
        oracle_args: arguments for DALI where they differ from `args`.
        atol: largest allowed difference from the reference; 0 where it can be 0. Give a reason.
        compiled_atol: largest allowed difference between the padded, compiled batch and the pure
            function; None: for integers 0 if `atol` is 0 and else 1, for floats 1e-5 of the largest
            value (XLA may fuse multiply and add in one program and not in the other).
        x64: run with 64-bit types enabled (inputs, outputs or intermediate values need them).
        pad: how many elements of padding to add after each axis.
    """
    args, per_sample = dict(args or {}), dict(per_sample or {})
    if expected is None:
        expected = oracle.run(
            op.name, inputs, args if oracle_args is None else oracle_args, per_sample,
            layout=layout, outputs=op.num_outputs(args),
        )  # fmt: skip
    with jax.enable_x64(x64):
        pure = _pure(op, inputs, args, per_sample, layout)
        for o, (got, want) in enumerate(zip(pure, expected, strict=True)):
            for i, (g, w) in enumerate(zip(got, want, strict=True)):
                compare(g, w, atol, f"{op.name}: output {o}, sample {i}, pure function against reference")
        _check_padded(op, inputs, args, per_sample, layout, pure, compiled_atol, pad, atol)
    return pure


def check_random(
    op: Operator,
    inputs: Sequence[Sequence[np.ndarray]] = (),
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    batch_size: int = 3,
    layout: str | Sequence[str] = "",
    compiled_atol: float | None = None,
    x64: bool = False,
    pad: int = PAD,
    seed: int = 7,
) -> list[list[np.ndarray]]:
    """`check` for a random operator, without a reference: what it draws does not depend on padding.

    Args: see `check`, and
        batch_size: number of samples if there are no inputs; their keys are those of the samples
            0, 1, ... of a data set.

    Returns: jdali's results, for each output the samples.
    """
    args, per_sample = dict(args or {}), dict(per_sample or {})
    count = len(inputs[0]) if inputs else batch_size
    with jax.enable_x64(x64):
        keys = sample_keys(count, seed)
        pure = _pure(op, inputs, args, per_sample, layout, keys)
        _check_padded(op, inputs, args, per_sample, layout, pure, compiled_atol, pad, 0, keys)
    return pure


def sample_keys(count: int, seed: int = 7, stream: int = 1, epoch: int = 0) -> Array:
    """Typed keys [count] of the samples 0, 1, ... of a data set."""
    words, index = seed_words(seed), jnp.arange(count, dtype=jnp.uint32)
    return jax.vmap(lambda i: sample_key(words, np.uint32(stream), np.uint32(epoch), i))(index)


def compare(got: Any, want: Any, atol: float, what: str) -> None:
    """Shape, dtype and largest difference."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    if got.size and atol == 0:
        np.testing.assert_array_equal(got, want, err_msg=what)
    elif got.size:
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=0, atol=atol, err_msg=what
        )


def _layouts(layout: str | Sequence[str], count: int) -> list[str]:
    return [layout] * count if isinstance(layout, str) else list(layout)


def _pure(
    op: Operator, inputs: Any, args: Any, per_sample: Any, layout: Any, keys: Array | None = None
) -> list[list[np.ndarray]]:
    count = len(inputs[0]) if inputs else len(next(iter(per_sample.values()))) if per_sample else 1
    count = count if keys is None else len(keys)
    outputs: list[list[np.ndarray]] = []
    for i in range(count):
        sample_args = args | {k: v[i] for k, v in per_sample.items()}
        values = [s[i] for s in inputs]
        call = functools.partial(pure_call, op, values, sample_args, layout=_layouts(layout, len(inputs)))
        # One program for a random operator: its many small steps would be compiled one by one.
        result = call() if keys is None else jax.jit(lambda key, call=call: call(key=key))(keys[i])
        result = result if isinstance(result, tuple) else (result,)
        outputs = outputs or [[] for _ in result]
        for o, value in enumerate(result):
            outputs[o].append(np.asarray(value))
    return outputs


def _check_padded(
    op: Operator, inputs: Any, args: Any, per_sample: Any, layout: Any,
    pure: list[list[np.ndarray]], compiled_atol: float | None, pad: int, atol: float,
    keys: Array | None = None,
) -> None:  # fmt: skip
    count = len(pure[0])
    layouts = _layouts(layout, len(inputs))
    specs = [BatchSpec.of(s, name) for s, name in zip(inputs, layouts, strict=True)]
    batch_args = args | {k: PerBatch(np.stack([np.asarray(x) for x in v])) for k, v in per_sample.items()}
    values = {
        op.input(i).name: np.stack([np.asarray(x) for x in s])
        for i, s in enumerate(inputs) if op.input(i).argument
    }  # fmt: skip
    planned = plan_call(op, specs, batch_args, batch_size=count, input_values=values)
    for o, spec in enumerate(planned.outputs):
        for i in range(count):
            assert pure[o][i].shape == tuple(spec.extents[i]), "setup and run disagree on the shape"
            assert pure[o][i].dtype == spec.dtype, "setup and run disagree on the dtype"
    shapes = [_padded_shape(spec, pad) for spec in planned.outputs]
    traces = []

    def stage(arrays: Any, extents: Any, traced: Any, out_extents: Any) -> Any:
        traces.append(1)
        return run_call(planned.call, arrays, extents, traced, out_extents, shapes, keys)

    compiled = jax.jit(stage)
    extents = [jnp.asarray(s.extents, jnp.int32) for s in specs]
    out_extents = [jnp.asarray(s.extents, jnp.int32) for s in planned.outputs]
    for high in (False, True):
        arrays = [_padded(s, 0 if op.input(i).argument else pad, high) for i, s in enumerate(inputs)]
        results = compiled(arrays, extents, planned.traced, out_extents)
        for o, batch in enumerate(results):
            assert batch.shape == (count, *shapes[o]), f"output {o}: padded shape {batch.shape}"
            for i in range(count):
                valid = np.asarray(batch[i])[tuple(map(slice, pure[o][i].shape))]
                tolerance = compiled_atol
                if tolerance is None:
                    scale = float(np.abs(pure[o][i].astype(np.float64)).max(initial=1.0))
                    tolerance = min(atol, 1) if pure[o][i].dtype.kind in "iub" else 1e-5 * scale
                compare(
                    valid, pure[o][i], tolerance, f"{op.name}: output {o}, sample {i}, padded, high={high}"
                )
    assert len(traces) == 1, "traced again for a batch with the same padded shapes"


def _padded_shape(spec: BatchSpec, pad: int) -> tuple[int, ...]:
    """Channels are never padded by the engine, nor is an axis of size 1 in all samples."""
    largest = spec.extents.max(axis=0) if spec.batch_size else np.zeros(spec.ndim, np.int64)
    names = spec.layout or " " * spec.ndim
    return tuple(
        int(n)
        if names[a] == "C" or (spec.ndim == 3 and a == 2 and not spec.layout and n <= 4)
        else int(n) + pad
        for a, n in enumerate(largest)
    )


def _padded(samples: Sequence[np.ndarray], pad: int, high: bool) -> np.ndarray:
    shapes = np.array([np.shape(s) for s in samples])
    largest = shapes.max(axis=0)
    dtype = np.asarray(samples[0]).dtype
    fill: Any = 0
    if high:
        fill = 1e4 if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max
    channels = [
        a for a in range(len(largest)) if a == len(largest) - 1 and largest[a] <= 4 and len(largest) > 2
    ]
    full = [int(n) if a in channels else int(n) + pad for a, n in enumerate(largest)]
    out = np.full((len(samples), *full), fill, dtype)
    for i, s in enumerate(samples):
        out[(i, *map(slice, np.shape(s)))] = s
    return out
