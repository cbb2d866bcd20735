"""Names of JAX and XLA that no version promises: the one module that uses them.

Tried with the versions in `TRIED`; CI runs `tests/system/test_jax_internals.py` with JAX's newest and its oldest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import jax
import numpy as np

# The oldest and the newest version of JAX that all of this was tried with.
TRIED = ("0.10.0", "0.12.0.1")


@dataclasses.dataclass(frozen=True)
class XlaOption:
    """An option of XLA for a program on a CPU. No version promises it.

    Attributes:
        gives: its effect. without: the consequence where XLA does not know it. No bit of a result depends on an option.
    """

    name: str
    value: object
    gives: str
    without: str


ONE_THREAD = (
    XlaOption(
        "xla_disable_hlo_passes", "cpu-parallel-task-assigner",
        gives="XLA splits no loop of a small program among threads: the calls are in threads already",
        without="small programs wait for XLA's threads; sums have the same order",
    ),
    XlaOption(
        "xla_cpu_multi_thread_eigen", False,
        gives="a matrix product or a Fourier transform of a small program stays in its thread",
        without="small programs wait for XLA's threads; a transform is one row, a product one block of a fixed size",
    ),
)  # fmt: skip
OLDER_LOOPS = (
    XlaOption(
        "xla_cpu_use_fusion_emitters", False,
        gives="loops of JAX 0.10 that are faster on images than its newer ones",
        without="JAX 0.12 has the newer loops only, at the speed that benchmarks/RESULTS.md says",
    ),
)  # fmt: skip
WIDE_VECTORS = (
    XlaOption(
        "xla_cpu_prefer_vector_width", 512,
        gives="vectors of 64 bytes for operators that gain by them",
        without="vectors of 32 bytes",
    ),
)  # fmt: skip


class UnsupportedJaxError(RuntimeError):
    """The installed JAX lacks a name that jdali needs."""

    def __init__(self, name: str):
        super().__init__(
            f"jdali needs {name}, which JAX {jax.__version__} does not have. jdali was tried with JAX {TRIED[0]} to "
            f"{TRIED[1]}: install one of these, or a newer jdali."
        )


def jax_has_started() -> bool:
    """Returns True once JAX has its devices, and with them threads; no public function does."""
    try:
        from jax._src import xla_bridge

        started = xla_bridge.backends_are_initialized
    except (ImportError, AttributeError) as error:
        raise UnsupportedJaxError("jax._src.xla_bridge.backends_are_initialized") from error
    return bool(started())  # type: ignore[no-untyped-call,unused-ignore]


def cuda_versions() -> ModuleType | None:
    """Returns JAX's functions for the versions of CUDA's libraries; None without CUDA, or where JAX has no such module."""
    try:
        from jax._src.lib import cuda_versions as versions
    except ImportError:
        return None
    return versions


def placed_on_host(values: np.ndarray, device: jax.Device) -> jax.Array:
    """Makes an array of JAX over memory that never changes again, without a copy if it is aligned.

    `jax.device_put(values, device, may_alias=True)` does the same in five times the time: it looks for a pytree, a sharding
    and a tracer. It is the fallback where JAX lacks the function.
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
    """Counts the constants and the carried values of a `scan`, which come first among its operands.

    Args:
        params: of its equation. JAX 0.12 has a tree of the operands there, `ft_in`; versions before have the numbers.
    """
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    try:
        constants, carried, _ = params["ft_in"].update(operands).unpack()
    except (KeyError, AttributeError) as error:
        raise UnsupportedJaxError("`num_consts` or `ft_in` of the primitive `scan`") from error
    return len(list(constants)), len(list(carried))


def is_mapped(value: object) -> bool:
    """Returns True if `jax.vmap` maps over a value at this moment; False where this JAX does not tell."""
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
    """Computes what is known now as a constant, within a program that is being traced.

    Elsewhere nothing changes: JAX would read operands on the host.
    """
    with contextlib.nullcontext() if _traces_nothing() else jax.ensure_compile_time_eval():
        yield


def _traces_nothing() -> bool:
    try:
        from jax._src.core import trace_state_clean
    except ImportError:
        return not isinstance(jax.numpy.zeros(()), jax.core.Tracer)
    return bool(trace_state_clean())


def varying_axes(value: object) -> frozenset[str]:
    """Returns the axes of a mesh over which a value varies, inside of `jax.shard_map`; none elsewhere."""
    kind = jax.typeof(value)
    found = getattr(getattr(kind, "mat", None), "varying", None) or getattr(kind, "vma", None)
    return frozenset(found or ())


def known_options(options: Iterable[XlaOption]) -> dict[str, Any]:
    """Selects the options that this version of XLA knows, for `jax.jit(compiler_options=)`."""
    return {option.name: option.value for option in options if is_known(option)}


@functools.cache
def is_known(option: XlaOption) -> bool:
    """Returns True if this version of XLA knows an option; compiles a constant to find out."""
    trial = jax.jit(lambda: np.float32(0), compiler_options={option.name: option.value}).lower()
    try:
        trial.compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
