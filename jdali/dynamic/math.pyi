"""Made by tools/make_stubs.py from `jdali.math`; do not edit."""

from jdali.dynamic._batch import Batch
from jdali.dynamic._tensor import Tensor

def abs(input: object) -> Tensor | Batch:
    """Computes the absolute value."""

def acos(input: object) -> Tensor | Batch:
    """Computes the arc cosine, in radians."""

def acosh(input: object) -> Tensor | Batch:
    """Computes the inverse hyperbolic cosine."""

def asin(input: object) -> Tensor | Batch:
    """Computes the arc sine, in radians."""

def asinh(input: object) -> Tensor | Batch:
    """Computes the inverse hyperbolic sine."""

def atan(input: object) -> Tensor | Batch:
    """Computes the arc tangent, in radians."""

def atan2(x: object, y: object) -> Tensor | Batch:
    """Computes the arc tangent of x / y in the quadrant of the point (y, x), in radians, -π to π."""

def atanh(input: object) -> Tensor | Batch:
    """Computes the inverse hyperbolic tangent."""

def cbrt(input: object) -> Tensor | Batch:
    """Computes the cube root."""

def ceil(input: object) -> Tensor | Batch:
    """Rounds up to a whole number."""

def clamp(value: object, lo: object, hi: object) -> Tensor | Batch:
    """Limits the value to the range from `lo` to `hi`."""

def cos(input: object) -> Tensor | Batch:
    """Computes the cosine of an angle in radians."""

def cosh(input: object) -> Tensor | Batch:
    """Computes the hyperbolic cosine."""

def exp(input: object) -> Tensor | Batch:
    """Computes e to the power of the value."""

def fabs(input: object) -> Tensor | Batch:
    """Computes the absolute value as a floating-point number."""

def floor(input: object) -> Tensor | Batch:
    """Rounds down to a whole number."""

def fpow(base: object, exponent: object) -> Tensor | Batch:
    """Raises `base` to the power of `exponent`, as a floating-point number."""

def log(input: object) -> Tensor | Batch:
    """Computes the natural logarithm."""

def log10(input: object) -> Tensor | Batch:
    """Computes the logarithm to base 10."""

def log2(input: object) -> Tensor | Batch:
    """Computes the logarithm to base 2."""

def max(left: object, right: object) -> Tensor | Batch:
    """Returns the larger of two values."""

def min(left: object, right: object) -> Tensor | Batch:
    """Returns the smaller of two values."""

def pow(base: object, exponent: object) -> Tensor | Batch:
    """Raises `base` to the power of `exponent`."""

def rsqrt(input: object) -> Tensor | Batch:
    """Computes the reciprocal of the square root."""

def sin(input: object) -> Tensor | Batch:
    """Computes the sine of an angle in radians."""

def sinh(input: object) -> Tensor | Batch:
    """Computes the hyperbolic sine."""

def sqrt(input: object) -> Tensor | Batch:
    """Computes the square root."""

def tan(input: object) -> Tensor | Batch:
    """Computes the tangent of an angle in radians."""

def tanh(input: object) -> Tensor | Batch:
    """Computes the hyperbolic tangent."""
