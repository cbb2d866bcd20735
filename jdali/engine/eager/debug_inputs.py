"""Batches that the user's function gives to operators in debug mode, in place of nodes."""

from __future__ import annotations

import numpy as np

from jdali._batches import Provenance
from jdali._sources import as_samples, batch_of, layout_of
from jdali.tensors import Tensor, TensorList


class GivenBatch:
    """The `runtime` of a node that stands for a batch which the user's function gave to an operator."""

    def __init__(self, batch: TensorList):
        self.batch = batch


def is_batch(values: list[object]) -> bool:
    """True if a list is a batch: of arrays, not of numbers."""
    return bool(values) and all(map(_is_sample, values))


def _is_sample(value: object) -> bool:
    if isinstance(value, (np.generic, str, bytes)):
        return False
    return isinstance(value, Tensor) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def batch_of_list(samples: list[object]) -> TensorList:
    """The batch of a list of samples."""
    taken = as_samples(samples, copy=False)
    device = "gpu" if isinstance(taken, TensorList) else "cpu"
    return batch_of(taken, layout_of(samples), device, Provenance.nowhere(len(samples)))
