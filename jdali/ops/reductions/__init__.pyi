"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from jax import Array
from jax.typing import ArrayLike
from jdali.fn._classes import OperatorClass

class Max(OperatorClass):
    """Finds the largest element along axes; NaN is passed over.

    Args:
        data: any shape and type.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: maxima, dtype of `data`; its smallest finite value where there is nothing to reduce.

    Example: largest = fn.reductions.max(numbers, axes=[1])
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Mean(OperatorClass):
    """Computes the mean along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: means, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI accumulates in `dtype`, so its UINT8 mean of 200 and 200 is 72; here the sum of small
    integers does not overflow.

    Example: mean = fn.reductions.mean(images, axes=[0, 1])
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: types.DALIDataType | DTypeLike | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class MeanSquare(OperatorClass):
    """Computes the mean of the squares along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: means of squares, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI squares integers in 32 or 64 bits and overflows there (UINT16 65535 gives a negative
    mean); here they are squared as floats.

    Example: squares = fn.reductions.mean_square(numbers, axes=[1])
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: types.DALIDataType | DTypeLike | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Min(OperatorClass):
    """Finds the smallest element along axes; NaN is passed over.

    Args:
        data: any shape and type.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: minima, dtype of `data`; its largest finite value where there is nothing to reduce.

    Example: smallest = fn.reductions.min(numbers, axes=[1])
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class RMS(OperatorClass):
    """Computes the square root of the mean of the squares along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: roots, `dtype`; NaN where there is nothing to reduce.

    Parity: as `reductions.mean_square`, no overflow of integers.

    Example: rms = fn.reductions.rms(numbers, axes=[1])
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: types.DALIDataType | DTypeLike | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class StdDev(OperatorClass):
    """Computes the square root of the variance about `mean`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or of the reduced shape (reduced axes dropped, or kept with size 1).
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        ddof: degrees of freedom lost, 0 or more.
        extent: int32 [ndim] each, true sizes of `data` and `mean`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: standard deviations, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        deviation = fn.reductions.std_dev(numbers, mean)
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        ddof: int = 0,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Sum(OperatorClass):
    """Adds up the elements along axes; the accumulator has the output's type and wraps around in it.

    Args:
        data: any shape, numbers or bool.
        axes: axes to sum over, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep summed axes with size 1.
        dtype: type of the sum and of its accumulator; None: INT64 for signed and UINT64 for unsigned
            integers, the input's for floats.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: sums, `dtype`; 0 where nothing is summed.

    Example: total = fn.reductions.sum(numbers, axes=[0])
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: types.DALIDataType | DTypeLike | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

class Variance(OperatorClass):
    """Sums the squared distances from `mean`, divided by the number of elements less `ddof`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or of the reduced shape (reduced axes dropped, or kept with size 1).
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        ddof: degrees of freedom lost, 0 or more.
        extent: int32 [ndim] each, true sizes of `data` and `mean`.
        out_shape: static, padded shape to return; None: the reduced shape.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: variances, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        variance = fn.reductions.variance(numbers, mean)
    """
    def __init__(
        self,
        *,
        axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        ddof: int = 0,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

@overload
def max(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Finds the largest element along axes; NaN is passed over.

    Args:
        data: any shape and type.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: maxima, dtype of `data`; its smallest finite value where there is nothing to reduce.

    Example: largest = fn.reductions.max(numbers, axes=[1])
    """

@overload
def max(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mean(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Computes the mean along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: means, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI accumulates in `dtype`, so its UINT8 mean of 200 and 200 is 72; here the sum of small
    integers does not overflow.

    Example: mean = fn.reductions.mean(images, axes=[0, 1])
    """

@overload
def mean(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mean_square(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Computes the mean of the squares along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: means of squares, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI squares integers in 32 or 64 bits and overflows there (UINT16 65535 gives a negative
    mean); here they are squared as floats.

    Example: squares = fn.reductions.mean_square(numbers, axes=[1])
    """

@overload
def mean_square(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def min(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Finds the smallest element along axes; NaN is passed over.

    Args:
        data: any shape and type.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: minima, dtype of `data`; its largest finite value where there is nothing to reduce.

    Example: smallest = fn.reductions.min(numbers, axes=[1])
    """

@overload
def min(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def rms(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Computes the square root of the mean of the squares along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: roots, `dtype`; NaN where there is nothing to reduce.

    Parity: as `reductions.mean_square`, no overflow of integers.

    Example: rms = fn.reductions.rms(numbers, axes=[1])
    """

@overload
def rms(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def std_dev(
    data: Any,
    mean: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Computes the square root of the variance about `mean`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or of the reduced shape (reduced axes dropped, or kept with size 1).
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        ddof: degrees of freedom lost, 0 or more.
        extent: int32 [ndim] each, true sizes of `data` and `mean`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: standard deviations, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        deviation = fn.reductions.std_dev(numbers, mean)
    """

@overload
def std_dev(
    data: Any,
    mean: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def sum(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Adds up the elements along axes; the accumulator has the output's type and wraps around in it.

    Args:
        data: any shape, numbers or bool.
        axes: axes to sum over, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep summed axes with size 1.
        dtype: type of the sum and of its accumulator; None: INT64 for signed and UINT64 for unsigned
            integers, the input's for floats.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: sums, `dtype`; 0 where nothing is summed.

    Example: total = fn.reductions.sum(numbers, axes=[0])
    """

@overload
def sum(
    data: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: types.DALIDataType | DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def variance(
    data: Any,
    mean: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Sums the squared distances from `mean`, divided by the number of elements less `ddof`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or of the reduced shape (reduced axes dropped, or kept with size 1).
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        ddof: degrees of freedom lost, 0 or more.
        extent: int32 [ndim] each, true sizes of `data` and `mean`.
        out_shape: static, padded shape to return; None: the reduced shape.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: variances, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        variance = fn.reductions.variance(numbers, mean)
    """

@overload
def variance(
    data: Any,
    mean: Any,
    /,
    *,
    axes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
