"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor

def combine(
    *matrices: Any,
    batch_size: int | None = None,
    device: Device | str | None = None,
    reverse_order: builtins.bool = False,
) -> Any: ...

def crop(
    matrix: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    absolute: builtins.bool = False,
    from_end: typing.Sequence[float] | Tensor | Batch = ...,
    from_start: typing.Sequence[float] | Tensor | Batch = ...,
    reverse_order: builtins.bool = False,
    to_end: typing.Sequence[float] | Tensor | Batch = ...,
    to_start: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...

def rotation(
    matrix: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    angle: float | Tensor | Batch,
    axis: typing.Sequence[float] | Tensor | Batch | None = None,
    center: typing.Sequence[float] | Tensor | Batch | None = None,
    reverse_order: builtins.bool = False,
) -> Any: ...

def scale(
    matrix: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    scale: typing.Sequence[float] | Tensor | Batch,
    center: typing.Sequence[float] | Tensor | Batch | None = None,
    ndim: int | None = None,
    reverse_order: builtins.bool = False,
) -> Any: ...

def shear(
    matrix: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    angles: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
    center: typing.Sequence[float] | Tensor | Batch | None = None,
    reverse_order: builtins.bool = False,
    shear: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | Tensor | Batch | None = None,
) -> Any: ...

def translation(
    matrix: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    offset: typing.Sequence[float] | Tensor | Batch,
    reverse_order: builtins.bool = False,
) -> Any: ...
