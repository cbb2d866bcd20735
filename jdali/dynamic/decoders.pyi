# fmt: off
# ruff: noqa: I001
"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

def audio(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    downmix: builtins.bool = False,
    dtype: DTypeLike | types.DALIDataType = ...,
    quality: float = 50.0,
    sample_rate: float | Tensor | Batch = 0.0,
) -> Any: ...

def image(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    cache_batch_copy: builtins.bool = True,
    cache_debug: builtins.bool = False,
    cache_size: int = 0,
    cache_threshold: int = 0,
    cache_type: str = '',
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = ...,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
) -> Any: ...

def image_crop(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    crop: typing.Sequence[float] | Tensor | Batch | None = None,
    crop_d: float | Tensor | Batch = 0.0,
    crop_h: float | Tensor | Batch = 0.0,
    crop_pos_x: float | Tensor | Batch = 0.5,
    crop_pos_y: float | Tensor | Batch = 0.5,
    crop_pos_z: float | Tensor | Batch = 0.5,
    crop_w: float | Tensor | Batch = 0.0,
    rounding: str = 'round',
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = ...,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
) -> Any: ...

def image_random_crop(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    num_attempts: int = 10,
    random_area: typing.Sequence[float] = ...,
    random_aspect_ratio: typing.Sequence[float] = ...,
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = ...,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
    rng: RNG | None = None,
) -> Any: ...

def image_slice(
    data: Any,
    anchor: Any = None,
    shape_input: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: typing.Sequence[int] | Tensor | Batch | None = None,
    axis_names: str | None = None,
    end: typing.Sequence[int] | Tensor | Batch | None = None,
    normalized_anchor: builtins.bool = True,
    normalized_shape: builtins.bool = True,
    rel_end: typing.Sequence[float] | Tensor | Batch | None = None,
    rel_shape: typing.Sequence[float] | Tensor | Batch | None = None,
    rel_start: typing.Sequence[float] | Tensor | Batch | None = None,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    start: typing.Sequence[int] | Tensor | Batch | None = None,
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DTypeLike | types.DALIDataType = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = ...,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
) -> Any: ...

def inflate(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    shape: typing.Sequence[int] | Tensor | Batch,
    algorithm: str = 'LZ4',
    check_output_size: builtins.bool = False,
    chunk_offsets: Any = None,
    chunk_sizes: Any = None,
    dtype: DTypeLike | types.DALIDataType = ...,
    layout: str = '',
    sequence_axis_name: str = 'F',
) -> Any: ...

def numpy(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | types.DALIDataType | None = None,
) -> Any: ...

def video(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    affine: builtins.bool = True,
    build_index: builtins.bool = True,
    end_frame: int | Tensor | Batch | None = None,
    fill_value: typing.Sequence[int] | int = ...,
    frames: Any = None,
    pad_mode: Any = 'constant',
    sequence_length: int | Tensor | Batch | None = None,
    start_frame: int | Tensor | Batch | None = None,
    stride: int | Tensor | Batch | None = None,
) -> Any: ...
