"""Implements `jdali.show`, which shows a batch of any kind as pictures, sounds and numbers in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._display import NamedBatch, batch_html
from jdali._system.devices import to_host
from jdali.dynamic._value import EagerValue
from jdali.tensors import Tensor, TensorList

__all__ = ["ShownBatch", "show"]


class ShownBatch:
    """Displays a batch as pictures, sounds and numbers in a notebook, and as one line per output in a terminal.

    Args:
        outputs: outputs of the batch by name.
    """

    def __init__(self, outputs: Mapping[str, Any]):
        self._outputs = {name: _batch_of(name, value) for name, value in outputs.items()}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {_line(batch)}" for name, batch in self._outputs.items())

    def _repr_html_(self) -> str:
        batches = list(self._outputs.values())
        count = min((len(batch) for batch in batches), default=0)
        names = next((batch.source_info() for batch in batches if any(batch.source_info())), [])
        named = [NamedBatch(name, b.layout(), b.store.host_sample) for name, b in self._outputs.items()]
        return batch_html(f"{count} samples", count, named, names)


def show(batch: object) -> ShownBatch:
    """Shows the samples of a batch side by side, each with all its outputs, in at most 200 kB.

    Args:
        batch: a dict of arrays [N, ...] from an iterator, outputs of `Pipeline.run`, a `TensorList`, a batch of
            `jdali.dynamic`, or an array [N, ...].

    Raises:
        TypeError: an output is not a batch.
    """
    if isinstance(batch, Mapping):
        return ShownBatch({str(name): value for name, value in batch.items()})
    if isinstance(batch, (tuple, list)):
        return ShownBatch({f"output {i}": value for i, value in enumerate(batch)})
    return ShownBatch({"batch": batch})


def _batch_of(name: str, value: object) -> TensorList:
    if isinstance(value, EagerValue):
        return value._samples()
    if isinstance(value, TensorList):
        return value
    if isinstance(value, Tensor):
        return TensorList.from_samples([np.asarray(value)], value.layout(), "cpu")
    array = to_host(value) if hasattr(value, "shape") else np.asarray(value)
    if array.dtype == object or array.ndim == 0:
        raise TypeError(
            f"jdali.show: {name} is {type(value).__name__}, not a batch: an array [N, ...] or a TensorList"
        )
    return TensorList.from_dense(array)


def _line(batch: TensorList) -> str:
    sizes: Sequence[tuple[int, ...]] = sorted(set(batch.shape()))
    text = ", ".join(map(str, sizes[:3])) + (", ..." if len(sizes) > 3 else "")
    return f"{len(batch)} samples on {batch.device}, {batch.layout() or 'no layout'}, {batch.dtype}, {text}"
