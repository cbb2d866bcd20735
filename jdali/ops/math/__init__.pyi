"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jax import Array

def abs(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def acos(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def acosh(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def add(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def asin(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def asinh(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def atan(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def atan2(
    x: Any,
    y: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def atanh(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def bitand(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def bitnot(
    value: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def bitor(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def bitxor(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def cbrt(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def ceil(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def clamp(
    value: Any,
    lo: Any,
    hi: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def cos(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def cosh(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def div(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def eq(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def exp(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def fabs(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def floor(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def floordiv(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def fpow(
    base: Any,
    exponent: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def ge(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def gt(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def le(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def log(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def log10(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def log2(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def lshift(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def lt(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def max(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def min(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def mod(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def mul(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def ne(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def neg(
    value: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def pos(
    value: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def pow(
    base: Any,
    exponent: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def rshift(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def rsqrt(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def sin(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def sinh(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def sqrt(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def sub(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def tan(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...

def tanh(
    input: Any,
    /,
    *,
    layout: Any = '',
) -> Array: ...
