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
) -> Array:
    """Computes the absolute value. For signed integers, the smallest value has no positive counterpart and does not change.

    Returns: shape and type of the input.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the angle in radians, from 0 to pi, whose cosine is the value; NaN outside of -1 to 1.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the inverse hyperbolic cosine; NaN below 1.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Adds; integers wrap around.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the angle in radians, from -pi/2 to pi/2, whose sine is the value; NaN outside of -1 to 1.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the inverse hyperbolic sine.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the angle in radians, from -pi/2 to pi/2, whose tangent is the value.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the angle in radians, from -pi to pi, whose tangent is `x / y`; the signs of both determine the quadrant.

    Returns: the broadcast shape, in the promoted floating type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the inverse hyperbolic tangent; NaN outside of -1 to 1.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Keeps the bits that are set in both operands. For booleans, this is the logical and.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Inverts all bits; booleans are negated.

    Returns: shape and type of the input.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Keeps the bits that are set in either operand or in both. For booleans, this is the logical or.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Keeps the bits that are set in only one operand. For booleans, this is the exclusive or.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the cube root, negative for negative values.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Rounds up to a whole number.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Replaces values below `lo` by `lo`, then values above `hi` by `hi`; NaN stays NaN.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the cosine of an angle in radians.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the hyperbolic cosine.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Divides `left / right` as real numbers; integers are converted to float32.

    Returns: the broadcast shape, in the promoted floating type; infinite or NaN where `right` is 0.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns True where `left == right`.

    Returns: the broadcast shape, bool.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Raises e to the power of the value.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the absolute value as a real number.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Rounds down to a whole number.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Divides `left // right`. Integer quotients are truncated towards zero (-7 // 2 is -3); float quotients keep the fraction.

    Returns: the broadcast shape, in the promoted type. For integers, 0 where `right` is 0.

    Raises: ValueError if integers are divided by a constant that has a 0 in it.

    Parity: DALI raises on any integer division by zero; compiled code cannot raise.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Raises `base` to the power of `exponent` as real numbers; integers are converted to float32.

    Returns: the broadcast shape, in the promoted floating type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns True where `left >= right`.

    Returns: the broadcast shape, bool.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns True where `left > right`.

    Returns: the broadcast shape, bool.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns True where `left <= right`.

    Returns: the broadcast shape, bool.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the natural logarithm; minus infinity for 0, NaN for negative values.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the logarithm to base 10; minus infinity for 0, NaN for negative values.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the logarithm to base 2; minus infinity for 0, NaN for negative values.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Shifts `left` up by `right` bits; `right` counts modulo 32, or modulo 64 for 64-bit types.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns True where `left < right`.

    Returns: the broadcast shape, bool.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns the larger value; `right` if they are equal or one is NaN.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns the smaller value; `right` if they are equal or one is NaN.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the remainder of a division that rounds towards zero. As in C's `fmod`, the remainder has the sign of `left`.

    Returns: the broadcast shape, in the promoted type. Where `right` is 0: NaN for floats, 0 for integers.

    Raises: ValueError if integers are divided by a constant that has a 0 in it.

    Parity: DALI raises on any integer division by zero; compiled code cannot raise. DALI computes the remainder of a
    float32 and an integer beyond 2**24 in double precision.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Multiplies; integers wrap around, and the product of booleans is their logical and.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns True where `left != right`.

    Returns: the broadcast shape, bool.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Negates the value; integers wrap around.

    Returns: shape and type of the input.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Returns the value itself, of any type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Raises `base` to the power of `exponent`. For integers, overflow wraps around and a negative exponent gives 0.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Shifts `left` down by `right` bits; `right` counts modulo 32, or modulo 64 for 64-bit types.

    Returns: the broadcast shape, in the promoted type; the sign is kept.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes one over the square root; infinite for 0.

    Returns: shape of the input; its type if that is floating, else float32.

    Parity: DALI returns NaN for 0; for other values, its relative error is about 1e-7.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the sine of an angle in radians.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the hyperbolic sine.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the square root; NaN for negative values.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Subtracts; integers wrap around.

    Returns: the broadcast shape, in the promoted type.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the tangent of an angle in radians.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

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
) -> Array:
    """Computes the hyperbolic tangent.

    Returns: shape of the input; its type if that is floating, else float32.

    Args:
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    """

@overload
def tanh(
    input: Any,
    /,
    *,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
