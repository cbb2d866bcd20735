"""Decoding whole images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._batches.store import Part, Store
from jdali._operators.record import PerSample, Static, operator
from jdali._operators.shared_arguments import also_takes
from jdali._operators.together import Made, Share
from jdali.codecs.image import ImageInfo
from jdali.codecs.images import Headers, decode_small
from jdali.ops.decoders._options import decode, decoder_options, pictures_of, probe
from jdali.types import DALIImageType

# Of pictures that have fewer bytes than this on average, handling each one alone would take longer than decoding it.
_SMALL_BYTES = 1 << 16


def setup(contents: BatchSpec) -> BatchSpec:
    return pictures_of("decoders.image", contents)


def together(
    encoded: Sequence[np.ndarray],
    *,
    share: Share,
    headers: Headers,
    output_type: DALIImageType,
    dtype: np.dtype[Any],
    adjust_orientation: bool,
    use_fast_idct: bool,
    denominator: np.ndarray | int = 1,
    **_: Any,
) -> Made | None:
    """The pictures, if they are small and wanted as they are."""
    if np.any(denominator != 1):
        return None
    shapes = headers.shapes(output_type, adjust_orientation)
    if shapes.prod(axis=1).sum() * dtype.itemsize > _SMALL_BYTES * len(encoded):
        return None
    blocks, failures = decode_small(
        encoded, headers, shapes, share, output_type=output_type, dtype=dtype,
        adjust_orientation=adjust_orientation, fast_idct=use_fast_idct,
    )  # fmt: skip
    parts = [Part(block, np.arange(len(members)), members) for block, members in blocks]
    return Made((Store.of_parts(parts, BatchSpec(shapes, dtype, "HWC")),), failures)


@operator(
    name="decoders.image",
    kind="host",
    setup=setup,
    probe=probe,
    together=together,
    devices=("cpu", "mixed"),
    source="operators/imgcodec/image_decoder.h",
)
@also_takes(decoder_options)
def image(
    encoded: np.ndarray,
    /,
    *,
    cache_batch_copy: Static[bool] = True,
    cache_debug: Static[bool] = False,
    cache_size: Static[int] = 0,
    cache_threshold: Static[int] = 0,
    cache_type: Static[str] = "",
    _window: PerSample[tuple[int, ...] | None] = None,
    out: np.ndarray | None = None,
    denominator: int = 1,
    header: ImageInfo | None = None,
    **options: Any,
) -> np.ndarray:
    """Decodes JPEG, PNG, WebP, BMP, TIFF, JPEG 2000 and PNM images, told apart by their content.

    Args:
        encoded: uint8 [bytes].
        cache_batch_copy: without effect.
        cache_debug: without effect.
        cache_size: without effect: decoded images are not kept.
        cache_threshold: without effect.
        cache_type: without effect.

    Returns: [H, W, C] of type `dtype`; 3 channels, 1 for GRAY. Damaged data raise, they never
    give a partly decoded picture.
    """
    return decode(encoded, _window, out, denominator, header, options)
