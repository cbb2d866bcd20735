"""DLPack capsules that users hand over themselves, as `torch.utils.dlpack.to_dlpack` makes them."""

from __future__ import annotations

import ctypes
from typing import Any

_CUDA = 2  # DLPack's number of such devices

# Where the device is, in bytes from what the capsule points to, by the capsule's name: behind the pointer to the
# data; the versioned form has a version, two pointers and flags in front.
_DEVICE_AT = {b"dltensor": 8, b"dltensor_versioned": 40}


def device_of_capsule(value: object) -> tuple[int, int] | None:
    """Returns DLPack's type and number of the device of a capsule's data; None if it is no unused capsule."""
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    for name, offset in _DEVICE_AT.items():
        if api.PyCapsule_IsValid(value, name):
            kind, number = (ctypes.c_int32 * 2).from_address(api.PyCapsule_GetPointer(value, name) + offset)
            return kind, number
    return None


def is_on_gpu(device: tuple[int, int]) -> bool:
    """Returns True if a device of DLPack is a CUDA GPU."""
    return device[0] == _CUDA


class CapsuleHolder:
    """A capsule as an object with DLPack's methods, which libraries take; it can be read once.

    Args:
        capsule: not used yet.
        device: of its data.
    """

    def __init__(self, capsule: object, device: tuple[int, int]):
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **options: object) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device
