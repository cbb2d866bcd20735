from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, Rising
from jdali._kernels.random_window import ASPECT_RATIOS, window_function
from jdali._kernels.resample import resample
from jdali._kernels.resample_filters import all_nearest, filters_of
from jdali._kernels.resize_sizes import ResizeWindow, check_types
from jdali._numerics.random import SampleKeys
from jdali._operators.record import PerSample, Static, is_traced, operator, wrong_length
from jdali.ops.image._resize import plan_resampling
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
    dtype: np.dtype | None,
) -> Plan:
    out_dtype = check_types(_NAME, images, dtype, interp_type, min_filter, mag_filter)
    if np.size(size) not in (1, 2):
        raise ValueError(f"{_NAME}: {wrong_length('size', 2, np.size(size), 0)}")
    sides = np.broadcast_to(np.asarray(size), 2)
    if (sides < 0).any():
        raise ValueError(f"{_NAME}: Input size less than zero not supported. Got size == {size}")
    draw = window_function(_NAME, random_area, random_aspect_ratio, num_attempts)
    if is_traced(keys):  # `run` draws the window; only the types of the filters are known here
        kinds = [interp_type if kind is None else kind for kind in (min_filter, mag_filter)]
        nearest = all_nearest(np.stack(kinds))
        extents = np.concatenate([_sides(images, sides), images.extents[:, 2:]], axis=1)
        return Plan((images.replace(extents=extents, dtype=out_dtype),), static={"_nearest": nearest})
    anchor, shape = keys.map(draw, images.extents[:, :2].astype(np.int32))
    low, high = anchor.astype(np.float64), (anchor + shape).astype(np.float64)
    window = ResizeWindow(low, high, _sides(images, sides))
    return plan_resampling(
        images, window, out_dtype,
        interp_type=interp_type, min_filter=min_filter, mag_filter=mag_filter, antialias=antialias,
    )  # fmt: skip


def _sides(images: BatchSpec, sides: np.ndarray) -> np.ndarray:
    """Sets `sides` to 0 for images without pixels: int64 [N, 2]."""
    return np.where(images.extents[:, :2] == 0, 0, sides).astype(np.int64)


@operator(
    setup=setup,
    layouts=("HWC",),
    free_padding="all",
    nanoseconds=2.0,
    wide_vectors=True,
    source="operators/image/resize/random_resized_crop.cc",
)
def random_resized_crop(
    key: Array,
    image: Array,
    /,
    *,
    size: Static[tuple[int, ...] | int],
    random_area: Static[tuple[float, float]] = (0.08, 1.0),
    random_aspect_ratio: Static[tuple[float, float]] = ASPECT_RATIOS,
    num_attempts: Static[int] = 10,
    interp_type: PerSample[DALIInterpType] = DALIInterpType.INTERP_LINEAR,
    min_filter: PerSample[DALIInterpType | None] = None,
    mag_filter: PerSample[DALIInterpType | None] = None,
    antialias: Static[bool] = True,
    dtype: Static[np.dtype | None] = None,
    minibatch_size: Static[int] = 32,
    temp_buffer_hint: Static[int] = 0,
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
    _filters: PerSample[Any] = None,
    _nearest: Static[bool | None] = None,
    _reach: Static[Rising | None] = None,
) -> Array:
    """Resizes a random window of the image; all frames of a sequence have the same window.

    Args:
        image: [H, W, C].
        size: (height, width) of the result, pixels, or one value for both sides.
        random_area: smallest and largest area of the window, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height of the window.
        num_attempts: maximum number of windows to draw; if none fits into the image, the largest window with an allowed
            aspect ratio is taken.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.

    Returns: [*size, C].

    Parity: random numbers differ from DALI's, but have the same distribution.

    Example: images = fn.random_resized_crop(images, size=[160, 160])
    """
    if _filters is None:  # the key was a tracer, so `setup` could not draw the window on the host
        draw = window_function(_NAME, random_area, random_aspect_ratio, num_attempts)
        anchor, shape = draw(key, extent[:2])
        _filters = filters_of(
            anchor[None], (anchor + shape)[None], out_extent[None, :2],
            extents=extent[None, :2],
            interp_type=np.reshape(interp_type, 1),
            min_filter=None if min_filter is None else np.reshape(min_filter, 1),
            mag_filter=None if mag_filter is None else np.reshape(mag_filter, 1),
            antialias=antialias, xp=jnp,
        )[0]  # fmt: skip
    return resample(
        image, _filters, extent[:-1], out_extent[:-1], out_shape,
        dtype=np.dtype(dtype or image.dtype), nearest=_nearest, reach=_reach,
    )  # fmt: skip
