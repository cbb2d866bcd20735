"""Platform of a program, where it is known while the program is traced.

`jax.lax.platform_dependent` traces all of its branches, and under `vmap` each of them several more times. The
engine makes a program for one platform: there only the branch of that platform is traced, a third of the work.

`JDALI_TRACE_FOR=gpu` in the environment, or `forced("gpu")` around code, traces every program for that platform, whatever
device it runs on: so the tests run the accelerators' branches on a CPU. `declared(device, "gpu")` makes the engine choose
for one device what it chooses for an accelerator: programs, rows of a call, padded shapes.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

F = TypeVar("F", bound=Callable[..., Any])

_KNOWN: ContextVar[str | None] = ContextVar("platform", default=None)
_FORCED: str | None = os.environ.get("JDALI_TRACE_FOR") or None
_DECLARED: dict[jax.Device, str] = {}


@contextlib.contextmanager
def tracing_for(platform: str) -> Iterator[None]:
    """Declares that code traced within is for devices of this platform: "cpu", "gpu", ..."""
    before = _KNOWN.set(platform)
    try:
        yield
    finally:
        _KNOWN.reset(before)


@contextlib.contextmanager
def forced(platform: str) -> Iterator[None]:
    """Traces all programs for this platform, in every thread. Programs that exist stay: jit functions anew inside."""
    global _FORCED
    before, _FORCED = _FORCED, platform
    try:
        yield
    finally:
        _FORCED = before


@contextlib.contextmanager
def declared(device: jax.Device, platform: str) -> Iterator[None]:
    """Gives a device this platform in `platform_of`, in every thread. Pipelines that were built before keep theirs."""
    _DECLARED[device] = platform
    try:
        yield
    finally:
        del _DECLARED[device]


def platform_of(device: jax.Device) -> str:
    """Returns the platform that the engine chooses programs, shapes and calls of a device for."""
    return _DECLARED.get(device, device.platform)


def known_platform() -> str | None:
    """Returns the platform that is forced, or that of `tracing_for`; None if neither is."""
    return _FORCED or _KNOWN.get()


def platform_dependent(
    *arguments: object,
    cpu: Callable[..., object],
    default: Callable[..., object],
    tpu: Callable[..., object] | None = None,
) -> Any:
    """Calls `cpu(*arguments)` on a CPU, `tpu(*arguments)` on a TPU if given, else `default(*arguments)`."""
    own = {"cpu": cpu} | ({} if tpu is None else {"tpu": tpu})
    known = known_platform()
    if known is None:
        return lax.platform_dependent(*arguments, default=default, **own)
    return own.get(known, default)(*arguments)


@jax.custom_batching.custom_vmap
def of_whole_batch(flag: Array) -> Array:
    """Returns True if a flag is set, under `vmap` for every sample: then it decides for all of them.

    `lax.cond` on a flag of each sample would work out both branches for all. The branches must give the same for a
    sample for which the flag is set.
    """
    return flag


@of_whole_batch.def_vmap
def _of_whole_batch(size: int, batched: Sequence[bool], flag: Array) -> tuple[Array, bool]:
    del size, batched
    every: Array = of_whole_batch(flag.all())
    return every, False


def one_program(**options: Any) -> Callable[[F], F]:
    """Applies `jax.jit`, so that a call outside of any program is one program too, for what asks for the platform.

    What `jax.jit` has traced for one platform is not used for another. In the engine's programs, whose platform is known,
    the function is called as it is: under `vmap`, a function of `jax.jit` is traced for one sample and then for the batch.

    Args:
        options: of `jax.jit`.
    """

    static = options.get("static_argnums", ())
    static = (static,) if isinstance(static, int) else static

    def decorate(function: F) -> F:
        compiled = jax.jit(function, **options)

        @functools.wraps(function)
        def call(*args: object) -> object:
            if known_platform() is None:
                return compiled(*args)
            return function(*(a if i in static else jax.tree.map(jnp.asarray, a) for i, a in enumerate(args)))

        call.clear_cache = compiled.clear_cache  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate
