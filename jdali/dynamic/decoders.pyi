"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from typing import Literal
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._dtype import DType
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

def audio(
    encoded: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    downmix: builtins.bool = False,
    dtype: DType | types.DALIDataType | DTypeLike = ...,
    quality: float = 50.0,
    sample_rate: float | Tensor | Batch = 0.0,
) -> tuple[Tensor | Batch, Tensor | Batch]:
    """Decodes WAV, FLAC, OGG (Vorbis, Opus) and MP3. The extra `audio` adds MP4 (M4A), MOV, Matroska and WebM.

    Args:
        encoded: uint8 [bytes], content of a file.
        downmix: return the mean of all channels.
        dtype: INT16, INT32 or FLOAT; FLOAT scales the range of the file's integers to -1 to 1.
        quality: quality of the resampling, 0 to 100. The filter is a windowed sinc, with 3 lobes on each side at
            quality 0, 16 at 50, and 64 at 100.
        sample_rate: rate to resample to, Hz; 0 or less: no resampling.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: the sound, `dtype` [T] with `downmix`, else [T, C]; and its sampling rate in Hz, a float32 scalar.

    A truncated file raises an error; with `jdali.codecs.audio.ACCEPT_INCOMPLETE = True`, the available part is decoded.
    Files without a length in their header, such as saved streams, are decoded to their end.

    Parity: DALI decodes truncated WAV and OGG files as shorter sounds. It converts files of floats to integers without
    scaling, so nearly all values become 0. Positions of resampled samples are exact; DALI accumulates float32 steps in
    blocks of 256.

    Example: sound, rate = fn.decoders.audio(wavs, dtype=types.FLOAT, downmix=True)
    """

def image(
    encoded: Tensor | Batch | ArrayLike,
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
    dtype: DType | types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [H, W, C] of type `dtype`; 3 channels, 1 for GRAY. Damaged data raise an error; no image is decoded in part.

    Example: images = fn.decoders.image(jpegs, output_type=types.RGB)
    """

def image_crop(
    encoded: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    crop: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    crop_d: float | Tensor | Batch = 0.0,
    crop_h: float | Tensor | Batch = 0.0,
    crop_pos_x: float | Tensor | Batch = 0.5,
    crop_pos_y: float | Tensor | Batch = 0.5,
    crop_pos_z: float | Tensor | Batch = 0.5,
    crop_w: float | Tensor | Batch = 0.0,
    rounding: Literal['round', 'truncate'] = 'round',
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DType | types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [height, width, C] of type `dtype`.

    Example: images = fn.decoders.image_crop(jpegs, crop=[100, 100])
    """

def image_random_crop(
    encoded: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    num_attempts: int = 10,
    random_area: float | typing.Sequence[float] | NDArray[Any] = (0.08, 1.0),
    random_aspect_ratio: float | typing.Sequence[float] | NDArray[Any] = (0.75, 1.3333333333333333),
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DType | types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: [height, width, C] of type `dtype`.

    Parity: windows have DALI's distribution, not its values.

    Example: images = fn.decoders.image_random_crop(jpegs, random_area=[0.3, 0.8])
    """

def image_slice(
    data: Tensor | Batch | ArrayLike,
    anchor: Tensor | Batch | ArrayLike | None = None,
    shape_input: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    axes: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    axis_names: str | None = None,
    end: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    normalized_anchor: builtins.bool = True,
    normalized_shape: builtins.bool = True,
    rel_end: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    rel_shape: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    rel_start: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    start: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    adjust_orientation: builtins.bool = True,
    affine: builtins.bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    dtype: DType | types.DALIDataType | DTypeLike = ...,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    jpeg_fancy_upsampling: builtins.bool = False,
    output_type: types.DALIImageType = types.DALIImageType.RGB,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    use_fast_idct: builtins.bool = False,
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [height, width, C] of type `dtype`.

    Example: images = fn.decoders.image_slice(jpegs, anchor, window)
    """

def inflate(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch,
    algorithm: str = 'LZ4',
    check_output_size: builtins.bool = False,
    chunk_offsets: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    chunk_sizes: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    dtype: DType | types.DALIDataType | DTypeLike = ...,
    layout: Literal['HWC', 'CHW', 'FHWC', 'FCHW'] | str = '',
    sequence_axis_name: str = 'F',
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: `shape`; with `chunk_offsets` or `chunk_sizes`, [chunks, *shape].

    Parity: DALI decompresses on a GPU only, jdali on the host.

    Example: numbers = fn.decoders.inflate(packed, shape=[2, 3], dtype=types.FLOAT)
    """

def numpy(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
) -> Tensor | Batch:
    """Decodes NumPy's .npy format, versions 1.0 to 3.0; never unpickles.

    Args:
        data: uint8 [bytes], content of a file.
        dtype: output type; values are rounded and saturated. None: the stored type, which must be the same for all
            samples of a batch.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: the array in C order and this machine's byte order.

    Parity: DALI refuses versions 2.0 and 3.0, big-endian elements, and headers whose spacing differs from
    NumPy's. It also refuses a type or number of axes that differs from earlier batches.

    Example: numbers = fn.decoders.numpy(npy)
    """

def video(
    encoded: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    affine: builtins.bool = True,
    apply_rotation: builtins.bool = False,
    build_index: builtins.bool = True,
    end_frame: int | Tensor | Batch | None = None,
    fill_value: int | typing.Sequence[int] | NDArray[Any] = (0,),
    frames: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    pad_mode: str | typing.Sequence[str] | Tensor | Batch = 'constant',
    sequence_length: int | Tensor | Batch | None = None,
    start_frame: int | Tensor | Batch | None = None,
    stride: int | Tensor | Batch | None = None,
) -> Tensor | Batch:
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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: [F, H, W, 3], RGB.

    Parity: on a CPU, DALI converts to RGB by BT.601, whatever matrix the video names.

    Example: frames = fn.decoders.video(mp4, sequence_length=4)
    """
