"""Names of JAX and XLA that no version promises: the one module that uses them.

Tried with the versions in `TRIED`. `tests/system/test_jax_internals.py` runs with any; CI runs it with JAX's newest.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import jax
import numpy as np

# The oldest and the newest version of JAX that all of this was tried with.
TRIED = ("0.10.0", "0.10.2")

# Options of XLA for a CPU. One thread for a call: XLA splits no loops, transforms or matrix products.
ONE_THREAD = {"xla_disable_hlo_passes": "cpu-parallel-task-assigner", "xla_cpu_multi_thread_eigen": False}
# XLA's older loops. The newer ones compute exp, log and atan with other polynomials where 5 to 7 elements are left
# over, so results would depend on the shape; and on images they were slower.
SAME_LOOPS = {"xla_cpu_use_fusion_emitters": False}
WIDE_VECTORS = {"xla_cpu_prefer_vector_width": 512}


class UnsupportedJaxError(RuntimeError):
    """The installed JAX lacks a name that jdali needs."""

    def __init__(self, name: str):
        super().__init__(
            f"jdali needs {name}, which JAX {jax.__version__} does not have. jdali was tried with JAX {TRIED[0]} to "
            f"{TRIED[1]}: install one of these, or a newer jdali."
        )


def jax_has_started() -> bool:
    """True once JAX has its devices, and with them threads. No public function tells."""
    try:
        from jax._src import xla_bridge

        started = xla_bridge.backends_are_initialized
    except (ImportError, AttributeError) as error:
        raise UnsupportedJaxError("jax._src.xla_bridge.backends_are_initialized") from error
    return bool(started())  # type: ignore[no-untyped-call,unused-ignore]


def cuda_versions() -> ModuleType | None:
    """JAX's functions for the versions of CUDA's libraries; None without CUDA, or where JAX has no such module."""
    try:
        from jax._src.lib import cuda_versions as versions
    except ImportError:
        return None
    return versions


def placed_on_host(values: np.ndarray, device: jax.Device) -> jax.Array:
    """An array of JAX over memory that never changes again, without a copy if it is aligned.

    `jax.device_put(values, device, may_alias=True)` is the same, five times as slow: it looks for a pytree, a sharding
    and a tracer. Where JAX has no such function, that is what this calls.
    """
    placed: jax.Array
    functions = _placing_functions()
    if functions is None:
        placed = jax.device_put(values, device, may_alias=True)
    else:
        put, array_type = functions
        shape = array_type(values.shape, values.dtype)
        placed = put(shape, _sharding(device), [values], [device], committed=True)
    return placed


@functools.cache
def _placing_functions() -> tuple[Any, Any] | None:
    try:
        from jax._src.interpreters.pxla import batched_device_put
        from jax.core import ShapedArray
    except ImportError:
        return None
    return batched_device_put, ShapedArray


@functools.cache
def _sharding(device: jax.Device) -> jax.sharding.Sharding:
    return jax.sharding.SingleDeviceSharding(device)


def threefry_primitive() -> jax.extend.core.Primitive:
    """The primitive of JAX's random bits. Importing it takes 50 ms, for it brings Pallas: when a program is traced."""
    try:
        from jax.extend.random import threefry2x32_p
    except ImportError as error:
        raise UnsupportedJaxError("jax.extend.random.threefry2x32_p") from error
    return threefry2x32_p


def jaxpr_types() -> ModuleType:
    """The module of jaxprs, equations and variables."""
    try:
        from jax.extend import core
    except ImportError as error:
        raise UnsupportedJaxError("jax.extend.core") from error
    return core


def is_mapped(value: object) -> bool:
    """True if `jax.vmap` maps over a value at this moment; False where this JAX does not tell."""
    tracer = _mapped_type()
    return tracer is not None and isinstance(value, tracer)


@functools.cache
def _mapped_type() -> type | None:
    try:
        from jax._src.interpreters.batching import BatchTracer
    except ImportError:
        return None
    return BatchTracer


def varying_axes(value: object) -> frozenset[str]:
    """The axes of a mesh over which a value varies, inside of `jax.shard_map`; none elsewhere."""
    kind = jax.typeof(value)
    found = getattr(getattr(kind, "mat", None), "varying", None) or getattr(kind, "vma", None)
    return frozenset(found or ())


def known_options(options: dict[str, object]) -> dict[str, Any]:
    """The options that this version of XLA has; without the others programs are slower, not wrong."""
    return {name: value for name, value in options.items() if _is_known(name, value)}


@functools.cache
def _is_known(name: str, value: object) -> bool:
    trial = jax.jit(lambda: np.float32(0), compiler_options={name: value}).lower()
    try:
        trial.compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
