"""Decoding whole images."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._extent import BatchSpec
from jdali._operator import PerSample, Static, operator
from jdali._shared_arguments import also_takes
from jdali.ops.decoders._options import decode, decoder_options, pictures_of, probe


def setup(contents: BatchSpec) -> BatchSpec:
    return pictures_of("decoders.image", contents)


@operator(
    name="decoders.image",
    kind="host",
    setup=setup,
    probe=probe,
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
    return decode(encoded, _window, out, denominator, options)
