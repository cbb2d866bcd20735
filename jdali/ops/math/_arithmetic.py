"""Arithmetic operators (`+ - * / // % **`, unary `+` and `-`) on operands of the promoted type; integers wrap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec
from jdali._kernels.elementwise import elementwise
from jdali._operators.record import operator


def _refuse_zero(name: str, operands: Sequence[BatchSpec], constants: Mapping[str, object]) -> None:
    used = operands[0].batch_size > 0  # a branch may have no samples
    whole = all(spec.dtype.kind in "biu" for spec in operands)
    if used and whole and "right" in constants and (np.asarray(constants["right"]) == 0).any():
        raise ValueError(f"{name}: Integer division by zero. The divisor is a constant with a 0 in it")


@elementwise("add", "arithmetic")
def add(left: Array, right: Array) -> Array:
    """Adds; integers wrap around."""
    return left + right


@elementwise("sub", "arithmetic")
def sub(left: Array, right: Array) -> Array:
    """Subtracts; integers wrap around."""
    return left - right


@elementwise("mul", "multiplication")
def mul(left: Array, right: Array) -> Array:
    """Multiplies; integers wrap around, and the product of booleans is their logical and."""
    return left * right


@elementwise("div", "real")
def div(left: Array, right: Array) -> Array:
    """Divides `left / right` as real numbers; integers are converted to float32.

    Returns: the broadcast shape, in the promoted floating type; infinite or NaN where `right` is 0.
    """
    return _quotient(left, right)


def _quotient(left: Array, right: Array) -> Array:
    """Divides floats, rounding once.

    XLA turns a division by a constant into a product with the reciprocal, which rounds twice. The `where` hides from XLA that
    the divisor is a constant. It changes the divisor only where `left` is NaN, and the quotient is NaN in any case.
    """
    return left / jnp.where(jnp.isnan(left), left, right)


@elementwise("floordiv", "arithmetic", check=_refuse_zero)
def floordiv(left: Array, right: Array) -> Array:
    """Divides `left // right`. Integer quotients are truncated towards zero (-7 // 2 is -3); float quotients keep the fraction.

    Returns: the broadcast shape, in the promoted type. For integers, 0 where `right` is 0.

    Raises: ValueError if integers are divided by a constant that has a 0 in it.

    Parity: DALI raises on any integer division by zero; compiled code cannot raise.
    """
    return _divide(lax.div, left, right)


@elementwise("mod", "arithmetic", check=_refuse_zero)
def mod(left: Array, right: Array) -> Array:
    """Computes the remainder of a division that rounds towards zero. As in C's `fmod`, the remainder has the sign of `left`.

    Returns: the broadcast shape, in the promoted type. Where `right` is 0: NaN for floats, 0 for integers.

    Raises: ValueError if integers are divided by a constant that has a 0 in it.

    Parity: DALI raises on any integer division by zero; compiled code cannot raise. DALI computes the remainder of a
    float32 and an integer beyond 2**24 in double precision.
    """
    return _divide(lax.rem, left, right)


def _divide(function: Callable[[Array, Array], Array], left: Array, right: Array) -> Array:
    left, right = jnp.broadcast_arrays(left, right)
    if jnp.issubdtype(right.dtype, jnp.floating):
        return _quotient(left, right) if function is lax.div else function(left, right)
    zero = right == 0
    quotient = function(left, jnp.where(zero, jnp.ones((), right.dtype), right))
    return jnp.where(zero, jnp.zeros((), left.dtype), quotient)


@elementwise("pow", "arithmetic")
def pow(base: Array, exponent: Array) -> Array:
    """Raises `base` to the power of `exponent`. For integers, overflow wraps around and a negative exponent gives 0."""
    if jnp.issubdtype(base.dtype, jnp.floating):
        return jnp.power(base, exponent)
    base, exponent = jnp.broadcast_arrays(base, exponent)
    one = jnp.ones((), base.dtype)
    result = jnp.where(exponent < 0, jnp.zeros((), base.dtype), one)
    for bit in range(8 * np.dtype(base.dtype).itemsize):
        odd = (lax.shift_right_logical(exponent, jnp.array(bit, exponent.dtype)) & one) == one
        result = jnp.where(odd, result * base, result)
        base = base * base
    return result


@elementwise("fpow", "real")
def fpow(base: Array, exponent: Array) -> Array:
    """Raises `base` to the power of `exponent` as real numbers; integers are converted to float32."""
    return jnp.power(base, exponent)


@elementwise("neg", "arithmetic")
def neg(value: Array) -> Array:
    """Negates the value; integers wrap around."""
    return -value


@operator(name="math.pos")
def pos(value: Array, /) -> Array:
    """Returns the value itself, of any type."""
    return value
