"""Computes elementary functions whose results have the same bits in every program.

XLA expands these functions to polynomials. Their bits vary, because XLA fuses products with sums only in some loops,
and has different polynomials for vectors and for single values. Reciprocal roots start with an instruction whose
rounding differs by processor. `exact` replaces JAX's primitives by the functions of `IN_PLACE` and rounds their
products. The results then have the same bits in any shape, with any vector width, and on accelerators. The largest
error is 2.5 units in the last place.

`sin`, `cos`, `tan`, `atan2`, `pow` and `cbrt` are not replaced: on a CPU they call the C library for each element.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax


@dataclasses.dataclass(frozen=True)
class _Format:
    """Constants of a floating-point type.

    Attributes:
        signed: the integer type of the same size.
        mantissa: number of stored mantissa bits.
        ln2: log(2) in two parts. The first has few enough bits that its products with exponents are exact.
        exp_terms, log_terms: number of terms of the series in `_less_one` and `_log_of`. The first omitted term is less
            than half a unit in the last place.
    """

    signed: Any
    mantissa: int
    ln2: tuple[float, float]
    exp_terms: int
    log_terms: int

    @property
    def bias(self) -> int:
        return (1 << (np.iinfo(self.signed).bits - self.mantissa - 2)) - 1


_FORMATS = {
    np.dtype(np.float32): _Format(np.int32, 23, (0.693138122558594, 9.05800061445916e-06), 8, 6),
    np.dtype(np.float64): _Format(np.int64, 52, (0.6931471803691238, 1.9082149292705877e-10), 14, 12),
}


def exp(x: Array) -> Array:
    exponent, rest = _exp_parts(x)
    return _scaled(1 + rest, exponent)


def exp2(x: Array) -> Array:
    form, x = _FORMATS[x.dtype], _within_exponents(x)
    exponent = jnp.round(x)
    rest = _less_one(_constant(x, math.log(2)) * (x - exponent))
    return _scaled(1 + rest, jnp.where(jnp.isnan(x), 0, exponent).astype(form.signed))


def expm1(x: Array) -> Array:
    exponent, rest = _exp_parts(x)
    digits = _FORMATS[x.dtype].mantissa + 2  # for larger exponents, exp(x) - 1 rounds to exp(x)
    small = _scaled(rest, exponent) + (_power(x, jnp.clip(exponent, -digits, digits)) - 1)
    return jnp.where(exponent > digits, _scaled(1 + rest, exponent), small)


def log(x: Array) -> Array:
    return _at_ends(_log_of(*_split(x), jnp.zeros_like(x)), x)


def log1p(x: Array) -> Array:
    # The comparison keeps the compiler from simplifying `whole - 1` to x.
    whole = jnp.where(x < _constant(x, 2.0**60), 1 + x, x)
    # The rounding error of the sum 1 + x, relative to the sum. It is added later: log(w + error) ≈ log(w) + error / w.
    lost = jnp.where(x < 1, x - (whole - 1), 1 - (whole - x)) / whole
    return jnp.where(x == 0, x, _at_ends(_log_of(*_split(whole), lost), whole))


def tanh(x: Array) -> Array:
    rest = expm1(-2 * jnp.abs(x))
    return jnp.copysign(rest / (rest + 2), x)


def logistic(x: Array) -> Array:
    return 1 / (1 + exp(-x))


def asinh(x: Array) -> Array:
    size = jnp.abs(x)
    large = size > _constant(x, 2.0**30)
    square = jnp.square(jnp.where(large, 1, size))
    small = log1p(size + square / (1 + jnp.sqrt(square + 1)))
    return jnp.copysign(jnp.where(large, log(size) + _constant(x, math.log(2)), small), x)


def acosh(x: Array) -> Array:
    large = x > _constant(x, 2.0**30)
    more = jnp.where(large, 1, x - 1)
    return jnp.where(
        large, log(x) + _constant(x, math.log(2)), log1p(more + jnp.sqrt(2 * more + jnp.square(more)))
    )


def atanh(x: Array) -> Array:
    size = jnp.abs(x)
    return jnp.copysign(_constant(x, 0.5) * log1p(2 * size / (1 - size)), x)


def atan(x: Array) -> Array:
    # The scale depends on x, because XLA would replace `atan2(x, 1)` by a polynomial of its own.
    scale = jnp.where(jnp.abs(x) < 1, _constant(x, 1), _constant(x, 0.5))
    return lax.atan2(x * scale, scale)


def asin(x: Array) -> Array:
    return lax.atan2(x, jnp.sqrt((1 - x) * (1 + x)))


def acos(x: Array) -> Array:
    return lax.atan2(jnp.sqrt((1 - x) * (1 + x)), x)


def rsqrt(x: Array) -> Array:
    return 1 / jnp.sqrt(x)


def magnitude(x: Array) -> Array:
    """Computes the absolute value of complex numbers; nothing overflows unless the result does."""
    real, imag = jnp.abs(lax.real(x)), jnp.abs(lax.imag(x))
    large, small = jnp.maximum(real, imag), jnp.minimum(real, imag)
    ratio = small / jnp.where(large == 0, 1, large)
    return jnp.where(jnp.isinf(large), large, large * jnp.sqrt(1 + ratio * ratio))


# Polynomials of M. Giles, "Approximating the erfinv function" (2010), for float32, highest power first.
_ERF_INV_CENTER = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_ERF_INV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def erf_inv(x: Array) -> Array:
    """Computes the inverse error function, to 7 digits; infinite at -1 and 1."""
    w = -log((1 - x) * (1 + x))
    center = functools.partial(_polynomial, w - _constant(x, 2.5))
    tail = functools.partial(_polynomial, jnp.sqrt(w) - 3)
    return jnp.where(
        jnp.abs(x) == 1,
        x * _constant(x, jnp.inf),
        x * jnp.where(w < 5, center(_ERF_INV_CENTER), tail(_ERF_INV_TAIL)),
    )


def _constant(like: Array, value: float) -> Any:
    return like.dtype.type(value)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Evaluates a polynomial by Horner's scheme, highest power first."""
    result = jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + _constant(x, coefficient)
    return result


