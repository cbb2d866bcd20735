from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any, overload

from jdali._operators.record import REGISTRY
from jdali.dynamic._batch import Batch
from jdali.dynamic._context import EvalContext
from jdali.dynamic._device import Device
from jdali.dynamic._invoke import invoke
from jdali.dynamic._tensor import Tensor
from jdali.dynamic._value import wrap
from jdali.engine import eager

_WITHOUT_EFFECT = (
    "cache_batch_copy", "cache_debug", "cache_size", "cache_threshold", "cache_type", "memory_stats",
    "split_stages", "use_chunk_allocator",
)  # fmt: skip


@overload
def imread(filepaths: str | Path, *, device: Any = "cpu", **options: Any) -> Tensor: ...
@overload
def imread(filepaths: Any, *, device: Any = "cpu", **options: Any) -> Batch: ...
def imread(filepaths: Any, *, device: Any = "cpu", **options: Any) -> Any:
    """Reads and decodes images.

    Args:
        filepaths: a path, a list of paths, or a tensor or batch of the paths' characters.
        device: device of the decoded images.
        options: arguments of `decoders.image`.

    Returns: a `Tensor` for a path, a `Batch` for a list.
    """
    for name in _WITHOUT_EFFECT:
        options.pop(name, None)
    kind = device.device_type if isinstance(device, Device) else device
    if not isinstance(kind, str) or kind.partition(":")[0] not in ("cpu", "gpu"):
        raise ValueError(f"imread: Invalid device: {device}. Must be 'cpu', or 'gpu'.")
    single = isinstance(filepaths, (str, Path))
    if not single and not isinstance(filepaths, Iterable):
        raise TypeError(
            f"imread: filepaths must be str, pathlib.Path, list, Tensor, or Batch, got {type(filepaths)}"
        )
    paths = [filepaths] if single else filepaths
    files = tuple(str(p) if isinstance(p, (str, Path)) else bytes(p).decode() for p in paths)
    if not files:
        raise ValueError("imread: no paths given")
    reader = eager.EagerReader(REGISTRY["readers.file"], {"files": files}, seed=0)
    contents, _ = reader.next(len(files), EvalContext.current().thread_pool.pool)
    value = wrap(contents, Device.CPU, is_batch=not single)
    return invoke(REGISTRY["decoders.image"], [value], options, device=device)


def _signature() -> inspect.Signature:
    own = [p for p in inspect.signature(imread).parameters.values() if p.name != "options"]
    names = sorted({*REGISTRY["decoders.image"].public_args, *_WITHOUT_EFFECT} - {p.name for p in own})
    options = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in names]
    return inspect.Signature([*own, *options])


imread.__signature__ = _signature()  # type: ignore[attr-defined]
