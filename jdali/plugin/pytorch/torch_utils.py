"""Converts batches and samples to `torch.Tensor`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import torch

from jdali import types
from jdali._batches import compact
from jdali.iterator import IteratorError
from jdali.tensors import Tensor, TensorList

__all__ = ["feed_ndarray", "to_torch_tensor", "to_torch_type"]

to_torch_type: dict[types.DALIDataType, Any] = {
    types.FLOAT: torch.float32,
    types.FLOAT64: torch.float64,
    types.FLOAT16: torch.float16,
    types.UINT8: torch.uint8,
    types.INT8: torch.int8,
    types.BOOL: torch.bool,
    types.INT16: torch.int16,
    types.INT32: torch.int32,
    types.INT64: torch.int64,
    types.UINT16: torch.uint16,
    types.UINT32: torch.uint32,
    types.UINT64: torch.uint64,
}


def feed_ndarray(
    dali_tensor: Tensor | TensorList, arr: torch.Tensor, cuda_stream: object = None
) -> torch.Tensor:
    """Copies a sample, or a batch of samples of one size, to an existing `torch.Tensor`.

    Args:
        dali_tensor: the sample or batch.
        arr: target of the same shape and element type.
        cuda_stream: has no effect, because the copy is complete when this returns.

    Returns: `arr`.

    Raises:
        AssertionError: shapes or element types differ. (DALI raises the same exception type.)
    """
    source = dali_tensor.as_tensor() if isinstance(dali_tensor, TensorList) else dali_tensor
    expected = to_torch_type[source.dtype]
    if expected != arr.dtype:
        raise AssertionError(
            "feed_ndarray: The element type of DALI Tensor/TensorList doesn't match the element type of the target "
            f"PyTorch Tensor: {expected} vs {arr.dtype}"
        )
    if source.shape() != list(arr.shape):
        raise AssertionError(
            "feed_ndarray: Shapes do not match: DALI tensor has size "
            f"{source.shape()}, but PyTorch Tensor has size {list(arr.shape)}"
        )
    # Autograd refuses to write to a parameter itself.
    arr.detach().copy_(to_torch_tensor(source, copy=True))
    return arr


def to_torch_tensor(dali_tensor: Tensor, copy: bool) -> torch.Tensor:
    """Converts a sample to a `torch.Tensor`.

    Args:
        dali_tensor: the sample.
        copy: whether to copy the values; otherwise the tensor shares the sample's memory and must not be written to.
    """
    return as_torch(dali_tensor._value, copy=copy)


def as_torch(value: np.ndarray | jax.Array, *, copy: bool) -> torch.Tensor:
    if isinstance(value, jax.Array):
        tensor = torch.from_dlpack(value)
        return tensor.clone() if copy else tensor
    if copy or not value.flags.writeable:  # PyTorch has no read-only tensors
        value = np.array(value, order="C")
    return torch.from_numpy(compact(value))


def dense_tensors(
    names: Sequence[object], batches: Sequence[TensorList], own: Sequence[bool]
) -> list[torch.Tensor]:
    """Converts batches to tensors [N, ...] that share no memory with each other.

    Args:
        names: names of the outputs.
        batches: a batch for each output.
        own: see `jdali.plugin.dicts.own_outputs`.

    Raises:
        ValueError: the samples of an output differ in shape.
    """
    tensors: list[torch.Tensor] = []
    shared: set[int] = set()
    for name, batch, is_own in zip(names, batches, own, strict=True):
        if not batch.is_dense_tensor():
            sizes = ", ".join(map(str, sorted(set(batch.shape()))[:4]))
            raise IteratorError(
                f"iterator: The batch must be representable as a tensor - it must have uniform shape: the samples of output "
                f"{name!r} differ in shape ({sizes}, ...): bring them to one shape in the pipeline, or use DALIRaggedIterator"
            )
        tensor = dense_tensor(batch, own=is_own)
        # If two outputs share an array, the second gets a copy, so that writing to one does not change the other.
        tensors.append(tensor.clone() if tensor.data_ptr() in shared else tensor)
        shared.add(tensor.data_ptr())
    return tensors


def dense_tensor(batch: TensorList, *, own: bool) -> torch.Tensor:
    """Joins samples of one size into a tensor [N, ...], which the user may write to.

    Args:
        batch: a batch of samples of one size.
        own: True if nothing else uses the batch's memory, so the tensor may share it.
    """
    dense = batch.store.dense()
    if not batch.store.local:
        array = batch.as_jax()
        return as_torch(array, copy=array is dense and not own)
    if isinstance(dense, jax.Array):
        return as_torch(dense, copy=not own)
    host = batch.as_numpy()
    return as_torch(host, copy=host is dense)
