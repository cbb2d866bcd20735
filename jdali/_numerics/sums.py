"""Adds in an order that depends on the positions of the elements alone, not on the padding.

The order in which XLA adds depends on the shape and on the operations that it fuses with the sum. The functions here add by
explicit operations, whose order XLA does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array, lax

_BLOCK = 64  # elements per axis of the matrix products in `fixed_product`; 32 and 128 take as long


def fixed_sum(value: Array, axes: Sequence[int], *, keep_dims: bool = False) -> Array:
    """Sums along axes, in the dtype of `value`; zeros at the end of an axis do not change the bits.

    The last axis is summed first. Each step adds value[n:] to the start of value[:n], where n is the largest power of
    two below the size, until one element is left. So further zeros only add steps that change nothing. As in all
    pairwise summation, the error grows with the logarithm of the size.

    Args:
        value: numbers of any shape, padded with 0. Products must be rounded, see `exact`.
        axes: axes to sum over, not negative.
    """
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return jnp.sum(value, axis=tuple(axes), keepdims=keep_dims, dtype=value.dtype)  # integers wrap around
    for axis in sorted(axes, reverse=True):
        value = _sum_along(value, axis)
    # A sum of only -0 would be 0 with padding and -0 without.
    value = jnp.where(value == 0, jnp.zeros((), value.dtype), value)
    return value if keep_dims else lax.squeeze(value, tuple(axes))


def fixed_product(matrix: Array, values: Array, axis: int) -> Array:
    """Multiplies matrix · values along an axis; padding at the end of any axis does not change the bits.

    XLA's matrix product adds in an order that depends on all sizes of both operands. So the operands are cut into
    blocks of a fixed size. A block of `values` has `_BLOCK` elements along `axis` and along the last other axis. The
    products of the blocks are added in a fixed order.

    Args:
        matrix: float32 [m, k].
        values: float32 [..., k, ...], with k elements along `axis`. Padding is 0.

    Returns: [..., m, ...].
    """
    if values.ndim == 1:
        return lax.squeeze(fixed_product(matrix, values[:, None], 0), (1,))
    columns = jnp.moveaxis(values, axis, -2)
    *lead, k, n = columns.shape
    blocks, tiles = -(-k // _BLOCK), -(-n // _BLOCK)
    short = blocks * _BLOCK - k
    padding = [*[(0, 0)] * len(lead), (0, short), (0, tiles * _BLOCK - n)]
    right = jnp.pad(columns, padding).reshape(*lead, blocks, _BLOCK, tiles, _BLOCK).swapaxes(-3, -2)
    left = jnp.pad(matrix, ((0, 0), (0, short))).reshape(len(matrix), blocks, 1, _BLOCK)
    left = jnp.broadcast_to(jnp.moveaxis(left, 0, -2), (*lead, blocks, tiles, len(matrix), _BLOCK))
    products = jnp.matmul(left, right, precision=lax.Precision.HIGHEST)
    total = fixed_sum(products, (len(lead),)).swapaxes(-3, -2)
    result = total.reshape(*lead, len(matrix), tiles * _BLOCK)[..., :n]
    return jnp.moveaxis(result, -2, axis)


def _sum_along(value: Array, axis: int) -> Array:
    size = value.shape[axis]
    if size == 0:
        return jnp.zeros((*value.shape[:axis], 1, *value.shape[axis + 1 :]), value.dtype)
    while size > 1:
        half = 1 << ((size - 1).bit_length() - 1)
        lower, upper = (lax.slice_in_dim(value, *ends, axis=axis) for ends in ((0, half), (half, size)))
        if size < 2 * half:
            rest = lax.slice_in_dim(lower, size - half, half, axis=axis)
            lower = lax.slice_in_dim(lower, 0, size - half, axis=axis)
            value = lax.concatenate([lower + upper, rest], axis)
        else:
            value = lower + upper
        size = half
    return value
