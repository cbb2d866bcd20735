from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import jax
import numpy as np

from jdali import tensors
from jdali._batches import tensor_text
from jdali._operators.record import REGISTRY
from jdali._system.devices import HostArray
from jdali.dynamic import _dtype
from jdali.dynamic._data import device_of, element_type, is_plain, to_array
from jdali.dynamic._device import Device
from jdali.dynamic._device import device as to_device
from jdali.dynamic._dtype import DType
from jdali.dynamic._invoke import Arithmetic, Subscript, invoke
from jdali.dynamic._value import EagerValue
from jdali.tensors import TensorList


class Tensor(Arithmetic, EagerValue):
    """An array with a layout, which operators of dynamic mode take and return.

    Values never change, but their computation may still be running. To wait for it, convert to NumPy or call `evaluate`.

    Args:
        data: numbers, lists, an array of any library, a tensor, or a batch whose samples have one size.
        dtype: element type; None: the type of the data, which for Python numbers is INT32, FLOAT or BOOL.
        device: device of the tensor; None leaves the data where they are.
        layout: one letter for each axis; None: the layout of the data.
        batch: a batch that contains the tensor, in place of `data`.
        index_in_batch: position of the sample in `batch`.
        invocation_result: a tensor, in place of `data`.
        copy: whether to copy an array, so that the user may change it later.
    """

    is_batch: ClassVar[bool] = False
    _index: int = 0  # position of the sample in `_list`

    def __init__(
        self,
        data: Any = None,
        dtype: Any = None,
        device: Any = None,
        layout: str | None = None,
        batch: Any = None,
        index_in_batch: int | None = None,
        invocation_result: Any = None,
        copy: bool = False,
    ):
        if batch is not None and index_in_batch is not None:
            found = batch.tensors[index_in_batch]
        else:
            data = invocation_result if data is None else data
            if data is None:
                raise ValueError("Tensor: Either data, expression or batch and index must be provided")
            found = _make(data, element_type(dtype), copy)
            if dtype is not None and found.dtype != element_type(dtype):
                found = invoke(REGISTRY["cast"], [found], {"dtype": element_type(dtype)})
        if device is not None:
            found = found.to_device(to_device(device))
        if layout is not None:
            found = found._with_layout(layout)
        self._list, self._device, self._index = found._list, found._device, found._index

    def _samples(self) -> TensorList:
        return self._list if len(self._list) == 1 else self._list.select([self._index])

    def _sample(self) -> tensors.Tensor:
        return self._list._sample(self._index)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._list.spec.extents[self._index].tolist())

    @property
    def size(self) -> int:
        """Returns the number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Returns the bytes of an element."""
        return self._list.spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def item(self) -> Any:
        """Returns the value of a tensor with one element, as a Python number."""
        if self.size != 1:
            raise ValueError(f"item: Tensor has {self.size} elements, expected 1")
        return np.asarray(self).item()

    def __getitem__(self, key: object) -> Tensor:
        return Subscript(self)[key]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        value = self.item()
        if isinstance(value, (bool, float)):
            raise TypeError(f"a tensor of {self.dtype} is not an index")
        return int(value)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> HostArray:
        return self._sample().__array__(dtype, copy)

    def __jax_array__(self) -> jax.Array:
        return self._sample().__jax_array__()

    def __dlpack__(
        self,
        stream: object = None,
        dl_device: object = None,
        *,
        max_version: object = None,
        copy: object = None,
    ) -> Any:
        return self._sample().__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._sample().__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        value: Any = self._sample()._value
        return value.__cuda_array_interface__

    def torch(self, copy: bool = False) -> Any:
        """Converts the tensor to a PyTorch tensor, which shares memory unless `copy` is True."""
        return from_dlpack_by_torch(self, copy)

    def __repr__(self) -> str:
        return tensor_text(
            "Tensor", str(self.device), self.dtype, self.layout or "", self.shape, np.asarray(self)
        )


def from_dlpack_by_torch(value: object, copy: bool | None) -> Any:
    """Converts an object that supports DLPack to a PyTorch tensor."""
    try:
        import torch
    except ImportError:
        raise RuntimeError("torch(): PyTorch is not installed") from None
    result = torch.from_dlpack(value)
    return result.clone() if copy else result


def _make(data: object, dtype: DType | None, copy: bool) -> Tensor:
    """Makes a tensor from the user's data; arrays keep their element type."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, EagerValue):
        return _stacked(data)
    layout = data.layout() if isinstance(data, tensors.Tensor) else ""
    array = to_array(data, "Tensor", dtype)
    if copy and isinstance(array, np.ndarray) and not is_plain(data):
        array = array.copy()
    device = Device("gpu") if isinstance(data, tensors.TensorGPU) else device_of(array)
    return Tensor._of(TensorList.from_samples([array], layout, device.device_type), device)


def _stacked(batch: EagerValue) -> Tensor:
    """Joins the samples of a batch into one tensor; all must have the same size."""
    samples = batch._samples()
    if not samples.is_dense_tensor():
        raise ValueError(
            f"as_tensor: The batch has a non-uniform shape. To convert it to a tensor, `pad` argument must be ``True``: the "
            f"samples have shapes {samples.shape()}, pad=True fills them up with zeros"
        )
    whole = samples.as_tensor()
    device = batch.device
    return Tensor._of(TensorList.from_samples([whole._value], whole.layout(), device.device_type), device)


def tensor(
    data: object, dtype: object = None, device: object = None, layout: str | None = None, pad: bool = False
) -> Tensor:
    """Makes a tensor from a copy of the data; see `as_tensor`."""
    return Tensor(_padded(data, pad), dtype, device, layout, copy=True)


def as_tensor(
    data: object, dtype: object = None, device: object = None, layout: str | None = None, pad: bool = False
) -> Tensor:
    """Makes a tensor from the data, without a copy where possible.

    Args:
        data, dtype, device, layout: as of `Tensor`; the samples of a batch are stacked on a new axis "N".
        pad: whether to pad the samples of a batch with zeros to one size.
    """
    return Tensor(_padded(data, pad), dtype, device, layout)


def _padded(data: object, pad: bool) -> object:
    """Pads a batch with zeros to the size of its largest sample if `pad` is True."""
    if pad and isinstance(data, EagerValue) and data.is_batch and not data._list.is_dense_tensor():
        return invoke(REGISTRY["pad"], [data], {})
    return data


_dtype._make_tensor.append(tensor)
