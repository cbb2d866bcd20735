"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike

@overload
def abs(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def abs(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def acos(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def acos(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def acosh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def acosh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def add(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def add(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def asin(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def asin(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def asinh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def asinh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def atan(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def atan(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def atan2(
    x: Any,
    y: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def atan2(
    x: Any,
    y: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def atanh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def atanh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def bitand(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def bitand(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def bitnot(
    value: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def bitnot(
    value: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def bitor(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def bitor(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def bitxor(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def bitxor(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def cbrt(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def cbrt(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def ceil(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def ceil(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def clamp(
    value: Any,
    lo: Any,
    hi: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def clamp(
    value: Any,
    lo: Any,
    hi: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def cos(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def cos(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def cosh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def cosh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def div(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def div(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def eq(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def eq(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def exp(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def exp(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def fabs(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def fabs(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def floor(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def floor(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def floordiv(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def floordiv(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def fpow(
    base: Any,
    exponent: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def fpow(
    base: Any,
    exponent: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def ge(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def ge(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def gt(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def gt(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def le(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def le(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def log(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def log(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def log10(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def log10(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def log2(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def log2(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def lshift(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def lshift(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def lt(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def lt(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def max(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def max(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def min(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def min(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mod(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def mod(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mul(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def mul(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def ne(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def ne(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def neg(
    value: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def neg(
    value: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def pos(
    value: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def pos(
    value: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def pow(
    base: Any,
    exponent: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def pow(
    base: Any,
    exponent: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def rshift(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def rshift(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def rsqrt(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def rsqrt(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def sin(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sin(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def sinh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sinh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def sqrt(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sqrt(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def sub(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sub(
    left: Any,
    right: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def tan(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def tan(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def tanh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def tanh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
