from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels import window as _window
from jdali._kernels.take_window import (
    bordered,
    cut_window,
    exact_anchor,
    fill_constant,
    inside_window,
    per_channel,
    saturate_truncate,
    take_window,
    window_indices,
)
from jdali._operators.record import PerSample, Static, also_takes, operator

_SIZES = ("crop", "crop_d", "crop_h", "crop_w")


def setup(
    images: BatchSpec,
    *,
    crop: np.ndarray | None,
    crop_d: np.ndarray | None,
    crop_h: np.ndarray | None,
    crop_w: np.ndarray | None,
    crop_pos_x: object,
    crop_pos_y: object,
    crop_pos_z: object,
    rounding: str,
    out_of_bounds_policy: str,
    fill_values: object,
    dtype: np.dtype | None,
) -> BatchSpec:
    layout = _window.default_layout(images.layout, images.ndim)
    policy = _window.policy_of(out_of_bounds_policy)
    sizes = _window.crop_sizes("crop", images.extents, layout, crop, crop_d, crop_h, crop_w)
    positions = _window.crop_positions(layout, crop_pos_x, crop_pos_y, crop_pos_z)
    extents = _window.crop_extents(
        "crop", images.extents, layout, sizes, positions, policy, rounding,
        _window.POLICIES + _window.BORDERS,
    )  # fmt: skip
    _window.check_border("crop", policy, images.extents, extents)
    channels = extents[:, layout.index("C")] if "C" in layout else None
    _window.check_fill_values("crop", policy, fill_values, layout, channels)
    return BatchSpec(extents, dtype or images.dtype, layout)


def crop_options(
    *,
    crop: PerSample[tuple[float, ...] | None] = None,
    crop_d: PerSample[float] = 0.0,
    crop_h: PerSample[float] = 0.0,
    crop_pos_x: PerSample[float] = 0.5,
    crop_pos_y: PerSample[float] = 0.5,
    crop_pos_z: PerSample[float] = 0.5,
    crop_w: PerSample[float] = 0.0,
    rounding: Static[str] = "round",
) -> None:
    """Declares the arguments of the window.

    Args:
        crop: window (height, width) or (depth, height, width), pixels; fractions are truncated. A size of 0 or less takes
            the whole axis. None: `crop_h`, `crop_w`, `crop_d`.
        crop_d: depth of the window, or its number of frames if the layout has F and no D; 0: the whole depth.
        crop_h: height of the window, pixels; 0: the whole height.
        crop_pos_x: share of the free width left of the window, 0 to 1.
        crop_pos_y: share of the free height above the window, 0 to 1.
        crop_pos_z: share of the free depth in front of the window, 0 to 1.
        crop_w: width of the window, pixels; 0: the whole width.
        rounding: rounding of the window's position: "round" (half away from zero) or "truncate".
    """


def size_arguments(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Implements `setup_needs`: the sizes must be known on the host, while positions may be traced."""
    return tuple(a for a in _SIZES if a in arguments)


def crop_anchors(layout: str, options: Mapping[str, Any], extent: Array, size: Array) -> list[Array | None]:
    """Computes the anchor of each axis; None for an axis that is never cut.

    Args:
        layout: layout of the data.
        options: arguments of `crop_options`.
        extent, size: int32 [ndim], true sizes of the sample and of the window, along the axes of `layout`.
    """
    sizes = [options[name] for name in _SIZES]
    if all(s is None or (isinstance(s, np.ndarray) and not (s > 0).any()) for s in sizes):
        return [None] * len(layout)  # no image is cropped, which is known at trace time
    shares = _window.crop_positions(layout, *(options[f"crop_pos_{axis}"] for axis in "xyz"))
    return [
        None if share is None else exact_anchor(share, extent[axis] - size[axis], options["rounding"])
        for axis, share in enumerate(shares)
    ]


@operator(
    setup=setup, setup_needs=size_arguments, free_padding="input",
    source="operators/image/crop/crop_attr.cc",
)  # fmt: skip
@also_takes(crop_options)
def crop(
    image: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    fill_values: Static[tuple[float, ...]] = (0.0,),
    out_of_bounds_policy: Static[str] = "error",
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
    **options: Any,
) -> Array:
    """Cuts out a window that begins at position × (extent - size), rounded half away from zero.

    Args:
        image: any layout with H and W, also with D or F; without a layout HWC, or DHWC with four axes.
        dtype: output type; fractions are truncated and integers saturated; None: the input's.
        fill_values: value of pixels outside of the image: one for all channels, or one per channel.
        out_of_bounds_policy: for windows larger than the image: "error" raises, "pad" fills,
            "trim_to_shape" makes the window smaller; "clamp", "reflect_101", "reflect_1001" and "wrap" repeat the
            image, see `slice`.

    Returns: layout of the input, size of the window.

    Example:
        images = fn.crop(images, crop=[100, 100], crop_pos_x=0.2, crop_pos_y=0.8)
        images = fn.crop(images, crop=[80, 200], crop_pos_y=0.0)
    """
    layout = _window.default_layout(layout, image.ndim)
    out = np.dtype(dtype or image.dtype)
    anchors = crop_anchors(layout, options, extent, out_extent)
    indices = window_indices(anchors, out_shape)
    policy = _window.policy_of(out_of_bounds_policy)
    if policy in _window.BORDERS:
        return saturate_truncate(take_window(image, bordered(indices, extent, policy), out_shape), out)
    result = saturate_truncate(cut_window(image, anchors, out_shape), out)
    if policy != "pad":
        return result
    fill = per_channel(fill_constant(fill_values, out), layout)
    return jnp.where(inside_window(indices, extent), result, fill)
