"""crop_mirror_normalize: crops, mirrors, normalizes and transposes in one pass; most image pipelines end with it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels import window as _window
from jdali._kernels.take_window import (
    Indices,
    cut_window,
    fill_constant,
    inside_window,
    per_channel,
    take_window,
    window_indices,
)
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, also_takes, is_traced, operator, refused_layout
from jdali.ops.image._crop import crop_anchors, crop_options, size_arguments
from jdali.types import DALIDataType

_NAME = "crop_mirror_normalize"


def setup(
    images: BatchSpec,
    *,
    crop: np.ndarray | None,
    crop_d: np.ndarray | None,
    crop_h: np.ndarray | None,
    crop_w: np.ndarray | None,
    crop_pos_x: Any,
    crop_pos_y: Any,
    crop_pos_z: Any,
    rounding: str,
    out_of_bounds_policy: str,
    fill_values: Any,
    mean: Any,
    std: Any,
    dtype: np.dtype,
    output_layout: str,
    pad_output: bool,
) -> BatchSpec:
    layout = _window.default_layout(images.layout, images.ndim)
    out_layout = output_layout or layout
    if "C" not in layout:
        raise refused_layout(
            _NAME, images.layout, images.ndim, "there must be a channel axis, of size 1 if need be"
        )
    _window.check_spatial(_NAME, layout, images.ndim)
    if sorted(out_layout) != sorted(layout):
        raise ValueError(
            f"{_NAME}: The requested output layout is not a permutation of input layout. Got output_layout "
            f"{out_layout!r} for {layout!r}"
        )
    policy = _window.policy_of(out_of_bounds_policy)
    sizes = _window.crop_sizes(_NAME, images.extents, layout, crop, crop_d, crop_h, crop_w)
    positions = _window.crop_positions(layout, crop_pos_x, crop_pos_y, crop_pos_z)
    extents = _window.crop_extents(_NAME, images.extents, layout, sizes, positions, policy, rounding)
    axis = layout.index("C")
    channels = images.extents[:, axis]
    padded = channels
    if pad_output:
        power = 2 ** np.ceil(np.log2(np.maximum(channels, 1)))
        padded = np.where(channels > 0, power, 0).astype(np.int64)
    _check_statistics(mean, std, channels, padded)
    # `fill_values` may also have one value per input channel. Channels that `pad_output` adds are then filled with 0.
    if (channels != np.size(fill_values)).any():
        _window.check_fill_values(_NAME, policy, fill_values, layout, padded)
    extents = extents.copy()
    extents[:, axis] = padded
    order = [layout.index(c) for c in out_layout]
    return BatchSpec(extents[:, order], dtype, out_layout)


def _check_statistics(mean: Any, std: Any, channels: np.ndarray, padded: np.ndarray) -> None:
    """Raises unless `mean` and `std` each have one value, or one per channel."""
    counts = {
        name: 1 if is_traced(value) or value.ndim == 1 else value.shape[1]
        for name, value in (("mean", mean), ("std", std))
    }
    if len(set(counts.values()) - {1}) > 1:
        raise ValueError(
            f"{_NAME}: ``mean`` and ``std`` must either be of the same size, be scalars, or one of them can be a vector and "
            f"the other a scalar. Got {counts['mean']} and {counts['std']} values for images of {channels.max()} channels"
        )
    for name, count in counts.items():
        if count != 1 and ((channels != count) & (padded != count)).any():
            raise ValueError(
                f"{_NAME}: The number of per-channel arguments should match the number of channels in the output slice. "
                f"{name} has {count} values for images of {channels.max()} channels"
            )


def _is_known(value: object) -> bool:
    """Returns True if an argument is a constant of the compiled program."""
    return isinstance(value, np.ndarray)


def folded(mean: Any, std: Any, scale: float, shift: float) -> tuple[Any, Any]:
    """Computes (m, s) such that (x - m) · s is (x - mean) / std · scale + shift.

    As in DALI's kernel (slice_flip_normalize_permute_pad_cpu.h), shift and mean are combined with a single rounding. If the
    arguments are constants, results equal DALI's to the last bit.

    Args:
        mean, std: float32 [1] or [C].
    """
    if _is_known(mean) and _is_known(std):
        with np.errstate(all="ignore"):  # with a std or scale of 0, results are infinite, as in DALI
            inverse = np.float32(scale) / std
            moved = mean.astype(np.float64) - std.astype(np.float64) * (np.float32(shift) / np.float32(scale))
            return (mean if shift == 0 else moved.astype(np.float32)), inverse
    moved = mean if shift == 0 else mean - std * (jnp.float32(shift) / jnp.float32(scale))
    return moved, jnp.float32(scale) / std


@operator(
    setup=setup, setup_needs=size_arguments, free_padding="input",
    source="operators/image/crop/crop_mirror_normalize.cc",
)  # fmt: skip
@also_takes(crop_options)
def crop_mirror_normalize(
    image: Array,
    /,
    *,
    dtype: Static[np.dtype | Any] = DALIDataType.FLOAT,
    fill_values: Static[tuple[float, ...]] = (0.0,),
    mean: PerSample[tuple[float, ...]] = (0.0,),
    mirror: PerSample[int] = 0,
    out_of_bounds_policy: Static[str] = "error",
    output_layout: Static[str] = "CHW",
    pad_output: Static[bool] = False,
    scale: Static[float] = 1.0,
    shift: Static[float] = 0.0,
    std: PerSample[tuple[float, ...]] = (1.0,),
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
    **options: Any,
) -> Array:
    """Crops, mirrors and normalizes: out = (in - mean) / std · scale + shift, in float32.

    The window is chosen as in `crop`, and mirrored after it is cut out. Integer results are rounded half away from zero
    and saturated.

    Args:
        image: any layout with H, W and C; without a layout HWC, or DHWC with four axes.
        dtype: output type.
        fill_values: value of pixels outside of the image, not normalized: one for all channels, or one per channel of
            the image or of the output. With the policy "pad", channels added by `pad_output` have this value, too.
        mean: mean to subtract: one value for all channels, or one per channel.
        mirror: not 0: mirror left and right.
        out_of_bounds_policy: for windows larger than the image: "error" raises, "pad" fills,
            "trim_to_shape" makes the window smaller.
        output_layout: a permutation of the input's layout; "": the input's.
        pad_output: add channels up to the next power of two (3 become 4).
        scale: factor after the normalization.
        shift: value that is added last.
        std: standard deviation to divide by: one value for all channels, or one per channel.

    Returns: `output_layout`, size of the window, `dtype`.

    Example:
        images = fn.crop_mirror_normalize(
            images,
            crop=[128, 128],
            mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4],
            output_layout="CHW",
        )
    """
    layout = _window.default_layout(layout, image.ndim)
    out_layout = output_layout or layout
    order = [layout.index(c) for c in out_layout]
    back = [out_layout.index(c) for c in layout]
    size, shape = out_extent[np.array(back)], [out_shape[a] for a in back]
    anchors = crop_anchors(layout, options, extent, size)
    mirrored = None if _is_known(mirror) and mirror == 0 else jnp.asarray(mirror) != 0
    flips = [mirrored if letter == "W" else None for letter in layout]
    indices = window_indices(anchors, shape, flips, size)
    window = cut_window(image, anchors, shape) if mirrored is None else take_window(image, indices, shape)
    value = _normalize(window, layout, mean, std, scale, shift)
    value = saturate_cast(value, np.dtype(dtype))
    padded = _window.policy_of(out_of_bounds_policy) == "pad"
    if padded or pad_output:
        inside = _inside(indices if padded else (), layout, extent, shape)
        fill = fill_constant(fill_values if padded else 0.0, value.dtype)
        value = jnp.where(inside, value, _per_channel_of(fill, layout, shape[layout.index("C")]))
    return jnp.transpose(value, order)


def _normalize(value: Array, layout: str, mean: Any, std: Any, scale: float, shift: float) -> Array:
    mean, std = ((np if _is_known(v) else jnp).atleast_1d(v) for v in (mean, std))
    value = value.astype(jnp.float32)
    if (
        _is_known(mean)
        and _is_known(std)
        and not mean.any()
        and (std == 1).all()
        and scale == 1
        and shift == 0
    ):
        return value
    channels = value.shape[layout.index("C")]
    center, factor = (_per_channel_of(v, layout, channels) for v in folded(mean, std, scale, shift))
    normalized: Array = (value - center) * factor
    return normalized


def _per_channel_of(value: Any, layout: str, channels: int) -> Any:
    """Applies `per_channel` to `value`. Cuts or zero-pads it to `channels` elements first, unless it has one."""
    count = value.shape[0]
    if count > 1:
        numpy = np if _is_known(value) else jnp
        value = numpy.pad(value[:channels], (0, max(channels - count, 0)))
    return per_channel(value, layout)


def _inside(indices: Indices, layout: str, extent: Array, shape: list[int]) -> Array:
    """Marks the elements inside of the image; channels that `pad_output` adds are not inside."""
    axis = layout.index("C")
    channel = jnp.arange(shape[axis], dtype=jnp.int32) < extent[axis]
    inside = jnp.expand_dims(channel, [a for a in range(len(shape)) if a != axis])
    return inside & inside_window(indices, extent) if indices else inside
