from __future__ import annotations

import threading
from typing import Any, ClassVar

import jax

from jdali._system.devices import accelerator, host_device

_stack = threading.local()
_KINDS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}
_DLPACK_CPU = (1, 3)  # kDLCPU, kDLCUDAHost


class Device:
    """Names a device for data and computations.

    As a context manager, a `Device` sets the device on which operators without inputs run. "gpu" without a number means
    JAX's default device, which is a CPU if there is no accelerator.

    Args:
        name: "cpu", "gpu" or a name with a number, such as "gpu:1".
        device_id: index among JAX's local devices; None: the number in the name, or JAX's default device.
    """

    CPU: ClassVar[Device]
    device_type: str
    device_id: int | None

    def __init__(self, name: str, device_id: int | None = None):
        kind, colon, number = name.partition(":")
        if kind not in _KINDS:
            raise ValueError(f'Device: Invalid device type: {kind}; there are "cpu" and "gpu"')
        if colon:
            if not number.isdigit():
                raise ValueError(f"Device: Invalid device name: {name}")
            if device_id is not None:
                raise ValueError(
                    f"Device: Invalid device name: {name}\nOrdinal ':{number}' should not appear in device name when "
                    "device_id is provided"
                )
            device_id = int(number)
        self.device_type = _KINDS[kind]
        if self.device_type == "cpu" and device_id is not None:
            raise ValueError(f"Device: Invalid device id: {device_id} for device type: cpu. Must be `None`")
        if self.device_type == "gpu":
            if device_id is None:
                default, devices = accelerator(), jax.local_devices()
                device_id = devices.index(default) if default in devices else 0
            if not 0 <= device_id < jax.local_device_count():
                raise ValueError(
                    f"Device: Invalid device id: {device_id} for device type: gpu. Must be in range "
                    f"[0..{jax.local_device_count() - 1}]"
                )
        self.device_id = device_id
        self._jax_device: jax.Device | None = None

    def __repr__(self) -> str:
        number = "" if self.device_id is None else f", device_id={self.device_id}"
        return f"Device(device_type={self.device_type!r}{number})"

    def __str__(self) -> str:
        return self.device_type if self.device_id is None else f"{self.device_type}:{self.device_id}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            try:
                other = Device(other)
            except ValueError:  # no device has this name
                return False
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    __ne__ = object.__ne__  # the opposite of `__eq__`; defined because DALI's class defines it

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    @property
    def jax_device(self) -> jax.Device:
        """Returns the JAX device."""
        if self._jax_device is None:  # cached, because JAX builds a list of all devices at each call
            numbered = self.device_id is not None
            self._jax_device = jax.local_devices()[self.device_id] if numbered else host_device()
        return self._jax_device

    @staticmethod
    def current() -> Device:
        """Returns the device of the innermost `with` block, or the CPU."""
        stack: list[Device] = getattr(_stack, "devices", [])
        return stack[-1] if stack else Device.CPU

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """Returns the device number for a name without a number."""
        return Device(device_type).device_id

    @staticmethod
    def type_from_dlpack(dev_type: int) -> str:
        """Returns "cpu" or "gpu" for DLPack's number of a device type."""
        return "cpu" if int(dev_type) in _DLPACK_CPU else "gpu"

    @staticmethod
    def from_dlpack(dlpack_device: Any) -> Device:
        """Returns the device of an array that supports DLPack, or of a result of `__dlpack_device__()`."""
        if hasattr(dlpack_device, "__dlpack_device__"):
            dlpack_device = dlpack_device.__dlpack_device__()
        kind, number = dlpack_device
        kind = Device.type_from_dlpack(kind)
        return Device.CPU if kind == "cpu" else Device("gpu", number)

    def __enter__(self) -> Device:
        _stack.__dict__.setdefault("devices", []).append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack.devices.pop()


Device.CPU = Device("cpu")


def device(obj: object, id: int | None = None) -> Device | None:
    """Converts `obj` to a `Device`.

    Args:
        obj: a `Device`, a name, or None, which stays None.
        id: number of the device, if `obj` is a name.
    """
    if isinstance(obj, Device) and id is not None:
        raise ValueError("device: Cannot specify id when passing a Device instance")
    if obj is None or isinstance(obj, Device):
        return obj
    if isinstance(obj, str):
        return Device(obj, id)
    raise TypeError(f"device: Cannot convert {type(obj)} to Device: {obj!r:.60}")
