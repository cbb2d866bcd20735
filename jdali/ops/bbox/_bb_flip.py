from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.box_layout import check_flat_boxes
from jdali._operators.record import PerSample, Static, operator


def setup(boxes: BatchSpec) -> BatchSpec:
    check_flat_boxes("bb_flip", boxes)
    return boxes


@operator(setup=setup, source="operators/bbox/bb_flip.cc")
def bb_flip(
    boxes: Array,
    /,
    *,
    horizontal: PerSample[int] = 1,
    ltrb: Static[bool] = False,
    vertical: PerSample[int] = 0,
) -> Array:
    """Mirrors boxes in relative coordinates, as `flip` mirrors the image.

    Args:
        boxes: float32 [..., 4 · n], n boxes one after the other along the last axis, relative to the image (0 to 1).
        horizontal: not 0: swap left and right.
        ltrb: True: boxes are (left, top, right, bottom); False: (x, y, width, height).
        vertical: not 0: swap top and bottom.

    Returns: shape and format of the input, float32. Widths and heights are differences of borders that were rounded to
        float32.

    Example: boxes = fn.bb_flip(boxes, ltrb=True, horizontal=1)
    """
    index = jnp.arange(boxes.shape[-1], dtype=jnp.int32)
    # Element 4k + j, with j from 0 to 3, belongs to x if j is even. Its partner, two elements away, is the opposite
    # border or the size.
    partner = jnp.take(boxes, index ^ 2, axis=-1, mode="clip")
    mirrored = jnp.where(index % 2 == 0, jnp.asarray(horizontal), jnp.asarray(vertical)) != 0
    if ltrb:
        return jnp.where(mirrored, 1 - partner, boxes)
    first = index % 4 < 2
    end = boxes + partner
    low = jnp.where(mirrored, 1 - end, boxes)
    # The partner of a size is the low border.
    size = jnp.where(mirrored, (1 - partner) - (1 - end), end - partner)
    return jnp.where(first, low, size)
