"""Defines `TensorList`, a batch of samples that may differ in size, and `Tensor`, one of its samples.

`Pipeline.run` returns a tuple of batches: `TensorListCPU` in host memory, `TensorListGPU` on the accelerator. Without an
accelerator, the data of a `TensorListGPU` are on the CPU.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import numpy as np

from jdali._batches import (
    BatchSpec,
    Provenance,
    RowSlice,
    SamplesBlock,
    Store,
    Tensor,
    TensorCPU,
    TensorGPU,
    TensorList,
    check_layout,
    device_array,
    host_array,
    same_layout,
)
from jdali._system.devices import AnyArray, HostArray

__all__ = [
    "RowSlice", "Tensor", "TensorCPU", "TensorGPU", "TensorList", "TensorListCPU", "TensorListGPU",
]  # fmt: skip

ListT = TypeVar("ListT", bound=TensorList)


class TensorListCPU(TensorList):
    """Holds a batch in host memory.

    Args:
        object: an array [N, ...] (or any object that supports DLPack or the array interface), a list of arrays or tensors, or
            a `TensorListCPU`.
        layout: layout of one sample; None: the layout of the tensors, if they have one.
        tl: a batch, in place of `object`.
        b: an array, in place of `object`.
        list_of_tensors: a list, in place of `object`.
        is_pinned: has no effect, because JAX pins the memory of its transfers itself.
        contiguous: has no effect, because samples stay where they are.
    """

    device: ClassVar[str] = "cpu"
    _tensor: ClassVar[type[Tensor]] = TensorCPU

    def __init__(
        self,
        object: Any = None,
        layout: str | None = None,
        *,
        tl: TensorListCPU | None = None,
        b: object = None,
        list_of_tensors: Sequence[object] | None = None,
        is_pinned: bool = False,
        contiguous: bool = True,
    ):
        sources = [v for v in (object, tl, b, list_of_tensors) if v is not None]
        self._begin(*_gather(type(self), sources, layout, host_array))

    def at(self, i: int, /) -> HostArray:
        """Returns sample `i` as a NumPy array without padding; it is read-only if JAX owns the memory."""
        return self.store.host_sample(self._place_of(i))

    def as_array(self) -> HostArray:
        """Returns the samples as an array [N, ...]; all must have the same size."""
        return self.as_numpy()

    def as_cpu(self) -> TensorListCPU:
        return self

    def copy_to_external(self, ptr: object, /) -> None:
        """Copies the samples one after another, each in row-major order, to the address `ptr`."""
        self._copy_to(ptr)

    @staticmethod
    def broadcast(tensor: TensorCPU, batch_size: int, /) -> TensorListCPU:
        """Makes a batch that repeats `tensor` without copying it."""
        return _broadcast(TensorListCPU, tensor, batch_size)

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[object], layout: str | None = None, contiguous: bool = False
    ) -> TensorListCPU:
        """Makes a batch from arrays of any library that supports DLPack, without copying them."""
        return TensorListCPU(list(list_of_objects), layout)


class TensorListGPU(TensorList):
    """Holds a batch on JAX's default device, which is the accelerator if there is one, else the CPU.

    Args:
        object: an array [N, ...], a list of arrays or tensors, or a batch.
        layout: layout of one sample; None: the layout of the tensors, if they have one.
        stream: has no effect, because JAX orders its own work.
        tl: a batch, in place of `object`.
        list_of_tensors: a list, in place of `object`.
        contiguous: has no effect, because samples stay where they are.
        device_id: number of the JAX device; -1 means the device of the array if it is a JAX array, else the default device.
    """

    device: ClassVar[str] = "gpu"
    _tensor: ClassVar[type[Tensor]] = TensorGPU

    def __init__(
        self,
        object: Any = None,
        layout: str | None = None,
        stream: object = None,
        *,
        tl: TensorListGPU | None = None,
        list_of_tensors: Sequence[object] | None = None,
        contiguous: bool = True,
        device_id: int = -1,
    ):
        sources = [v for v in (object, tl, list_of_tensors) if v is not None]
        self._begin(*_gather(type(self), sources, layout, lambda value: device_array(value, device_id)))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            text = f"'{type(self).__name__}' object has no attribute '{name}'"
            if name == "as_array":
                text += (
                    ": the batch is on a device, as_cpu() brings it to the host: batch.as_cpu().as_array()"
                )
            raise AttributeError(text, name=name, obj=self)

    def at(self, i: int, /) -> TensorGPU:
        """Returns sample `i` as a tensor without padding."""
        tensor = self[self._place_of(i)]
        assert isinstance(tensor, TensorGPU)
        return tensor

    def device_id(self) -> int:
        sharding = self.store.sharding
        devices: Any = {self._jax_device()} if sharding is None else sharding.device_set
        return min(int(device.id) for device in devices)

    @property
    def stream(self) -> None:
        """Returns None, because JAX orders its own work."""
        return

    def copy_to_external(
        self,
        ptr: object,
        cuda_stream: object = None,
        non_blocking: bool = False,
        use_copy_kernel: bool = False,
    ) -> None:
        """Copies the samples one after another, each in row-major order, to an address; returns when the copy is done.

        Args:
            ptr: address on the device or the host, as an int or a `ctypes` pointer.
            cuda_stream, non_blocking, use_copy_kernel: without effect.
        """
        self._copy_to(ptr)

    @staticmethod
    def broadcast(tensor: TensorGPU, batch_size: int, /) -> TensorListGPU:
        """Makes a batch that repeats `tensor` without copying it."""
        return _broadcast(TensorListGPU, tensor, batch_size)

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[object],
        layout: str | None = None,
        stream: object = None,
        contiguous: bool = False,
    ) -> TensorListGPU:
        """Makes a batch from arrays of any library that supports DLPack; copies them unless they are JAX arrays."""
        return TensorListGPU(list(list_of_objects), layout)


def _gather(
    kind: type[TensorList],
    sources: Sequence[object],
    layout: str | None,
    convert: Callable[[object], AnyArray],
) -> tuple[Store, Provenance | None]:
    """Builds the store of a batch from the constructor's arguments; returns it with the samples' names."""
    if len(sources) > 1:
        raise TypeError(
            f"{kind.__name__}: give one of a list, an array and another batch, not {len(sources)}"
        )
    value = sources[0] if sources else []
    if isinstance(value, TensorList):
        store, source = value.store, value._source
    elif isinstance(value, (list, tuple)):
        store, source = _gather_list(kind, value, layout or "", convert)
    else:
        array = convert(value)
        if array.ndim == 0:
            raise RuntimeError(
                f"{kind.__name__}: Cannot create TensorList from 0-dim array: a batch needs an axis of samples"
            )
        store, source = TensorList.from_dense(array, "", kind.device).store, None
    if layout is not None:
        check_layout(layout, store.spec.ndim, "TensorList")
        store = dataclasses.replace(store, spec=store.spec.replace(layout=layout))
    return store, source


def _gather_list(
    kind: type[TensorList], values: Sequence[object], layout: str, convert: Callable[[object], AnyArray]
) -> tuple[Store, Provenance | None]:
    """Builds the store of a list; `layout` is that of an empty list, other lists have the layout of their tensors."""
    if not values:
        return TensorList.from_samples([], layout, kind.device).store, None
    samples = [convert(v) for v in values]
    for i, sample in enumerate(samples):
        if sample.dtype != samples[0].dtype:
            raise TypeError(
                f"Tensors cannot have different data types. Tensor at position {i} has type "
                f"'{sample.dtype}' expected to have type '{samples[0].dtype}'."
            )
        if sample.ndim != samples[0].ndim:
            raise TypeError(
                f"Tensors cannot have different numbers of dimensions. Tensor at position {i} has "
                f"{sample.ndim}, expected {samples[0].ndim}."
            )
    tensors = [v for v in values if isinstance(v, Tensor)]
    source = None
    if tensors:
        source = Provenance.named([v.source_info() if isinstance(v, Tensor) else "" for v in values])
    layout = same_layout([t.layout() for t in tensors])
    return TensorList.from_samples(samples, layout, kind.device).store, source


def _broadcast(kind: type[ListT], tensor: Tensor, batch_size: int) -> ListT:
    store = Store.of_block(SamplesBlock([tensor._value]), BatchSpec.of([tensor._value], tensor.layout()))
    names = [tensor.source_info()] * batch_size
    batch = TensorList.from_store(store.select(np.zeros(batch_size, np.int64)), kind.device, names)
    assert isinstance(batch, kind)
    return batch
