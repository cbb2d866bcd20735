"""JAX's modes that find mistakes in a program of the user's; jdali's own is written for the usual ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax

_ALLOWED = (None, "allow")


@contextlib.contextmanager
def usual_modes() -> Iterator[None]:
    """Resets promotion of types and ranks and transfers of arrays to JAX's defaults, in this thread.

    Also a decorator. It is on what jdali does in the user's threads and in its own, and on rules for derivatives and
    batches: JAX may apply these when the call that they belong to has returned.
    """
    if _are_usual():  # a fortieth of the time of setting them
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
