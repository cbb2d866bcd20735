"""Converts numbers, lists and arrays of any library to NumPy or JAX arrays."""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches import host_array
from jdali._errors import TracedArgumentError
from jdali._system.devices import host_device, is_local, to_host
from jdali.dynamic._device import Device
from jdali.dynamic._dtype import DType
from jdali.dynamic._dtype import dtype as to_dtype

Array = Any  # np.ndarray or jax.Array

NO_VALUES = "jdali.dynamic runs at once and has no values under jit, vmap or grad"


def is_plain(data: object) -> bool:
    """Returns True for Python numbers and (nested) lists and ranges of numbers, which have no element type of their own."""
    if isinstance(data, (list, tuple, range)):
        return all(is_plain(item) for item in data)
    number = isinstance(data, (bool, int, float)) and not isinstance(data, np.generic)
    return number or isinstance(data, types.ScalarConstant)


def to_array(data: object, what: str, dtype: DType | None = None) -> Array:
    """Converts data to an array on the data's device.

    Python numbers become INT32 (UINT32 if they need it), FLOAT or BOOL, and a list of 64-bit arrays becomes one array
    of these types, as in DALI.

    Args:
        data: numbers, (nested) lists, ranges, text or bytes (which become uint8), or any array.
        what: beginning of error messages: who takes the data.
        dtype: element type for Python numbers. Other data keep their types, lists of 64-bit arrays too if it is given.
    """
    try:
        return _to_array(data, dtype)
    except (TypeError, ValueError) as error:
        kind = next(k for k in (TracedArgumentError, TypeError, ValueError) if isinstance(error, k))
        raise kind(f"{what}: {error}") from None


def _to_array(data: object, dtype: DType | None) -> Array:
    if isinstance(data, jax.core.Tracer):
        raise TracedArgumentError(f"{NO_VALUES}: use jax.numpy, or a pure function of jdali.ops, there")
    if isinstance(data, types.ArrayConstant):
        return data.value
    if isinstance(data, (str, os.PathLike)):
        return np.frombuffer(os.fsencode(data), np.uint8)
    if is_plain(data):
        return _numbers(data, None if dtype is None else dtype.type_id)
    if isinstance(data, (list, tuple)):
        parts = [_to_array(item, dtype) for item in data]
        if len({p.shape for p in parts}) > 1:
            raise ValueError(
                f"arrays of different shapes {[p.shape for p in parts]} make no tensor; make a Batch of them: jdali.dynamic.batch"
            )
        if not all(is_local(part) for part in parts):
            return jnp.stack(parts)
        stacked = np.stack([to_host(part) for part in parts])
        if dtype is not None:
            return stacked
        fits = stacked.dtype == np.uint64 and stacked.max(initial=0) <= np.iinfo(np.int32).max
        return _numbers(stacked, types.INT32 if fits else None)
    return data if isinstance(data, jax.Array) else host_array(data)


def _numbers(data: Any, dtype: types.DALIDataType | None) -> np.ndarray:
    try:
        return types.constant_array(data, dtype, exact=True)
    except OverflowError:
        if dtype is not None or np.min(data) < 0:
            raise
        return types.constant_array(data, types.UINT32, exact=True)


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
