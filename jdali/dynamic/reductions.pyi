"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali.dynamic._device import Device

def max(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Any: ...

def mean(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
    dtype: DTypeLike | None = None,
) -> Any: ...

def mean_square(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
    dtype: DTypeLike | None = None,
) -> Any: ...

def min(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
) -> Any: ...

def rms(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
    dtype: DTypeLike | None = None,
) -> Any: ...

def std_dev(
    data: Any,
    mean: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
    ddof: int = 0,
) -> Any: ...

def sum(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
    dtype: DTypeLike | None = None,
) -> Any: ...

def variance(
    data: Any,
    mean: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: builtins.bool = False,
    ddof: int = 0,
) -> Any: ...
