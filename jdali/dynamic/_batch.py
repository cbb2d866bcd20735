from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeAlias, overload

import jax
import jax.numpy as jnp
import numpy as np

from jdali import tensors
from jdali._batches import SamplesBlock, batch_text, position, same_layout
from jdali._operators.record import REGISTRY
from jdali._system.devices import HostArray
from jdali.dynamic._data import device_of, element_type, is_plain, to_array
from jdali.dynamic._device import Device
from jdali.dynamic._device import device as to_device
from jdali.dynamic._dtype import DType
from jdali.dynamic._invoke import Arithmetic, Subscript, invoke
from jdali.dynamic._tensor import Tensor, as_tensor, from_dlpack_by_torch
from jdali.dynamic._value import EagerValue
from jdali.tensors import TensorList

# Type of a selection of samples. The alias is needed because in `Batch`, the name `slice` is a property.
Selection: TypeAlias = slice | Sequence[int] | np.ndarray


class Batch(Arithmetic, EagerValue):
    """Samples for operators of dynamic mode. All samples have the same element type and number of axes.

    `batch.tensors[i]` is a sample, `batch.slice[...]` indexes each sample, and `batch.select(...)` picks
    samples. Values never change, but their computation may still be running.

    Args:
        tensors: a sequence of data for tensors, an array whose first axis is the batch axis, or a batch.
        dtype: element type; None: the first sample's type or, for Python numbers, the common type (INT32, FLOAT, BOOL).
        device: device of the batch; None leaves the data where they are.
        layout: layout of one sample; None: the layout of the data.
        invocation_result: a batch, in place of `tensors`.
        copy: whether to copy arrays, so that the user may change them later.
    """

    is_batch: ClassVar[bool] = True

    def __init__(
        self,
        tensors: object = None,
        dtype: object = None,
        device: object = None,
        layout: str | None = None,
        invocation_result: object = None,
        copy: bool = False,
    ):
        data = invocation_result if tensors is None else tensors
        if data is None:
            raise ValueError("Batch: give tensors")
        wanted = element_type(dtype)
        found = _make(data, wanted, copy)
        if wanted is not None and found.dtype != wanted:
            found = invoke(REGISTRY["cast"], [found], {"dtype": wanted})
        if device is not None:
            found = found.to_device(to_device(device))
        if layout is not None:
            found = found._with_layout(layout)
        self._list, self._device = found._list, found._device

    @property
    def batch_size(self) -> int:
        """Returns the number of samples."""
        return len(self._list)

    def __len__(self) -> int:
        return len(self._list)

    @property
    def shape(self) -> list[tuple[int, ...]]:
        """Returns the shape of each sample."""
        return self._list.shape()

    @property
    def tensors(self) -> Tensors:
        """Returns the samples as a sequence; `tensors[i]` is a `Tensor`."""
        return Tensors(self, range(len(self._list)))

    @property
    def slice(self) -> Subscript:
        """Returns an object whose subscript, `batch.slice[...]`, indexes each sample; an index may be a batch."""
        return Subscript(self)

    @overload
    def select(self, sample_range: int) -> Tensor: ...
    @overload
    def select(self, sample_range: Selection) -> Batch: ...
    def select(self, sample_range: int | Selection) -> Tensor | Batch:
        """Selects one sample as a `Tensor`, or several as a `Batch`.

        Args:
            sample_range: position of a sample; or a list, range or slice of positions.
        """
        chosen = self.tensors[sample_range]
        return chosen.as_batch() if isinstance(chosen, Tensors) else chosen

    @staticmethod
    def broadcast(sample: object, batch_size: int, device: object = None, dtype: object = None) -> Batch:
        """Makes a batch that repeats `sample`; all samples share its memory."""
        if isinstance(sample, Batch):
            raise ValueError("Batch.broadcast: Cannot broadcast a Batch")
        one = as_tensor(sample, dtype, device)
        return Batch._of(one._samples().select(np.zeros(batch_size, np.int64)), one.device)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.tensors)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> HostArray:
        return self._list.__array__(dtype, copy)

    def __jax_array__(self) -> jax.Array:
        return self._list.as_jax()

    def __dlpack__(self, **options: object) -> Any:
        return self._list.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._list.__dlpack_device__()

    def torch(self, copy: bool | None = None, pad: bool = False) -> Any:
        """Joins the samples into one PyTorch tensor.

        Args:
            copy: True always copies, None copies only if needed, and False raises ValueError if a copy is needed.
            pad: whether to pad the samples with zeros to one size.
        """
        if copy is False and not self._list.is_dense_tensor():
            raise ValueError("Batch.torch: This batch cannot be converted to a tensor without a copy.")
        return from_dlpack_by_torch(as_tensor(self, pad=pad), copy)

    def __repr__(self) -> str:
        samples = self._list
        return batch_text(
            "Batch", str(self.device), self.dtype, self.layout or "", self.shape, samples.store.host_sample
        )


