"""Finds the platform that a program is traced for.

`jax.lax.platform_dependent` traces all of its branches, and under `vmap` each of them several times. The engine compiles
a program for one platform and traces only the branch for this platform, which is a third of the work.

With `JDALI_TRACE_FOR=gpu` in the environment, or inside `forced("gpu")`, every program is traced for that platform. Tests
use this to run the accelerators' branches on a CPU. With `declared(device, "gpu")`, the engine treats one device as an
accelerator when it chooses programs, samples per call and padded shapes.
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
    """Declares the platform ("cpu", "gpu", ...) of programs that are traced inside the `with` block."""
    before = _KNOWN.set(platform)
    try:
        yield
    finally:
        _KNOWN.reset(before)


@contextlib.contextmanager
def forced(platform: str) -> Iterator[None]:
    """Traces all programs for this platform, in all threads. Functions that were traced before are not traced again."""
    global _FORCED
    before, _FORCED = _FORCED, platform
    try:
        yield
    finally:
        _FORCED = before


@contextlib.contextmanager
def declared(device: jax.Device, platform: str) -> Iterator[None]:
    """Makes `platform_of` return `platform` for a device, in all threads. Existing pipelines do not change."""
    _DECLARED[device] = platform
    try:
        yield
    finally:
        del _DECLARED[device]


def platform_of(device: jax.Device) -> str:
    """Returns the platform by which the engine chooses programs, shapes and calls for a device."""
    return _DECLARED.get(device, device.platform)


def known_platform() -> str | None:
    """Returns the platform set by `forced`, or else by `tracing_for`; None if neither is active."""
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
    """Returns the flag. Under `vmap`, returns one flag for the batch, which is True if the flags of all samples are True.

    `lax.cond` on a flag per sample would compute both branches for all samples. A sample whose flag is True takes the
    False branch if another sample's flag is False. So both branches must give the same result for this sample.
    """
    return flag


@of_whole_batch.def_vmap
def _of_whole_batch(size: int, batched: Sequence[bool], flag: Array) -> tuple[Array, bool]:
    del size, batched
    every: Array = of_whole_batch(flag.all())
    return every, False


def one_program(**options: Any) -> Callable[[F], F]:
    """Decorates a function that depends on the platform; applies `jax.jit` if the platform is not known.

    So a user's call compiles to one program. In the engine's programs the platform is known, and the function is called
    directly, because `jax.jit` would reuse a trace made for another platform, and would trace twice under `vmap`.
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
