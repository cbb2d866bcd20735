"""Converts numbers, lists and arrays of any library to NumPy or JAX arrays."""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches import host_array
from jdali._system.devices import host_device, is_local, to_host
from jdali.dynamic._device import Device
from jdali.dynamic._dtype import DType
from jdali.dynamic._dtype import dtype as to_dtype

Array = Any  # np.ndarray or jax.Array


def is_plain(data: object) -> bool:
    """Returns True for Python numbers and (nested) lists of numbers, which have no element type of their own."""
    if isinstance(data, (list, tuple)):
        return all(is_plain(item) for item in data)
    number = isinstance(data, (bool, int, float)) and not isinstance(data, np.generic)
    return number or isinstance(data, types.ScalarConstant)


def to_array(data: object, dtype: DType | None = None) -> Array:
    """Converts data to an array on the data's device; Python numbers become INT32, FLOAT or BOOL, as in DALI.

    Args:
        data: numbers, (nested) lists, text or bytes (which become uint8), or any array.
        dtype: element type for Python numbers; ignored for other data.
    """
    if isinstance(data, types.ArrayConstant):
        return data.value
    if isinstance(data, (str, os.PathLike)):
        return np.frombuffer(os.fsencode(data), np.uint8)
    if is_plain(data):
        return types.constant_array(data, None if dtype is None else dtype.type_id, exact=True)
    if isinstance(data, (list, tuple)):
        parts = [to_array(item, dtype) for item in data]
        if len({p.shape for p in parts}) > 1:
            raise ValueError(
                f"arrays of different shapes {[p.shape for p in parts]} make no tensor; make a Batch of them: jdali.dynamic.batch"
            )
        if not all(is_local(part) for part in parts):
            return jnp.stack(parts)
        return np.stack([to_host(part) for part in parts])
    return data if isinstance(data, jax.Array) else host_array(data)


def device_of(array: Array) -> Device:
    """Returns the device of an array; if it is on several devices, the first."""
    if isinstance(array, jax.Array):
        found = min(array.devices(), key=lambda d: int(d.id))
        if found != host_device():
            return Device("gpu", jax.local_devices().index(found))
    return Device.CPU


def element_type(dtype: object) -> DType | None:
    """Converts a `dtype=` argument; None stays None."""
    return None if dtype is None else to_dtype(dtype)
