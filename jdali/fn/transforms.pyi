"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali.data_node import DataNode

def combine(
    *matrices: DataNode,
    reverse_order: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def crop(
    matrix: DataNode | None = None,
    /,
    *,
    absolute: bool = False,
    from_end: typing.Sequence[float] | DataNode = ...,
    from_start: typing.Sequence[float] | DataNode = ...,
    reverse_order: bool = False,
    to_end: typing.Sequence[float] | DataNode = ...,
    to_start: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def rotation(
    matrix: DataNode | None = None,
    /,
    *,
    angle: float | DataNode,
    axis: typing.Sequence[float] | DataNode | None = None,
    center: typing.Sequence[float] | DataNode | None = None,
    reverse_order: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def scale(
    matrix: DataNode | None = None,
    /,
    *,
    scale: typing.Sequence[float] | DataNode,
    center: typing.Sequence[float] | DataNode | None = None,
    ndim: int | None = None,
    reverse_order: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def shear(
    matrix: DataNode | None = None,
    /,
    *,
    angles: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    center: typing.Sequence[float] | DataNode | None = None,
    reverse_order: bool = False,
    shear: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def translation(
    matrix: DataNode | None = None,
    /,
    *,
    offset: typing.Sequence[float] | DataNode,
    reverse_order: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
