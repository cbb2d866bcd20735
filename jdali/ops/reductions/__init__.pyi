"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from typing import overload
from jax import Array
from jax.typing import ArrayLike

@overload
def max(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def max(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
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
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def mean(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def mean_square(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def mean_square(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def min(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def min(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
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
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def rms(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
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
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def std_dev(
    data: Any,
    mean: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
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
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def sum(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
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
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def variance(
    data: Any,
    mean: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
