"""Decodes images for all image decoders: declares their arguments, reads headers, and decodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali import types
from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._operators.record import (
    DeviceDecoding,
    HostOutputs,
    Operator,
    Probed,
    Scaled,
    ScaledDecoding,
    Static,
    Workers,
    also_takes,
    host_batch_operator,
)
from jdali.codecs import gpu_jpeg
from jdali.codecs import image as codec
from jdali.codecs.image_batch import Headers
from jdali.types import DALIImageType


def decoder_options(
    *,
    adjust_orientation: Static[bool] = True,
    affine: Static[bool] = True,
    device_memory_padding: Static[int] = 16 * 1024 * 1024,
    device_memory_padding_jpeg2k: Static[int] = 0,
    dtype: Static[np.dtype | types.DALIDataType] = types.UINT8,
    host_memory_padding: Static[int] = 8 * 1024 * 1024,
    host_memory_padding_jpeg2k: Static[int] = 0,
    hw_decoder_load: Static[float] = 0.65,
    hybrid_huffman_threshold: Static[int] = 1000 * 1000,
    jpeg_fancy_upsampling: Static[bool] = False,
    output_type: Static[DALIImageType] = types.RGB,
    preallocate_height_hint: Static[int] = 0,
    preallocate_width_hint: Static[int] = 0,
    use_fast_idct: Static[bool] = False,
) -> None:
    """Declares the arguments of every image decoder.

    Args:
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
    """


def probe(
    encoded: Sequence[np.ndarray],
    *,
    output_type: DALIImageType,
    dtype: np.dtype,
    adjust_orientation: bool,
    **_: object,
) -> Probed:
    """Reads the shapes [H, W, C] of whole images from their headers."""
    headers = Headers(encoded)
    return Probed(headers.shapes(output_type, adjust_orientation), dtype, headers, headers.failures, "HWC")


def _offset(params: Mapping[str, Any], denominator: np.ndarray) -> np.ndarray:
    """Computes the distance, 0 to 1 pixel, from the first decoded pixel of a window to the exact start of the window."""
    start = params["_window"][:, :2] if "_window" in params else np.zeros((len(denominator), 2), np.int64)
    return start % denominator / denominator


def _rows_on_device(
    encoded: Sequence[np.ndarray], headers: Headers, device: jax.Device, *,
    output_type: DALIImageType, dtype: np.dtype, adjust_orientation: bool, use_fast_idct: bool, **_: object,
) -> np.ndarray:  # fmt: skip
    rows = np.zeros(len(encoded), bool)
    if output_type == types.RGB and dtype == np.uint8 and not use_fast_idct and gpu_jpeg.has_decoder(device):
        rows[:] = [
            gpu_jpeg.can_decode(data, headers[i], adjust_orientation) for i, data in enumerate(encoded)
        ]
    return rows


def _padded_on_device(
    encoded: Sequence[np.ndarray], shape: tuple[int, ...], count: int, device: jax.Device, *,
    _window: np.ndarray | None = None, **_: object,
) -> jax.Array:  # fmt: skip
    starts = [(0, 0)] * len(encoded) if _window is None else _window[:, :2].tolist()
    return gpu_jpeg.decode_padded(encoded, starts, shape, count, device)


SCALED_DECODING = ScaledDecoding((2, 4, 8), Headers.max_denominators, _offset)


def image_decoder(
    name: str, setup: Callable[..., BatchSpec | Plan]
) -> Callable[[Callable[..., HostOutputs]], Operator]:
    """Returns a decorator that turns a function into an image decoder with the arguments of `decoder_options`."""

    def decorate(function: Callable[..., HostOutputs]) -> Operator:
        make = host_batch_operator(
            name=name, setup=setup, probe=probe, scales=SCALED_DECODING, devices=("cpu", "mixed"),
            on_device=DeviceDecoding(_rows_on_device, _padded_on_device), work="decoding",
            source="operators/imgcodec/image_decoder.h",
        )  # fmt: skip
        return make(also_takes(decoder_options)(function))

    return decorate


def decode(
    encoded: Sequence[np.ndarray], windows: Any, headers: Headers, scaled: Scaled | None,
    workers: Workers, options: Mapping[str, Any],
) -> HostOutputs:  # fmt: skip
    """Decodes images one by one, with the arguments of `decoder_options`.

    Args:
        windows: int [n, 4], y, x, height and width of each window; None: whole images.
        scaled: scale at which each image is decoded; None: full size.
    """
    decode_one = functools.partial(
        codec.decode, output_type=options["output_type"], dtype=options["dtype"],
        adjust_orientation=options["adjust_orientation"], fast_idct=options["use_fast_idct"],
        contiguous=False,  # samples are copied to padded arrays later
    )  # fmt: skip
    denominators = [1] * len(encoded) if scaled is None else scaled.denominator[:, 0].tolist()
    wanted: list[Any] = [None] * len(encoded) if windows is None else windows.tolist()

    def one(i: int) -> np.ndarray:
        return decode_one(encoded[i], window=wanted[i], denominator=denominators[i], info=headers[i])

    results, failures = workers.each(one, len(encoded))
    return HostOutputs.of_samples(results, failures, ("HWC",))


def pictures_of(name: str, contents: BatchSpec) -> BatchSpec:
    """Returns the spec of whole decoded images; raises if the output type is not supported."""
    codec.check_dtype(name, contents.dtype)
    return contents


def windows_plan(name: str, pictures: BatchSpec, anchors: np.ndarray, sizes: np.ndarray) -> Plan:
    """Plans the decoding of windows. `anchors` and `sizes` are [N, 2 or more]; y and x come first.

    Raises:
        SampleError: a window is not inside its image.
    """
    low, high, limit = anchors[:, :2], (anchors + sizes)[:, :2], pictures.extents[:, :2]
    check_samples(
        ((low < 0) | (low > limit) | (high > limit)).any(axis=1),
        lambda i: (
            f"{name}: The cropping window [{low[i, 0]}..{high[i, 0]}, {low[i, 1]}..{high[i, 1]}] is not valid for image "
            f"dimensions [{size_text(limit[i])}]"
        ),
    )
    windows = np.concatenate([anchors[:, :2], sizes[:, :2]], axis=1)
    extents = np.concatenate([sizes[:, :2], pictures.extents[:, 2:]], axis=1)
    return Plan((pictures.replace(extents=extents),), {"_window": windows.astype(np.int32)})
