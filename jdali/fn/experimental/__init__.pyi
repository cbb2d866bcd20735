"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali import types
from jdali.data_node import DataNode
from jdali.fn.experimental import decoders as decoders
from jdali.fn.experimental import inputs as inputs
from jdali.fn.experimental import readers as readers
from jdali.fn import audio_resample as audio_resample
from jdali.fn import debayer as debayer
from jdali.fn import equalize as equalize
from jdali.fn import filter as filter
from jdali.fn.decoders import inflate as inflate
from jdali.fn import peek_image_shape as peek_image_shape
from jdali.fn import resize as resize
from jdali.fn import tensor_resize as tensor_resize

def dilate(
    image: DataNode,
    /,
    *,
    anchor: typing.Sequence[int] | DataNode = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def erode(
    image: DataNode,
    /,
    *,
    anchor: typing.Sequence[int] | DataNode = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def median_blur(
    image: DataNode,
    /,
    *,
    window_size: typing.Sequence[int] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def remap(
    image: DataNode,
    mapx: DataNode,
    mapy: DataNode,
    /,
    *,
    interp: types.DALIInterpType = ...,
    pixel_origin: str = 'corner',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def warp_perspective(
    image: DataNode,
    matrix_input: DataNode | None = None,
    /,
    *,
    border_mode: str = 'constant',
    fill_value: float | typing.Sequence[float] = ...,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode = ...,
    pixel_origin: str = 'corner',
    size: typing.Sequence[float] | DataNode = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