@dataclasses.dataclass(frozen=True)
class Tensors(Sequence[Any]):
    """Sequence of all or some samples of a batch."""

    batch: Batch
    indices: Sequence[int]

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, key: int) -> Tensor: ...
    @overload
    def __getitem__(self, key: Selection) -> Tensors: ...
    def __getitem__(self, key: Any) -> Tensor | Tensors:
        """Returns the sample at a position, or a sequence of samples for a slice or list of positions."""
        if isinstance(key, slice):
            return Tensors(self.batch, self.indices[key])
        if isinstance(key, (list, tuple, range)) or getattr(key, "ndim", 0) == 1:
            return Tensors(self.batch, [self._at(k) for k in key])
        sample = Tensor._of(self.batch._list, self.batch.device)
        sample._index = self._at(key)
        return sample

    def _at(self, key: object) -> int:
        return self.indices[position("Batch", key, len(self), "give np.flatnonzero(mask)")]

    def select(self, index_or_range: int | Selection) -> Tensor | Tensors:
        """Returns `self[index_or_range]`."""
        return self[index_or_range]

    def tolist(self) -> list[Tensor]:
        return list(self)

    def as_batch(self) -> Batch:
        """Returns a batch of these samples, which shares their memory."""
        if len(self.indices) == len(self.batch) and list(self.indices) == list(range(len(self.batch))):
            return self.batch
        return Batch._of(self.batch._list.select(list(self.indices)), self.batch.device)

    def __repr__(self) -> str:
        return f"Tensors({self.tolist()!r})"


def _make(data: Any, dtype: DType | None, copy: bool) -> Batch:
    """Makes a batch from the user's data; arrays and batches keep their element type."""
    if isinstance(data, Batch):
        return data
    if isinstance(data, Tensors):
        return data.as_batch()
    if isinstance(data, TensorList):
        return Batch._of(data, Device(data.device))
    if isinstance(data, Tensor):
        sample = data._sample()
        return _of_array(sample._value, (data.layout or "")[1:], data.device)
    if (
        isinstance(data, (tensors.Tensor, memoryview))
        or hasattr(data, "__array__")
        or hasattr(data, "__dlpack__")
    ):
        array = to_array(data, "Batch")
        array = array.copy() if copy and isinstance(array, np.ndarray) else array
        layout = data.layout()[1:] if isinstance(data, tensors.Tensor) else ""
        return _of_array(array, layout, device_of(array))
    if not isinstance(data, Iterable):
        raise TypeError(f"Batch: {data!r:.60} is neither an array nor a sequence of samples")
    items = list(data)
    if not items:
        if dtype is None:
            raise ValueError("Batch: Element type must be specified if the list is empty: give dtype")
        return _of_array(np.zeros((0,), dtype.dtype), "", Device.CPU)
    for i, item in enumerate(items):
        if item is None:
            raise TypeError(f"Batch: Tensors must be array-like types or numbers. Got `None` at index {i}")
        if isinstance(item, Batch):
            raise TypeError("Batch: A list of Batch objects is not a valid argument type")
    if dtype is None and is_plain(items):  # find the common type of all numbers
        dtype = DType.from_fw_type(jnp.result_type(*(to_array(i, "Batch").dtype for i in items)))
    parts = [item if isinstance(item, Tensor) else Tensor(item, dtype, copy=copy) for item in items]
    wanted = dtype or parts[0].dtype
    return _joined(
        [p if p.dtype == wanted else invoke(REGISTRY["cast"], [p], {"dtype": wanted}) for p in parts]
    )


def _of_array(array: Any, layout: str, device: Device) -> Batch:
    if array.ndim == 0:
        raise TypeError("Batch: a scalar has no axis of samples")
    return Batch._of(TensorList.from_dense(array, layout, device.device_type), device)


def _joined(parts: Sequence[Tensor]) -> Batch:
    """Makes a batch from tensors of one element type, without a copy."""
    first = parts[0]
    for i, part in enumerate(parts):
        if part.ndim != first.ndim:
            raise TypeError(
                f"Batch: Sample must have the same sample dim as the target batch, current: {first.ndim}, new: "
                f"{part.ndim} for sample idx: {i}."
            )
    device = first.device
    layout = same_layout([p.layout or "" for p in parts])
    lists = [p.to_device(device)._with_layout(layout)._samples() for p in parts]
    alone = all(
        isinstance(samples.store.blocks[0], SamplesBlock) for samples in lists
    )  # no rows of larger arrays
    if not alone or any(samples.provenance is not None for samples in lists):
        return Batch._of(TensorList.concat(lists), device)
    # Gathering samples is faster from one block than from a block for each sample.
    arrays = [samples.store.sample(0) for samples in lists]
    return Batch._of(TensorList.from_samples(arrays, layout, device.device_type), device)


def batch(tensors: object, dtype: object = None, device: object = None, layout: str | None = None) -> Batch:
    """Makes a batch from copies of the data; see `as_batch`."""
    return Batch(tensors, dtype, device, layout, copy=True)


def as_batch(
    tensors: object, dtype: object = None, device: object = None, layout: str | None = None
) -> Batch:
    """Makes a batch from the data, without a copy where possible. The arguments are those of `Batch`."""
    if isinstance(tensors, Batch) and dtype is None and device is None and layout is None:
        return tensors
    return Batch(tensors, dtype, device, layout)
