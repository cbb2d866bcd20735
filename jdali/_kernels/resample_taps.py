"""Resampling on a CPU: weighted sums of rows, a few filter taps in one pass over memory.

One axis at a time: the array is seen as [rows, columns], and a block of output rows by a tile of columns
is the sum over up to two chunks of `CHUNK_TAPS` rows, which XLA fuses to one loop that reads each element once and
keeps the sum in registers. All loops have trip counts computed at run time, so the cost follows the true size
of the sample and the true scale, not the padded shapes. A compiled program serves every scale up to its `Reach`:
without loops for more taps than the samples have it is half as large. Samples are done one after another.
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

# Measured on AVX-512 cores: 8 taps cover a scale of up to 3.5 in one pass; smaller blocks are all overhead,
# larger ones leave the cache, and XLA splits their loops over threads that wait for each other.
CHUNK_TAPS = 8
_ROWS = 32
_COLUMNS = 768
# Along the other axes, where rows are as short as a block is high; and columns to transpose at once.
_LATER_ROWS, _TURNED = 128, 256
# Half a chunk covers a scale of up to 2, two chunks one of up to 8.
_HALF, _DOUBLE = CHUNK_TAPS // 2, 2 * CHUNK_TAPS
# Taps whose weights are computed once a sample, for scales of up to 32; those beyond once a block of rows.
_KEPT_TAPS = 64
_LINE = 16  # float32 in a line of the cache

_ROW_SLICES = lax.GatherDimensionNumbers(
    offset_dims=(1,), collapsed_slice_dims=(0, 1), start_index_map=(0, 1, 2)
)


def _int32(value: int) -> Array:
    return jnp.asarray(value, jnp.int32)


@dataclasses.dataclass(frozen=True)
class _Axes:
    """Resampling of the rows of one sample, along each of its axes: one computation for all of them.

    Attributes:
        filters: float32 [d, 1, 5], see `resample_filters`.
        rows: int32 [d], true number of input rows.
        taps: how many are computed at once.
        chunks: int32 [d], how often; None: once is enough.
        start: float32 [d, shape_out], first: int32 [d, shape_out], inverse: float32 [d, shape_out], of each output
            row where its filter begins, its first tap, and what makes the weights' sum 1; that of the longest axis
            is the length of all.
        leading: `factors` of the first chunk for all output rows, which a sample needs many times.
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
        """Describes the axes of a sample.

        Args:
            filters: float32 [d, 5].
            rows: int32 [d].
            count: output rows, of the longest axis.
            reach: see `Reach`.
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
        """Returns `factors` of the first chunk."""
        start, sizes = (_int32(axis), _int32(0), jnp.asarray(top, jnp.int32)), (1, self.taps, block)
        row, value = (lax.dynamic_slice(v, start, sizes)[0] for v in self.leading)
        return _kept((row, value))

    def factors(self, axis: int, top: Array | int, block: int, chunk: Array) -> tuple[Array, Array]:
        """Computes rows to read and their weights, [taps, block] each; past the borders the last row repeats."""
        start, first, inverse = (
            lax.dynamic_slice(v, (_int32(axis), jnp.asarray(top, jnp.int32)), (1, block))[0]
            for v in (self.start, self.first, self.inverse)
        )
        tap, value = taps_and_weights(self.filters[axis], start, first, chunk, self.taps)
        return _kept((jnp.clip(tap, 0, self.rows[axis] - 1), value * inverse))

    def add_chunks(self, axis: int, result: Array, add: Callable[[Array, Array], Array]) -> Array:
        """Applies `add` to the result for each chunk but the first."""
        return result if self.chunks is None else lax.fori_loop(_int32(1), self.chunks[axis], add, result)


def taps_at_once(reach: int) -> int:
    """Returns how many taps are summed at once: all that there may be, and one.

    Missing taps are 0 times the filter's last one, which is NaN if that is not finite; one stands for all.
    """
    return min(reach + 1, CHUNK_TAPS)


def taps_and_weights(
    filters: Array, start: Array, first: Array, chunk: Array, taps: int
) -> tuple[Array, Array]:
    """Computes taps and weights, not normalised, of a chunk of each output row's filter, [..., taps, rows] each.

    Surplus taps of a chunk repeat the last one with the weight 0. They read no row beyond the filter, since 0 times NaN is
    NaN.

    Args:
        filters: float32 [..., 1, 5].
        start: float32 [..., rows].
        first: int32 [..., rows].
        chunk: which.
        taps: of a chunk.
    """
    offset = (chunk * CHUNK_TAPS + jnp.arange(taps, dtype=jnp.int32))[:, None]
    count = tap_count(filters)[..., None]
    tap = first[..., None, :] + jnp.minimum(offset, count - 1)
    value = weight(filters[..., None, :], tap, start[..., None, :])
    return tap, jnp.where(offset < count, value, 0)


def _kept(values: tuple[Array, Array]) -> tuple[Array, Array]:
    """Puts a barrier behind `values`, so that XLA does not look the weights up again for every column."""
    first, second = lax.optimization_barrier(values)
    return first, second


@dataclasses.dataclass(frozen=True)
class _Factors:
    """Rows to read and their weights, of all output rows along each axis of a sample.

    Attributes:
        row: int32 [d, taps, shape_out], weight: float32 [d, taps, shape_out], of the first taps.
        counts: int32 [d], how many taps a sum needs.
        steps: how many taps the first pass may sum; further ones sum as many as the longest.
        beyond: computes the factors of taps that `row` and `weight` lack, for a pass; None: they lack none.
        once: int32 1, see `by_platform.kept`.
    """

    row: Array
    weight: Array
    counts: Array
    steps: tuple[int, ...]
    beyond: Callable[[int, Array | int, int, Array], tuple[Array, Array]] | None
    once: Array

    @classmethod
    def of(cls, filters: Array, extents: Array, count: int, reach: int, *, finite: bool) -> _Factors:
        """Describes the axes of a sample.

        Args:
            filters: float32 [d, 5].
            extents: int32 [d].
            count: output rows, of the longest axis.
            reach: see `Reach`.
            finite: whether no pixel is NaN or infinite; otherwise one tap stands for those that a chunk lacks,
                see `taps_at_once`.
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
            # What is too much is written behind what is kept.
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
        return cls(row, weight, needed, (CHUNK_TAPS, _DOUBLE), beyond, once)

    def at(self, axis: int, top: Array | int, block: int, taps: int, step: Array) -> tuple[Array, Array]:
        """Returns rows to read and their weights, [taps, block] each, of a block of output rows and a pass."""
        start = (_int32(axis), step * taps, jnp.asarray(top, jnp.int32))
        row, weight = (lax.dynamic_slice(v, start, (1, taps, block))[0] for v in (self.row, self.weight))
        return _kept((row, weight))


