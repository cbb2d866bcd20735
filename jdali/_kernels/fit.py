"""Cuts or pads a result to the padded shape that the engine needs."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array


def fit(value: Array, shape: Sequence[int]) -> Array:
    """Cuts or zero-pads `value` to `shape` at the end of each axis. Callers make sure that only padding is cut off."""
    cut = value[tuple(slice(0, n) for n in shape)]
    missing = [(0, n - have) for n, have in zip(shape, cut.shape, strict=True)]
    return jnp.pad(cut, missing) if any(after for _, after in missing) else cut
