"""Functions of `nvidia.dali.math` with one operand, and `atan2`; all but `abs` return float32 for integers."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._kernels.elementwise import elementwise


@elementwise("abs", "arithmetic")
def abs(input: Array) -> Array:
    """Computes the absolute value. For signed integers, the smallest value has no positive counterpart and does not change."""
    return jnp.abs(input)


@elementwise("fabs", "real")
def fabs(input: Array) -> Array:
    """Computes the absolute value as a real number."""
    return jnp.abs(input)


@elementwise("floor", "real")
def floor(input: Array) -> Array:
    """Rounds down to a whole number."""
    return jnp.floor(input)


@elementwise("ceil", "real")
def ceil(input: Array) -> Array:
    """Rounds up to a whole number."""
    return jnp.ceil(input)


@elementwise("sqrt", "real")
def sqrt(input: Array) -> Array:
    """Computes the square root; NaN for negative values."""
    return jnp.sqrt(input)


@elementwise("rsqrt", "real")
def rsqrt(input: Array) -> Array:
    """Computes one over the square root; infinite for 0.

    Parity: DALI returns NaN for 0; for other values, its relative error is about 1e-7.
    """
    return lax.rsqrt(input)


@elementwise("cbrt", "real")
def cbrt(input: Array) -> Array:
    """Computes the cube root, negative for negative values."""
    return jnp.cbrt(input)


@elementwise("exp", "real")
def exp(input: Array) -> Array:
    """Raises e to the power of the value."""
    return jnp.exp(input)


@elementwise("log", "real")
def log(input: Array) -> Array:
    """Computes the natural logarithm; minus infinity for 0, NaN for negative values."""
    return jnp.log(input)


@elementwise("log2", "real")
def log2(input: Array) -> Array:
    """Computes the logarithm to base 2; minus infinity for 0, NaN for negative values."""
    logarithm = jnp.log(input)
    # Multiplies by the reciprocal, because XLA turns a division by a constant into this product only for some shapes.
    one, two = logarithm.dtype.type(1), logarithm.dtype.type(np.log(2))
    return logarithm * (one / two)


@elementwise("log10", "real")
def log10(input: Array) -> Array:
    """Computes the logarithm to base 10; minus infinity for 0, NaN for negative values."""
    return jnp.log10(input)


@elementwise("sin", "real")
def sin(input: Array) -> Array:
    """Computes the sine of an angle in radians."""
    return jnp.sin(input)


@elementwise("cos", "real")
def cos(input: Array) -> Array:
    """Computes the cosine of an angle in radians."""
    return jnp.cos(input)


@elementwise("tan", "real")
def tan(input: Array) -> Array:
    """Computes the tangent of an angle in radians."""
    return jnp.tan(input)


@elementwise("asin", "real")
def asin(input: Array) -> Array:
    """Computes the angle in radians, from -pi/2 to pi/2, whose sine is the value; NaN outside of -1 to 1."""
    return jnp.arcsin(input)


@elementwise("acos", "real")
def acos(input: Array) -> Array:
    """Computes the angle in radians, from 0 to pi, whose cosine is the value; NaN outside of -1 to 1."""
    return jnp.arccos(input)


@elementwise("atan", "real")
def atan(input: Array) -> Array:
    """Computes the angle in radians, from -pi/2 to pi/2, whose tangent is the value."""
    return jnp.arctan(input)


def _root_of_exp(input: Array) -> Array:
    """Computes exp(x / 2). `0.5 * root * root` overflows later than exp(x), and is more exact than exp(x - log 2)."""
    return jnp.exp(0.5 * input)


@elementwise("sinh", "real")
def sinh(input: Array) -> Array:
    """Computes the hyperbolic sine."""
    root, less_one = _root_of_exp(input), jnp.expm1(jnp.clip(input, -1, 1))
    # Near 0, exp(x) and exp(-x) are near 1, so their difference would lose digits. `expm1` avoids this loss.
    near = 0.5 * (less_one + less_one / (less_one + 1))
    return jnp.where(jnp.abs(input) < 1, near, 0.5 * root * root - 0.5 / root / root)


@elementwise("cosh", "real")
def cosh(input: Array) -> Array:
    """Computes the hyperbolic cosine."""
    root = _root_of_exp(input)
    return 0.5 * root * root + 0.5 / root / root


@elementwise("tanh", "real")
def tanh(input: Array) -> Array:
    """Computes the hyperbolic tangent."""
    return jnp.tanh(input)


@elementwise("asinh", "real")
def asinh(input: Array) -> Array:
    """Computes the inverse hyperbolic sine."""
    return jnp.arcsinh(input)


@elementwise("acosh", "real")
def acosh(input: Array) -> Array:
    """Computes the inverse hyperbolic cosine; NaN below 1."""
    return jnp.arccosh(input)


@elementwise("atanh", "real")
def atanh(input: Array) -> Array:
    """Computes the inverse hyperbolic tangent; NaN outside of -1 to 1."""
    return jnp.arctanh(input)


@elementwise("atan2", "real")
def atan2(x: Array, y: Array) -> Array:
    """Computes the angle in radians, from -pi to pi, whose tangent is `x / y`; the signs of both determine the quadrant."""
    return jnp.arctan2(x, y)
