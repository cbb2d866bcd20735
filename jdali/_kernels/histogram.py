"""Histograms of uint8 images, and lookup tables applied to them."""

from __future__ import annotations

import functools

import jax.numpy as jnp
from jax import Array, lax

from jdali._batches import valid_mask
from jdali._kernels.by_platform import by_platform, loop
from jdali._numerics.rounding import varying_like

BINS = 256
# Elements in one step of a loop.
_STEP = 48
# Number of arrays in which neighbouring elements are counted, so that no count waits for the store of the count before.
# This takes 0.4 ns per element; a scatter takes 3.7 ns.
_ARRAYS = 6
# Largest number of channels for which the loop over channels is unrolled.
_MAX_CHANNELS = 8
# Images with at most this number of elements are computed without a loop, which would not be worth compiling.
SMALL = 1 << 14
# Number of histograms in which a GPU counts neighbouring columns, because additions to one number wait for each other.
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
    # Counts of one value lie together: a GPU adds to neighbours in memory at once.
    index = (image.astype(jnp.int32) + jnp.arange(channels, dtype=jnp.int32) * BINS) * apart + column
    counts = jnp.zeros(channels * BINS * apart, jnp.int32)
    inside = valid_mask(extent, image.shape).astype(jnp.int32)
    return counts.at[index].add(inside).reshape(channels, BINS, apart).sum(2, dtype=jnp.int32)


def _counted(image: Array, extent: Array) -> Array:
    """Counts like `_scattered`, by loops of scalar instructions over the true elements.

    Full chunks of a row are counted as they are. In a row's last, partial chunk, padding is set to 0, counted, and
    subtracted from the count of 0.
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
    """Counts the values of chunks [H · between, step]: the first `a_row` chunks of each of the first `rows` rows.

    Element j of a chunk is added to array j % len(counts).
    """

    def add(_: Array, state: tuple[_Chunk, tuple[Array, ...]]) -> tuple[_Chunk, tuple[Array, ...]]:
        (chunk, in_row), new = state[0], list(state[1])
        for j in range(chunks.shape[1]):
            at = lax.dynamic_slice(chunks, (chunk, jnp.int32(j)), (1, 1))[0].astype(jnp.int32)
            own = new[j % len(new)]
            new[j % len(new)] = lax.dynamic_update_slice(own, lax.dynamic_slice(own, at, (1,)) + 1, at)
        return _next(chunk, in_row, a_row, between), tuple(new)

    return loop(rows * a_row, add, (_first(chunks), counts))[1]


# Index of a chunk, and its index in its row. XLA would repeat a division in the loop for each element.
_Chunk = tuple[Array, Array]


def _first(values: Array) -> _Chunk:
    zero = jnp.zeros((), jnp.int32)
    return varying_like((zero, zero), values)


def _next(chunk: Array, in_row: Array, a_row: Array, between: int) -> _Chunk:
    """Returns the next chunk of a loop that visits the first `a_row` of the `between` chunks in each row."""
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


def counted(numbers: Array, bins: int, rows: Array) -> Array:
    """Counts each number below `bins` in int32 [H, W]: int32 [bins].

    Elements equal to `bins` are not counted. On a CPU only the first `rows` rows are read; all later elements must be
    `bins`.
    """
    if numbers.size <= SMALL:
        return _scattered_numbers(bins, numbers)
    both = functools.partial(_counted_numbers, bins), lambda numbers, _: _scattered_numbers(bins, numbers)
    return by_platform(*both)(numbers, rows)


def _scattered_numbers(bins: int, numbers: Array) -> Array:
    return jnp.zeros(bins, jnp.int32).at[numbers].add(jnp.int32(1), mode="drop")


def _counted_numbers(bins: int, numbers: Array, rows: Array) -> Array:
    height, width = numbers.shape
    steps = -(-width // _STEP)
    chunks = jnp.pad(numbers, ((0, 0), (0, steps * _STEP - width)), constant_values=bins).reshape(-1, _STEP)

    zeros = varying_like(tuple(jnp.zeros((_ARRAYS, bins + 1), jnp.int32)), numbers, rows)
    counts = _count(zeros, chunks, steps, jnp.minimum(rows, height), jnp.int32(steps))
    return jnp.stack(counts).sum(0, dtype=jnp.int32)[:bins]


def looked_up(image: Array, extent: Array, tables: Array) -> Array:
    """Looks up tables[channel, value] of each element.

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
    """Looks up like `_gathered`, by a loop of scalar instructions.

    It takes 0.3 ns per element. A gather takes 0.7 ns, because LLVM extracts each index from a vector and inserts each entry.
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

    # The loop carries the tables, because XLA would otherwise compute an entry again for each look-up.
    columns = [tables[c] for c in range(channels)]
    start = varying_like((_first(chunks), jnp.zeros_like(chunks), columns), image, extent, tables)
    _, made, _ = loop(extent[0] * a_row, look_up, start)
    return made.reshape(height, -1)[:, : width * channels].reshape(image.shape)
