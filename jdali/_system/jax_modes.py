"""Resets JAX's strict modes while jdali works, because jdali is written for the default modes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax

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
