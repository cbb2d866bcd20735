"""Resamples on a CPU by weighted sums of rows, a few filter taps in one pass over memory.

One axis is resampled after the other, on the array reshaped to [rows, columns]. A step computes a block of output rows in
a tile of columns, as the sum of up to two chunks of `CHUNK_TAPS` weighted rows. XLA fuses each step to one loop, which
reads each element once and keeps the sum in registers.

The number of iterations of each loop is computed at run time, so the cost depends on the true size and scale of the sample,
not on the padded shapes. One program serves all scales up to its `Reach`. A program with a small `Reach` is half as large,
because it needs no loops for further taps. Samples are computed one after the other.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._kernels.by_platform import kept
from jdali._kernels.resample_filters import first_taps, tap_count, weight
from jdali._numerics.rounding import saturate_cast, varying_like
from jdali._numerics.sums import fixed_sum

# Sizes chosen by measurements on AVX-512 cores. With a linear filter, one pass of 8 taps can shrink an axis to 1/4. In
# smaller blocks, overhead dominates. Larger blocks do not fit into the cache, and XLA splits their loops over threads,
# which wait for each other.
CHUNK_TAPS = 8
_ROWS = 32
_COLUMNS = 768
# `_LATER_ROWS`: rows in a block when the second or a later axis is resampled; rows are short then. `_TURNED`: columns
# that are transposed at once.
_LATER_ROWS, _TURNED = 128, 256
# With a linear filter, half a chunk of taps can shrink an axis to 1/2, one and a half to 1/6, and two to 1/8.
_HALF, _DOUBLE = CHUNK_TAPS // 2, 2 * CHUNK_TAPS
# Number of taps whose weights are computed once per sample, enough to shrink an axis to 1/32. The weights of further
# taps are computed for each block.
_KEPT_TAPS = 64
_LINE = 16  # float32 values in a cache line

_ROW_SLICES = lax.GatherDimensionNumbers(
    offset_dims=(1,), collapsed_slice_dims=(0, 1), start_index_map=(0, 1, 2)
)


def _int32(value: int) -> Array:
    return jnp.asarray(value, jnp.int32)


@dataclasses.dataclass(frozen=True)
class _Axes:
    """Filters along all axes of one sample, computed together. `shape_out` is the length of the longest output axis.

    Attributes:
        filters: float32 [d, 1, 5], see `resample_filters`.
        rows: int32 [d], true number of input rows.
        taps: number of taps in a chunk.
        chunks: int32 [d], number of chunks; None: one chunk is enough for all axes.
        start: float32 [d, shape_out], start of each output row's filter.
        first: int32 [d, shape_out], first tap of each output row.
        inverse: float32 [d, shape_out], factor that makes the sum of the weights 1.
        leading: result of `factors` for the first chunk and all output rows, stored because it is used many times.
    """

    filters: Array
    rows: Array
    taps: int
    chunks: Array | None
    start: Array
    first: Array
    inverse: Array
    leading: tuple[Array, Array]

    @classmethod
    def of(cls, filters: Array, rows: Array, count: int, reach: int) -> _Axes:
        """Computes the attributes from the filters of a sample.

        Args:
            rows: int32 [d].
            count: number of output rows along the longest axis.
        """
        filters, taps = filters[:, None], taps_at_once(reach)
        start, first = first_taps(filters, count)
        tap, value = _kept(taps_and_weights(filters, start, first, _int32(0), taps))
        total = fixed_sum(value, (1,))
        chunks = None if reach <= CHUNK_TAPS else (tap_count(filters)[:, 0] + CHUNK_TAPS - 1) // CHUNK_TAPS
        if chunks is not None:

            def add(chunk: Array, total: Array) -> Array:
                _, value = taps_and_weights(filters, start, first, chunk, taps)
                return total + fixed_sum(value, (1,))

            total = lax.fori_loop(_int32(1), chunks.max(), add, total)
        inverse = jnp.where(total == 0, jnp.float32(0), 1 / total)
        leading = _kept((jnp.clip(tap, 0, rows[:, None, None] - 1), value * inverse[:, None]))
        return cls(filters, rows, taps, chunks, start, first, inverse, leading)

    def first_factors(self, axis: int, top: Array | int, block: int) -> tuple[Array, Array]:
        start, sizes = (_int32(axis), _int32(0), jnp.asarray(top, jnp.int32)), (1, self.taps, block)
        row, value = (lax.dynamic_slice(v, start, sizes)[0] for v in self.leading)
        return _kept((row, value))

    def factors(self, axis: int, top: Array | int, block: int, chunk: Array) -> tuple[Array, Array]:
        """Computes the rows to read and their weights, [taps, block] each; the outermost rows repeat past the borders."""
        start, first, inverse = (
            lax.dynamic_slice(v, (_int32(axis), jnp.asarray(top, jnp.int32)), (1, block))[0]
            for v in (self.start, self.first, self.inverse)
        )
        tap, value = taps_and_weights(self.filters[axis], start, first, chunk, self.taps)
        return _kept((jnp.clip(tap, 0, self.rows[axis] - 1), value * inverse))

    def add_chunks(self, axis: int, result: Array, add: Callable[[Array, Array], Array]) -> Array:
        return result if self.chunks is None else lax.fori_loop(_int32(1), self.chunks[axis], add, result)


def taps_at_once(reach: int) -> int:
    """Returns the number of taps in a chunk: the taps of the largest filter plus one, at most `CHUNK_TAPS`.

    Each extra tap multiplies the last element under the filter by 0, which gives NaN if the element is not finite. One
    or several extra taps give the same sum, so results do not depend on `reach`.
    """
    return min(reach + 1, CHUNK_TAPS)


def taps_and_weights(
    filters: Array, start: Array, first: Array, chunk: Array, taps: int
) -> tuple[Array, Array]:
    """Computes the taps of one chunk and their weights before normalization, [..., taps, rows] each.

    If a chunk reaches past the filter's last tap, it repeats this tap with weight 0. It must not read rows past the
    filter, because 0 · NaN is NaN.

    Args:
        filters: float32 [..., 1, 5].
        start: float32 [..., rows].
        first: int32 [..., rows].
    """
    offset = (chunk * CHUNK_TAPS + jnp.arange(taps, dtype=jnp.int32))[:, None]
    count = tap_count(filters)[..., None]
    tap = first[..., None, :] + jnp.minimum(offset, count - 1)
    value = weight(filters[..., None, :], tap, start[..., None, :])
    return tap, jnp.where(offset < count, value, 0)


def _kept(values: tuple[Array, Array]) -> tuple[Array, Array]:
    """Returns the values through a barrier, because XLA would otherwise look up the weights again for each column."""
    first, second = lax.optimization_barrier(values)
    return first, second


@dataclasses.dataclass(frozen=True)
class _AxisFactors:
    """Rows to read, and their weights, for all output rows along each axis of a sample.

    Attributes:
        row: int32 [d, taps, shape_out], rows of the first taps.
        weight: float32 [d, taps, shape_out], weights of the first taps.
        counts: int32 [d], number of taps that a sum along the axis needs.
        steps: possible numbers of taps in the first pass, ascending. Each further pass has `steps[-1]` taps.
        beyond: computes rows and weights of taps that are not in `row` and `weight`; None: there are no such taps.
    """

    row: Array
    weight: Array
    counts: Array
    steps: tuple[int, ...]
    beyond: Callable[[int, Array | int, int, Array], tuple[Array, Array]] | None
    once: Array

    @classmethod
    def of(cls, filters: Array, extents: Array, count: int, reach: int, *, finite: bool) -> _AxisFactors:
        """Computes the attributes from the filters of a sample.

        Args:
            count: number of output rows along the longest axis.
            finite: True: no pixel can be NaN or infinite. False: a chunk that is not full gets one extra tap, see
                `taps_at_once`.
        """
        once, counts = jnp.minimum(extents[0], 1), tap_count(filters)
        needed = counts if finite else counts + (counts % CHUNK_TAPS != 0)
        if reach <= CHUNK_TAPS:
            axes = _Axes.of(filters, extents, count, reach)
            steps = tuple(sorted({min(_HALF, axes.taps), axes.taps}))
            return cls(*axes.leading, needed, steps, None, once)
        filters = filters[:, None]
        start, first = first_taps(filters, count)

        def put(chunk: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            row, weight, total = state
            tap, value = taps_and_weights(filters, start, first, chunk, CHUNK_TAPS)
            # Taps past `_KEPT_TAPS` are written to the last chunk, which is never read.
            place = jnp.minimum(chunk * CHUNK_TAPS, _KEPT_TAPS)
            tap = jnp.clip(tap, 0, extents[:, None, None] - 1)
            row = lax.dynamic_update_slice_in_dim(row, tap, place, 1)
            weight = lax.dynamic_update_slice_in_dim(weight, value, place, 1)
            return row, weight, total + fixed_sum(value, (1,))

        shape = len(counts), _KEPT_TAPS + CHUNK_TAPS, count
        empty = (
            jnp.zeros(shape, jnp.int32),
            jnp.zeros(shape, jnp.float32),
            jnp.zeros(start.shape, jnp.float32),
        )
        chunks = (counts.max() + CHUNK_TAPS - 1) // CHUNK_TAPS
        row, weight, total = lax.fori_loop(_int32(0), chunks, put, varying_like(empty, filters, extents))
        inverse = jnp.where(total == 0, jnp.float32(0), 1 / total)

        def beyond(axis: int, top: Array | int, block: int, step: Array) -> tuple[Array, Array]:
            place = _int32(axis), jnp.asarray(top, jnp.int32)
            own = (lax.dynamic_slice(v, place, (1, block))[0] for v in (start, first, inverse))
            own_start, own_first, own_inverse = own
            chunk = step * (_DOUBLE // CHUNK_TAPS)
            tap, value = taps_and_weights(filters[axis], own_start, own_first, chunk, _DOUBLE)
            return jnp.clip(tap, 0, extents[axis] - 1), value * own_inverse

        row, weight = _kept((row, weight * inverse[:, None]))
        return cls(row, weight, needed, (CHUNK_TAPS, CHUNK_TAPS + _HALF, _DOUBLE), beyond, once)

    def at(self, axis: int, top: Array | int, block: int, taps: int, step: Array) -> tuple[Array, Array]:
        """Returns the rows that pass number `step` adds to a block of output rows, and the weights: [taps, block]."""
        start = (_int32(axis), step * taps, jnp.asarray(top, jnp.int32))
        row, weight = (lax.dynamic_slice(v, start, (1, taps, block))[0] for v in (self.row, self.weight))
        return _kept((row, weight))


def _resample_rows(
    source: Array,
    sample: Array,
    factors: _AxisFactors,
    axis: int,
    result: Array,
    *,
    top: Array,
    block: int,
    columns: Array,
    to: Array,
) -> Array:
    """Computes the output rows top, ..., top + block - 1.

    Each loop computes a tile of columns, and writes it to `result` in place. So XLA does not copy the tile, and does not split
    the loop over threads, which would wait for each other after each small tile.

    Args:
        source: [N, rows, columns], padded.
        sample: index of the sample in `source`.
        axis: axis of the sample that is resampled.
        result: float32 [rows_out, columns or more].
        columns: true number of columns.
        to: row of `result` at which the block is written.
    """
    width = source.shape[2]
    tile = min(_COLUMNS, width)
    tiles = (columns + tile - 1) // tile
    count, most = factors.counts[axis], factors.steps[-1]

    def weighted_sums(left: Array, rows: Array, weights: Array) -> list[Array]:
        """Computes the weighted sum of each chunk of taps."""
        # Written with `lax`, because these lines are traced once per tap, and tracing `jnp` takes ten times as long.
        first, last = (lax.broadcast(v, (block, 1)) for v in (sample, left))
        terms = []
        for k in range(len(rows)):
            row, weight = (lax.reshape(lax.slice_in_dim(v, k, k + 1), (block, 1)) for v in (rows, weights))
            read = lax.gather(
                source, lax.concatenate([first, row, last], 1), _ROW_SLICES, (1, 1, tile),
                mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS,
            )  # fmt: skip
            weight = lax.broadcast_in_dim(weight, (block, tile), (0, 1))
            terms.append(lax.mul(weight, lax.convert_element_type(read, jnp.float32)))
        chunks = range(0, len(terms), CHUNK_TAPS)
        return [functools.reduce(lax.add, terms[k : k + CHUNK_TAPS]) for k in chunks]

    def first_step(result: Array, least: int, taps: int) -> Array:
        """Sums the first `taps` taps if more than `least` are needed, and at most `taps` unless this is the largest step."""
        rows, weights = factors.at(axis, top, block, taps, _int32(0))

        def put(t: Array, result: Array) -> Array:
            # The last tile overlaps the previous one; the overlap is computed twice.
            left = jnp.minimum(t * tile, width - tile)
            total = functools.reduce(lax.add, weighted_sums(left, rows, weights))
            return lax.dynamic_update_slice(result, total, (to, left))

        chosen = (count > least) & ((count <= taps) | (taps == most))
        return lax.fori_loop(_int32(0), jnp.where(chosen, tiles, 0), put, result)

    for least, taps in zip((0, *factors.steps), factors.steps, strict=False):
        result = first_step(result, least, taps)
    beyond = factors.beyond
    if beyond is None:
        return result

    def further_step(step: Array, result: Array) -> Array:
        # A loop with one iteration or none compiles to a smaller program than a branch.
        rows, weights = lax.fori_loop(
            _int32(0), (step * most >= _KEPT_TAPS).astype(jnp.int32),
            lambda *_: beyond(axis, top, block, step), factors.at(axis, top, block, most, step),
        )  # fmt: skip

        def add(t: Array, result: Array) -> Array:
            left = jnp.minimum(t * tile, width - tile)
            # In the part that overlaps the previous tile, these taps were already added.
            done = jnp.arange(tile, dtype=jnp.int32) < t * tile - left
            # The tile is copied, because LLVM does not vectorize a loop that reads what it overwrites.
            total = kept(lax.dynamic_slice(result, (to, left), (block, tile)), factors.once)
            for chunk, part in enumerate(weighted_sums(left, rows, weights)):
                missing = step * most + chunk * CHUNK_TAPS >= count
                total = jnp.where(done | missing, total, total + part)
            return lax.dynamic_update_slice(result, total, (to, left))

        return lax.fori_loop(_int32(0), tiles, add, result)

    return lax.fori_loop(_int32(1), (count + most - 1) // most, further_step, result)


def _transposed(source: Array, result: Array, columns: Array) -> Array:
    """Writes the first `columns` columns of `source` as rows of `result`."""
    rows, width = len(source), len(result)
    tile = min(_TURNED, width)

    def turn(t: Array, result: Array) -> Array:
        left = jnp.minimum(t * tile, width - tile)
        piece = lax.dynamic_slice(source, (_int32(0), left), (rows, tile))
        return lax.dynamic_update_slice(result, piece.T, (left, _int32(0)))

    return lax.fori_loop(_int32(0), (columns + tile - 1) // tile, turn, result)


def _apart(columns: int) -> int:
    """Rounds the length of float32 rows up to an odd number of cache lines, so that a column lies in many cache sets."""
    return (-(-columns // _LINE) | 1) * _LINE


def resample_taps(
    images: Array,
    filters: Array,
    extents: Array,
    out_extents: Array,
    out_shape: tuple[int, ...],
    dtype: np.dtype,
    reach: int,
) -> Array:
    """Resamples all axes but the last of each image.

    A block of output rows is resampled along all axes before the next block begins, so that intermediates stay in the
    cache. Each pass resamples the leading axis and moves it to the end, so that every pass reads contiguous rows. One small
    transpose restores the order of the axes.

    Args:
        images: [N, *shape, C], padded.
        filters: float32 [N, d, 5].
        extents, out_extents: int32 [N, d].
        out_shape: padded shape of one result, without C.
        dtype: type of the result; integers are rounded and saturated.

    Returns: `dtype` [N, *out_shape, C].
    """
    count, *shape, channels = images.shape
    axes = len(shape)
    finite = jnp.issubdtype(images.dtype, jnp.integer)
    block = min(_ROWS, out_shape[0])
    lead = (block, *out_shape[1:])
    rest = [math.prod(shape[a + 1 :]) * channels * math.prod(lead[:a]) for a in range(axes)]
    # Buffers for the output of each pass, and for its transpose, which the next pass reads.
    made = [jnp.zeros((lead[a], _apart(rest[a])), jnp.float32) for a in range(axes - 1)]
    made.append(jnp.zeros((lead[-1], rest[-1]), jnp.float32))
    turned = [jnp.zeros((rest[a], lead[a]), jnp.float32) for a in range(axes - 1)]

    def compute_sample(i: Array, state: Any) -> object:
        factors = _AxisFactors.of(filters[i], extents[i], max(out_shape), reach, finite=finite)

        def compute_block(b: Array, state: Any) -> object:
            results, made, turned = state
            made, turned = list(made), list(turned)
            top = jnp.minimum(b * block, out_shape[0] - block)
            source, sample = images.reshape(count, shape[0], -1), i
            for a in range(axes):
                last = a == axes - 1
                width = source.shape[2]
                # The columns are several merged axes; the loop can skip only the padding of the first of them.
                columns = _int32(width) if last else extents[i, a + 1] * (width // shape[a + 1])
                run = functools.partial(_resample_rows, source, sample, factors, a, columns=columns)
                if a == 0:
                    made[a] = run(made[a], top=top, block=block, to=_int32(0))
                else:
                    made[a] = _all_rows(run, made[a], out_shape[a], out_extents[i, a])
                if not last:
                    turned[a] = _transposed(made[a], turned[a], columns)
                    source, sample = turned[a].reshape(1, shape[a + 1], -1), _int32(0)
            value = saturate_cast(made[-1], dtype)
            if dtype != np.float32:  # LLVM does not vectorize rounding with a transpose
                value = kept(value, factors.once)
            value = value.reshape(lead[-1], channels, *lead[:-1])
            value = value.transpose(*range(2, axes + 1), 0, 1)
            start = (i, top, *(_int32(0) for _ in range(axes)))
            return lax.dynamic_update_slice(results, value[None], start), made, turned

        blocks = (out_extents[i, 0] + block - 1) // block
        return lax.fori_loop(_int32(0), blocks, compute_block, state)

    start = (jnp.zeros((count, *out_shape, channels), dtype), made, turned)
    start = varying_like(start, images, filters, extents, out_extents)
    return lax.fori_loop(_int32(0), _int32(count), compute_sample, start)[0]


def resample_small(
    image: Array, filters: Array, extent: Array, out_shape: tuple[int, ...], reach: int
) -> Array:
    """Computes the same bits as `resample_taps` without tiles, for small arrays.

    Args:
        image: [*shape, C], padded.
        filters: float32 [d, 5].
        extent: int32 [d].
        out_shape: padded shape of the result, without C.

    Returns: float32 [*out_shape, C].
    """
    value, axes = image, _Axes.of(filters, extent, max(out_shape), reach)
    for a, count in enumerate(out_shape):

        def weighted_sum(factors: tuple[Array, Array], value: Array = value, a: int = a) -> Array:
            rows, weights = factors
            others = [other for other in range(value.ndim) if other != a]
            terms = [
                jnp.expand_dims(weights[k], others) * jnp.take(value, rows[k], axis=a).astype(jnp.float32)
                for k in range(axes.taps)
            ]
            return functools.reduce(jnp.add, terms)

        def further(
            chunk: Array,
            total: Array,
            weighted_sum: Callable[..., Array] = weighted_sum,
            a: int = a,
            count: int = count,
        ) -> Array:
            return total + weighted_sum(axes.factors(a, 0, count, chunk))

        value = axes.add_chunks(a, weighted_sum(axes.first_factors(a, 0, count)), further)
    return value


def _all_rows(run: Callable[..., Array], result: Array, shape_out: int, rows_out: Array) -> Array:
    block = -(-shape_out // -(-shape_out // _LATER_ROWS))

    def step(b: Array, result: Array) -> Array:
        top = jnp.minimum(b * block, shape_out - block)
        return run(result, top=top, block=block, to=top)

    return lax.fori_loop(_int32(0), (rows_out + block - 1) // block, step, result)
