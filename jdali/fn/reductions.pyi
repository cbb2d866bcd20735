"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali.data_node import DataNode

def max(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def mean(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def mean_square(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def min(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def rms(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def std_dev(
    data: DataNode,
    mean: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def sum(
    data: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def variance(
    data: DataNode,
    mean: DataNode,
    /,
    *,
    axes: typing.Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
