"""Provides element-wise functions of `DataNode`s and constants. Most functions return float32 for integers."""

from __future__ import annotations

from jdali.graph import DataNode, expression

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clamp",
    "cos", "cosh", "exp", "fabs", "floor", "fpow", "log", "log10", "log2", "max", "min", "pow",
    "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip


def abs(input: object) -> DataNode:
    """Computes the absolute value."""
    return expression("abs", input)


def acos(input: object) -> DataNode:
    """Computes the arc cosine, in radians."""
    return expression("acos", input)


def acosh(input: object) -> DataNode:
    """Computes the inverse hyperbolic cosine."""
    return expression("acosh", input)


def asin(input: object) -> DataNode:
    """Computes the arc sine, in radians."""
    return expression("asin", input)


def asinh(input: object) -> DataNode:
    """Computes the inverse hyperbolic sine."""
    return expression("asinh", input)


def atan(input: object) -> DataNode:
    """Computes the arc tangent, in radians."""
    return expression("atan", input)


def atan2(x: object, y: object) -> DataNode:
    """Computes the arc tangent of x / y in the quadrant of the point (y, x), in radians, -π to π."""
    return expression("atan2", x, y)


def atanh(input: object) -> DataNode:
    """Computes the inverse hyperbolic tangent."""
    return expression("atanh", input)


def cbrt(input: object) -> DataNode:
    """Computes the cube root."""
    return expression("cbrt", input)


def ceil(input: object) -> DataNode:
    """Rounds up to a whole number."""
    return expression("ceil", input)


def clamp(value: object, lo: object, hi: object) -> DataNode:
    """Limits the value to the range from `lo` to `hi`."""
    return expression("clamp", value, lo, hi)


def cos(input: object) -> DataNode:
    """Computes the cosine of an angle in radians."""
    return expression("cos", input)


def cosh(input: object) -> DataNode:
    """Computes the hyperbolic cosine."""
    return expression("cosh", input)


def exp(input: object) -> DataNode:
    """Computes e to the power of the value."""
    return expression("exp", input)


def fabs(input: object) -> DataNode:
    """Computes the absolute value as a floating-point number."""
    return expression("fabs", input)


def floor(input: object) -> DataNode:
    """Rounds down to a whole number."""
    return expression("floor", input)


def fpow(base: object, exponent: object) -> DataNode:
    """Raises `base` to the power of `exponent`, as a floating-point number."""
    return expression("fpow", base, exponent)


def log(input: object) -> DataNode:
    """Computes the natural logarithm."""
    return expression("log", input)


def log10(input: object) -> DataNode:
    """Computes the logarithm to base 10."""
    return expression("log10", input)


def log2(input: object) -> DataNode:
    """Computes the logarithm to base 2."""
    return expression("log2", input)


def max(left: object, right: object) -> DataNode:
    """Returns the larger of two values."""
    return expression("max", left, right)


def min(left: object, right: object) -> DataNode:
    """Returns the smaller of two values."""
    return expression("min", left, right)


def pow(base: object, exponent: object) -> DataNode:
    """Raises `base` to the power of `exponent`."""
    return expression("pow", base, exponent)


def rsqrt(input: object) -> DataNode:
    """Computes the reciprocal of the square root."""
    return expression("rsqrt", input)


def sin(input: object) -> DataNode:
    """Computes the sine of an angle in radians."""
    return expression("sin", input)


def sinh(input: object) -> DataNode:
    """Computes the hyperbolic sine."""
    return expression("sinh", input)


def sqrt(input: object) -> DataNode:
    """Computes the square root."""
    return expression("sqrt", input)


def tan(input: object) -> DataNode:
    """Computes the tangent of an angle in radians."""
    return expression("tan", input)


def tanh(input: object) -> DataNode:
    """Computes the hyperbolic tangent."""
    return expression("tanh", input)
