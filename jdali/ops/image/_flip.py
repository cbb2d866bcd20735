"""Flip: mirror images left-right, top-bottom and front-back."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._extent import BatchSpec
from jdali._operator import PerSample, operator
from jdali.ops.image._take_window import take_window, window_indices
from jdali.ops.image._window import default_layout


def setup(images: BatchSpec) -> BatchSpec:
    layout = default_layout(images.layout, images.ndim)
    if "H" not in layout or "W" not in layout:
        raise ValueError(f"flip: layout {layout!r} has no H and W to flip")
    return images.replace(layout=layout)


@operator(setup=setup, source="operators/generic/flip.cc")
def flip(
    image: Array,
    /,
    *,
    depthwise: PerSample[int] = 0,
    horizontal: PerSample[int] = 1,
    vertical: PerSample[int] = 0,
    extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
) -> Array:
    """Mirrors images along their width, height and depth.

    Args:
        image: any layout with H and W, any type; without a layout HWC, or DHWC with four axes.
        depthwise: not 0: swap front and back (of layouts with D).
        horizontal: not 0: swap left and right.
        vertical: not 0: swap top and bottom.

    Returns: shape, type and layout of the input.
    """
    layout = default_layout(layout, image.ndim)
    flips: list[Array | None] = [None] * image.ndim
    for letter, value in (("D", depthwise), ("H", vertical), ("W", horizontal)):
        if letter in layout and not _is_never(value):
            flips[layout.index(letter)] = jnp.asarray(value) != 0
    indices = window_indices([None] * image.ndim, out_shape, flips, extent)
    return take_window(image, indices, out_shape)


def _is_never(value: Any) -> bool:
    """Whether a flag is known, while tracing, to be 0 for all samples."""
    return isinstance(value, np.ndarray) and not value.any()
