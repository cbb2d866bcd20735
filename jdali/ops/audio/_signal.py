"""What the audio operators share: checks of their input, and indices mirrored at a signal's ends."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._extent import BatchSpec


def require_float32(name: str, spec: BatchSpec) -> None:
    """DALI's audio operators take FLOAT only."""
    if spec.dtype != np.float32:
        raise ValueError(f"{name}: takes float32, got {spec.dtype}; cast it first")


def reflect_101(position: Array, length: Array) -> Array:
    """Index within [0, length) of a position mirrored at the first and last sample, as often as needed.

    The border sample is not repeated: of 4 samples, positions -2 to 5 are 2 1 0 1 2 3 2 1.
    """
    period = jnp.maximum(2 * (length - 1), 1)
    folded = position % period
    return jnp.where(folded >= length, period - folded, folded)


def along_axis(values: Array, axis: int, ndim: int) -> Array:
    """A vector as an array of `ndim` axes that broadcasts along `axis`."""
    shape: list[Any] = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)
