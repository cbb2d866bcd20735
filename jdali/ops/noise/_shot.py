from __future__ import annotations

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import mask_padding
from jdali._numerics.platform import of_whole_batch, one_program
from jdali._numerics.random import counted_normal, counted_uniform, element_counter
from jdali._numerics.rounding import saturate_cast, varying_like
from jdali._operators.record import PerSample, operator

# For Poisson means below `_FEW`, a uniform number is compared with the cumulative probabilities. For means up to
# `_MANY`, rejection is used, with 1.1 to 1.3 attempts on average. For larger means, a normal distribution is used,
# because the skewness is below 1e-3.
_FEW = np.float32(10)
_MANY = np.float32(2.0**20)
# An attempt is rejected with a probability of at most 1/4, so all attempts fail for one element in 10¹².
_ATTEMPTS = 20
_REFUSED = np.float32(-1)
# Number of elements in a group. A uint32 for each group marks the elements that need further attempts, one bit each.
_GROUP = 32


@operator(name="noise.shot", source="operators/random/noise/shot_noise.h")
def shot(key: Array, data: Array, /, *, factor: PerSample[float] = 12.0, extent: Array) -> Array:
    """Replaces each element by `factor` times a Poisson variate, whose mean is the element divided by `factor`.

    out = poisson(max(0, in / factor)) · factor, rounded half away from zero and saturated.

    Args:
        data: any shape and type. NaN, infinite and negative values count as 0.
        factor: value that one event adds; a larger value adds more noise. 0 leaves the data unchanged.

    Returns: shape and type of `data`.

    Parity: DALI documents a default of 20 and uses 12 (measured: all outputs are multiples of 12). With a
    factor of 0 DALI returns zeros, though its code is meant to leave the data unchanged. DALI hangs if a mean is 2³²
    or more; jdali has no such limit.

    Example: images = fn.noise.shot(images, factor=20.0)
    """
    return _noisy(key, data, jnp.asarray(factor, jnp.float32), extent)


@one_program()
def _noisy(key: Array, data: Array, factor: Array, extent: Array) -> Array:
    unit = jnp.where(factor == 0, jnp.float32(1), factor)

    def mean_of(values: Array) -> Array:
        return values.astype(jnp.float32) / unit

    def noisy(counts: Array) -> Array:
        return saturate_cast(counts * unit, data.dtype)

    # Padding may hold any value; it is masked, so that no attempts are made for it.
    mean = mask_padding(mean_of(data), extent, 0)
    mean = jnp.where(jnp.isfinite(mean) & (mean > 0), mean, jnp.float32(0))
    counter = element_counter(extent, jnp.indices(mean.shape, jnp.uint32, sparse=True))
    # Without the barriers, XLA would compute the draws again for each use, or pass a dozen arrays between kernels.
    small = lax.optimization_barrier(noisy(_by_sums(key, counter, mean)))
    k, good = _attempt(key, counter, jnp.clip(mean, _FEW, _MANY), 0)
    tried = lax.optimization_barrier(jnp.where(good, k, _REFUSED))
    # The barrier hides from XLA that `_by_sums` uses the same draw. Otherwise, XLA would keep the draw in memory until here.
    standard = counted_normal(key, counter, lax.optimization_barrier(jnp.uint32(0)))
    normal = jnp.maximum(jnp.round(mean + jnp.sqrt(mean) * standard), 0)
    refused = tried == _REFUSED
    result = jnp.where((mean > _MANY) | refused, noisy(normal), noisy(tried))
    result = jnp.where(mean < _FEW, small, result)
    waiting = (mean >= _FEW) & (mean <= _MANY) & (factor != 0) & refused

    def again(values: Array, position: Sequence[Array], number: Array) -> tuple[Array, Array]:
        k, good = _attempt(key, element_counter(extent, position), mean_of(values), number)
        return noisy(k), good

    return _until_accepted(data, jnp.where(factor == 0, data, result), waiting, again)


def _by_sums(key: Array, counter: Array, mean: Array) -> Array:
    """Draws by inversion: returns the smallest number of events whose cumulative probability is above a uniform number.

    Results for means from `_FEW` on are unspecified.
    """
    u, mean = counted_uniform(key, counter, 0), jnp.where(mean < _FEW, mean, jnp.float32(0))
    probability = total = jnp.exp(-mean)
    result = jnp.zeros_like(mean)
    # The barrier hides a constant, because XLA would turn the division by a constant into a product.
    k = lax.optimization_barrier(jnp.float32(0))
    # The number of iterations is fixed, because the float32 `total` may never exceed the largest `u`. Numbers of events
    # that are too large for the loop have a probability below 2**-23.
    for _ in range(int(3.5 * _FEW)):
        k = k + 1
        result = jnp.where(u >= total, k, result)
        probability = probability * mean / k
        total = total + probability
    return result


