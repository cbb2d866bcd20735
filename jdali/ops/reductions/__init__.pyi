"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.fn._classes import OperatorClass

class Max(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Mean(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class MeanSquare(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Min(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class RMS(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class StdDev(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        ddof: int = 0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Sum(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        dtype: DTypeLike | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Variance(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | None = None,
        axis_names: str | None = None,
        keep_dims: bool = False,
        ddof: int = 0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

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
