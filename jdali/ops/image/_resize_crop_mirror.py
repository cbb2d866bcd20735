"""resize_crop_mirror: resizes, crops and mirrors in one resampling, which computes only the crop."""

from __future__ import annotations

import types
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, Rising
from jdali._kernels.resample import resample
from jdali._kernels.resample_filters import mirrored
from jdali._kernels.resize_sizes import check_types, crop_window, per_axis, resize_window
from jdali._operators.record import PerSample, Scaled, Static, operator
from jdali.ops.image._resize import LAYOUTS, plan_resampling
from jdali.types import DALIInterpType

_NAME = "resize_crop_mirror"


def setup(
    images: BatchSpec,
    *,
    size: np.ndarray | None,
    resize_x: np.ndarray | None,
    resize_y: np.ndarray | None,
    resize_z: np.ndarray | None,
    resize_shorter: np.ndarray | None,
    resize_longer: np.ndarray | None,
    mode: str,
    max_size: tuple[float, ...] | float | None,
    roi_start: np.ndarray | None,
    roi_end: np.ndarray | None,
    roi_relative: bool,
    subpixel_scale: bool,
    crop: np.ndarray | None,
    crop_d: np.ndarray,
    crop_h: np.ndarray,
    crop_w: np.ndarray,
    crop_pos_x: np.ndarray,
    crop_pos_y: np.ndarray,
    crop_pos_z: np.ndarray,
    rounding: str,
    interp_type: np.ndarray,
    min_filter: np.ndarray | None,
    mag_filter: np.ndarray | None,
    antialias: bool,
    dtype: np.dtype | None,
    scaled: Scaled | None = None,
) -> Plan:
    out_dtype = check_types(_NAME, images, dtype, interp_type, min_filter, mag_filter)
    spatial = images.extents[:, :-1]
    whole = spatial if scaled is None else scaled.whole
    window = resize_window(
        _NAME, whole, size=size, separate=(resize_z, resize_y, resize_x),
        resize_shorter=resize_shorter, resize_longer=resize_longer, mode=mode, max_size=max_size,
        roi_start=roi_start, roi_end=roi_end, roi_relative=roi_relative, subpixel_scale=subpixel_scale,
    )  # fmt: skip
    axes = spatial.shape[1]
    sides = np.stack([crop_d, crop_h, crop_w][-axes:], axis=1)
    if crop is not None:
        if sides.any():
            raise ValueError(
                f"{_NAME}: `crop` argument is not compatible with `crop_h`, `crop_w`, `crop_d`; give one or the others"
            )
        if crop.ndim != 2 or crop.shape[1] != axes:
            raise ValueError(
                f"{_NAME}: `crop` argument should have {axes} elements, one for each of {'DHW'[-axes:]}"
            )
        sides = per_axis(_NAME, "crop", crop, axes)
    elif np.any(crop_w) != np.any(crop_h):
        raise ValueError(f"{_NAME}: `crop_w` and `crop_h` arguments must be provided together")
    position = np.stack([crop_pos_z, crop_pos_y, crop_pos_x][-axes:], axis=1)
    window = crop_window(_NAME, window, sides, position, rounding)
    return plan_resampling(
        images, window.in_scaled(scaled), out_dtype,
        interp_type=interp_type, min_filter=min_filter, mag_filter=mag_filter, antialias=antialias,
    )  # fmt: skip


