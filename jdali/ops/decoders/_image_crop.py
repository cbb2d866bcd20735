from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali._batches import BatchSpec, Plan
from jdali._kernels import window as windows
from jdali._kernels.image_decoding import decode, image_decoder, pictures_of, windows_plan
from jdali._operators.record import HostOutputs, PerSample, Scaled, Static, Workers
from jdali.codecs.image_batch import Headers

_NAME = "decoders.image_crop"


def setup(
    contents: BatchSpec,
    *,
    crop: np.ndarray | None,
    crop_d: np.ndarray | None,
    crop_h: np.ndarray | None,
    crop_w: np.ndarray | None,
    crop_pos_x: np.ndarray,
    crop_pos_y: np.ndarray,
    crop_pos_z: np.ndarray,
    rounding: str,
) -> Plan:
    pictures = pictures_of(_NAME, contents)
    sizes = windows.crop_sizes(_NAME, pictures.extents, "HWC", crop, crop_d, crop_h, crop_w)
    positions = windows.crop_positions("HWC", crop_pos_x, crop_pos_y, crop_pos_z)
    windows.check_positions(_NAME, sizes != pictures.extents, positions, "HWC")
    anchors = windows.crop_window(_NAME, pictures.extents, sizes, positions, rounding)
    return windows_plan(_NAME, pictures, anchors, sizes)


@image_decoder(_NAME, setup)
def image_crop(
    encoded: Sequence[np.ndarray],
    /,
    *,
    crop: PerSample[tuple[float, ...] | None] = None,
    crop_d: PerSample[float] = 0.0,
    crop_h: PerSample[float] = 0.0,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    crop_w: PerSample[float] = 0.0,
    rounding: Static[str] = "round",
    _window: PerSample[tuple[int, ...] | None] = None,
    workers: Workers,
    headers: Headers,
    scaled: Scaled | None = None,
    **options: object,
) -> HostOutputs:
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

    Returns: [height, width, C] of type `dtype`.

    Example: images = fn.decoders.image_crop(jpegs, crop=[100, 100])
    """
    return decode(encoded, _window, headers, scaled, workers, options)
