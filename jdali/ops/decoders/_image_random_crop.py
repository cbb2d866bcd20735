from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali._batches import BatchSpec, Plan
from jdali._kernels.image_decoding import decode, image_decoder, pictures_of, windows_plan
from jdali._kernels.random_window import ASPECT_RATIOS, window_function
from jdali._numerics.random import SampleKeys
from jdali._operators.record import HostOutputs, PerSample, Scaled, Static, Workers
from jdali.codecs.image_batch import Headers

_NAME = "decoders.image_random_crop"


def setup(
    contents: BatchSpec,
    *,
    random_area: tuple[float, ...],
    random_aspect_ratio: tuple[float, ...],
    num_attempts: int,
    keys: SampleKeys,
) -> Plan:
    pictures = pictures_of(_NAME, contents)
    draw = window_function(_NAME, random_area, random_aspect_ratio, num_attempts)
    anchors, sizes = keys.map(draw, pictures.extents[:, :2].astype(np.int32))
    return windows_plan(_NAME, pictures, anchors, sizes)


@image_decoder(_NAME, setup)
def image_random_crop(
    key: object,
    encoded: Sequence[np.ndarray],
    /,
    *,
    num_attempts: Static[int] = 10,
    random_area: Static[tuple[float, ...]] = (0.08, 1.0),
    random_aspect_ratio: Static[tuple[float, ...]] = ASPECT_RATIOS,
    _window: PerSample[tuple[int, ...] | None] = None,
    workers: Workers,
    headers: Headers,
    scaled: Scaled | None = None,
    **options: object,
) -> HostOutputs:
    """Decodes a random window of each image. The window's share of the area and its aspect ratio are drawn.

    Args:
        encoded: uint8 [bytes].
        num_attempts: maximum number of windows to draw; if none fits into the image, the largest window with an allowed
            aspect ratio is taken.
        random_area: smallest and largest area, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height.

    Returns: [height, width, C] of type `dtype`.

    Parity: windows have DALI's distribution, not its values.

    Example: images = fn.decoders.image_random_crop(jpegs, random_area=[0.3, 0.8])
    """
    return decode(encoded, _window, headers, scaled, workers, options)
