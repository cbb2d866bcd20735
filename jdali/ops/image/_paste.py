from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.take_window import cut_window, fit_axis, inside_window, window_indices
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, is_traced, operator

LIMIT = 2**31 - 1


def setup(
    images: BatchSpec,
    *,
    fill_value: tuple[int, ...] | int,
    min_canvas_size: np.ndarray,
    n_channels: int,
    paste_x: Any,
    paste_y: Any,
    ratio: np.ndarray,
) -> BatchSpec:
    values = np.size(fill_value)
    if values != 1:
        if values != n_channels:
            raise ValueError(
                f'paste: Argument "fill_value" expects either a single value or a list of {n_channels} elements, n_channels. '
                f"{values} given."
            )
        wrong = images.extents[:, 2] != n_channels
        check_samples(
            wrong,
            lambda sample: (
                f"paste: the image has {images.extents[sample, 2]} channels, fill_value has {values} values"
            ),
            argument="fill_value",
        )
    _refuse("ratio of less than 1 is not supported", "ratio", ratio, ~(ratio >= 1))
    _refuse(
        # DALI's message, with its misspelled argument.
        "min_canvas_size_ of less than 0 is not supported",
        "min_canvas_size",
        min_canvas_size,
        ~(min_canvas_size >= 0),
    )
    for name, position in (("paste_x", paste_x), ("paste_y", paste_y)):
        if not is_traced(position):
            _refuse(f"{name} must be in range [0, 1]", name, position, ~((position >= 0) & (position <= 1)))
    # Computed in float32, as in DALI, because rounding decides whether a product is a whole number.
    sizes = images.extents[:, :2].astype(np.float32) * ratio.astype(np.float32)[:, None]
    sizes = np.maximum(sizes, min_canvas_size[:, None])
    _refuse("the canvas is too large", "ratio", ratio, ~(sizes <= LIMIT).all(axis=1))
    extents = np.concatenate([sizes.astype(np.int64), images.extents[:, 2:]], axis=1)
    return images.replace(extents=extents)


def _refuse(message: str, argument: str, values: np.ndarray, wrong: np.ndarray) -> None:
    check_samples(
        wrong, lambda sample: f"paste: {message}, {argument} is {values[sample]}", argument=argument
    )


@operator(
    setup=setup,
    setup_needs=lambda arguments: ("ratio", "min_canvas_size"),
    layouts=("HWC",),
    source="operators/image/paste/paste.h",
)
def paste(
    image: Array,
    /,
    *,
    fill_value: Static[tuple[int, ...] | int],
    min_canvas_size: PerSample[float] = 0.0,
    n_channels: Static[int] = 3,
    paste_x: PerSample[float] = 0.5,
    paste_y: PerSample[float] = 0.5,
    ratio: PerSample[float],
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Puts the image on a canvas `ratio` times its size; sizes and positions are rounded towards zero.

    Args:
        image: [H, W, C], any type.
        fill_value: value of the canvas, one for all channels, or `n_channels` values; saturated to the image's type.
        min_canvas_size: smallest height and width of the canvas, pixels.
        n_channels: number of channels of the image; needed only for a `fill_value` of several values.
        paste_x: share of the free width left of the image, 0 to 1.
        paste_y: share of the free height above the image, 0 to 1.
        ratio: sides of the canvas divided by the sides of the image, at least 1.

    Returns: [ratio * H, ratio * W, C], type of the input.

    Parity: DALI takes only uint8, and wraps fill values that uint8 does not hold.

    Example: images = fn.paste(images, ratio=1.5, fill_value=[30, 60, 90], paste_x=0.2, paste_y=0.8)
    """
    del ratio, min_canvas_size, n_channels  # used by `setup`
    free = (out_extent - extent).astype(jnp.float32)
    positions = [jnp.asarray(position, jnp.float32) for position in (paste_y, paste_x)]
    products = [position * free[axis] for axis, position in enumerate(positions)]
    anchors = [*(-product.astype(jnp.int32) for product in products), None]
    if 0 in out_shape:
        return jnp.zeros(out_shape, image.dtype)
    pasted = cut_window(image, anchors, out_shape)
    fill = saturate_cast(jnp.atleast_1d(jnp.asarray(fill_value, jnp.int32)), image.dtype)
    fill = fill if fill.shape[0] == 1 else fit_axis(fill, 0, out_shape[2])
    return jnp.where(inside_window(window_indices(anchors, out_shape), extent), pasted, fill)
