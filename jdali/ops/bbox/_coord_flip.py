from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._operators.record import PerSample, Static, operator


def setup(points: BatchSpec, *, layout: str) -> BatchSpec:
    if points.dtype != np.float32:
        raise TypeError(f"coord_flip: Input is expected to be float, got {points.dtype}")
    if points.ndim != 2:
        raise ValueError(f"coord_flip: points must be [points, coordinates], got {points.ndim} axes")
    if layout and sorted(layout) != sorted("xyz"[: len(layout)]):
        missing = next((letter for letter in "xyz" if letter not in layout), "")
        words = f'Dimension "{missing}" not found in the layout: ' if missing else ""
        raise ValueError(
            f'coord_flip: {words}layout must be the letters "x", "xy" or "xyz" in any order, got {layout!r}'
        )
    allowed = range(1, 4) if not layout else (len(layout),)
    wrong = ~np.isin(points.extents[:, 1], allowed)
    check_samples(
        wrong,
        lambda i: (
            f"coord_flip: Unexpected number of dimensions {points.extents[i, 1]}: points must have "
            f"{len(layout) if layout else '1 to 3'} coordinates, got shape {size_text(points.extents[i])}"
        ),
    )
    return points


@operator(setup=setup, source="operators/coord/coord_flip.cc")
def coord_flip(
    points: Array,
    /,
    *,
    center_x: PerSample[float] = 0.5,
    center_y: PerSample[float] = 0.5,
    center_z: PerSample[float] = 0.5,
    flip_x: PerSample[int] = 1,
    flip_y: PerSample[int] = 0,
    flip_z: PerSample[int] = 0,
    layout: Static[str] = "",
) -> Array:
    """Mirrors points at a centre: 2 * center - x, along the axes whose `flip` is not 0.

    Args:
        points: float32 [points, coordinates], 1 to 3 coordinates each.
        center_x: position of the mirror along x.
        center_y: position of the mirror along y.
        center_z: position of the mirror along z.
        flip_x: not 0: mirror along x.
        flip_y: not 0: mirror along y.
        flip_z: not 0: mirror along z.
        layout: order of the coordinates; "": "x", "xy" or "xyz", by the number of coordinates.

    Returns: float32 [points, coordinates].

    Example: points = fn.coord_flip(points, flip_x=1)
    """
    axes = ["xyz".index(letter) for letter in layout or "xyz"]
    columns = points.shape[1]
    # Columns past the last coordinate are padding, so any axis may be used for them.
    axes = (axes + [0] * columns)[:columns]
    centers = (center_x, center_y, center_z)
    flips = (flip_x, flip_y, flip_z)
    center = jnp.stack([jnp.asarray(centers[axis], jnp.float32) for axis in axes])
    flip = jnp.stack([jnp.asarray(flips[axis], jnp.int32) for axis in axes]) != 0
    return jnp.where(flip, 2 * center - points, points)
