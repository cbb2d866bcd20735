"""Moves elements of a padded sample to another padded shape."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array


def linear_index(extent: Array, shape: Sequence[int]) -> Array:
    """Computes the row-major index of each element in a sample of size `extent`: int32 [*shape].

    Indices of elements past `extent` are unspecified.
    """
    linear = jnp.zeros((), jnp.int32)
    for axis, size in enumerate(shape):
        steps = jnp.arange(size, dtype=jnp.int32).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        linear = linear * extent[axis] + steps
    return jnp.broadcast_to(linear, tuple(shape))


def take_linear(data: Array, extent: Array, linear: Array) -> Array:
    """Takes elements of a padded sample by row-major indices in its true extent; for invalid indices, any element."""
    if data.size == 0:
        return jnp.zeros(linear.shape, data.dtype)
    index: list[Array] = []
    for axis in range(data.ndim - 1, -1, -1):
        size = jnp.maximum(extent[axis], 1)
        index.append(linear % size)
        linear = linear // size
    return data[tuple(reversed(index))] if index else jnp.broadcast_to(data, linear.shape)


def relayout(data: Array, extent: Array, out_extent: Array, out_shape: Sequence[int]) -> Array:
    """Moves the elements of a padded sample, in row-major order, to a new padded shape.

    Args:
        extent: int32 [ndim], true size of the data.
        out_extent: int32, the new true size, with the same number of elements.
        out_shape: the new padded shape.
    """
    return take_linear(data, extent, linear_index(out_extent, out_shape))
