"""Resets JAX's strict modes, which check the user's program; jdali is written for the default modes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax


@contextlib.contextmanager
def usual_modes() -> Iterator[None]:
    """Sets type promotion, rank promotion and transfers to JAX's defaults in this thread; also a decorator.

    It wraps jdali's work in the user's threads and in its own. It also wraps rules for derivatives and for `vmap`,
    which JAX may apply after the call that they belong to has returned.
    """
    with (
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        jax.transfer_guard("allow"),
    ):
        yield
