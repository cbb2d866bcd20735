"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali import types
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class Audio(OperatorClass):
    def __init__(
        self,
        *,
        downmix: bool = False,
        dtype: DTypeLike | types.DALIDataType = ...,
        quality: float = 50.0,
        sample_rate: float | DataNode = 0.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Image(OperatorClass):
    def __init__(
        self,
        *,
        cache_batch_copy: bool = True,
        cache_debug: bool = False,
        cache_size: int = 0,
        cache_threshold: int = 0,
        cache_type: str = '',
        adjust_orientation: bool = True,
        affine: bool = True,
        device_memory_padding: int = 16777216,
        device_memory_padding_jpeg2k: int = 0,
        dtype: DTypeLike | types.DALIDataType = ...,
        host_memory_padding: int = 8388608,
        host_memory_padding_jpeg2k: int = 0,
        hw_decoder_load: float = 0.65,
        hybrid_huffman_threshold: int = 1000000,
        jpeg_fancy_upsampling: bool = False,
        output_type: types.DALIImageType = ...,
        preallocate_height_hint: int = 0,
        preallocate_width_hint: int = 0,
        use_fast_idct: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ImageCrop(OperatorClass):
    def __init__(
        self,
        *,
        crop: typing.Sequence[float] | DataNode | None = None,
        crop_d: float | DataNode = 0.0,
        crop_h: float | DataNode = 0.0,
        crop_pos_x: float | DataNode = 0.5,
        crop_pos_y: float | DataNode = 0.5,
        crop_pos_z: float | DataNode = 0.5,
        crop_w: float | DataNode = 0.0,
        rounding: str = 'round',
        adjust_orientation: bool = True,
        affine: bool = True,
        device_memory_padding: int = 16777216,
        device_memory_padding_jpeg2k: int = 0,
        dtype: DTypeLike | types.DALIDataType = ...,
        host_memory_padding: int = 8388608,
        host_memory_padding_jpeg2k: int = 0,
        hw_decoder_load: float = 0.65,
        hybrid_huffman_threshold: int = 1000000,
        jpeg_fancy_upsampling: bool = False,
        output_type: types.DALIImageType = ...,
        preallocate_height_hint: int = 0,
        preallocate_width_hint: int = 0,
        use_fast_idct: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class ImageRandomCrop(OperatorClass):
    def __init__(
        self,
        *,
        num_attempts: int = 10,
        random_area: typing.Sequence[float] = ...,
        random_aspect_ratio: typing.Sequence[float] = ...,
        adjust_orientation: bool = True,
        affine: bool = True,
        device_memory_padding: int = 16777216,
        device_memory_padding_jpeg2k: int = 0,
        dtype: DTypeLike | types.DALIDataType = ...,
        host_memory_padding: int = 8388608,
        host_memory_padding_jpeg2k: int = 0,
        hw_decoder_load: float = 0.65,
        hybrid_huffman_threshold: int = 1000000,
        jpeg_fancy_upsampling: bool = False,
        output_type: types.DALIImageType = ...,
        preallocate_height_hint: int = 0,
        preallocate_width_hint: int = 0,
        use_fast_idct: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class ImageSlice(OperatorClass):
    def __init__(
        self,
        *,
        axes: typing.Sequence[int] | DataNode | None = None,
        axis_names: str | None = None,
        end: typing.Sequence[int] | DataNode | None = None,
        normalized_anchor: bool = True,
        normalized_shape: bool = True,
        rel_end: typing.Sequence[float] | DataNode | None = None,
        rel_shape: typing.Sequence[float] | DataNode | None = None,
        rel_start: typing.Sequence[float] | DataNode | None = None,
        shape: typing.Sequence[int] | DataNode | None = None,
        start: typing.Sequence[int] | DataNode | None = None,
        adjust_orientation: bool = True,
        affine: bool = True,
        device_memory_padding: int = 16777216,
        device_memory_padding_jpeg2k: int = 0,
        dtype: DTypeLike | types.DALIDataType = ...,
        host_memory_padding: int = 8388608,
        host_memory_padding_jpeg2k: int = 0,
        hw_decoder_load: float = 0.65,
        hybrid_huffman_threshold: int = 1000000,
        jpeg_fancy_upsampling: bool = False,
        output_type: types.DALIImageType = ...,
        preallocate_height_hint: int = 0,
        preallocate_width_hint: int = 0,
        use_fast_idct: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Inflate(OperatorClass):
    def __init__(
        self,
        *,
        shape: typing.Sequence[int] | DataNode | None = None,
        algorithm: str = 'LZ4',
        check_output_size: bool = False,
        chunk_offsets: typing.Sequence[int] | DataNode | None = None,
        chunk_sizes: typing.Sequence[int] | DataNode | None = None,
        dtype: DTypeLike | types.DALIDataType = ...,
        layout: str = '',
        sequence_axis_name: str = 'F',
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Numpy(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | types.DALIDataType | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Video(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...
