from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.take_window import take_window, window_indices
from jdali._operators.record import PerSample, operator, refused_layout

_LAYOUTS = ("FDHWC", "FHWC", "DHWC", "HWC", "FCDHW", "FCHW", "CDHW", "CHW")


def setup(images: BatchSpec) -> BatchSpec:
    layout = _layout(images.layout, images.ndim)
    if layout not in _LAYOUTS:
        raise refused_layout("flip", layout, images.ndim, ", ".join(_LAYOUTS))
    return images.replace(layout=layout)


def _layout(layout: str, ndim: int) -> str:
    """Returns `layout`. If it is empty, returns DALI's default: the first layout in DALI's list that has `ndim` axes."""
    return layout or next((known for known in _LAYOUTS if len(known) == ndim), "")


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
        image: HWC, CHW, or a sequence of these (FHWC, FCHW), or volumes (DHWC, CDHW, FDHWC, FCDHW), any type;
            without a layout HWC, FHWC or FDHWC, by the number of axes.
        depthwise: not 0: swap front and back; for layouts with D.
        horizontal: not 0: swap left and right.
        vertical: not 0: swap top and bottom.

    Returns: shape, type and layout of the input.

    Example:
        images = fn.flip(images, horizontal=1)
        images = fn.flip(images, horizontal=0, vertical=1)
    """
    layout = _layout(layout, image.ndim)
    flips: list[Array | None] = [None] * image.ndim
    for letter, value in (("D", depthwise), ("H", vertical), ("W", horizontal)):
        if letter in layout and not _is_never(value):
            flips[layout.index(letter)] = jnp.asarray(value) != 0
    indices = window_indices([None] * image.ndim, out_shape, flips, extent)
    return take_window(image, indices, out_shape)


def _is_never(value: object) -> bool:
    """Returns True if a flag is known, while tracing, to be 0 for all samples."""
    return isinstance(value, np.ndarray) and not value.any()
