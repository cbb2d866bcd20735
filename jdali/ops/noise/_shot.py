"""noise.shot: the noise of counting events, such as photons."""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import mask_padding
from jdali._numerics.platform import one_program, platform_dependent
from jdali._numerics.random import element_normal, element_uniform
from jdali._numerics.rounding import saturate_cast, varying_like
from jdali._operators.record import PerSample, operator

# Below `_FEW` a single uniform number is compared with the sums of the distribution; from there to `_MANY`
# rejection takes 1.1 to 1.4 attempts; above, the distribution is normal except for a skewness of less than 1e-3.
_FEW = np.float32(10)
_MANY = np.float32(2.0**20)
# An attempt is refused with a probability of at most 1/4, so all of these are for one element in 10¹².
_ATTEMPTS = 20

# Number of events, its probability, that of at most so many, the least number whose sum is above what was drawn.
_Sums: TypeAlias = tuple[Array, Array, Array, Array]


@operator(name="noise.shot", source="operators/random/noise/shot_noise.h")
def shot(key: Array, data: Array, /, *, factor: PerSample[float] = 12.0, extent: Array) -> Array:
    """Replaces each element by a Poisson variate with that mean, in units of `factor`.

    out = poisson(max(0, in / factor)) · factor; rounds half away from zero, saturates.

    Args:
        data: any shape and type.
        factor: what one event adds; the larger, the more noise. 0 leaves the data as they are.

    Returns: shape and type of `data`; of NaN, an infinite or a negative value it is that of a mean of 0.

    Parity: DALI documents a default of 20 and uses 12 (measured: all outputs are multiples of 12). With a
    factor of 0 DALI gives zeros, though its source means to leave the data as they are; for means of 2³² and
    more it never ends, while here there is no limit.

    Example: images = fn.noise.shot(images, factor=20.0)
    """
    value = data.astype(jnp.float32)
    unit = jnp.where(factor == 0, jnp.float32(1), factor)
    # Padding may hold anything; attempts that wait for it would make the work depend on it.
    mean = mask_padding(value / unit, extent, 0)
    counts = _poisson(key, extent, jnp.where(jnp.isfinite(mean) & (mean > 0), mean, jnp.float32(0)))
    return jnp.where(factor == 0, data, saturate_cast(counts * unit, data.dtype))


@one_program()
def _poisson(key: Array, extent: Array, mean: Array) -> Array:
    """Draws a Poisson variate, float32, for each mean, which must be finite and not negative."""
    few = mean < _FEW
    small = _by_sums(element_uniform(key, extent, mean.shape, 0), jnp.where(few, mean, jnp.float32(0)))
    normal = jnp.maximum(jnp.round(mean + jnp.sqrt(mean) * element_normal(key, extent, mean.shape, 0)), 0)
    between = jnp.clip(mean, _FEW, _MANY)
    large = _by_rejection(key, extent, between, (mean == between) & ~few, normal)
    return jnp.where(few, small, large)


def _by_sums(u: Array, mean: Array) -> Array:
    """Finds the least k for which the probability of at most k events is above `u`."""
    # float32 sums can stay below the largest u, so the tail ends where it is less than 2**-23 likely.
    last = int(3.5 * _FEW)

    def step(state: _Sums, u: Array, mean: Array) -> _Sums:
        k, probability, total, result = state
        result = jnp.where(u >= total, k + 1, result)
        probability = probability * mean / (k + 1)
        return k + 1, probability, total + probability, result

    def loop(u: Array, mean: Array, *start: Array) -> Array:
        k, probability, total, result = start
        return lax.while_loop(
            lambda state: (state[0] < last) & (u >= state[2]).any(),
            lambda state: step(state, u, mean),
            (k, probability, total, result),
        )[3]

    def written_out(u: Array, mean: Array, *start: Array) -> Array:
        """Steps past the end of the loop change nothing, and all of them are one pass over memory."""
        # A constant would be divided by as a product.
        state: Any = (lax.optimization_barrier(start[0]), *start[1:])
        for _ in range(last):
            state = step(state, u, mean)
        result: Array = state[3]
        return result

    none = jnp.exp(-mean)
    start = varying_like((jnp.float32(0), none, none, jnp.zeros_like(mean)), mean, u)
    result: Array = platform_dependent(u, mean, *start, cpu=loop, default=written_out)
    return result


def _by_rejection(key: Array, extent: Array, mean: Array, wanted: Array, otherwise: Array) -> Array:
    """Draws by Hörmann's transformed rejection (PTRS, 1993), for means from 10 up.

    Args:
        wanted: bool, which elements are drawn; the others, and one that every attempt refuses, are those
            of `otherwise`.
    """
    b = 0.931 + 2.53 * jnp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = jnp.log(1.1239 + 1.1328 / (b - 3.4))
    always = 0.9277 - 3.6224 / (b - 2)

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, waiting, result = state
        u = element_uniform(key, extent, mean.shape, number) - 0.5
        v = element_uniform(key, extent, mean.shape, number + 1) + jnp.float32(2.0**-24)
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + mean + 0.43)
        ratio = jnp.log(v) + log_inverse_alpha - jnp.log(a / (edge * edge) + b)
        good = (edge >= 0.07) & (v <= always)
        good |= (k >= 0) & ~((edge < 0.013) & (v > edge)) & (ratio <= _log_probability(k, mean))
        return number + 2, waiting & ~good, jnp.where(waiting & good, k, result)

    start = varying_like((jnp.uint32(1), wanted, otherwise), mean, jax.random.key_data(key))
    last = np.uint32(1 + 2 * _ATTEMPTS)
    return lax.while_loop(lambda state: (state[0] < last) & state[1].any(), attempt, start)[2]


def _log_probability(k: Array, mean: Array) -> Array:
    """Computes the logarithm of the Poisson probability of `k` events, exact enough for means of millions."""
    safe = jnp.maximum(k, 1)
    distance = (mean - safe) / safe
    # Stirling's series for k!; k log(mean) - mean alone would cancel.
    many = safe * (jnp.log1p(distance) - distance) - 0.5 * jnp.log(jnp.float32(2 * np.pi) * safe)
    many -= 1 / (12 * safe) - 1 / (360 * safe**3)
    return jnp.where(k < 1, -mean, many)
