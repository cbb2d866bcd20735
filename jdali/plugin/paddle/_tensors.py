"""Converts batches to PaddlePaddle's dense tensors. LoD (levels of detail) allows samples of different lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import paddle

from jdali import types
from jdali.tensors import Tensor, TensorList

_core = paddle.framework.core
_Type = _core.VarDesc.VarType

dtype_map: dict[types.DALIDataType, Any] = {
    types.BOOL: _Type.BOOL,
    types.FLOAT: _Type.FP32,
    types.FLOAT64: _Type.FP64,
    types.FLOAT16: _Type.FP16,
    types.UINT8: _Type.UINT8,
    types.INT8: _Type.INT8,
    types.INT16: _Type.INT16,
    types.INT32: _Type.INT32,
    types.INT64: _Type.INT64,
}


def to_paddle_type(tensor: Tensor | TensorList) -> Any:
    """Returns PaddlePaddle's element type (a `VarType`) for a sample or batch.

    Raises:
        KeyError: PaddlePaddle has no such type. (DALI raises the same exception type.)
    """
    if tensor.dtype not in dtype_map:
        raise KeyError(f"PaddlePaddle has no tensors of {tensor.dtype.name}: cast the output in the pipeline")
    return dtype_map[tensor.dtype]


def feed_ndarray(dali_tensor: Tensor | TensorList, ptr: int, cuda_stream: object = None) -> int:
    """Copies a sample, or a batch of samples of one size, to an address.

    Args:
        dali_tensor: the sample or batch; it is copied in row-major order.
        ptr: address of enough memory, such as the result of a tensor's `_mutable_data`.
        cuda_stream: has no effect, because the copy is complete when this returns.

    Returns: `ptr`.
    """
    source: Any = dali_tensor.as_tensor() if isinstance(dali_tensor, TensorList) else dali_tensor
    source.copy_to_external(ptr)
    return ptr


def recursive_length(tensor: Any, lod_level: int) -> list[list[int]]:
    """Returns the lengths of nested samples along the first axes.

    Args:
        tensor: an array, a shape, or a batch whose samples may differ in size.
        lod_level: number of axes, including the axis of the batch.

    Returns: a list for each axis: the lengths of this axis in all elements of the preceding axes.

    >>> recursive_length((2, 3, 5), 2)
    [[2], [3, 3]]
    """
    lengths: list[list[int]] = [[] for _ in range(lod_level)]

    def add(shape: Sequence[int], level: int) -> None:
        if level < lod_level:
            lengths[level].append(int(shape[0]))
            for _ in range(shape[0]):
                add(shape[1:], level + 1)

    if isinstance(tensor, TensorList):
        if lod_level:
            lengths[0].append(len(tensor))
        for sample in tensor.shape():
            add(sample, 1)
    else:
        shape = getattr(tensor, "shape", tensor)
        add(shape() if callable(shape) else shape, 0)
    return lengths


def lod_tensor_clip(lod_tensor: Any, size: int) -> Any:
    """Copies the first samples of a dense tensor to host memory.

    Args:
        lod_tensor: a dense tensor of `paddle.framework.core`.
        size: number of samples.
    """
    kept, count = [], size
    for offsets in lod_tensor.lod():
        kept.append(np.diff(offsets[: count + 1]).tolist())
        count = offsets[: count + 1][-1]
    return from_array(np.array(lod_tensor)[:count], kept)


def dense_tensor(name: str, batch: TensorList, lod_level: int, *, own: bool) -> Any:
    """Converts a batch to a dense tensor on the device of the data.

    Args:
        name: name of the output, for messages.
        batch: the batch; without LoD, its samples must have one size.
        lod_level: number of axes along which samples may differ in size; samples are then concatenated. With 0, samples
            are stacked along a batch axis.
        own: True if nothing else uses the batch's memory, so the tensor may share it.

    Raises:
        AssertionError: samples differ in size without LoD. (DALI raises the same exception type.)
        KeyError: PaddlePaddle has no such element type.
    """
    to_paddle_type(batch)
    if lod_level:
        samples = [np.asarray(sample) for sample in batch.as_cpu().to_samples()]
        rows = [s.reshape(math.prod(s.shape[:lod_level]), *s.shape[lod_level:]) for s in samples]
        return from_array(np.concatenate(rows), recursive_length(batch, lod_level + 1)[1:])
    if not batch.is_dense_tensor():
        raise AssertionError(
            f"the samples of output {name!r} differ in shape: non-dense tensor lists must have LoD > 0"
        )
    if batch.store.local:
        return from_array(batch.as_numpy())
    return _shared(batch.as_jax(), own=own)


def from_array(array: np.ndarray, lengths: Sequence[list[int]] = ()) -> Any:
    tensor = _core.DenseTensor()
    tensor.set(np.ascontiguousarray(array), paddle.CPUPlace())
    if lengths:
        tensor.set_recursive_sequence_lengths(list(lengths))
    return tensor


def _shared(array: jax.Array, *, own: bool) -> object:
    """Converts an array to a tensor on the same device; copies the values unless `own`."""
    tensor = _core.from_dlpack(array.__dlpack__())
    return tensor if own else tensor._copy(tensor._place())
