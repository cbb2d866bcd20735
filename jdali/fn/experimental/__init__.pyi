"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali.data_node import DataNode
from jdali.fn.experimental import decoders as decoders
from jdali.fn.experimental import inputs as inputs
from jdali.fn.experimental import readers as readers
from jdali.fn import audio_resample as audio_resample
from jdali.fn import equalize as equalize
from jdali.fn import filter as filter
from jdali.fn.decoders import inflate as inflate
from jdali.fn import peek_image_shape as peek_image_shape

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
