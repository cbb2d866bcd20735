"""Sums over a window that moves along a signal, with the rounding of DALI's CPU backend.

The sum at an index covers the `window` values up to this index. Values in front of the signal count as 0.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from jdali._numerics.platform import one_program, platform_dependent


@one_program(static_argnums=(1, 2))
def moving_sums(values: Array, window: int, interval: int) -> Array:
    """Sums float32 values in moving windows.

    On a CPU, each sum is computed from the previous one, as in DALI. On accelerators, where each such step would take
    microseconds, each window is summed by itself.

    Args:
        values: float32 [T].
        window: number of values in a sum, 1 or more.
        interval: number of values after which DALI sums a whole window again; at least `window`.
    """

    def sequential(values: Array) -> Array:
        return _running_sums(values, window, min(interval, len(values)))

    def anew(values: Array) -> Array:
        return _window_sums(values, window)

    return platform_dependent(values, cpu=sequential, default=anew)


def _running_sums(values: Array, window: int, interval: int) -> Array:
    """Updates each sum: subtracts the value that leaves the window, then adds the value that enters it. Each step rounds.

    At every multiple of `interval`, the whole window is summed again. Intervals are therefore independent of each other, and
    each step of the loop computes one sum of every interval.
    """
    size = len(values)
    rows = -(-size // interval)
    whole = rows * interval
    entering = jnp.pad(values, (0, whole - size)).reshape(rows, interval)
    leaving = jnp.pad(values, (window, 0))[:size]
    leaving = jnp.pad(leaving, (0, whole - size)).reshape(rows, interval)
    # Values of the windows that end at multiples of `interval`.
    before = jnp.pad(values, (window - 1, 0))[: size + window - 1]
    before = jnp.pad(before, (0, max(0, whole - len(before))))[:whole].reshape(rows, interval)[:, :window]
    start, _ = lax.scan(lambda total, value: (total + value, None), before[:, 0], before[:, 1:].T)

    def step(total: Array, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        leaves, enters = pair
        total = (total - leaves) + enters
        return total, total

    _, rest = lax.scan(step, start, (leaving[:, 1:].T, entering[:, 1:].T))
    return jnp.concatenate([start[None], rest]).T.reshape(-1)[:size]


def _window_sums(values: Array, window: int) -> Array:
    """Sums each window by itself.

    The signal is cut into blocks of the window's length, so a window is the end of one block plus the start of the next. No
    sums are subtracted, so no digits cancel.
    """
    blocks = -(-len(values) // window)
    table = jnp.pad(values, (0, blocks * window - len(values))).reshape(blocks, window)
    starts = jnp.cumsum(table, axis=1)
    ends = jnp.cumsum(table[:, ::-1], axis=1)[:, ::-1]
    preceding = jnp.pad(ends[:-1, 1:], ((1, 0), (0, 1)))
    return (preceding + starts).reshape(-1)[: len(values)]


def exact_moving_sums(values: Array, window: int) -> Array:
    """Sums uint32 values in moving windows exactly, as DALI does in 64-bit integers. Sums are rounded to float32 [T].

    Args:
        values: uint32 [T].
        window: number of values in a sum, 1 or more.
    """
    # One step sums this number of bits of each value, so that the sum of a window fits into 32 bits.
    bits = 32 - window.bit_length()
    high, low = jnp.zeros_like(values), jnp.zeros_like(values)
    for shift in range(0, 32, bits):
        part = (values >> shift) & jnp.uint32((1 << bits) - 1)
        total = jnp.cumsum(part)
        total -= jnp.pad(total, (window, 0))[: len(values)]  # exact: sum and difference wrap modulo 2³²
        added = low + (total << shift)
        carry = (added < low).astype(jnp.uint32)
        high, low = high + carry + ((total >> (32 - shift)) if shift else jnp.uint32(0)), added
    return _float_of(high, low)


def _float_of(high: Array, low: Array) -> Array:
    """Rounds high · 2³² + low to the nearest float32."""
    zeros = lax.clz(high)
    moved = (high << zeros) | jnp.where(zeros > 0, low >> (32 - zeros), 0)
    # The lowest bit also stands for the lost bits: it is set if any of them is set. It is far below the last bit of a
    # float32, so the rounding does not change.
    lost = (low << zeros) != 0
    scale = lax.bitcast_convert_type((127 + 32 - zeros) << 23, jnp.float32)
    return jnp.where(high == 0, low.astype(jnp.float32), (moved | lost).astype(jnp.float32) * scale)
