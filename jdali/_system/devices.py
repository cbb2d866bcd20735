"""Host memory and the accelerator: which of JAX's devices they are, and the one way from a device to NumPy."""

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

# Bytes that XLA copies to a GPU through pinned memory, at 24 GB/s on an H200; arrays of 64 MiB and more go at 5.
PINNED_BYTES = 32 << 20


def accelerator() -> jax.Device:
    """Returns JAX's default device, which "gpu" means; the host's where JAX has no other."""
    config: Any = jax.config
    chosen = config.jax_default_device
    if chosen is None:
        return jax.local_devices()[0]
    return jax.local_devices(backend=chosen)[0] if isinstance(chosen, str) else chosen


@functools.cache
def host_device() -> jax.Device:
    """Returns the device whose arrays are in host memory: the first CPU device.

    Further ones, which XLA makes for tests, are devices like any other: nothing is read from them in passing.
    """
    return jax.local_devices(backend="cpu")[0]


def is_local(array: AnyArray) -> bool:
    """Returns True if the array is in host memory, so that NumPy reads it without a copy."""
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
    """Copies an array as `jax.device_put` does; a large one from host memory to another device in pieces of rows.

    Args:
        where: None: the default device, uncommitted.
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
    """An array on a device was read by NumPy where that is forbidden."""


class _Forbidden:
    """Counts the `device_reads_forbidden` that are open, in all threads."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()


_forbidden = _Forbidden()


def to_host(array: object) -> HostArray:
    """Converts an array to NumPy; host memory without a copy. It waits for its values.

    All reading of a `jax.Array` by NumPy goes through here. A device's array comes to the host only by a method that says
    so, or as an argument that must be known on the host.

    Raises:
        DeviceReadError: the array is on a device, inside of `device_reads_forbidden`.
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
    """Forbids, in all threads, whatever brings an array from a device to the host; for tests.

    JAX's own guard covers GPUs only; `to_host` covers CPU devices.
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
