"""Sums over a window that moves along a signal, with the roundings of DALI's CPU backend.

All are sums of the `window` values that end at each index; what would lie before the first value is 0.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from jdali._numerics.platform import one_program, platform_dependent


@one_program(static_argnums=(1, 2))
def moving_sums(values: Array, window: int, interval: int) -> Array:
    """Sums float32 values in moving windows: as DALI does on a CPU, and within each window elsewhere.

    An accelerator would take microseconds for each step of DALI's sequential sum.

    Args:
        values: float32 [T].
        window: number of values in a sum, 1 or more.
        interval: after how many values DALI adds up a whole window anew; `window` or more.
    """

    def sequential(values: Array) -> Array:
        return _running_sums(values, window, min(interval, len(values)))

    def anew(values: Array) -> Array:
        return _window_sums(values, window)

    return platform_dependent(values, cpu=sequential, default=anew)


def _running_sums(values: Array, window: int, interval: int) -> Array:
    """Updates each sum by the value that enters the window and the one that leaves it, rounded twice.

    At every multiple of `interval` the window is added up from its first value. So the intervals do not depend on
    each other, and the loop works on all of them at once.
    """
    size = len(values)
    rows = -(-size // interval)
    whole = rows * interval
    entering = jnp.pad(values, (0, whole - size)).reshape(rows, interval)
    leaving = jnp.pad(values, (window, 0))[:size]
    leaving = jnp.pad(leaving, (0, whole - size)).reshape(rows, interval)
    before = jnp.pad(values, (window - 1, 0))[
        : size + window - 1
    ]  # of each multiple, the window that ends there
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

    Cut into blocks of the window's length, a window is the end of one block and the start of the next.
    Only sums of neighbours are taken, no difference of long ones: nothing cancels.
    """
    blocks = -(-len(values) // window)
    table = jnp.pad(values, (0, blocks * window - len(values))).reshape(blocks, window)
    starts = jnp.cumsum(table, axis=1)
    ends = jnp.cumsum(table[:, ::-1], axis=1)[:, ::-1]
    preceding = jnp.pad(ends[:-1, 1:], ((1, 0), (0, 1)))
    return (preceding + starts).reshape(-1)[: len(values)]


def exact_moving_sums(values: Array, window: int) -> Array:
    """Sums uint32 values exactly, then rounds once to float32 [T]. DALI adds up 64-bit integers.

    Args:
        values: uint32 [T].
        window: number of values in a sum, 1 or more.
    """
    bits = 32 - window.bit_length()  # of each value at a time, so that sums of a window fit 32 bits
    high, low = jnp.zeros_like(values), jnp.zeros_like(values)
    for shift in range(0, 32, bits):
        part = (values >> shift) & jnp.uint32((1 << bits) - 1)
        total = jnp.cumsum(part)
        total -= jnp.pad(total, (window, 0))[: len(values)]  # wraps around, and so does the difference
        added = low + (total << shift)
        carry = (added < low).astype(jnp.uint32)
        high, low = high + carry + ((total >> (32 - shift)) if shift else jnp.uint32(0)), added
    return _float_of(high, low)


def _float_of(high: Array, low: Array) -> Array:
    """Rounds high · 2³² + low to the nearest float32."""
    zeros = lax.clz(high)
    moved = (high << zeros) | jnp.where(zeros > 0, low >> (32 - zeros), 0)
    lost = (
        low << zeros
    ) != 0  # as far below the last bit of a float32 as any of them: one bit stands for all
    scale = lax.bitcast_convert_type((127 + 32 - zeros) << 23, jnp.float32)
    return jnp.where(high == 0, low.astype(jnp.float32), (moved | lost).astype(jnp.float32) * scale)
