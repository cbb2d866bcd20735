"""Histograms of uint8 images, and tables applied to them."""

from __future__ import annotations

import functools

import jax.numpy as jnp
from jax import Array, lax

from jdali._batches.extent import valid_mask
from jdali._numerics.rounding import varying_like
from jdali.ops.image._by_platform import by_platform, loop

BINS = 256
# Elements counted in one step of the loop. Counts of neighbours go to different arrays, so that a step need not
# wait for the sum that the one before has just stored: 0.7 ns an element, where a scatter takes 3.7.
_STEP = 48
_ARRAYS = 6
# Channels for which the loop is written out.
_MAX_CHANNELS = 8
# Elements of an image for which no loop is worth its compilation.
SMALL = 1 << 14


def histograms(image: Array, extent: Array) -> Array:
    """How often each value occurs in each channel.

    Args:
        image: uint8 [H, W, C], padded.
        extent: int32 [3], the true size.

    Returns: int32 [C, 256].
    """
    if image.size <= SMALL or image.shape[2] > _MAX_CHANNELS:
        return _scattered(image, extent)
    return by_platform(_counted, _scattered)(image, extent)


def _scattered(image: Array, extent: Array) -> Array:
    channels = image.shape[2]
    index = image.astype(jnp.int32) + jnp.arange(channels, dtype=jnp.int32) * BINS
    counts = jnp.zeros(channels * BINS, jnp.int32)
    inside = valid_mask(extent, image.shape).astype(jnp.int32)
    return counts.at[index].add(inside).reshape(channels, BINS)


def _counted(image: Array, extent: Array) -> Array:
    """`_scattered` as one loop over the true rows; what lies past their true width is counted as 0, and taken off."""
    height, width, channels = image.shape
    arrays = channels * -(-_ARRAYS // channels)
    step = arrays * -(-_STEP // arrays)
    row = width * channels
    kept = valid_mask(jnp.stack([extent[0], extent[1] * channels]), (height, row))
    # A barrier, or the image would be masked in the loop's shape, with a division for every element.
    flat = lax.optimization_barrier(jnp.where(kept, image.reshape(height, row), 0)).reshape(-1)
    steps = -(-flat.size // step)
    chunks = jnp.pad(flat, (0, steps * step - flat.size)).reshape(steps, step)

    def count(i: Array, counts: tuple[Array, ...]) -> tuple[Array, ...]:
        new = list(counts)
        for j in range(step):
            (value,) = lax.dynamic_slice(chunks, (i, jnp.int32(j)), (1, 1))[0].astype(jnp.int32)
            own = new[j % arrays]
            more = lax.dynamic_slice(own, (value,), (1,)) + 1
            new[j % arrays] = lax.dynamic_update_slice(own, more, (value,))
        return tuple(new)

    needed = (extent[0] * row + step - 1) // step
    counts = loop(needed, count, tuple(jnp.zeros(BINS, jnp.int32) for _ in range(arrays)))
    total = jnp.stack(counts).reshape(-1, channels, BINS).sum(0, dtype=jnp.int32)
    return total.at[:, 0].add(extent[0] * extent[1] - needed * (step // channels))


def counted(numbers: Array, bins: int, rows: Array) -> Array:
    """int32 [bins]: how often each number occurs in int32 [H, W]; `bins` itself is not counted.

    On a CPU the first `rows` rows are looked at, the others must be `bins`.
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

    def count(i: Array, counts: tuple[Array, ...]) -> tuple[Array, ...]:
        new = list(counts)
        for j in range(_STEP):
            (number,) = lax.dynamic_slice(chunks, (i, jnp.int32(j)), (1, 1))[0]
            own = new[j % _ARRAYS]
            new[j % _ARRAYS] = lax.dynamic_update_slice(
                own, lax.dynamic_slice(own, (number,), (1,)) + 1, (number,)
            )
        return tuple(new)

    start = tuple(jnp.zeros(bins + 1, jnp.int32) for _ in range(_ARRAYS))
    counts = loop(jnp.minimum(rows, height) * steps, count, varying_like(start, numbers, rows))
    return jnp.stack(counts).sum(0, dtype=jnp.int32)[:bins]


def looked_up(image: Array, tables: Array) -> Array:
    """tables[channel, value] of each element, as uint8.

    Args:
        image: uint8 [H, W, C].
        tables: int32 [C, 256], 0 to 255. A table of 32 bits is read with vector instructions, one of 8 is not.
    """
    index = image.astype(jnp.int32) + jnp.arange(image.shape[2], dtype=jnp.int32) * BINS
    return tables.reshape(-1).at[index].get(mode="promise_in_bounds").astype(jnp.uint8)
