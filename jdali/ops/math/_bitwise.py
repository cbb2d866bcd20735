"""Bitwise operators, on operands of the promoted integer type."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._kernels.elementwise import elementwise


@elementwise("bitand", "bitwise")
def bitand(left: Array, right: Array) -> Array:
    """Keeps the bits that are set in both operands. For booleans, this is the logical and."""
    return left & right


@elementwise("bitor", "bitwise")
def bitor(left: Array, right: Array) -> Array:
    """Keeps the bits that are set in either operand or in both. For booleans, this is the logical or."""
    return left | right


@elementwise("bitxor", "bitwise")
def bitxor(left: Array, right: Array) -> Array:
    """Keeps the bits that are set in only one operand. For booleans, this is the exclusive or."""
    return left ^ right


@elementwise("bitnot", "bitwise")
def bitnot(value: Array) -> Array:
    """Inverts all bits; booleans are negated."""
    return ~value


@elementwise("lshift", "bitwise")
def lshift(left: Array, right: Array) -> Array:
    """Shifts `left` up by `right` bits; `right` counts modulo 32, or modulo 64 for 64-bit types."""
    return _shift(lax.shift_left, left, right)


@elementwise("rshift", "bitwise")
def rshift(left: Array, right: Array) -> Array:
    """Shifts `left` down by `right` bits; `right` counts modulo 32, or modulo 64 for 64-bit types.

    Returns: the broadcast shape, in the promoted type; the sign is kept.
    """
    signed = jnp.issubdtype(left.dtype, jnp.signedinteger)
    return _shift(lax.shift_right_arithmetic if signed else lax.shift_right_logical, left, right)


def _shift(function: Callable[[Array, Array], Array], left: Array, right: Array) -> Array:
    """Shifts as C does on x86, where narrow types are widened to 32 bits first."""
    dtype = np.dtype(left.dtype)
    if dtype.itemsize < 4:
        wide = jnp.int32 if dtype.kind == "i" else jnp.uint32
        left, right = left.astype(wide), right.astype(wide)
    left, right = jnp.broadcast_arrays(left, right)
    distance = right & jnp.array(8 * right.dtype.itemsize - 1, right.dtype)
    shifted = function(left, distance)
    return shifted != 0 if dtype.kind == "b" else shifted.astype(dtype)
