"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.data_node import DataNode

@overload
def audio(
    encoded: DataNode | ArrayLike,
    /,
    *,
    downmix: bool = False,
    dtype: types.DALIDataType | DTypeLike = ...,
    quality: float = 50.0,
    sample_rate: float | DataNode = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> tuple[DataNode, DataNode]:
    """Decodes WAV, FLAC, OGG (Vorbis, Opus) and MP3. The extra `audio` adds MP4 (M4A), MOV, Matroska and WebM.

    Args:
        encoded: uint8 [bytes], content of a file.
        downmix: return the mean of all channels.
        dtype: INT16, INT32 or FLOAT; FLOAT scales the range of the file's integers to -1 to 1.
        quality: quality of the resampling, 0 to 100. The filter is a windowed sinc, with 3 lobes on each side at
            quality 0, 16 at 50, and 64 at 100.
        sample_rate: rate to resample to, Hz; 0 or less: no resampling.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the sound, `dtype` [T] with `downmix`, else [T, C]; and its sampling rate in Hz, a float32 scalar.

    A truncated file raises an error; with `jdali.codecs.audio.ACCEPT_INCOMPLETE = True`, the available part is decoded.
    Files without a length in their header, such as saved streams, are decoded to their end.

    Parity: DALI decodes truncated WAV and OGG files as shorter sounds. It converts files of floats to integers without
    scaling, so nearly all values become 0. Positions of resampled samples are exact; DALI accumulates float32 steps in
    blocks of 256.

    Example: sound, rate = fn.decoders.audio(wavs, dtype=types.FLOAT, downmix=True)
    """

@overload
def audio(
    encoded: list[DataNode],
    /,
    *,
    downmix: bool = False,
    dtype: types.DALIDataType | DTypeLike = ...,
    quality: float = 50.0,
    sample_rate: float | DataNode = 0.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[list[DataNode]]: ...

@overload
def image(
    encoded: DataNode | ArrayLike,
    /,
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
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Decodes images; recognizes JPEG, PNG, WebP, BMP, TIFF, JPEG 2000, PNM, GIF, AVIF, HEIC and JPEG XL by their content.

    With the device "mixed", an NVIDIA GPU decodes JPEG files if nvImageCodec is installed; see docs/accelerators.md.

    Args:
        encoded: uint8 [bytes].
        cache_batch_copy: without effect.
        cache_debug: without effect.
        cache_size: without effect: decoded images are not cached.
        cache_threshold: without effect.
        cache_type: without effect.
        adjust_orientation: rotate and mirror the image by its EXIF orientation.
        affine: without effect: threads are not bound to cores.
        device_memory_padding: without effect.
        device_memory_padding_jpeg2k: without effect.
        dtype: uint8, int8, uint16, int16, uint32, int32 or float32; intensities are rescaled to
            the range of the type, 0 to 1 for floats.
        host_memory_padding: without effect.
        host_memory_padding_jpeg2k: without effect.
        hw_decoder_load: without effect.
        hybrid_huffman_threshold: without effect.
        jpeg_fancy_upsampling: without effect: chroma is always upsampled smoothly.
        output_type: RGB, BGR, GRAY, YCbCr (studio range), or ANY_DATA for the channels as stored.
            Gray images become RGB if RGB is requested; an alpha channel is dropped. INDEX, which DALI does not have, is
            for masks: one channel with the palette indices or gray values as stored, not rescaled.
        preallocate_height_hint: without effect.
        preallocate_width_hint: without effect.
        use_fast_idct: a faster, less exact inverse DCT for JPEG.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [H, W, C] of type `dtype`; 3 channels, 1 for GRAY. Damaged data raise an error; no image is decoded in part.

    Example: images = fn.decoders.image(jpegs, output_type=types.RGB)
    """

@overload
def image(
    encoded: list[DataNode],
    /,
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
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def image_crop(
    encoded: DataNode | ArrayLike,
    /,
    *,
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    adjust_orientation: bool = True,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Decodes only a window of an image, as `decoders.image` followed by `crop` would return it.

    Args:
        encoded: uint8 [bytes].
        crop: window (height, width), pixels, fractions truncated; None: `crop_h` and `crop_w`.
        crop_d: without effect: images have no depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: without effect: images have no depth.
        crop_w: width of the window, pixels; 0: the whole width.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
        adjust_orientation: rotate and mirror the image by its EXIF orientation.
        affine: without effect: threads are not bound to cores.
        device_memory_padding: without effect.
        device_memory_padding_jpeg2k: without effect.
        dtype: uint8, int8, uint16, int16, uint32, int32 or float32; intensities are rescaled to
            the range of the type, 0 to 1 for floats.
        host_memory_padding: without effect.
        host_memory_padding_jpeg2k: without effect.
        hw_decoder_load: without effect.
        hybrid_huffman_threshold: without effect.
        jpeg_fancy_upsampling: without effect: chroma is always upsampled smoothly.
        output_type: RGB, BGR, GRAY, YCbCr (studio range), or ANY_DATA for the channels as stored.
            Gray images become RGB if RGB is requested; an alpha channel is dropped. INDEX, which DALI does not have, is
            for masks: one channel with the palette indices or gray values as stored, not rescaled.
        preallocate_height_hint: without effect.
        preallocate_width_hint: without effect.
        use_fast_idct: a faster, less exact inverse DCT for JPEG.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [height, width, C] of type `dtype`.

    Example: images = fn.decoders.image_crop(jpegs, crop=[100, 100])
    """

@overload
def image_crop(
    encoded: list[DataNode],
    /,
    *,
    crop: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    crop_d: float | DataNode = 0.0,
    crop_h: float | DataNode = 0.0,
    crop_pos_x: float | DataNode = 0.5,
    crop_pos_y: float | DataNode = 0.5,
    crop_pos_z: float | DataNode = 0.5,
    crop_w: float | DataNode = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    adjust_orientation: bool = True,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def image_random_crop(
    encoded: DataNode | ArrayLike,
    /,
    *,
    num_attempts: int = 10,
    random_area: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.75, 1.3333333333333333),
    adjust_orientation: bool = True,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Decodes a random window of each image. The window's share of the area and its aspect ratio are drawn.

    Args:
        encoded: uint8 [bytes].
        num_attempts: maximum number of windows to draw; if none fits into the image, the largest window with an allowed
            aspect ratio is taken.
        random_area: smallest and largest area, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height.
        adjust_orientation: rotate and mirror the image by its EXIF orientation.
        affine: without effect: threads are not bound to cores.
        device_memory_padding: without effect.
        device_memory_padding_jpeg2k: without effect.
        dtype: uint8, int8, uint16, int16, uint32, int32 or float32; intensities are rescaled to
            the range of the type, 0 to 1 for floats.
        host_memory_padding: without effect.
        host_memory_padding_jpeg2k: without effect.
        hw_decoder_load: without effect.
        hybrid_huffman_threshold: without effect.
        jpeg_fancy_upsampling: without effect: chroma is always upsampled smoothly.
        output_type: RGB, BGR, GRAY, YCbCr (studio range), or ANY_DATA for the channels as stored.
            Gray images become RGB if RGB is requested; an alpha channel is dropped. INDEX, which DALI does not have, is
            for masks: one channel with the palette indices or gray values as stored, not rescaled.
        preallocate_height_hint: without effect.
        preallocate_width_hint: without effect.
        use_fast_idct: a faster, less exact inverse DCT for JPEG.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: [height, width, C] of type `dtype`.

    Parity: windows have DALI's distribution, not its values.

    Example: images = fn.decoders.image_random_crop(jpegs, random_area=[0.3, 0.8])
    """

@overload
def image_random_crop(
    encoded: list[DataNode],
    /,
    *,
    num_attempts: int = 10,
    random_area: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float | DataNode] | NDArray[Any] = (0.75, 1.3333333333333333),
    adjust_orientation: bool = True,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def image_slice(
    data: DataNode | ArrayLike,
    anchor: DataNode | ArrayLike | None = None,
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axis_names: str | None = None,
    end: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    rel_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    start: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    adjust_orientation: bool = True,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Decodes only a window of an image, as `decoders.image` followed by `slice` would return it.

    The window is given either by the inputs `anchor` and `shape_input`, or by a start (`start` or
    `rel_start`, else 0) and an end (`end`, `rel_end`, `shape` or `rel_shape`, else the whole extent).

    Args:
        data: uint8 [bytes], the encoded image.
        anchor: start along each of the axes, int32 or int64 pixels, or float32 shares of the extent.
        shape_input: size of the window, in the type of `anchor`.
        axes: indices (in HWC) of the axes that the window arguments refer to; None: `axis_names`.
        axis_names: letters of these axes; None: "WH".
        end: end of the window, pixels, exclusive.
        normalized_anchor: True: a float `anchor` is a share of the extent; False: pixels.
        normalized_shape: True: a float `shape_input` is a share of the extent; False: pixels.
        rel_end: `end` as a share of the extent.
        rel_shape: `shape` as a share of the extent.
        rel_start: `start` as a share of the extent.
        shape: size of the window, pixels.
        start: start of the window, pixels.
        adjust_orientation: rotate and mirror the image by its EXIF orientation.
        affine: without effect: threads are not bound to cores.
        device_memory_padding: without effect.
        device_memory_padding_jpeg2k: without effect.
        dtype: uint8, int8, uint16, int16, uint32, int32 or float32; intensities are rescaled to
            the range of the type, 0 to 1 for floats.
        host_memory_padding: without effect.
        host_memory_padding_jpeg2k: without effect.
        hw_decoder_load: without effect.
        hybrid_huffman_threshold: without effect.
        jpeg_fancy_upsampling: without effect: chroma is always upsampled smoothly.
        output_type: RGB, BGR, GRAY, YCbCr (studio range), or ANY_DATA for the channels as stored.
            Gray images become RGB if RGB is requested; an alpha channel is dropped. INDEX, which DALI does not have, is
            for masks: one channel with the palette indices or gray values as stored, not rescaled.
        preallocate_height_hint: without effect.
        preallocate_width_hint: without effect.
        use_fast_idct: a faster, less exact inverse DCT for JPEG.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [height, width, C] of type `dtype`.

    Example: images = fn.decoders.image_slice(jpegs, anchor, window)
    """

@overload
def image_slice(
    data: list[DataNode],
    anchor: DataNode | ArrayLike | None = None,
    shape_input: DataNode | ArrayLike | None = None,
    /,
    *,
    axes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    axis_names: str | None = None,
    end: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    rel_end: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_shape: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    rel_start: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    start: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    adjust_orientation: bool = True,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: bool = False,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def inflate(
    data: DataNode | ArrayLike,
    /,
    *,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    algorithm: str = 'LZ4',
    check_output_size: bool = False,
    chunk_offsets: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    chunk_sizes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike = ...,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = '',
    sequence_axis_name: str = 'F',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Decompresses LZ4 blocks, which have no frame and no size in front.

    Without `chunk_offsets` and `chunk_sizes`, a sample is one chunk. With only `chunk_sizes`, the first chunk starts at
    byte 0, and each follows the one before. With only `chunk_offsets`, each chunk ends where the next one starts, and the
    last one at the end of the data.

    Args:
        data: uint8 [bytes].
        shape: shape of a decompressed chunk.
        algorithm: "LZ4".
        check_output_size: without effect: a chunk that does not have exactly the size of `shape` always raises an error.
        chunk_offsets: start of each chunk, bytes.
        chunk_sizes: size of each chunk, bytes. Samples may have different numbers of chunks.
        dtype: type of the elements, little-endian in the data.
        layout: layout of a decompressed chunk.
        sequence_axis_name: letter of the axis of chunks, put in front of `layout` if that is given.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: `shape`; with `chunk_offsets` or `chunk_sizes`, [chunks, *shape].

    Parity: DALI decompresses on a GPU only, jdali on the host.

    Example: numbers = fn.decoders.inflate(packed, shape=[2, 3], dtype=types.FLOAT)
    """

@overload
def inflate(
    data: list[DataNode],
    /,
    *,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode,
    algorithm: str = 'LZ4',
    check_output_size: bool = False,
    chunk_offsets: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    chunk_sizes: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    dtype: types.DALIDataType | DTypeLike = ...,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = '',
    sequence_axis_name: str = 'F',
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def numpy(
    data: DataNode | ArrayLike,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Decodes NumPy's .npy format, versions 1.0 to 3.0; never unpickles.

    Args:
        data: uint8 [bytes], content of a file.
        dtype: output type; values are rounded and saturated. None: the stored type, which must be the same for all
            samples of a batch.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: the array in C order and this machine's byte order.

    Parity: DALI refuses versions 2.0 and 3.0, big-endian elements, and headers whose spacing differs from
    NumPy's. It also refuses a type or number of axes that differs from earlier batches.

    Example: numbers = fn.decoders.numpy(npy)
    """

@overload
def numpy(
    data: list[DataNode],
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...

@overload
def video(
    encoded: DataNode | ArrayLike,
    /,
    *,
    affine: bool = True,
    apply_rotation: bool = False,
    build_index: bool = True,
    end_frame: int | DataNode | None = None,
    fill_value: int | typing.Sequence[int] | NDArray[Any] = (0,),
    frames: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    pad_mode: str | typing.Sequence[str] | DataNode = 'constant',
    sequence_length: int | DataNode | None = None,
    start_frame: int | DataNode | None = None,
    stride: int | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> DataNode:
    """Decodes H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and more, in most containers.

    By default, all frames are decoded. `frames` selects frames by number; `start_frame`, `stride`, and `end_frame` or
    `sequence_length` select a range.

    Args:
        encoded: uint8 [bytes], content of a file.
        affine: without effect.
        apply_rotation: rotate frames by the angle in the video's metadata (written by phones). DALI has no such
            argument.
        build_index: without effect: packets are always indexed first, so that every frame is found.
        end_frame: frame after the last one. Not allowed with `frames` or `sequence_length`.
        fill_value: value of padding frames, 0 to 255: one for all channels, or one per channel.
        frames: numbers of frames, in any order; they may repeat. Not allowed with arguments that select a range.
        pad_mode: replacement of frames past the end of the video: "constant": `fill_value`; "edge" or "repeat":
            the last frame; "reflect_1001" or "symmetric": the mirrored video, its last frame repeated; "reflect_101" or
            "reflect": the mirrored video, its last frame not repeated; "none": no frames, the sequence is shorter.
        sequence_length: number of frames. Not allowed with `end_frame` or `frames`.
        start_frame: first frame; None: 0.
        stride: distance between frames; None: 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: [F, H, W, 3], RGB.

    Parity: on a CPU, DALI converts to RGB by BT.601, whatever matrix the video names.

    Example: frames = fn.decoders.video(mp4, sequence_length=4)
    """

@overload
def video(
    encoded: list[DataNode],
    /,
    *,
    affine: bool = True,
    apply_rotation: bool = False,
    build_index: bool = True,
    end_frame: int | DataNode | None = None,
    fill_value: int | typing.Sequence[int] | NDArray[Any] = (0,),
    frames: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    pad_mode: str | typing.Sequence[str] | DataNode = 'constant',
    sequence_length: int | DataNode | None = None,
    start_frame: int | DataNode | None = None,
    stride: int | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
) -> list[DataNode]: ...
