"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._dtype import DType
from jdali.dynamic._tensor import Tensor

def max(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Finds the largest element along axes, ignoring NaN.

    Args:
        data: any shape and type.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: maxima, type of `data`; where there is nothing to reduce, the type's smallest finite value.

    Example: largest = fn.reductions.max(numbers, axes=[1])
    """

def mean(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Computes the mean along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: means, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI accumulates in `dtype`, so its UINT8 mean of 200 and 200 is 72; here sums of small
    integers do not overflow.

    Example: mean = fn.reductions.mean(images, axes=[0, 1])
    """

def mean_square(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Computes the mean of the squares along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: means of squares, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI squares integers in 32 or 64 bits, which may overflow (UINT16 65535 gives a negative
    mean); here they are squared as floats.

    Example: squares = fn.reductions.mean_square(numbers, axes=[1])
    """

def min(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Finds the smallest element along axes, ignoring NaN.

    Args:
        data: any shape and type.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: minima, type of `data`; where there is nothing to reduce, the type's largest finite value.

    Example: smallest = fn.reductions.min(numbers, axes=[1])
    """

def rms(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Computes the square root of the mean of the squares along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: roots, `dtype`; NaN where there is nothing to reduce.

    Parity: integers do not overflow; see `reductions.mean_square`.

    Example: rms = fn.reductions.rms(numbers, axes=[1])
    """

def std_dev(
    data: Tensor | Batch | ArrayLike,
    mean: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    ddof: int = 0,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Computes the standard deviation about `mean`: the square root of `reductions.variance`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or a tensor of the reduced shape, with reduced axes dropped or of size 1.
        ddof: degrees of freedom subtracted from the number of elements, 0 or more.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: standard deviations, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        deviation = fn.reductions.std_dev(numbers, mean)
    """

def sum(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Sums the elements along axes. The accumulator has the type of the output; integers wrap around.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the sum and of its accumulator; None: INT64 for signed and UINT64 for unsigned
            integers, the input's type for floats.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: sums, `dtype`; 0 where nothing is summed.

    Example: total = fn.reductions.sum(numbers, axes=[0])
    """

def variance(
    data: Tensor | Batch | ArrayLike,
    mean: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    ddof: int = 0,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Tensor | Batch:
    """Computes the variance about `mean`: the sum of squared distances, divided by the number of elements minus `ddof`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or a tensor of the reduced shape, with reduced axes dropped or of size 1.
        ddof: degrees of freedom subtracted from the number of elements, 0 or more.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: variances, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        variance = fn.reductions.variance(numbers, mean)
    """
