from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, RowSlice, Store
from jdali._kernels.image_decoding import decode, image_decoder, pictures_of
from jdali._operators.record import HostOutputs, Scaled, Static, Workers
from jdali.codecs.image_batch import Headers, decode_small

# A batch is decoded together if the mean decoded size of its images, in bytes, is at most this. Separate calls for such
# small images would take longer than the decoding.
_SMALL_BYTES = 1 << 16


def setup(contents: BatchSpec) -> BatchSpec:
    return pictures_of("decoders.image", contents)


def _decode_small(
    encoded: Sequence[np.ndarray], headers: Headers, workers: Workers, options: Mapping[str, Any]
) -> HostOutputs | None:
    """Decodes small images together; images of equal size share one array. Returns None if the images are not small."""
    dtype: np.dtype = options["dtype"]
    shapes = headers.shapes(options["output_type"], options["adjust_orientation"])
    if shapes.prod(axis=1).sum() * dtype.itemsize > _SMALL_BYTES * len(encoded):
        return None
    blocks, failures = decode_small(
        encoded, headers, shapes, workers.share, output_type=options["output_type"], dtype=dtype,
        adjust_orientation=options["adjust_orientation"], fast_idct=options["use_fast_idct"],
    )  # fmt: skip
    parts = [RowSlice(block, np.arange(len(members)), members) for block, members in blocks]
    return HostOutputs((Store.of_parts(parts, BatchSpec(shapes, dtype, "HWC")),), failures)


@image_decoder("decoders.image", setup)
def image(
    encoded: Sequence[np.ndarray],
    /,
    *,
    cache_batch_copy: Static[bool] = True,
    cache_debug: Static[bool] = False,
    cache_size: Static[int] = 0,
    cache_threshold: Static[int] = 0,
    cache_type: Static[str] = "",
    workers: Workers,
    headers: Headers,
    scaled: Scaled | None = None,
    **options: Any,
) -> HostOutputs:
    """Decodes images; recognizes JPEG, PNG, WebP, BMP, TIFF, JPEG 2000, PNM, GIF, AVIF, HEIC and JPEG XL by their content.

    With the device "mixed", an NVIDIA GPU decodes JPEG files if nvImageCodec is installed; see docs/accelerators.md.

    Args:
        encoded: uint8 [bytes].
        cache_batch_copy: without effect.
        cache_debug: without effect.
        cache_size: without effect: decoded images are not cached.
        cache_threshold: without effect.
        cache_type: without effect.

    Returns: [H, W, C] of type `dtype`; 3 channels, 1 for GRAY. Damaged data raise an error; no image is decoded in part.

    Example: images = fn.decoders.image(jpegs, output_type=types.RGB)
    """
    if scaled is None or (scaled.denominator == 1).all():
        small = _decode_small(encoded, headers, workers, options)
        if small is not None:
            return small
    return decode(encoded, None, headers, scaled, workers, options)
