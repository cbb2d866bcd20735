"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali.data_node import DataNode
from jdali.fn.decoders import image as image
from jdali.fn.decoders import image_crop as image_crop
from jdali.fn.decoders import image_random_crop as image_random_crop
from jdali.fn.decoders import image_slice as image_slice

def video(
    encoded: DataNode,
    /,
    *,
    affine: bool = True,
    build_index: bool = True,
    end_frame: int | DataNode | None = None,
    fill_value: int | typing.Sequence[int] = ...,
    frames: typing.Sequence[int] | DataNode | None = None,
    pad_mode: typing.Sequence[str] | str | DataNode = 'constant',
    sequence_length: int | DataNode | None = None,
    start_frame: int | DataNode | None = None,
    stride: int | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
