from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.random_window import ASPECT_RATIOS, window_function
from jdali._operators.record import Static, operator

_NAME = "random_crop_generator"
_WORDS = "Expected a 1D tensor with 2 or 3 values representing an input shape (HW or HWC)"


def setup(shapes: BatchSpec) -> tuple[BatchSpec, BatchSpec]:
    if shapes.dtype.kind not in "iu":
        raise TypeError(f"{_NAME}: Only integer types are supported. Got: {shapes.dtype}")
    if shapes.ndim != 1:
        raise ValueError(f"{_NAME}: {_WORDS}. Got {shapes.ndim} axes")
    wrong = ~np.isin(shapes.extents[:, 0], (2, 3))
    check_samples(wrong, lambda i: f"{_NAME}: {_WORDS}. Got {shapes.extents[i, 0]} elements")
    pair = BatchSpec(np.full((shapes.batch_size, 1), 2), np.dtype(np.int32))
    return pair, pair


@operator(setup=setup, outputs=2, devices=("cpu",), source="operators/image/crop/random_crop_generator.h")
def random_crop_generator(
    key: Array,
    shapes: Array,
    /,
    *,
    num_attempts: Static[int] = 10,
    random_area: Static[tuple[float, float]] = (0.08, 1.0),
    random_aspect_ratio: Static[tuple[float, float]] = ASPECT_RATIOS,
    out_shape: tuple[tuple[int, ...], tuple[int, ...]],
) -> tuple[Array, Array]:
    """Draws a window as `decoders.image_random_crop` does: its share of the area, its aspect ratio and its position.

    Args:
        shapes: integers [2] or [3]: (height, width) of an image, pixels, and optionally its channels.
        num_attempts: maximum number of windows to draw; if none fits into the image, the largest window with an allowed
            aspect ratio is taken.
        random_area: smallest and largest area, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height.

    Returns: int32 [2] anchor (y, x) and int32 [2] size (height, width) of the window, pixels.

    Parity: random numbers differ from DALI's, but have the same distribution. Sizes round half away from zero to whole
        pixels.

    Example: corner, size = fn.random_crop_generator(shape, random_area=[0.3, 0.8])
    """
    draw = window_function(_NAME, random_area, random_aspect_ratio, num_attempts)
    anchor, size = draw(key, jnp.asarray(shapes)[:2].astype(jnp.int32))
    return fit(anchor, out_shape[0]), fit(size, out_shape[1])
