"""Sums whose order of addition is fixed by the places of the elements, not by the size of the padding.

XLA adds up in an order of its own choice, which depends on the shape and on what is fused with the sum.
Here the order is written out, so no compiler may change it.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array, lax

from jdali._numeric import varying_like

_TERMS = 8  # products in one pass over the sums of `fixed_product`


def fixed_sum(value: Array, axes: Sequence[int], *, keep_dims: bool = False) -> Array:
    """Sum along axes, in the dtype of `value`; the same bits however many zeros follow along an axis.

    Axis by axis, the last one first, the upper half of the elements is added to the lower one until
    one is left. Halves are powers of two, so that zeros only add levels which change nothing. That is
    pairwise summation: the error grows with the logarithm of the size.

    Args:
        value: any shape, numbers. Padding is 0. Products have to be rounded: see `_exact`.
        axes: axes to sum over, 0 or more each.
        keep_dims: keep them with size 1.
    """
    if not jnp.issubdtype(value.dtype, jnp.inexact):
        return jnp.sum(value, axis=tuple(axes), keepdims=keep_dims, dtype=value.dtype)  # wraps around
    for axis in sorted(axes, reverse=True):
        value = _sum_along(value, axis)
    # Of nothing but -0 the sum would be 0 with padding and -0 without.
    value = jnp.where(value == 0, jnp.zeros((), value.dtype), value)
    return value if keep_dims else lax.squeeze(value, tuple(axes))


def fixed_product(matrix: Array, values: Array, axis: int) -> Array:
    """matrix · values along an axis; the same bits however many zeros follow along that axis.

    `_TERMS` products at a time are added to each other and then to the sum so far. A matrix product of
    XLA adds in an order that depends on all sizes of both operands, also on how many there are.

    Args:
        matrix: float32 [m, k].
        values: float32 [..., k, ...], with k elements along `axis`. Padding is 0.

    Returns: [..., m, ...].
    """
    rows = jnp.moveaxis(values, axis, 0)
    count = -(-len(rows) // _TERMS)
    short = count * _TERMS - len(rows)
    columns = jnp.pad(matrix.T, ((0, short), (0, 0))).reshape(count, _TERMS, len(matrix), 1)
    flat = jnp.pad(rows.reshape(len(rows), -1), ((0, short), (0, 0)))

    def add(total: Array, terms: tuple[Array, Array]) -> tuple[Array, None]:
        factors, elements = terms
        return total + fixed_sum(factors * elements[:, None], (0,)), None

    zero = varying_like(jnp.zeros((len(matrix), flat.shape[1]), values.dtype), matrix, values)
    total, _ = lax.scan(add, zero, (columns, flat.reshape(count, _TERMS, -1)))
    return jnp.moveaxis(total.reshape(len(matrix), *rows.shape[1:]), 0, axis)


def _sum_along(value: Array, axis: int) -> Array:
    """`value` with one element along `axis`."""
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
