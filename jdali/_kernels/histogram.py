"""Histograms of uint8 images, and lookup tables applied to them."""

from __future__ import annotations

import functools
import math

import jax.numpy as jnp
from jax import Array, lax

from jdali._batches import reflect_101, valid_mask
from jdali._kernels.border import rows_with_margin, with_margin
from jdali._kernels.by_platform import by_platform, kept, loop, rows_of_block
from jdali._numerics.rounding import varying_like

BINS = 256
# Elements in one step of a loop.
_STEP = 48
# Minimum number of arrays of counts. Neighbouring elements are counted in different arrays, so that a count does not
# wait until the previous count is stored. This takes 0.4 ns per element; a scatter takes 3.7 ns.
_ARRAYS = 6
# Largest number of channels for which the loop over channels is unrolled.
_MAX_CHANNELS = 8
# Images with at most this number of elements are computed without a loop, which would not be worth compiling.
SMALL = 1 << 14
# Number of elements whose bin numbers are computed in one step.
_BLOCK = 1 << 16
# A GPU counts neighbouring columns in this number of histograms, because additions to one count wait for each other.
_APART = 32


def histograms(image: Array, extent: Array) -> Array:
    """Counts the values in each channel.

    Args:
        image: uint8 [H, W, C], padded.
        extent: int32 [3], the true size.

    Returns: int32 [C, 256].
    """
    if image.size <= SMALL or image.shape[2] > _MAX_CHANNELS:
        return _scattered(image, extent)
    return by_platform(_counted, functools.partial(_scattered, apart=_APART))(image, extent)


def _scattered(image: Array, extent: Array, apart: int = 1) -> Array:
    _, width, channels = image.shape
    column = jnp.arange(width, dtype=jnp.int32)[:, None] % apart
    # The `apart` counts of a value are neighbours in memory, because a GPU adds to neighbours at the same time.
    index = (image.astype(jnp.int32) + jnp.arange(channels, dtype=jnp.int32) * BINS) * apart + column
    counts = jnp.zeros(channels * BINS * apart, jnp.int32)
    inside = valid_mask(extent, image.shape).astype(jnp.int32)
    return counts.at[index].add(inside).reshape(channels, BINS, apart).sum(2, dtype=jnp.int32)


