"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jax import Array

def max(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
) -> Array: ...

def mean(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
) -> Array: ...

def mean_square(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
) -> Array: ...

def min(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    layout: Any = '',
) -> Array: ...

def rms(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
) -> Array: ...

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
) -> Array: ...

def sum(
    data: Any,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    layout: Any = '',
) -> Array: ...

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
) -> Array: ...
