"""Resampling on a CPU: small matrix products over only those rows that a block of outputs needs.

One axis at a time: the array is seen as [rows, columns], and `_ROWS` output rows at a time are the
product of a small weight matrix with the input rows under their filters. All loops have trip counts
worked out at run time, so the cost follows the true size of the sample and the true scale, not the
padded shapes, and one compiled program serves every scale. Samples are done one after another.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numeric import saturate_cast
from jdali.ops.image._resample_filters import TAPS, border_weights, first_taps, weight

# Measured on two x86 machines' AVX-512 cores: larger blocks waste work outside of the band, smaller ones
# are all overhead; wider tiles leave the cache and make XLA split a product over threads.
_ROWS = 8
_COLUMNS = 768
_SINGLE_TILE = 1024  # up to so many columns are one tile
_LONGEST_CHUNK = 48


def _int32(value: int) -> Array:
    return jnp.asarray(value, jnp.int32)


def _chunk_length(rows_in: int, rows_out: int) -> int:
    """Input rows multiplied at once: what a block of outputs needs if the padded sizes are the true ones."""
    needed = (_ROWS + 1) * rows_in / max(rows_out, 1) + 1
    return int(min(_LONGEST_CHUNK, math.ceil(needed / 8) * 8, rows_in))


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
    mask: bool,
) -> Array:
    """Resamples the rows of one sample into `result`.

    Args:
        source: [N, rows, columns], padded.
        sample: which of the N.
        result: float32 [rows_out, columns], or the transpose of that; written where it is valid.
        axis: float32 [5], how the rows become `rows_out`.
        rows, columns, rows_out: true sizes.
        transpose: write the transpose.
        mask: whether padding may hold NaN or infinity.
    """
    _, shape_in, width = source.shape
    shape_out = result.shape[1] if transpose else result.shape[0]
    block, length = min(_ROWS, shape_out), _chunk_length(shape_in, shape_out)
    tile = width if width <= _SINGLE_TILE else _COLUMNS
    start, first = first_taps(axis, shape_out)
    before, after, inverse = border_weights(axis, rows, shape_out)
    taps = axis[TAPS].astype(jnp.int32)
    zero = _int32(0)

    def chunk_rows(low: Array, chunk: Array) -> tuple[Array, Array]:
        """First row wanted of a chunk, and where the slice begins (earlier at the end of the array)."""
        wanted = low + chunk * length
        return wanted, jnp.minimum(wanted, shape_in - length)

    def compute_block(b: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        result, weights = state
        top = jnp.minimum(b * block, shape_out - block)
        last = jnp.minimum(top + block, rows_out) - 1
        ends = jnp.stack([first[top], first[last]])
        low = jnp.clip(ends.min(), 0, rows - 1)
        high = jnp.clip(ends.max() + taps - 1, 0, rows - 1)
        chunks = (high - low) // length + 1

        def part(values: Array) -> Array:
            return lax.dynamic_slice(values, (top,), (block,))[:, None]

        def compute_weights(chunk: Array, weights: Array) -> Array:
            wanted, begin = chunk_rows(low, chunk)
            row = begin + jnp.arange(length, dtype=jnp.int32)
            offset = row - part(first)
            value = weight(axis, row, part(start)) * part(inverse)
            value = jnp.where((offset >= 0) & (offset < taps), value, 0)
            value = value + jnp.where(row == 0, part(before), 0)
            value = value + jnp.where(row == rows - 1, part(after), 0)
            value = jnp.where((row >= wanted) & (row < rows), value, 0)
            return lax.dynamic_update_slice(weights, value[None], (chunk, zero, zero))

        weights = lax.fori_loop(zero, chunks, compute_weights, weights)

        def compute_tile(t: Array, result: Array) -> Array:
            left = jnp.minimum(t * tile, width - tile)

            def product(chunk: Array) -> Array:
                _, begin = chunk_rows(low, chunk)
                value = lax.dynamic_slice(source, (sample, begin, left), (1, length, tile))[0]
                value = value.astype(jnp.float32)
                if mask:
                    row = begin + jnp.arange(length, dtype=jnp.int32)
                    value = jnp.where((row < rows)[:, None], value, 0)
                factor = lax.dynamic_index_in_dim(weights, chunk, 0, keepdims=False)
                return lax.dot(factor, value, precision=lax.Precision.HIGHEST)

            total = lax.fori_loop(
                _int32(1), chunks, lambda chunk, total: total + product(chunk), product(zero)
            )
            if transpose:
                return lax.dynamic_update_slice(result, total.T, (left, top))
            return lax.dynamic_update_slice(result, total, (top, left))

        return lax.fori_loop(zero, (columns + tile - 1) // tile, compute_tile, result), weights

    weights = jnp.zeros(((shape_in - 1) // length + 1, block, length), jnp.float32)
    weights = weights + inverse[0] * 0
    blocks = (rows_out + block - 1) // block
    return lax.fori_loop(zero, blocks, compute_block, (result, weights))[0]


def resample_blocks(
    images: Array,
    filters: Array,
    extents: Array,
    out_extents: Array,
    out_shape: tuple[int, ...],
    dtype: np.dtype,
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
    if count == 0:
        return jnp.zeros((0, *out_shape, channels), dtype)
    mask = bool(jnp.issubdtype(images.dtype, jnp.floating))
    # Zero, but as device-varying as the operands, which `shard_map` wants of a loop's state.
    varying = [a[(0,) * a.ndim] == 0 for a in (images, filters, extents, out_extents)]
    zero = jnp.where(jnp.stack(varying).any(), jnp.float32(0), jnp.float32(0))
    scratch, width = [], math.prod(shape) * channels
    for axis in range(axes):
        width = width // shape[axis]
        last = axis == axes - 1
        pair = (out_shape[axis], width) if last else (width, out_shape[axis])
        scratch.append(jnp.zeros(pair, jnp.float32) + zero)
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
                rows=extents[i, axis], columns=columns, rows_out=out_extents[i, axis],
                transpose=not last, mask=mask,
            )  # fmt: skip
            done.append(written)
            if not last:
                source, sample = written.reshape(1, shape[axis + 1], -1), _int32(0)
        value = done[-1].reshape(out_shape[-1], channels, *out_shape[:-1])
        value = saturate_cast(value.transpose(*range(2, axes + 1), 0, 1), dtype)
        start = (i, *(_int32(0) for _ in range(axes + 1)))
        return lax.dynamic_update_slice(results, value[None], start), done

    results = jnp.zeros((count, *out_shape, channels), dtype) + zero.astype(dtype)
    return lax.fori_loop(_int32(0), _int32(count), compute_sample, (results, scratch))[0]
