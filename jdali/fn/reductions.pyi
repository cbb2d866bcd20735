"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.data_node import DataNode

@overload
def max(
    data: DataNode | ArrayLike,
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Finds the largest element along axes, ignoring NaN.

    Args:
        data: any shape and type.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: maxima, type of `data`; where there is nothing to reduce, the type's smallest finite value.

    Example: largest = fn.reductions.max(numbers, axes=[1])
    """

@overload
def max(
    data: list[DataNode],
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def mean(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the mean along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: means, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI accumulates in `dtype`, so its UINT8 mean of 200 and 200 is 72; here sums of small
    integers do not overflow.

    Example: mean = fn.reductions.mean(images, axes=[0, 1])
    """

@overload
def mean(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def mean_square(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the mean of the squares along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: means of squares, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI squares integers in 32 or 64 bits, which may overflow (UINT16 65535 gives a negative
    mean); here they are squared as floats.

    Example: squares = fn.reductions.mean_square(numbers, axes=[1])
    """

@overload
def mean_square(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def min(
    data: DataNode | ArrayLike,
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Finds the smallest element along axes, ignoring NaN.

    Args:
        data: any shape and type.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: minima, type of `data`; where there is nothing to reduce, the type's largest finite value.

    Example: smallest = fn.reductions.min(numbers, axes=[1])
    """

@overload
def min(
    data: list[DataNode],
    /,
    *,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def rms(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the square root of the mean of the squares along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: roots, `dtype`; NaN where there is nothing to reduce.

    Parity: integers do not overflow; see `reductions.mean_square`.

    Example: rms = fn.reductions.rms(numbers, axes=[1])
    """

@overload
def rms(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def std_dev(
    data: DataNode | ArrayLike,
    mean: DataNode | ArrayLike,
    /,
    *,
    ddof: int = 0,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the standard deviation about `mean`: the square root of `reductions.variance`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or a tensor of the reduced shape, with reduced axes dropped or of size 1.
        ddof: degrees of freedom subtracted from the number of elements, 0 or more.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: standard deviations, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        deviation = fn.reductions.std_dev(numbers, mean)
    """

@overload
def std_dev(
    data: list[DataNode],
    mean: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    ddof: int = 0,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def sum(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Sums the elements along axes. The accumulator has the type of the output; integers wrap around.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the sum and of its accumulator; None: INT64 for signed and UINT64 for unsigned
            integers, the input's type for floats.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: sums, `dtype`; 0 where nothing is summed.

    Example: total = fn.reductions.sum(numbers, axes=[0])
    """

@overload
def sum(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def variance(
    data: DataNode | ArrayLike,
    mean: DataNode | ArrayLike,
    /,
    *,
    ddof: int = 0,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Computes the variance about `mean`: the sum of squared distances, divided by the number of elements minus `ddof`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or a tensor of the reduced shape, with reduced axes dropped or of size 1.
        ddof: degrees of freedom subtracted from the number of elements, 0 or more.
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: variances, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        variance = fn.reductions.variance(numbers, mean)
    """

@overload
def variance(
    data: list[DataNode],
    mean: DataNode | ArrayLike | list[DataNode],
    /,
    *,
    ddof: int = 0,
    axes: int | typing.Sequence[int] | NDArray[Any] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...
