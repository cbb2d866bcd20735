"""Sets JAX's modes while jdali works: strict modes and meshes of the user's do not count, 64 bits and devices do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from jdali._system.jax_internals import traces_nothing

_ALLOWED = (None, "allow")


@contextlib.contextmanager
def usual_modes() -> Iterator[None]:
    """Sets type promotion, rank promotion and transfers to JAX's defaults in this thread; also a decorator.

    All work of jdali runs in this context, in all threads. So do rules for derivatives and `vmap`, because JAX may apply them
    after the wrapped call has returned.
    """
    if _are_usual():  # this check takes 1.5 us, and setting the modes 20 us
        yield
        return
    with (
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        jax.transfer_guard("allow"),
    ):
        yield


@contextlib.contextmanager
def batch_modes() -> Iterator[None]:
    """Sets the modes in which batches are made: `usual_modes`, and no mesh; also a decorator.

    The mesh of `jax.set_mesh` would have to be that of each program, and programs of batches have meshes of their own. Inside
    of a trace the mesh stays, because JAX does not let it be set there.
    """
    meshless = jax.sharding.get_abstract_mesh().empty
    if meshless and _are_usual():
        yield
        return
    stays = meshless or not traces_nothing()
    with usual_modes(), contextlib.nullcontext() if stays else jax.set_mesh(Mesh(np.empty((), object), ())):
        yield


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    """Turns off `jax_debug_nans` and `jax_debug_infs`: the padding of samples is unspecified, and may hold both.

    A program that works on padded samples is called in this context. Functions of the user's are checked.
    """
    modes: Any = jax.config
    if not (modes.jax_debug_nans or modes.jax_debug_infs):
        yield
        return
    with jax.debug_nans(False), jax.debug_infs(False):
        yield


def modes_here() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Returns a context for another thread, with the 64-bit mode and the default device of this thread.

    `with jax.enable_x64(True)` and `with jax.default_device(...)` set them in one thread only.
    """
    modes: Any = jax.config
    x64, device = modes.jax_enable_x64, modes.jax_default_device

    @contextlib.contextmanager
    def as_here() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            # What all threads have is not set, so that later calls of `jax.config.update` count.
            if modes.jax_enable_x64 != x64:
                stack.enter_context(jax.enable_x64(x64))
            if modes.jax_default_device != device:
                stack.enter_context(jax.default_device(device))
            yield

    return as_here


def _are_usual() -> bool:
    modes: Any = jax.config
    usual: bool = (
        modes.jax_numpy_dtype_promotion == "standard"
        and modes.jax_numpy_rank_promotion == "allow"
        and modes.jax_transfer_guard_host_to_device in _ALLOWED
        and modes.jax_transfer_guard_device_to_device in _ALLOWED
        and modes.jax_transfer_guard_device_to_host in _ALLOWED
    )
    return usual
