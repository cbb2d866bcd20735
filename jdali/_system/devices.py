"""Finds JAX's devices for host memory and the accelerator, and copies arrays from devices to NumPy."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Sharding

AnyArray: TypeAlias = "np.ndarray | jax.Array"
HostArray: TypeAlias = "np.ndarray"

# XLA copies blocks of this size to an H200 through pinned memory at 24 GB/s, but arrays of 64 MiB or more at only 5 GB/s.
PINNED_BYTES = 32 << 20


def accelerator() -> jax.Device:
    """Returns the device that "gpu" refers to: JAX's default device, which may be the CPU."""
    config: Any = jax.config
    chosen = config.jax_default_device
    if chosen is None:
        return jax.local_devices()[0]
    return jax.local_devices(backend=chosen)[0] if isinstance(chosen, str) else chosen


@functools.cache
def host_device() -> jax.Device:
    """Returns the device of arrays in host memory: the first CPU device.

    All other CPU devices, which XLA makes for tests, count as accelerators.
    """
    return jax.local_devices(backend="cpu")[0]


def is_local(array: AnyArray) -> bool:
    """Returns True if the array is in host memory, where NumPy reads it without a copy."""
    if not isinstance(array, jax.Array):
        return True
    if isinstance(array, jax.core.Tracer):
        return False
    devices: Any = array.sharding.device_set
    if len(devices) != 1:
        return False
    device = next(iter(devices))
    return device.platform == "cpu" and device == host_device()


def to_device(array: AnyArray, where: jax.Device | Sharding | None) -> jax.Array:
    """Copies an array to a device or sharding, as `jax.device_put` does; None is the default device, uncommitted.

    Large NumPy arrays are sent to an accelerator in blocks of rows, see `PINNED_BYTES`.
    """
    device = accelerator() if where is None else where
    if isinstance(device, Sharding):
        device = next(iter(device.device_set)) if len(device.device_set) == 1 else host_device()
    placed: jax.Array
    if isinstance(array, jax.Array) or array.nbytes <= 2 * PINNED_BYTES or device == host_device():
        placed = jax.device_put(array, where)
        return placed
    rows = max(PINNED_BYTES * len(array) // array.nbytes, 1)
    with jax.default_device(device):
        placed = _joined(jax.device_put([array[i : i + rows] for i in range(0, len(array), rows)], where))
    return placed


_joined = jax.jit(jnp.concatenate)


class DeviceReadError(RuntimeError):
    """Raised if an array on a device is converted to NumPy inside `device_reads_forbidden`."""


class _Forbidden:
    """Counts the active `device_reads_forbidden` contexts of all threads."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()


_forbidden = _Forbidden()


def to_host(array: object) -> HostArray:
    """Converts an array to NumPy, without a copy if it is in host memory; waits for its values.

    Every conversion of a `jax.Array` to NumPy uses this function. jdali copies an array from a device to the host
    only in methods whose names say so, and for arguments whose values the host needs.

    Raises:
        DeviceReadError: the array is on a device, inside `device_reads_forbidden`.
    """
    if type(array) is np.ndarray:
        return array
    if isinstance(array, (list, tuple)):
        array = [to_host(one) if isinstance(one, jax.Array) else one for one in array]
    if _forbidden.count and isinstance(array, jax.Array) and not is_local(array):
        where = ", ".join(sorted(str(device) for device in array.devices()))
        raise DeviceReadError(f"{array.dtype}{list(array.shape)} on {where} is read by the host")
    return np.asarray(array)


@contextlib.contextmanager
def device_reads_forbidden() -> Iterator[None]:
    """Forbids copies from devices to the host in all threads. Tests use it.

    JAX's own guard covers GPUs only, so `to_host` checks further CPU devices itself.
    """
    name = "jax_transfer_guard_device_to_host"
    with _forbidden.lock:
        _forbidden.count += 1
    before = getattr(jax.config, name)
    jax.config.update(name, "disallow_explicit")
    try:
        yield
    finally:
        jax.config.update(name, before)
        with _forbidden.lock:
            _forbidden.count -= 1
