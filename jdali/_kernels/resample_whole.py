"""Resamples on a GPU, in one pass over all pixels for each axis, or in one pass for all axes if filters have few taps.

Sums have the same order as in `resample_taps`, so results have the same bits. XLA fuses up to `Reach.FOUR_CHUNKS` taps
along an axis into one kernel; filters with more taps use the loops of `resample_small`. The choice is made at compile time.
If it were made at run time, the GPU would wait for the host, and compiling would take 10 s instead of 1 s.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._kernels.resample_filters import Reach, first_taps, tap_count
from jdali._kernels.resample_taps import CHUNK_TAPS, resample_small, taps_and_weights, taps_at_once
from jdali._numerics.grid import SMALL_AXIS
from jdali._numerics.rounding import saturate_cast
from jdali._numerics.sums import fixed_sum


def resample_whole(
    image: Array, filters: Array, extent: Array, out_shape: tuple[int, ...], dtype: np.dtype, reach: int
) -> Array:
    """Resamples all axes but the last.

    Args:
        image: [*shape, C], padded.
        filters: float32 [d, 5].
        extent: int32 [d], true size.
        out_shape: padded shape of the result, without C.
        dtype: type of the result; integers are rounded and saturated.

    Returns: `dtype` [*out_shape, C].
    """

    if reach > Reach.FOUR_CHUNKS:
        return saturate_cast(resample_small(image, filters, extent, out_shape, reach), dtype)
    value, chunks = image, max(reach // CHUNK_TAPS, 1)
    for axis, count in enumerate(out_shape):
        # Without a barrier, XLA would compute the previous pass again for each tap.
        if axis and reach > Reach.PAIR:
            value = lax.optimization_barrier(value)
        value = _along(value, axis, filters[axis], extent[axis], count, chunks, taps_at_once(reach))
    return saturate_cast(value, dtype)


def _along(
    value: Array, axis: int, one_filter: Array, extent: Array, count: int, chunks: int, taps: int
) -> Array:
    """Resamples along an axis to `count` float32 elements, each of which is the sum of `chunks` · `taps` terms."""
    others = [a for a in range(value.ndim) if a != axis]
    rows, weights = _rows_and_weights(one_filter, extent, count, chunks, taps)
    total = None
    for chunk in range(chunks):
        terms = [
            jnp.expand_dims(weights[k], others) * _take(value, axis, rows[k]).astype(jnp.float32)
            for k in range(chunk * taps, (chunk + 1) * taps)
        ]
        part = functools.reduce(jnp.add, terms)
        # Chunks past a sample's last tap are skipped, because terms of 0 · infinity or -0 would change the sum.
        more = chunk * CHUNK_TAPS < tap_count(one_filter)
        total = part if total is None else jnp.where(more, total + part, total)
    assert total is not None
    return total


def _take(value: Array, axis: int, rows: Array) -> Array:
    # Along short axes, elements are taken by `where`, because XLA would compile a gather to two kernels.
    if value.shape[axis] <= SMALL_AXIS:
        rows = jnp.expand_dims(rows, [a for a in range(value.ndim) if a != axis])
        elements = [lax.slice_in_dim(value, n, n + 1, axis=axis) for n in range(value.shape[axis])]
        taken = elements[0]
        for n, element in enumerate(elements[1:], 1):
            taken = jnp.where(rows == n, element, taken)
        return taken
    where = (*(slice(None),) * axis, rows)
    return value.at[where].get(mode="promise_in_bounds", wrap_negative_indices=False)


def _rows_and_weights(
    one_filter: Array, extent: Array, count: int, chunks: int, taps: int
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Computes the row to read, int32 [count], and its weight, float32 [count], for each tap.

    A barrier makes XLA compute the arrays once. Each tap has separate arrays, because on a GPU, each slice of a joint
    array would launch a kernel.
    """
    start, first = first_taps(one_filter, count)
    parts = [
        taps_and_weights(one_filter[None], start, first, jnp.int32(chunk), taps) for chunk in range(chunks)
    ]
    sums = [fixed_sum(weights, (0,)) for _, weights in parts]
    total = functools.reduce(jnp.add, sums)
    inverse = jnp.where(total == 0, jnp.float32(0), 1 / total)
    rows = [jnp.clip(tap[k], 0, extent - 1) for tap, _ in parts for k in range(taps)]
    weights = [value[k] * inverse for _, value in parts for k in range(taps)]
    kept: tuple[tuple[Array, ...], tuple[Array, ...]] = lax.optimization_barrier(
        (tuple(rows), tuple(weights))
    )
    return kept
