"""Converts users' data to NumPy arrays. All user data passes through this module."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from jdali import types
from jdali._errors import SampleError
from jdali._system.devices import HostArray, to_host

_CUDA = 2  # DLPack's type number of a CUDA GPU

# Byte offset of the device in DLPack's struct, by the name of the capsule. The device follows the data pointer. In the
# versioned struct, a version, two other pointers and flags come before the data pointer.
_DEVICE_AT = {b"dltensor": 8, b"dltensor_versioned": 40}


def device_of_capsule(value: object) -> tuple[int, int] | None:
    """Returns DLPack's device type and device number of a capsule's data; None unless `value` is an unused capsule."""
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    for name, offset in _DEVICE_AT.items():
        if api.PyCapsule_IsValid(value, name):
            kind, number = (ctypes.c_int32 * 2).from_address(api.PyCapsule_GetPointer(value, name) + offset)
            return kind, number
    return None


def is_on_gpu(device: tuple[int, int]) -> bool:
    return device[0] == _CUDA


class CapsuleHolder:
    """Wraps a capsule in an object with DLPack's methods. The data can be read only once."""

    def __init__(self, capsule: object, device: tuple[int, int]):
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **options: object) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


# Try these before DLPack, because `__array__` also copies from an accelerator, or raises an error that explains how to copy.
_PROTOCOLS = ("__array__", "__array_interface__", "__buffer__")


def host_array(value: object, *, copy: bool = False) -> HostArray:
    """Converts any array-like to a NumPy array in one of DALI's element types, in the machine's byte order.

    Args:
        value: an array of NumPy, JAX or another library with the array interface, a buffer or DLPack; a DLPack capsule;
            bytes (as uint8). The mask of a masked array is dropped.
        copy: if True, the result shares no memory that the user could change; if False, it shares memory where possible.

    Raises:
        TypeError: `value` is not an array, or DALI does not have its element type.
    """
    if isinstance(value, (bytes, bytearray)):
        array = np.frombuffer(value, np.uint8)
    elif isinstance(value, (np.ndarray, jax.Array)):
        array = to_host(value)
    elif isinstance(value, (np.generic, memoryview)):
        array = np.asarray(value)
    elif any(hasattr(value, name) for name in _PROTOCOLS):
        array = _from_protocol(value, np.asarray)
    elif hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        array = _from_protocol(value, np.from_dlpack)
    elif (device := device_of_capsule(value)) is not None:
        array = _from_protocol(CapsuleHolder(value, device), np.from_dlpack)
    else:
        raise TypeError(
            f"{type(value).__name__} is not an array: it has neither DLPack nor the array interface nor a buffer. Don't know "
            f"how to extract the shape out of {type(value)}"
        )
    native = types.element_array(array)
    # A JAX array is not copied: it never changes, and the view keeps it from being donated or freed.
    return native.copy() if copy and native is array and not isinstance(value, jax.Array) else native


def data_array(value: object, *, copy: bool = False) -> HostArray:
    """Converts arrays as `host_array` does, and numbers and nested lists of numbers as `numpy.asarray` does."""
    if not isinstance(value, (bool, int, float, list, tuple)):
        return host_array(value, copy=copy)
    try:
        array = np.asarray(value)
    except ValueError as error:
        shown = " ".join(repr(value).split())
        raise TypeError(f"{type(value).__name__} {shown:.60} is not a tensor: {error}") from None
    return types.element_array(array)


def sample_arrays(values: Iterable[object], *, copy: bool = False) -> list[HostArray]:
    """Converts the samples of a batch one by one. Raises SampleError if one is not an array, or fails `check_alike`."""
    samples = []
    for i, value in enumerate(values):
        try:
            samples.append(data_array(value, copy=copy))
        except TypeError as error:
            raise SampleError(f"sample {i}: {error}", sample=i) from error
    check_alike(samples)
    return samples


def check_alike(samples: Sequence[HostArray]) -> None:
    """Raises SampleError unless all samples have the same element type and number of axes."""
    for i, sample in enumerate(samples):
        first = samples[0]
        if sample.dtype != first.dtype or sample.ndim != first.ndim:
            rule = (
                "All tensors in a batch must have the same number of dimensions"
                if sample.ndim != first.ndim
                else f"Sample must have the same type as the target batch, current: {types.type_name(first.dtype)}, "
                f"new: {types.type_name(sample.dtype)} for sample idx: {i}"
            )
            raise SampleError(
                f"{rule}: sample {i} is {sample.dtype} with {sample.ndim} axes, sample 0 is {first.dtype} with "
                f"{first.ndim}; a batch has one type and number of axes",
                sample=i,
            )


def _from_protocol(value: Any, protocol: Any) -> HostArray:
    try:
        array: HostArray = protocol(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise TypeError(f"{type(value).__name__} cannot be read as an array: {error}") from error
    return array
