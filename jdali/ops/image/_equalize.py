from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.fit import fit
from jdali._kernels.histogram import BINS, histograms, looked_up
from jdali._numerics.platform import one_program
from jdali._operators.record import operator


def setup(images: BatchSpec) -> BatchSpec:
    if images.dtype != np.uint8:
        raise ValueError(
            f"equalize: Unsupported input type for equalize operator: {images.dtype}. Expected input type: uint8; cast it"
        )
    return images


@operator(setup=setup, layouts=("HWC",), source="operators/image/color/equalize.cc")
def equalize(image: Array, /, *, extent: Array, out_shape: tuple[int, ...]) -> Array:
    """Equalizes the histogram of each channel of an image.

    Let n(v) be the number of pixels whose value is at most v, and v0 the smallest value in the channel. A value v becomes
    255 · (n(v) - n(v0)) / (n(255) - n(v0)), in float32, rounded half to even. A channel with one value is unchanged.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8.

    Returns: shape, type and layout of the input.

    Example: images = fn.equalize(images)
    """
    return fit(_equalized(image, extent), out_shape)


@one_program()
def _equalized(image: Array, extent: Array) -> Array:
    return looked_up(image, extent, _tables(histograms(image, extent)))


def _tables(counts: Array) -> Array:
    """Makes lookup tables, uint8 [C, 256], from histograms, int32 [C, 256]."""
    up_to = jnp.cumsum(counts, axis=1, dtype=jnp.int32)
    total = up_to[:, -1:]
    first = jnp.take_along_axis(counts, jnp.argmax(counts > 0, axis=1, keepdims=True), axis=1)
    rest = (total - first).astype(jnp.float32)
    scale = 255 / jnp.maximum(rest, 1)
    # Rounded half to even, as in OpenCV's equalizeHist, which DALI calls.
    spread = jnp.round((up_to - first).astype(jnp.float32) * scale)
    same = jnp.arange(BINS, dtype=jnp.uint8)
    return jnp.where(rest == 0, same, jnp.clip(spread, 0, BINS - 1).astype(jnp.uint8))