def _resample_rows(
    source: Array,
    sample: Array,
    factors: _Factors,
    axis: int,
    result: Array,
    *,
    top: Array,
    block: int,
    columns: Array,
    to: Array,
) -> Array:
    """Resamples to the output rows top, ..., top + block - 1.

    Every tile is written in place by the loop that computes it: XLA then neither makes a copy nor splits
    that loop over threads, which would wait for each other at each of many small tiles.

    Args:
        source: [N, rows, columns], padded.
        sample: which of the N.
        factors: how its rows become those of the result.
        axis: which of the axes the rows are.
        result: float32 [rows_out, columns or more].
        top, block: which output rows.
        columns: true number of columns.
        to: row of `result` where they go.
    """
    width = source.shape[2]
    tile = min(_COLUMNS, width)
    tiles = (columns + tile - 1) // tile
    count, most = factors.counts[axis], factors.steps[-1]

    def weighted_sums(left: Array, rows: Array, weights: Array) -> list[Array]:
        """Sums up the taps of each chunk."""
        # In `lax`: with many taps, each call of `jnp` takes ten times as long to trace.
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
        """Sums the first `taps` taps, unless `least` are enough or a longer step sums more."""
        rows, weights = factors.at(axis, top, block, taps, _int32(0))

        def put(t: Array, result: Array) -> Array:
            # The last tile is computed again where it overlaps with the one before.
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
        # A loop of one turn or none, which is less to compile than a branch.
        rows, weights = lax.fori_loop(
            _int32(0), (step * most >= _KEPT_TAPS).astype(jnp.int32),
            lambda *_: beyond(axis, top, block, step), factors.at(axis, top, block, most, step),
        )  # fmt: skip

        def add(t: Array, result: Array) -> Array:
            left = jnp.minimum(t * tile, width - tile)
            # The overlap has these taps added already.
            done = jnp.arange(tile, dtype=jnp.int32) < t * tile - left
            # A copy: LLVM makes no vector instructions of a loop that reads what it overwrites.
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
    """Lengthens rows of float32 to an odd number of lines, so that a column lies in many sets of the cache."""
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

    A block of output rows of the leading axis goes through all axes before the next one, so that what
    is in between stays in the cache. Each pass resamples the leading axis and puts it last, so that
    every pass works on contiguous rows; one small transpose restores the order.

    Args:
        images: [N, *shape, C], padded.
        filters: float32 [N, d, 5].
        extents, out_extents: int32 [N, d].
        out_shape: padded shape of one result, without C.
        dtype: of the result; integers are rounded and saturated.
        reach: see `Reach`.

    Returns: `dtype` [N, *out_shape, C].
    """
    count, *shape, channels = images.shape
    axes = len(shape)
    finite = jnp.issubdtype(images.dtype, jnp.integer)
    block = min(_ROWS, out_shape[0])
    lead = (block, *out_shape[1:])
    rest = [math.prod(shape[a + 1 :]) * channels * math.prod(lead[:a]) for a in range(axes)]
    # What each pass makes, and that transposed for the next one.
    made = [jnp.zeros((lead[a], _apart(rest[a])), jnp.float32) for a in range(axes - 1)]
    made.append(jnp.zeros((lead[-1], rest[-1]), jnp.float32))
    turned = [jnp.zeros((rest[a], lead[a]), jnp.float32) for a in range(axes - 1)]

    def compute_sample(i: Array, state: Any) -> object:
        factors = _Factors.of(filters[i], extents[i], max(out_shape), reach, finite=finite)

        def compute_block(b: Array, state: Any) -> object:
            results, made, turned = state
            made, turned = list(made), list(turned)
            top = jnp.minimum(b * block, out_shape[0] - block)
            source, sample = images.reshape(count, shape[0], -1), i
            for a in range(axes):
                last = a == axes - 1
                width = source.shape[2]
                # Only the leading one of the axes that make up the columns can be cut to its true size.
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
            if dtype != np.float32:  # LLVM rounds with vector instructions what it does not transpose at once
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
    """Computes the result of `resample_taps`, to the last bit, without its tiles: for arrays not worth their
    loops.

    Args:
        image: [*shape, C], padded.
        filters: float32 [d, 5].
        extent: int32 [d].
        out_shape: padded shape of the result, without C.
        reach: see `Reach`.

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
