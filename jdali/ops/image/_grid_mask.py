from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.take_window import fit_axis
from jdali._numerics.positions import quotient, rounded
from jdali._operators.record import PerSample, operator

# The types that DALI takes (grid_mask.cc). Other types would also work here, but programs that use them would not run on DALI.
_TYPES = tuple(np.dtype(kind) for kind in (np.uint8, np.int16, np.int32, np.float32))


def setup(images: BatchSpec, *, tile: np.ndarray) -> BatchSpec:
    if images.dtype not in _TYPES:
        names = ", ".join(kind.name for kind in _TYPES)
        raise ValueError(f"grid_mask: images are {images.dtype}, they must be one of {names}; cast them")
    wrong = np.asarray(tile) < 1
    check_samples(
        wrong,
        lambda sample: f"grid_mask: Tile argument must be positive, got {tile[sample]}",
        argument="tile",
    )
    return images


@operator(setup=setup, layouts=("HWC",), source="operators/image/mask/grid_mask.cc")
def grid_mask(
    image: Array,
    /,
    *,
    angle: PerSample[float] = 0.0,
    ratio: PerSample[float] = 0.5,
    shift_x: PerSample[float] = 0.0,
    shift_y: PerSample[float] = 0.0,
    tile: PerSample[int] = 100,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes squares in a regular grid black (GridMask, https://arxiv.org/abs/2001.04086).

    The pixel (x, y) lies at (u, v) = (x cos a - y sin a - shift_x, x sin a + y cos a - shift_y) / tile in the grid. It
    becomes black if the fractional parts of both u and v are less than `ratio`.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, int16, int32 or float32.
        angle: rotation of the grid, radians.
        ratio: side of a black square, as a share of `tile`; 0 or less: no squares, 1 or more: all black.
        shift_x: shift of the grid to the right, pixels.
        shift_y: shift of the grid downwards, pixels.
        tile: distance from one square's start to the next square's start, pixels, at least 1.

    Returns: shape, type and layout of the input.

    Parity: DALI takes the first two axes of any layout as height and width. With a rotated grid,
    float32 rounding may decide whether a pixel on the border of a square is black, so such pixels may differ.

    Example:
        images = fn.grid_mask(images, tile=40, ratio=0.5, angle=0.4)
        images = fn.grid_mask(images, tile=60, ratio=0.4, angle=0.6)
    """
    turn, length = jnp.asarray(angle, jnp.float32), jnp.asarray(tile).astype(jnp.float32)
    cos, sin = quotient(jnp.cos(turn), length), quotient(jnp.sin(turn), length)
    x = jnp.arange(out_shape[1], dtype=jnp.float32)[None, :]
    y = jnp.arange(out_shape[0], dtype=jnp.float32)[:, None]
    # A fused multiply-add would move pixels that lie exactly on a border to its other side.
    right, down, left, along = (rounded(product) for product in (x * cos, x * sin, y * -sin, y * cos))
    u = left - quotient(jnp.asarray(shift_x, jnp.float32), length) + right
    v = along - quotient(jnp.asarray(shift_y, jnp.float32), length) + down
    kept = (u - jnp.floor(u) >= ratio) | (v - jnp.floor(v) >= ratio)
    for axis, size in enumerate(out_shape):
        image = fit_axis(image, axis, size)
    # As in DALI, NaN in a square stays NaN, because NaN · 0 is NaN. XLA would turn `image * mask` into a
    # selection of zeros.
    return jnp.where(kept[..., None], image, image * 0)