def _attempt(key: Array, counter: Array, mean: Array, number: int | Array) -> tuple[Array, Array]:
    """Makes one attempt of Hörmann's transformed rejection (PTRS, 1993), for means from 10 on.

    Returns: numbers, and bool, True for accepted numbers.
    """
    b = 0.931 + 2.53 * jnp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = jnp.log(1.1239 + 1.1328 / (b - 3.4))
    always = 0.9277 - 3.6224 / (b - 2)
    draw = 2 * jnp.asarray(number, jnp.uint32) + 1
    u = counted_uniform(key, counter, draw) - 0.5
    v = counted_uniform(key, counter, draw + 1) + jnp.float32(2.0**-24)
    edge = 0.5 - jnp.abs(u)
    k = jnp.floor((2 * a / edge + b) * u + mean + 0.43)
    ratio = jnp.log(v) + log_inverse_alpha - jnp.log(a / (edge * edge) + b)
    good = (edge >= 0.07) & (v <= always)
    good |= (k >= 0) & ~((edge < 0.013) & (v > edge)) & (ratio <= _log_probability(k, mean))
    return k, good


def _until_accepted(
    data: Array, result: Array, waiting: Array, again: Callable[..., tuple[Array, Array]]
) -> Array:
    """Makes further attempts for waiting elements. Each iteration makes one attempt for one element of each group.

    Args:
        result: output so far; it does not change at elements for which all attempts fail.
        waiting: bool, elements that need further attempts.
        again: `again(values, position, number)` makes attempt `number` for values of `data` at indices `position` along
            each axis. It returns outputs, and bool, True for accepted outputs.
    """
    if not data.size:
        return result
    groups = -(-data.size // _GROUP)
    missing = groups * _GROUP - data.size
    flags = lax.pad(waiting.reshape(-1), np.bool_(False), [(0, missing, 0)]).reshape(groups, _GROUP)
    bits = jnp.uint32(1) << jnp.arange(_GROUP, dtype=jnp.uint32)
    queue = jnp.where(flags, bits, jnp.uint32(0)).sum(1, dtype=jnp.uint32)
    first = _GROUP * jnp.arange(groups, dtype=jnp.int32)
    values = data.reshape(-1)

    def goes_on(state: tuple[Array, Array, Array]) -> Array:
        return ~of_whole_batch(~state[0].any())

    def turn(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        queue, number, result = state
        lowest = queue & (~queue + 1)
        # If no element of a group waits, `element` is the group's first element, which does not change.
        element = first + lax.population_count(jnp.maximum(lowest, 1) - 1).astype(jnp.int32)
        drawn, good = again(values[element], _position(element, data.shape), number)
        drawn = jnp.where((queue != 0) & good, drawn, result[element])
        result = result.at[element].set(drawn, indices_are_sorted=True, unique_indices=True)
        done = good | (number == _ATTEMPTS - 1)
        return jnp.where(done, queue ^ lowest, queue), jnp.where(done, np.uint32(1), number + 1), result

    start = queue, jnp.ones(groups, jnp.uint32), result.reshape(-1)
    return lax.while_loop(goes_on, turn, varying_like(start, *start))[2].reshape(data.shape)


def _position(element: Array, shape: Sequence[int]) -> list[Array]:
    """Converts row-major indices of elements to indices along each axis."""
    position = []
    for size in reversed(shape):
        position.append(lax.rem(element, np.int32(size)))
        element = lax.div(element, np.int32(size))
    return position[::-1]


def _log_probability(k: Array, mean: Array) -> Array:
    """Computes the logarithm of the Poisson probability of `k` events, without loss of digits for means of millions."""
    safe = jnp.maximum(k, 1)
    distance = (mean - safe) / safe
    # Stirling's series for k! is used, because k log(mean) - mean would lose digits by cancellation.
    many = safe * (jnp.log1p(distance) - distance) - 0.5 * jnp.log(jnp.float32(2 * np.pi) * safe)
    many -= 1 / (12 * safe) - 1 / (360 * safe**3)
    return jnp.where(k < 1, -mean, many)