def _within_exponents(x: Array) -> Array:
    """Clips x to plus or minus twice the exponent at which a power of 2 overflows; NaN stays NaN."""
    limit = 2 * _FORMATS[x.dtype].bias
    return jnp.clip(x, -limit, limit)


def _exp_parts(x: Array) -> tuple[Array, Array]:
    """Returns integers n and numbers r with exp(x) = 2ⁿ (1 + r)."""
    form = _FORMATS[x.dtype]
    x = _within_exponents(x)
    exponent = jnp.round(x * _constant(x, math.log2(math.e)))
    high, low = (_constant(x, part) for part in form.ln2)
    rest = _less_one((x - exponent * high) - exponent * low)
    return jnp.where(jnp.isnan(x), 0, exponent).astype(form.signed), rest


def _less_one(x: Array) -> Array:
    """Computes exp(x) - 1 for |x| up to log(2) / 2: x + x² (1/2! + x/3! + x²/4! + ...)."""
    terms = _FORMATS[x.dtype].exp_terms
    return x + x * x * _polynomial(x, tuple(1 / math.factorial(n) for n in range(terms, 1, -1)))


def _power(like: Array, exponent: Array) -> Array:
    """Computes a power of 2 that is a normal number; `like` has the type of the result."""
    form = _FORMATS[like.dtype]
    return lax.bitcast_convert_type((exponent + form.bias) << form.mantissa, like.dtype)


def _scaled(x: Array, exponent: Array) -> Array:
    """Multiplies x by 2^exponent in three steps, so that no step overflows or underflows unless the result does."""
    third = exponent // 3
    return x * _power(x, third) * _power(x, third) * _power(x, exponent - 2 * third)


def _split(x: Array) -> tuple[Array, Array]:
    """Splits a positive normal number into an exponent and a factor between sqrt(1/2) and sqrt(2)."""
    form = _FORMATS[x.dtype]
    least = lax.bitcast_convert_type(jnp.full_like(x, math.sqrt(0.5)), form.signed)
    above = lax.bitcast_convert_type(x, form.signed) - least
    rest = (above & form.signed((1 << form.mantissa) - 1)) + least
    return above >> form.mantissa, lax.bitcast_convert_type(rest, x.dtype)


def _log_of(exponent: Array, part: Array, more: Array) -> Array:
    """Computes log(2^exponent · part) + more, for a small `more`.

    log(1 + f) = f - f²/2 + s (f²/2 + R), where s = f / (2 + f) and R = s² (2/3 + s² 2/5 + s⁴ 2/7 + ...).
    """
    form = _FORMATS[part.dtype]
    f = part - 1
    s = f / (2 + f)
    square, half = s * s, _constant(part, 0.5) * (f * f)
    series = square * _polynomial(square, tuple(2 / (2 * n + 1) for n in range(form.log_terms, 0, -1)))
    high, low = (_constant(part, p) * exponent.astype(part.dtype) for p in form.ln2)
    return high - ((half - (s * (half + series) + (low + more))) - f)


def _at_ends(logarithm: Array, x: Array) -> Array:
    """Returns the logarithm, with infinities and NaN where log(x) is not finite."""
    infinite = jnp.where(x == 0, _constant(x, -jnp.inf), x)
    result = jnp.where((x == 0) | (x == jnp.inf), infinite, logarithm)
    return jnp.where((x < 0) | jnp.isnan(x), _constant(x, jnp.nan), result)


def _in_float32(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Wraps a function so that it computes in float32 if its argument has a narrower type."""

    @functools.wraps(function)
    def call(x: Array) -> Array:
        if x.dtype in _FORMATS:
            return function(x)
        return function(x.astype(jnp.float32)).astype(x.dtype)

    return call


# Functions by the name of the JAX primitive that they replace.
IN_PLACE: dict[str, Callable[[Array], Array]] = {
    function.__name__: _in_float32(function)
    for function in (
        exp, exp2, expm1, log, log1p, tanh, logistic, asinh, acosh, atanh, atan, asin, acos, rsqrt, erf_inv,
    )
}  # fmt: skip
