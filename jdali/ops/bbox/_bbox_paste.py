from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.box_layout import check_flat_boxes
from jdali._operators.record import PerSample, Static, operator


def setup(boxes: BatchSpec) -> BatchSpec:
    check_flat_boxes("bbox_paste", boxes)
    return boxes


@operator(setup=setup, devices=("cpu",), source="operators/bbox/bbox_paste.cc")
def bbox_paste(
    boxes: Array,
    /,
    *,
    ltrb: Static[bool] = False,
    paste_x: PerSample[float] = 0.5,
    paste_y: PerSample[float] = 0.5,
    ratio: PerSample[float],
) -> Array:
    """Moves boxes as `paste` moves the image onto a canvas of `ratio` times its size.

    A coordinate c becomes c / ratio + paste * (ratio - 1) / ratio; widths and heights are divided by the ratio.

    Args:
        boxes: float32 [..., 4 · n], n boxes one after the other along the last axis, relative to the image (0 to 1).
        ltrb: True: boxes are (left, top, right, bottom); False: (x, y, width, height).
        paste_x: position of the image on the canvas; 0: at the left, 1: at the right.
        paste_y: 0: at the top, 1: at the bottom.
        ratio: size of the canvas divided by the size of the image, 1 or more.

    Returns: shape and format of the input, float32, relative to the canvas. A box within the image stays within the
        canvas.

    Example: boxes = fn.bbox_paste(boxes, ltrb=True, ratio=1.5, paste_x=0.2, paste_y=0.8)
    """
    times = jnp.asarray(ratio, jnp.float32)
    scale = 1 / times
    margin = (times - 1) / times
    corner = jnp.stack([jnp.asarray(p, jnp.float32) * margin for p in (paste_x, paste_y)])
    # Rounding must not move the far border past the canvas.
    largest = 1 - scale
    below = jnp.nextafter(jax.lax.stop_gradient(largest), jnp.float32(-1))
    largest = jnp.where(scale + largest > 1, below, largest)
    corner = jnp.where(scale + corner > 1, largest, corner)
    index = jnp.arange(boxes.shape[-1], dtype=jnp.int32)
    offset = corner[index % 2]
    if not ltrb:
        offset = jnp.where(index % 4 < 2, offset, jnp.float32(0))
    moved: Array = boxes * scale + offset
    return moved
