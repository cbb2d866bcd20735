from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, Rising
from jdali._kernels.resample import resample
from jdali._kernels.resample_filters import filters_of, statics_of
from jdali._kernels.resize_sizes import ResizeWindow, check_types, resize_window
from jdali._operators.record import PerSample, Scaled, Static, operator
from jdali.types import DALIInterpType

LAYOUTS = ("HWC", "DHWC")


def plan_resampling(
    images: BatchSpec,
    window: ResizeWindow,
    dtype: np.dtype,
    *,
    interp_type: np.ndarray,
    min_filter: np.ndarray | None,
    mag_filter: np.ndarray | None,
    antialias: bool,
) -> Plan:
    """Makes the plan of an operator that resamples `window` of each image."""
    filters = filters_of(
        window.low, window.high, window.size, extents=images.extents[:, :-1],
        interp_type=interp_type, min_filter=min_filter, mag_filter=mag_filter, antialias=antialias,
    )  # fmt: skip
    extents = np.concatenate([window.size, images.extents[:, -1:]], axis=1)
    return Plan(
        (images.replace(extents=extents, dtype=dtype),),
        params={"_filters": filters},
        static=statics_of(filters),
    )


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
    interp_type: np.ndarray,
    min_filter: np.ndarray | None,
    mag_filter: np.ndarray | None,
    antialias: bool,
    dtype: np.dtype | None,
    save_attrs: bool,
    scaled: Scaled | None = None,
) -> Plan:
    out_dtype = check_types("resize", images, dtype, interp_type, min_filter, mag_filter)
    spatial = images.extents[:, :-1]
    whole = spatial if scaled is None else scaled.whole
    window = resize_window(
        "resize", whole, size=size, separate=(resize_z, resize_y, resize_x),
        resize_shorter=resize_shorter, resize_longer=resize_longer, mode=mode, max_size=max_size,
        roi_start=roi_start, roi_end=roi_end, roi_relative=roi_relative, subpixel_scale=subpixel_scale,
    )  # fmt: skip
    plan = plan_resampling(
        images, window.in_scaled(scaled), out_dtype,
        interp_type=interp_type, min_filter=min_filter, mag_filter=mag_filter, antialias=antialias,
    )  # fmt: skip
    if not save_attrs:
        return plan
    axes = np.full((images.batch_size, 1), spatial.shape[1])
    return Plan((*plan.outputs, BatchSpec(axes, np.dtype(np.int32))), plan.params, plan.static)


@operator(
    setup=setup,
    layouts=LAYOUTS,
    free_padding="all",
    nanoseconds=2.0,
    wide_vectors=True,
    outputs=lambda static: 2 if static.get("save_attrs") else 1,
    source="operators/image/resize/resize.cc, resize_attr.cc",
)
def resize(
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
    interp_type: PerSample[DALIInterpType] = DALIInterpType.INTERP_LINEAR,
    min_filter: PerSample[DALIInterpType | None] = None,
    mag_filter: PerSample[DALIInterpType | None] = None,
    antialias: Static[bool] = True,
    dtype: Static[np.dtype | None] = None,
    save_attrs: Static[bool] = False,
    minibatch_size: Static[int] = 32,
    temp_buffer_hint: Static[int] = 0,
    extent: Array,
    out_extent: tuple[Array, ...],
    out_shape: tuple[tuple[int, ...], ...],
    _filters: PerSample[Any] = None,
    _nearest: Static[bool | None] = None,
    _reach: Static[Rising | None] = None,
) -> Array | tuple[Array, Array]:
    """Resizes images or volumes; sizes are rounded half away from zero.

    Args:
        image: [H, W, C], or a volume [D, H, W, C].
        size: (height, width) or (depth, height, width), pixels, or one value for all sides. A size of 0 leaves the
            side to `mode`; a negative size mirrors the side. None: one of the following gives the size.
        resize_x: width, with the meaning of `size`.
        resize_y: height, with the meaning of `size`.
        resize_z: depth, with the meaning of `size`.
        resize_shorter: size of the shorter side, pixels; the aspect ratio is kept.
        resize_longer: size of the longer side, pixels; the aspect ratio is kept.
        mode: "default": sides without a size are scaled to keep the aspect ratio; "stretch": sides without a size do not
            change; "not_larger", "not_smaller": the aspect ratio is kept, and sizes are upper or lower limits.
        max_size: largest size of the sides, pixels: one value for all sides, or one per side; None: no limit.
        roi_start: start of the window to resize along each side, pixels; None: the whole image. Filters also read
            pixels around the window.
        roi_end: end of the window; a side is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sides; False: pixels.
        subpixel_scale: if a size is rounded, scale the window by the same factor, so that the scale is exact.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        min_filter: filter of sides that shrink; None: `interp_type`.
        mag_filter: filter of sides that do not shrink; None: `interp_type`.
        antialias: widen the filter of sides that shrink, so that every pixel contributes.
        dtype: output type, the input's or FLOAT; None: the input's.
        save_attrs: also return the original sizes.
        minibatch_size: without effect.
        temp_buffer_hint: without effect.

    Returns: the resized image; with `save_attrs`, also its original ([depth,] height, width), int32 [2] or [3].

    Parity: a NaN or infinite pixel may affect more pixels of its rows and columns than the filter covers.
    For a sequence, `save_attrs` returns one row of sizes for each frame.

    Example:
        images = fn.resize(images, size=[112, 112])
        images = fn.resize(images, size=[160, 60], interp_type=types.INTERP_NN)
    """
    resized = resample(
        image, _filters, extent[:-1], out_extent[0][:-1], out_shape[0],
        dtype=np.dtype(dtype or image.dtype), nearest=_nearest, reach=_reach,
    )  # fmt: skip
    if not save_attrs:
        return resized
    former = extent[:-1]
    return resized, jnp.pad(former, (0, out_shape[1][0] - len(former)))
