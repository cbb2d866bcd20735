from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, valid_mask
from jdali._errors import check_samples
from jdali._numerics.random import integer
from jdali._numerics.rounding import narrowed
from jdali._operators.record import PerSample, operator

_NAME = "segmentation.random_mask_pixel"


def setup(mask: BatchSpec) -> BatchSpec:
    if mask.ndim == 0:
        raise ValueError(f"{_NAME}: a scalar has no pixels")
    empty = (mask.extents == 0).any(axis=1)
    check_samples(
        empty, lambda i: f"{_NAME}: a mask of shape {tuple(mask.extents[i].tolist())} has no pixels"
    )
    return BatchSpec(np.full((mask.batch_size, 1), mask.ndim), np.dtype(np.int64))


@operator(setup=setup, name=_NAME, devices=("cpu",), source="operators/segmentation/random_mask_pixel.cc")
def random_mask_pixel(
    key: Array,
    mask: Array,
    /,
    *,
    foreground: PerSample[int] = 0,
    threshold: PerSample[float] = 0.0,
    value: PerSample[int | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws a pixel, with equal probabilities, and returns its coordinates.

    Args:
        mask: at least one axis, any type; channels are an axis like any other.
        foreground: if not 0, draw from the pixels of the foreground; if 0, or if there are none, draw from all pixels.
        threshold: pixels above it are foreground, compared as float32.
        value: pixels equal to it are foreground; `threshold` is then ignored.

    Returns: int64 [axes of the mask].

    Parity: random numbers differ from DALI's, but have the same distribution. DALI refuses `threshold` together with
        `value`. For a mask without pixels, DALI returns coordinates outside of it; jdali raises an error.

    Example: pixel = fn.segmentation.random_mask_pixel(mask, foreground=1)
    """
    valid = valid_mask(extent, mask.shape)
    wanted = valid & ((jnp.asarray(foreground) == 0) | _is_foreground(mask, threshold, value))
    wanted = jnp.where(wanted.any(), wanted, valid)
    # The row is drawn first, then the column, because a running count over all pixels would take as much memory as the mask.
    rows = wanted.reshape(-1, mask.shape[-1])
    counts = rows.sum(axis=1, dtype=jnp.int32)
    ends = jnp.cumsum(counts)
    words = jax.random.key_data(key)
    number = integer((words[0], words[1]), jnp.maximum(ends[-1], 1))
    row = jnp.minimum((ends <= number).sum(dtype=jnp.int32), len(ends) - 1)
    number = number - (ends[row] - counts[row])
    column = (jnp.cumsum(rows[row].astype(jnp.int32)) <= number).sum(dtype=jnp.int32)
    position = (*jnp.unravel_index(row, mask.shape[:-1]), column) if mask.ndim > 1 else (column,)
    return jnp.resize(jnp.stack(position), out_shape).astype(narrowed(np.dtype(np.int64)))


def _is_foreground(mask: Array, threshold: float | Array, value: int | Array | None) -> Array:
    """Marks the pixels of the foreground: bool, in the shape of the mask."""
    if value is None:
        return mask.astype(jnp.float32) > jnp.asarray(threshold, jnp.float32)
    wanted = jnp.asarray(value, jnp.int32)
    if mask.dtype.kind == "f":
        return mask == wanted.astype(mask.dtype)
    if mask.dtype == np.bool_:
        return mask.astype(jnp.int32) == wanted
    low, high = (
        max(min(int(limit), 2**31 - 1), -(2**31))
        for limit in (np.iinfo(mask.dtype).min, np.iinfo(mask.dtype).max)
    )
    return (mask == wanted.astype(mask.dtype)) & (wanted >= low) & (wanted <= high)
