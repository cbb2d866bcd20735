"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from jdali.data_node import DataNode
from jdali.fn.experimental import decoders as decoders
from jdali.fn.experimental import inputs as inputs
from jdali.fn.experimental import readers as readers

def audio_resample(
    signal: DataNode,
    /,
    *,
    dtype: DTypeLike | None = None,
    in_rate: float | DataNode | None = None,
    out_length: int | DataNode | None = None,
    out_rate: float | DataNode | None = None,
    quality: float = 50.0,
    scale: float | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def inflate(
    data: DataNode,
    /,
    *,
    shape: typing.Sequence[int] | DataNode,
    algorithm: str = 'LZ4',
    check_output_size: bool = False,
    chunk_offsets: Any = None,
    chunk_sizes: Any = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str = '',
    sequence_axis_name: str = 'F',
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...

def peek_image_shape(
    encoded: DataNode,
    /,
    *,
    adjust_orientation: bool = True,
    dtype: DTypeLike | types.DALIDataType = ...,
    image_type: types.DALIImageType = ...,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> DataNode: ...
