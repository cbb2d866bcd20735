from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, TypeVar

from jdali._system.devices import host_device
from jdali.dynamic._context import EvalContext
from jdali.dynamic._device import Device
from jdali.dynamic._dtype import DType
from jdali.engine import eager
from jdali.tensors import TensorList

ValueT = TypeVar("ValueT", bound="EagerValue")


_CLASSES: dict[bool, type[EagerValue]] = {}  # the subclasses by `is_batch`; they register here


class EagerValue:
    """Samples that operators take and return; their computation may still be running.

    The samples are in a `TensorList`. A `Tensor` is one sample of the list, a `Batch` is all of its samples.
    """

    is_batch: ClassVar[bool]
    _list: TensorList
    _device: Device

    def __init_subclass__(cls) -> None:
        if "is_batch" in vars(cls):
            _CLASSES[cls.is_batch] = cls

    @classmethod
    def _of(cls: type[ValueT], samples: TensorList, device: Device) -> ValueT:
        value = object.__new__(cls)
        value._list, value._device = samples, device
        return value

    def _samples(self) -> TensorList:
        return self._list

    @property
    def device(self) -> Device:
        return self._device

    @property
    def dtype(self) -> DType:
        return DType.from_fw_type(self._list.spec.dtype)

    @property
    def ndim(self) -> int:
        """Returns a sample's number of axes."""
        return self._list.spec.ndim

    @property
    def layout(self) -> str | None:
        """Returns one letter for each axis; None if unknown."""
        return self._list.layout() or None

    def _with_layout(self: ValueT, layout: str) -> ValueT:
        """Returns the same samples with the layout `layout`."""
        if layout == (self.layout or ""):
            return self
        if layout and len(layout) != self.ndim:
            raise ValueError(
                "A non-empty layout must have the same number of dimensions as the number of dimensions of the Tensor.\n"
                f"Got: {len(layout)} ({layout})\nExpected: {self.ndim}."
            )
        samples = self._samples()
        store = dataclasses.replace(samples.store, spec=samples.spec.replace(layout=layout))
        return self._of(samples.from_store(store, samples.device, samples.provenance), self._device)

    def to_device(self: ValueT, device: Any, force_copy: bool = False) -> ValueT:
        """Returns the same samples on the device `device`.

        Args:
            device: a `Device` or its name.
            force_copy: has no effect, because values never change, so memory may be shared.
        """
        target = device if isinstance(device, Device) else Device(device)
        if target == self._device:
            return self
        samples = self._samples()
        if target.device_type == "cpu":
            moved = samples.to_device("cpu")
        elif target.jax_device == host_device():
            moved = samples.to_device("gpu")
        else:
            moved = eager.move(samples, target.jax_device, EvalContext.current().thread_pool.pool)
        return self._of(moved, target)

    def cpu(self: ValueT) -> ValueT:
        """Returns the same samples in host memory."""
        return self.to_device(Device.CPU)

    def gpu(self: ValueT, index: int | None = None) -> ValueT:
        """Returns the same samples on JAX's default device, or on the device `index`."""
        return self.to_device(Device("gpu", index))

    def _repr_html_(self) -> str | None:
        """Shows the samples as images, sounds or numbers in a notebook."""
        return self._samples()._repr_html_()

    def evaluate(self: ValueT) -> ValueT:
        """Waits until the values are computed; returns `self`."""
        eager.wait(self._list)
        return self


def wrap(samples: TensorList, device: Device, *, is_batch: bool) -> Any:
    """Wraps an operator's output in a `Tensor` or a `Batch`."""
    return _CLASSES[is_batch]._of(samples, device)
