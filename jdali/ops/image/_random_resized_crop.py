"""Crop a random window and resize it: the usual augmentation for training classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import Array

from jdali._extent import BatchSpec, Plan
from jdali._operator import PerSample, Static, operator
from jdali._random import SampleKeys
from jdali.ops.image._random_window import window_function
from jdali.ops.image._resample import resample
from jdali.ops.image._resize import plan_resampling
from jdali.ops.image._resize_sizes import Window, check_types
from jdali.types import DALIInterpType

_NAME = "random_resized_crop"


def setup(
    images: BatchSpec,
    *,
    keys: SampleKeys,
    size: tuple[int, ...] | int,
    random_area: tuple[float, float],
    random_aspect_ratio: tuple[float, float],
    num_attempts: int,
    interp_type: np.ndarray,
    min_filter: np.ndarray | None,
    mag_filter: np.ndarray | None,
    antialias: bool,
    dtype: np.dtype[Any] | None,
) -> Plan:
    out_dtype = check_types(_NAME, images, dtype)
    sides = np.broadcast_to(np.asarray(size), 2) if np.size(size) in (1, 2) else np.full(2, -1)
    if (sides < 0).any():
        raise ValueError(f"{_NAME}: size must be (height, width), not negative, got {size}")
    draw = window_function(_NAME, random_area, random_aspect_ratio, num_attempts)
    anchor, shape = keys.map(draw, images.extents[:, :2].astype(np.int32))
    out = np.where(images.extents[:, :2] == 0, 0, sides)
    window = Window(anchor.astype(np.float64), (anchor + shape).astype(np.float64), out)
    return plan_resampling(
        images, window, out_dtype,
        interp_type=interp_type, min_filter=min_filter, mag_filter=mag_filter, antialias=antialias,
    )  # fmt: skip


@operator(setup=setup, layouts=("HWC",), source="operators/image/resize/random_resized_crop.cc")
def random_resized_crop(
    key: Array,
    image: Array,
    /,
    *,
    size: Static[tuple[int, ...] | int],
    random_area: Static[tuple[float, float]] = (0.08, 1.0),
    random_aspect_ratio: Static[tuple[float, float]] = (0.75, 1.333333),
    num_attempts: Static[int] = 10,
    interp_type: PerSample[DALIInterpType] = DALIInterpType.INTERP_LINEAR,
    min_filter: PerSample[DALIInterpType | None] = None,
    mag_filter: PerSample[DALIInterpType | None] = None,
    antialias: Static[bool] = True,
    dtype: Static[np.dtype | None] = None,
    minibatch_size: Static[int] = 32,
    temp_buffer_hint: Static[int] = 0,
    extent: Array | None = None,
    out_extent: Array | None = None,
    out_shape: tuple[int, ...] = (),
    _filters: PerSample[Any] = None,
    _nearest: Static[bool | None] = None,
) -> Array:
    """Resizes a random window of the image; the frames of a sequence share it.

    Args:
        size: (height, width) of the result, pixels, or one value for both.
        random_area: least and largest area of the window, share of the image's.
        random_aspect_ratio: least and largest width / height of the window.
        num_attempts: windows to try; if none fits, the largest that keeps the aspect ratio is taken.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel counts.
        dtype: output type, the input's or FLOAT; None: the input's.
        minibatch_size: taken for DALI's sake; changes nothing.
        temp_buffer_hint: taken for DALI's sake; changes nothing.

    Returns: [*size, C].

    Parity: other random numbers than DALI's, from the same distribution.
    """
    del key  # the window was drawn by `setup`, for filters and sizes must be known on the host
    return resample(
        image, _filters, extent[:-1], out_extent[:-1], out_shape[:-1],  # type: ignore[index]
        dtype=np.dtype(dtype or image.dtype), nearest=bool(_nearest),
    )  # fmt: skip
