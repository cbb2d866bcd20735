"""Comparisons, `min`, `max` and `clamp`; signed and unsigned integers compare by their true values.

Parity: DALI's CPU backend treats a negative integer as less than every float (-1 == -1.0 is
False); jdali compares them as floats.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._kernels.elementwise import elementwise
from jdali._kernels.promotion import common_type


@elementwise("eq", "comparison", common_operands=False)
def eq(left: Array, right: Array) -> Array:
    """Returns True where `left == right`."""
    return _compare(jnp.equal, left, right, negative_left=False, negative_right=False)


@elementwise("ne", "comparison", common_operands=False)
def ne(left: Array, right: Array) -> Array:
    """Returns True where `left != right`."""
    return _compare(jnp.not_equal, left, right, negative_left=True, negative_right=True)


@elementwise("lt", "comparison", common_operands=False)
def lt(left: Array, right: Array) -> Array:
    """Returns True where `left < right`."""
    return _compare(jnp.less, left, right, negative_left=True, negative_right=False)


@elementwise("le", "comparison", common_operands=False)
def le(left: Array, right: Array) -> Array:
    """Returns True where `left <= right`."""
    return _compare(jnp.less_equal, left, right, negative_left=True, negative_right=False)


@elementwise("gt", "comparison", common_operands=False)
def gt(left: Array, right: Array) -> Array:
    """Returns True where `left > right`."""
    return _compare(jnp.greater, left, right, negative_left=False, negative_right=True)


@elementwise("ge", "comparison", common_operands=False)
def ge(left: Array, right: Array) -> Array:
    """Returns True where `left >= right`."""
    return _compare(jnp.greater_equal, left, right, negative_left=False, negative_right=True)


@elementwise("min", "arithmetic")
def min(left: Array, right: Array) -> Array:
    """Returns the smaller value; `right` if they are equal or one is NaN."""
    return jnp.where(left < right, left, right)


@elementwise("max", "arithmetic")
def max(left: Array, right: Array) -> Array:
    """Returns the larger value; `right` if they are equal or one is NaN."""
    return jnp.where(left > right, left, right)


@elementwise("clamp", "arithmetic")
def clamp(value: Array, lo: Array, hi: Array) -> Array:
    """Replaces values below `lo` by `lo`, then values above `hi` by `hi`; NaN stays NaN."""
    raised = jnp.where(value < lo, lo, value)
    return jnp.where(raised > hi, hi, raised)


def _compare(
    function: Callable[[Array, Array], Array],
    left: Array,
    right: Array,
    *,
    negative_left: bool,
    negative_right: bool,
) -> Array:
    """Compares in the common type. Integers without a common type are compared by sign, then as unsigned integers.

    Args:
        negative_left: result where `left` is negative and `right` unsigned.
        negative_right: result where `right` is negative and `left` unsigned.
    """
    kinds = {left.dtype.kind, right.dtype.kind}
    unsigned = left.dtype if left.dtype.kind == "u" else right.dtype
    signed = right.dtype if left.dtype.kind == "u" else left.dtype
    if kinds != {"i", "u"} or unsigned.itemsize < 4 or signed.itemsize > unsigned.itemsize:
        common = common_type(np.dtype(left.dtype), np.dtype(right.dtype))
        return function(left.astype(common), right.astype(common))
    result = function(left.astype(unsigned), right.astype(unsigned))
    if left.dtype.kind == "i":
        return jnp.where(left < 0, negative_left, result)
    return jnp.where(right < 0, negative_right, result)
