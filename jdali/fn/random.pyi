"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali.data_node import DataNode

def beta(
    shape_like: DataNode | None = None,
    /,
    *,
    alpha: float | DataNode = 1.0,
    beta: float | DataNode = 1.0,
    dtype: DTypeLike | None = None,
    shape: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def choice(
    a: DataNode,
    shape_like: DataNode | None = None,
    /,
    *,
    p: typing.Sequence[float] | DataNode | None = None,
    shape: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def coin_flip(
    shape_like: DataNode | None = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    probability: float | DataNode = 0.5,
    shape: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def normal(
    shape_like: DataNode | None = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    mean: float | DataNode = 0.0,
    shape: typing.Sequence[int] | DataNode | None = None,
    stddev: float | DataNode = 1.0,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def uniform(
    shape_like: DataNode | None = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    range: typing.Sequence[float] | DataNode = ...,
    shape: typing.Sequence[int] | DataNode | None = None,
    values: typing.Sequence[float] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...