@operator(
    setup=setup,
    layouts=LAYOUTS,
    free_padding="all",
    nanoseconds=2.0,
    wide_vectors=True,
    source="operators/image/resize/resize_crop_mirror.cc",
)
def resize_crop_mirror(
    image: Array,
    /,
    *,
    size: PerSample[tuple[float, ...] | None] = None,
    resize_x: PerSample[float | None] = None,
    resize_y: PerSample[float | None] = None,
    resize_z: PerSample[float | None] = None,
    resize_shorter: PerSample[float | None] = None,
    resize_longer: PerSample[float | None] = None,
    mode: Static[str] = "default",
    max_size: Static[tuple[float, ...] | float | None] = None,
    roi_start: PerSample[tuple[float, ...] | None] = None,
    roi_end: PerSample[tuple[float, ...] | None] = None,
    roi_relative: Static[bool] = False,
    subpixel_scale: Static[bool] = True,
    crop: PerSample[tuple[float, ...] | None] = None,
    crop_d: PerSample[float] = 0.0,
    crop_h: PerSample[float] = 0.0,
    crop_w: PerSample[float] = 0.0,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    rounding: Static[str] = "round",
    mirror: PerSample[int] = 0,
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
    _filters: PerSample[object] = None,
    _nearest: Static[bool | None] = None,
    _reach: Static[Rising | None] = None,
) -> Array:
    """Resizes an image, cuts out a window at a whole pixel, and mirrors it.

    A window larger than the resized image repeats the image's border.

    Args:
        image: [H, W, C], or a volume [D, H, W, C].
        size: (height, width) or (depth, height, width), pixels, or one value for all sides. A size of 0 leaves the
            side to `mode`; a negative size mirrors the side. None: one of the following gives the size.
        resize_x: width, with the meaning of `size`.
        resize_y: height, with the meaning of `size`.
        resize_z: depth, with the meaning of `size`.
        resize_shorter: size of the shorter side, pixels; the aspect ratio is kept.
        resize_longer: size of the longer side, pixels; the aspect ratio is kept.
        mode: "default", "stretch", "not_larger" or "not_smaller", as in `resize`.
        max_size: largest size of the sides before the crop, pixels: one value for all sides, or one per side; None: no
            limit.
        roi_start: start of the region to resize along each side, pixels; None: the whole image.
        roi_end: end of the region; a side is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sides; False: pixels.
        subpixel_scale: if a size is rounded, scale the region by the same factor, so that the scale is exact.
        crop: size of the window cut out of the resized image, (height, width) or (depth, height, width), pixels,
            fractions truncated; None: `crop_h`, `crop_w` and `crop_d`.
        crop_d: depth of the window, pixels; 0: the whole depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_w: width of the window, pixels; 0: the whole width.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: share of the free depth in front of the window, 0 to 1.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
        mirror: axes to mirror, as the sum of 1 (left-right), 2 (top-bottom) and 4 (front-back); 0: no axis.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.

    Returns: the window, in the size of the crop.

    Parity: `mirror` refers to the same axes in every layout. If the layout does not begin with H or D, DALI 2.4 mirrors the
    axis before the requested one, or none.

    Example: images = fn.resize_crop_mirror(images, resize_shorter=120, crop=[100, 100], mirror=1)
    """
    axes = len(out_shape) - 1
    bits = jnp.asarray([1 << (axes - 1 - a) for a in range(axes)], jnp.int32)
    turned = (jnp.asarray(mirror, jnp.int32) & bits) != 0
    out = out_extent[:-1]
    return resample(
        image, mirrored(jnp.asarray(_filters), out, turned), extent[:-1], out, out_shape,
        dtype=np.dtype(dtype or image.dtype), nearest=_nearest, reach=_reach,
    )  # fmt: skip


def _without_antialiasing(run: Callable[..., Array]) -> Callable[..., Array]:
    """Copies a function, with `antialias=False` as the default."""
    copy = types.FunctionType(run.__code__, run.__globals__, "fast_resize_crop_mirror", run.__defaults__)
    copy.__kwdefaults__ = {**(run.__kwdefaults__ or {}), "antialias": False}
    copy.__annotations__, copy.__doc__, copy.__module__ = run.__annotations__, run.__doc__, run.__module__
    return copy


# The same operator with antialiasing off by default; deprecated in DALI.
fast_resize_crop_mirror = operator(
    name="fast_resize_crop_mirror",
    setup=setup,
    layouts=LAYOUTS,
    free_padding="all",
    nanoseconds=2.0,
    wide_vectors=True,
    source="operators/image/resize/resize_crop_mirror.cc",
)(_without_antialiasing(resize_crop_mirror.run))
