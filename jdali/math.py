"""Element-wise functions of `DataNode`s and constants; of integers most give float32."""

from __future__ import annotations

from typing import Any

from jdali.graph.arithmetic import expression
from jdali.graph.node import DataNode

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clamp",
    "cos", "cosh", "exp", "fabs", "floor", "fpow", "log", "log10", "log2", "max", "min", "pow",
    "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip


def abs(input: Any) -> DataNode:
    """Absolute value."""
    return expression("abs", input)


def acos(input: Any) -> DataNode:
    """Arc cosine, in radians."""
    return expression("acos", input)


def acosh(input: Any) -> DataNode:
    """Inverse hyperbolic cosine."""
    return expression("acosh", input)


def asin(input: Any) -> DataNode:
    """Arc sine, in radians."""
    return expression("asin", input)


def asinh(input: Any) -> DataNode:
    """Inverse hyperbolic sine."""
    return expression("asinh", input)


def atan(input: Any) -> DataNode:
    """Arc tangent, in radians."""
    return expression("atan", input)


def atan2(x: Any, y: Any) -> DataNode:
    """Angle of the point (y, x), in radians, -π to π: the arc tangent of x / y by the signs of both."""
    return expression("atan2", x, y)


def atanh(input: Any) -> DataNode:
    """Inverse hyperbolic tangent."""
    return expression("atanh", input)


def cbrt(input: Any) -> DataNode:
    """Cube root."""
    return expression("cbrt", input)


def ceil(input: Any) -> DataNode:
    """Smallest whole number that is not below the value."""
    return expression("ceil", input)


def clamp(value: Any, lo: Any, hi: Any) -> DataNode:
    """The value, but not below `lo` and not above `hi`."""
    return expression("clamp", value, lo, hi)


def cos(input: Any) -> DataNode:
    """Cosine of an angle in radians."""
    return expression("cos", input)


def cosh(input: Any) -> DataNode:
    """Hyperbolic cosine."""
    return expression("cosh", input)


def exp(input: Any) -> DataNode:
    """e to the power of the value."""
    return expression("exp", input)


def fabs(input: Any) -> DataNode:
    """Absolute value as a real number."""
    return expression("fabs", input)


def floor(input: Any) -> DataNode:
    """Largest whole number that is not above the value."""
    return expression("floor", input)


def fpow(base: Any, exponent: Any) -> DataNode:
    """`base` to the power of `exponent`, as a real number."""
    return expression("fpow", base, exponent)


def log(input: Any) -> DataNode:
    """Natural logarithm."""
    return expression("log", input)


def log10(input: Any) -> DataNode:
    """Logarithm to base 10."""
    return expression("log10", input)


def log2(input: Any) -> DataNode:
    """Logarithm to base 2."""
    return expression("log2", input)


def max(left: Any, right: Any) -> DataNode:
    """The larger of two values."""
    return expression("max", left, right)


def min(left: Any, right: Any) -> DataNode:
    """The smaller of two values."""
    return expression("min", left, right)


def pow(base: Any, exponent: Any) -> DataNode:
    """`base` to the power of `exponent`."""
    return expression("pow", base, exponent)


def rsqrt(input: Any) -> DataNode:
    """One over the square root."""
    return expression("rsqrt", input)


def sin(input: Any) -> DataNode:
    """Sine of an angle in radians."""
    return expression("sin", input)


def sinh(input: Any) -> DataNode:
    """Hyperbolic sine."""
    return expression("sinh", input)


def sqrt(input: Any) -> DataNode:
    """Square root."""
    return expression("sqrt", input)


def tan(input: Any) -> DataNode:
    """Tangent of an angle in radians."""
    return expression("tan", input)


def tanh(input: Any) -> DataNode:
    """Hyperbolic tangent."""
    return expression("tanh", input)
