"""The accelerator of tests: a GPU where JAX has one, else a second CPU device, which is as far from the host."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any
from unittest import mock

import jax
import numpy as np
import pytest
from jax._src.array import ArrayImpl

from jdali._numerics.platform import declared, known_platform
from jdali._system.devices import DeviceReadError, device_reads_forbidden, is_local
from jdali.codecs import gpu_jpeg

# NumPy's functions that read an array of JAX, by the buffer protocol, which asks nobody.
_READERS = (
    "array", "asarray", "ascontiguousarray", "stack", "concatenate", "copyto", "broadcast_to", "from_dlpack",
)  # fmt: skip


def find() -> jax.Device:
    """A device that is not the host's; skips the test where there is none."""
    for backend in ("gpu", "cpu"):
        with contextlib.suppress(RuntimeError):
            devices = [
                d for d in jax.local_devices(backend=backend) if d != jax.local_devices(backend="cpu")[0]
            ]
            if devices:
                return devices[0]
    pytest.skip("there is no device but the host's")


def for_accelerator() -> bool:
    """True if the tests run on an accelerator, or with its programs (`JDALI_TRACE_FOR`)."""
    return (known_platform() or jax.default_backend()) != "cpu"


@contextlib.contextmanager
def as_default(device: jax.Device) -> Iterator[None]:
    """Makes it JAX's default device, in all threads: so it is what "gpu" means."""
    before = jax.config.jax_default_device
    jax.config.update("jax_default_device", device)
    try:
        yield
    finally:
        jax.config.update("jax_default_device", before)


@pytest.fixture
def accelerator() -> Iterator[jax.Device]:
    """The accelerator, as JAX's default device."""
    device = find()
    with as_default(device):
        yield device


@contextlib.contextmanager
def declared_as_gpu(devices: Iterable[jax.Device]) -> Iterator[None]:
    """Makes the engine choose for these devices what it chooses for a GPU, but that it decodes nothing: they cannot."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(gpu_jpeg, "has_decoder", return_value=False))
        for device in devices:
            stack.enter_context(declared(device, "gpu"))
        yield


@contextlib.contextmanager
def nothing_comes_to_the_host() -> Iterator[None]:
    """Inside, whatever reads an array on a device raises DeviceReadError, or JAX's error of its guard."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(device_reads_forbidden())
        for name in _READERS:
            stack.enter_context(mock.patch.object(np, name, _refusing(getattr(np, name))))
        stack.enter_context(mock.patch.object(ArrayImpl, "__array__", _refusing(ArrayImpl.__array__)))
        value = ArrayImpl._value.fget
        stack.enter_context(mock.patch.object(ArrayImpl, "_value", property(_refusing(value))))
        yield


def _refusing(read: Any) -> Any:
    def checked(*args: Any, **options: Any) -> Any:
        for given in args:
            for one in given if isinstance(given, (list, tuple)) else [given]:
                if isinstance(one, jax.Array) and not isinstance(one, jax.core.Tracer) and not is_local(one):
                    raise DeviceReadError(
                        f"{read.__name__} of {one.dtype}{list(one.shape)} on {one.devices()}"
                    )
        return read(*args, **options)

    return checked
