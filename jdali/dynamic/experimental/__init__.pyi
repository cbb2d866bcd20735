"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from jdali import types
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor
from jdali.dynamic.experimental import decoders as decoders
from jdali.dynamic.experimental import readers as readers
from jdali.dynamic import resize as resize

def dilate(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: typing.Sequence[int] | Tensor | Batch = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def erode(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: typing.Sequence[int] | Tensor | Batch = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def median_blur(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    window_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def remap(
    image: Any,
    mapx: Any,
    mapy: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    interp: types.DALIInterpType = ...,
    pixel_origin: str = 'corner',
) -> Any: ...

def warp_perspective(
    image: Any,
    matrix_input: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    border_mode: str = 'constant',
    fill_value: float | typing.Sequence[float] = ...,
    interp_type: types.DALIInterpType = ...,
    inverse_map: builtins.bool = True,
    matrix: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | Tensor | Batch = ...,
    pixel_origin: str = 'corner',
    size: typing.Sequence[float] | Tensor | Batch = ...,
) -> Any: ...
