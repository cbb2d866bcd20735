"""Uses private names of JAX and XLA, which may change with any version. No other module uses private names.

`TRIED` has the tested versions; CI runs `tests/system/test_jax_internals.py` with the newest and the oldest JAX.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np

# The oldest and the newest tested version of JAX.
TRIED = ("0.10.0", "0.12.0.1")


class XlaOption(NamedTuple):
    """An XLA option for programs on a CPU. Not every version of XLA has it; no option changes the bits of a result."""

    name: str
    value: object


# XLA splits no loop of a small program among threads: the calls are in threads already. A matrix product or a Fourier
# transform of a small program stays in its thread. Without these options, small programs wait for XLA's threads; sums have the
# same order, a transform is one row, a product one block of a fixed size.
ONE_THREAD = (
    XlaOption("xla_disable_hlo_passes", "cpu-parallel-task-assigner"),
    XlaOption("xla_cpu_multi_thread_eigen", False),
)
# Loops of JAX 0.10 that are faster on images than its newer ones. JAX 0.12 has the newer loops only, at the speed that
# benchmarks/RESULTS.md says.
OLDER_LOOPS = (XlaOption("xla_cpu_use_fusion_emitters", False),)
# Vectors of 64 bytes, for operators that gain by them; without it, of 32 bytes.
WIDE_VECTORS = (XlaOption("xla_cpu_prefer_vector_width", 512),)


class UnsupportedJaxError(RuntimeError):
    """The installed JAX lacks a name that jdali needs."""

    def __init__(self, name: str):
        super().__init__(
            f"jdali needs {name}, which JAX {jax.__version__} does not have. jdali was tried with JAX {TRIED[0]} to "
            f"{TRIED[1]}: install one of these, or a newer jdali."
        )


def jax_has_started() -> bool:
    """Returns True if JAX has initialized its devices and thus started threads. JAX has no public function for this."""
    try:
        from jax._src import xla_bridge

        started = xla_bridge.backends_are_initialized
    except (ImportError, AttributeError) as error:
        raise UnsupportedJaxError("jax._src.xla_bridge.backends_are_initialized") from error
    return bool(started())  # type: ignore[no-untyped-call,unused-ignore]


def cuda_versions() -> ModuleType | None:
    """Returns JAX's module with the versions of CUDA's libraries; None if it does not exist."""
    try:
        from jax._src.lib import cuda_versions as versions
    except ImportError:
        return None
    return versions


def placed_on_host(values: np.ndarray, device: jax.Device) -> jax.Array:
    """Makes a JAX array from NumPy values, without a copy if they are aligned. The values must never change again.

    `jax.device_put(values, device, may_alias=True)` takes five times as long, because it checks for pytrees,
    shardings and tracers. This function falls back to it if JAX lacks the private function used here.
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


def scan_sizes(params: Mapping[str, Any], operands: Sequence[object]) -> tuple[int, int]:
    """Returns how many operands of a `scan` are constants (they come first), and how many are carried (they follow).

    Args:
        params: parameters of the `scan` equation. In JAX 0.12 they have `ft_in`, a tree of the operands; in older
            versions they have the two numbers.
    """
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    try:
        constants, carried, _ = params["ft_in"].update(operands).unpack()
    except (KeyError, AttributeError) as error:
        raise UnsupportedJaxError("`num_consts` or `ft_in` of the primitive `scan`") from error
    return len(list(constants)), len(list(carried))


def is_mapped(value: object) -> bool:
    """Returns True if `jax.vmap` is mapping over a value; False if JAX lacks the private name."""
    tracer = _mapped_type()
    return tracer is not None and isinstance(value, tracer)


@functools.cache
def _mapped_type() -> type | None:
    try:
        from jax._src.interpreters.batching import BatchTracer
    except ImportError:
        return None
    return BatchTracer


@contextlib.contextmanager
def computed_now() -> Iterator[None]:
    """Computes known values immediately inside a traced program, so that they become constants.

    Does nothing outside a trace, where JAX would copy the operands to the host.
    """
    with contextlib.nullcontext() if traces_nothing() else jax.ensure_compile_time_eval():
        yield


def traces_nothing() -> bool:
    try:
        from jax._src.core import trace_state_clean
    except ImportError:
        return not isinstance(jax.numpy.zeros(()), jax.core.Tracer)
    return bool(trace_state_clean())


def varying_axes(value: object) -> frozenset[str]:
    """Returns the mesh axes over which a value varies inside `jax.shard_map`; none outside."""
    kind = jax.typeof(value)
    found = getattr(getattr(kind, "mat", None), "varying", None) or getattr(kind, "vma", None)
    return frozenset(found or ())


def known_options(options: Iterable[XlaOption]) -> dict[str, Any]:
    """Returns the options that this version of XLA has, as `jax.jit(compiler_options=)` takes them."""
    return {option.name: option.value for option in options if is_known(option)}


@functools.cache
def is_known(option: XlaOption) -> bool:
    """Returns True if this version of XLA has an option; compiles a constant to find out."""
    trial = jax.jit(lambda: np.float32(0), compiler_options={option.name: option.value}).lower()
    try:
        trial.compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
