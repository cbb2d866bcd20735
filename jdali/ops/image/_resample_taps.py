"""Resampling on a CPU: weighted sums of rows, a few filter taps in one pass over memory.

One axis at a time: the array is seen as [rows, columns], and a block of output rows by a tile of columns
is the sum over `_TAPS` rows at a time, which XLA fuses to one loop that reads each element once and keeps
the sum in registers. All loops have trip counts worked out at run time, so the cost follows the true size
of the sample and the true scale, not the padded shapes, and one compiled program serves every scale.
Samples are done one after another.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numeric import saturate_cast
from jdali.ops.image._resample_filters import TAPS, border_weights, first_taps, weight

# Measured on AVX-512 cores: 8 taps cover a scale of up to 3.5 in one pass; a block of these sizes and its
# sum stay in the second-level cache, smaller ones are all overhead.
_TAPS = 8
_ROWS = 64
_COLUMNS = 768

_ROW_SLICES = lax.GatherDimensionNumbers(
    offset_dims=(1,), collapsed_slice_dims=(0, 1), start_index_map=(0, 1, 2)
)


def _int32(value: int) -> Array:
    return jnp.asarray(value, jnp.int32)


def _axis_pass(
    source: Array,
    sample: Array,
    result: Array,
    axis: Array,
    *,
    rows: Array,
    columns: Array,
    rows_out: Array,
    transpose: bool,
) -> Array:
    """Resamples the rows of one sample into `result`.

    Args:
        source: [N, rows, columns], padded.
        sample: which of the N.
        result: [rows_out, columns], or the transpose of that, written where it is valid; integers
            are rounded and saturated.
        axis: float32 [5], how the rows become `rows_out`.
        rows, columns, rows_out: true sizes.
        transpose: write the transpose.
    """
    width = source.shape[2]
    shape_out = result.shape[1] if transpose else result.shape[0]
    block, tile = min(_ROWS, shape_out), min(_COLUMNS, width)
    start, first = first_taps(axis, shape_out)
    inverse = border_weights(axis, rows, shape_out)[2]
    taps = axis[TAPS].astype(jnp.int32)

    def compute_block(b: Array, result: Array) -> Array:
        top = jnp.minimum(b * block, shape_out - block)
        first_here, start_here, inverse_here = (
            lax.dynamic_slice(v, (top,), (block,)) for v in (first, start, inverse)
        )

        def factors(chunk: Array) -> tuple[Array, Array]:
            """Rows to read and their weights, [_TAPS, block] each; past the borders the last row repeats."""
            offset = (chunk * _TAPS + jnp.arange(_TAPS, dtype=jnp.int32))[:, None]
            tap = first_here + offset
            value = jnp.where(offset < taps, weight(axis, tap, start_here) * inverse_here, 0)
            # A barrier, lest the table be looked up again for every column.
            return lax.optimization_barrier((jnp.clip(tap, 0, rows - 1), value))

        first_chunk = factors(_int32(0))

        def compute_tile(t: Array, result: Array) -> Array:
            left = jnp.minimum(t * tile, width - tile)

            def add(total: Array | float, row: Array, value: Array) -> Array | float:
                for k in range(_TAPS):
                    same = [jnp.broadcast_to(v, row[k].shape) for v in (sample, left)]
                    place = jnp.stack([same[0], row[k], same[1]], axis=-1)
                    read = lax.gather(
                        source, place, _ROW_SLICES, (1, 1, tile), mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS
                    )
                    total = total + value[k][:, None] * read.astype(jnp.float32)
                return total

            total = lax.fori_loop(
                _int32(1), (taps + _TAPS - 1) // _TAPS,
                lambda chunk, total: add(total, *factors(chunk)), add(0.0, *first_chunk),
            )  # fmt: skip
            total = saturate_cast(total, result.dtype)
            if transpose:
                return lax.dynamic_update_slice(result, total.T, (left, top))
            return lax.dynamic_update_slice(result, total, (top, left))

        return lax.fori_loop(_int32(0), (columns + tile - 1) // tile, compute_tile, result)

    return lax.fori_loop(_int32(0), (rows_out + block - 1) // block, compute_block, result)


def resample_taps(
    images: Array,
    filters: Array,
    extents: Array,
    out_extents: Array,
    out_shape: tuple[int, ...],
    dtype: np.dtype[Any],
) -> Array:
    """Resamples all axes but the last of each image.

    Each pass resamples the leading axis and puts it last, so that every pass works on contiguous
    rows; the last pass leaves it in front and one small transpose restores the order.

    Args:
        images: [N, *shape, C], padded.
        filters: float32 [N, d, 5].
        extents, out_extents: int32 [N, d].
        out_shape: padded shape of one result, without C.
        dtype: of the result.

    Returns: `dtype` [N, *out_shape, C].
    """
    count, *shape, channels = images.shape
    axes = len(shape)
    # Zero, but as device-varying as the operands, which `shard_map` wants of a loop's state.
    varying = [a[(0,) * a.ndim] == 0 for a in (images, filters, extents, out_extents)]
    zero = jnp.where(jnp.stack(varying).any(), jnp.float32(0), jnp.float32(0))
    scratch, width = [], math.prod(shape) * channels
    for axis in range(axes):
        width = width // shape[axis]
        last = axis == axes - 1
        pair = (out_shape[axis], width) if last else (width, out_shape[axis])
        kept = dtype if last else np.dtype(np.float32)
        scratch.append(jnp.zeros(pair, kept) + zero.astype(kept))
        width = width * out_shape[axis]

    def compute_sample(i: Array, state: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        results, scratch = state
        source, sample = images.reshape(count, shape[0], -1), i
        done = []
        for axis in range(axes):
            last = axis == axes - 1
            width = source.shape[2]
            # Only the leading one of the axes that make up the columns can be cut to its true size.
            columns = _int32(width) if last else extents[i, axis + 1] * (width // shape[axis + 1])
            written = _axis_pass(
                source, sample, scratch[axis], filters[i, axis],
                rows=extents[i, axis], columns=columns, rows_out=out_extents[i, axis], transpose=not last,
            )  # fmt: skip
            done.append(written)
            if not last:
                source, sample = written.reshape(1, shape[axis + 1], -1), _int32(0)
        value = done[-1].reshape(out_shape[-1], channels, *out_shape[:-1])
        value = value.transpose(*range(2, axes + 1), 0, 1)
        start = (i, *(_int32(0) for _ in range(axes + 1)))
        return lax.dynamic_update_slice(results, value[None], start), done

    results = jnp.zeros((count, *out_shape, channels), dtype) + zero.astype(dtype)
    return lax.fori_loop(_int32(0), _int32(count), compute_sample, (results, scratch))[0]