def _counted(image: Array, extent: Array) -> Array:
    """Computes the result of `_scattered` by loops of scalar instructions over the true elements.

    Padding in the last, partial chunk of each row is set to 0, counted, and then subtracted from the count of 0.
    """
    height, _, channels = image.shape
    chunks, between = _chunks(image)
    step = chunks.shape[1]
    rows, columns = extent[0], extent[1] * channels
    full, left = columns // step, columns % step
    zeros = jnp.zeros((channels * -(-_ARRAYS // channels), BINS), jnp.int32)
    counts = _count(varying_like(tuple(zeros), image, extent), chunks, between, rows, full)
    rest = lax.dynamic_index_in_dim(chunks.reshape(height, between, step), full, 1, keepdims=False)
    rest = jnp.where(jnp.arange(step) < left, rest, 0)
    counts = _count(counts, rest, 1, rows, jnp.int32(1))
    total = jnp.stack(counts).reshape(-1, channels, BINS).sum(0, dtype=jnp.int32)
    return total.at[:, 0].add(-rows * ((step - left) // channels))


def _count(
    counts: tuple[Array, ...], chunks: Array, between: int, rows: Array, a_row: Array
) -> tuple[Array, ...]:
    """Counts the values in the first `a_row` chunks of each of the first `rows` rows.

    `chunks` is [H · between, step], with `between` chunks in each row. Element j of a chunk is counted in
    array j % len(counts).
    """

    def add(_: Array, state: tuple[_Chunk, tuple[Array, ...]]) -> tuple[_Chunk, tuple[Array, ...]]:
        (chunk, in_row), new = state[0], list(state[1])
        for j in range(chunks.shape[1]):
            at = lax.dynamic_slice(chunks, (chunk, jnp.int32(j)), (1, 1))[0].astype(jnp.int32)
            own = new[j % len(new)]
            new[j % len(new)] = lax.dynamic_update_slice(own, lax.dynamic_slice(own, at, (1,)) + 1, at)
        return _next(chunk, in_row, a_row, between), tuple(new)

    return loop(rows * a_row, add, (_first(chunks), counts))[1]


# (index of a chunk among all chunks, index of the chunk in its row). A loop's state has both indices, because computing
# one from the other takes a division, which XLA would repeat for each element.
_Chunk = tuple[Array, Array]


def _first(values: Array) -> _Chunk:
    zero = jnp.zeros((), jnp.int32)
    return varying_like((zero, zero), values)


def _next(chunk: Array, in_row: Array, a_row: Array, between: int) -> _Chunk:
    """Returns the next chunk. Each row has `between` chunks, of which the loop visits the first `a_row`."""
    last = in_row + 1 == a_row
    return chunk + jnp.where(last, between - a_row + 1, 1), jnp.where(last, 0, in_row + 1)


def _chunks(image: Array) -> tuple[Array, int]:
    """Cuts the rows of [H, W, C] into chunks; returns uint8 [H · n, step], and n, the number of chunks in a row."""
    height, width, channels = image.shape
    row = width * channels
    fitting = [n for n in range(channels, _STEP + 1, channels) if row % n == 0]
    step = fitting[-1]
    if step < _STEP // 3:
        step = _STEP // channels * channels
    lines = jnp.pad(image.reshape(height, row), ((0, 0), (0, -row % step)))
    return lines.reshape(-1, step), lines.shape[1] // step


def tile_histograms(image: Array, tiles: tuple[int, int], tile: Array, size: Array) -> Array:
    """Counts the values in each tile of an image.

    Tiles may extend past the true size, by at most `tiles[axis]` pixels along an axis. There the image is mirrored.

    Args:
        image: uint8 [H, W, C], padded.
        tiles: number of tiles along each axis.
        tile: int32 [2], height and width of a tile.
        size: int32 [2], the true size.

    Returns: int32 [C, tiles[0] * tiles[1], 256].
    """
    loop_pays = image.size > SMALL and image.shape[2] <= _MAX_CHANNELS
    scattered = functools.partial(_scattered_tiles, tiles)
    count = by_platform(functools.partial(_counted_tiles, tiles), scattered) if loop_pays else scattered
    return count(image, tile, size).reshape(image.shape[2], -1, BINS)


def _scattered_tiles(tiles: tuple[int, int], image: Array, tile: Array, size: Array) -> Array:
    none = math.prod(tiles) * BINS

    def counted(wide: Array) -> Array:
        for axis in (0, 1):
            wide = with_margin(wide, axis, size[axis], (0, tiles[axis]), "reflect_101")
        rows, columns = (jnp.arange(n, dtype=jnp.int32) for n in wide.shape)
        first = _first_bins(rows, 0, tiles, tile)[:, None] + _first_bins(columns, 1, tiles, tile)
        numbers = jnp.minimum(first + wide.astype(jnp.int32), none)
        return jnp.zeros(none, jnp.int32).at[numbers].add(jnp.int32(1), mode="drop")

    return jnp.stack([counted(image[:, :, c]) for c in range(image.shape[2])])


def _first_bins(pixels: Array, axis: int, tiles: tuple[int, int], tile: Array) -> Array:
    """Returns the term that each row (axis 0) or column (axis 1) adds to the index of a bin.

    The index is row term + column term + value. Outside of the tiles, a term is the total number of bins, so that the
    index is out of range.
    """
    bins = math.prod(tiles[axis + 1 :]) * BINS
    which = pixels // jnp.maximum(tile[axis], 1)
    return jnp.where((pixels >= 0) & (which < tiles[axis]), which * bins, math.prod(tiles) * BINS)


def _counted_tiles(tiles: tuple[int, int], image: Array, tile: Array, size: Array) -> Array:
    """Counts like `_scattered_tiles`, in blocks of rows, which stay in the cache."""
    height, width, channels = image.shape
    none, side = math.prod(tiles) * BINS, tiles[1]
    lines = image.reshape(height, width * channels)
    steps = -(-(width + 2 * side) * channels // _STEP)
    rows = rows_of_block((height, steps * _STEP), _BLOCK)
    columns = jnp.repeat(jnp.arange(-side, width + side, dtype=jnp.int32), channels)
    of_column = _first_bins(columns, 1, tiles, tile)
    used = tile * jnp.array(tiles, jnp.int32)
    once = jnp.minimum(size[0], 1)

    def block(i: Array, state: tuple[Array, tuple[Array, ...]]) -> tuple[Array, tuple[Array, ...]]:
        buffer, counts = state
        own = i * rows + jnp.arange(rows, dtype=jnp.int32)
        buffer = rows_with_margin(
            buffer, lines, reflect_101(own, size[0]), size[1], side, "reflect_101", unit=channels
        )
        first = _first_bins(own, 0, tiles, tile)[:, None] + of_column
        numbers = jnp.minimum(first + buffer.astype(jnp.int32), none)
        padded = jnp.pad(numbers, ((0, 0), (0, steps * _STEP - buffer.shape[1])), constant_values=none)
        chunks = kept(padded, once).reshape(-1, _STEP)
        a_row = jnp.minimum(((side + used[1]) * channels + _STEP - 1) // _STEP, steps)
        return buffer, _count(counts, chunks, steps, jnp.int32(rows), a_row)

    arrays = channels * -(-_ARRAYS // channels)
    start = jnp.zeros((rows, len(columns)), image.dtype), tuple(jnp.zeros((arrays, none + 1), jnp.int32))
    counts = loop((used[0] + rows - 1) // rows, block, varying_like(start, image, tile, size))[1]
    return jnp.stack([functools.reduce(jnp.add, counts[c::channels])[:none] for c in range(channels)])


def looked_up(image: Array, extent: Array, tables: Array) -> Array:
    """Replaces each element by tables[channel, value].

    Args:
        image: uint8 [H, W, C], padded.
        extent: int32 [3], the true size.
        tables: uint8 [C, 256].

    Returns: uint8 [H, W, C]; unspecified past `extent`.
    """
    if image.size <= SMALL or image.shape[2] > _MAX_CHANNELS:
        return _gathered(image, extent, tables)
    return by_platform(_one_by_one, _gathered)(image, extent, tables)


def _gathered(image: Array, extent: Array, tables: Array) -> Array:
    del extent
    index = image.astype(jnp.int32) + jnp.arange(image.shape[2], dtype=jnp.int32) * BINS
    return tables.reshape(-1).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


def _one_by_one(image: Array, extent: Array, tables: Array) -> Array:
    """Computes the result of `_gathered` by a loop of scalar instructions.

    The loop takes 0.3 ns per element. A gather takes 0.7 ns, because LLVM extracts each index from a vector and inserts
    each entry into another vector.
    """
    height, width, channels = image.shape
    chunks, between = _chunks(image)
    step = chunks.shape[1]
    a_row = (extent[1] * channels + step - 1) // step

    def look_up(_: Array, state: tuple[_Chunk, Array, list[Array]]) -> tuple[_Chunk, Array, list[Array]]:
        (chunk, in_row), made, columns = state
        for j in range(step):
            at = (chunk, jnp.int32(j))
            value = lax.dynamic_slice(chunks, at, (1, 1))[0].astype(jnp.int32)
            entry = lax.dynamic_slice(columns[j % channels], value, (1,))
            made = lax.dynamic_update_slice(made, entry[None], at)
        return _next(chunk, in_row, a_row, between), made, columns

    # The tables are part of the loop's state, because XLA would otherwise compute an entry again for each look-up.
    columns = [tables[c] for c in range(channels)]
    start = varying_like((_first(chunks), jnp.zeros_like(chunks), columns), image, extent, tables)
    _, made, _ = loop(extent[0] * a_row, look_up, start)
    return made.reshape(height, -1)[:, : width * channels].reshape(image.shape)
