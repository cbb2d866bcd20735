"""noise.shot: the noise of counting events, such as photons."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numeric import saturate_cast, varying_like
from jdali._operator import PerSample, operator
from jdali._random import element_uniform

# Below it a single uniform number is compared with the sums of the distribution, above it rejection
# takes about 1.1 attempts.
_FEW = np.float32(10)


@operator(name="noise.shot", source="operators/random/noise/shot_noise.h")
def shot(key: Array, data: Array, /, *, factor: PerSample[float] = 12.0, extent: Array) -> Array:
    """Replaces each element by a Poisson variate with that mean, in units of `factor`.

    out = poisson(max(0, in / factor)) · factor; rounds half away from zero, saturates.

    Args:
        data: any shape and type.
        factor: what one event adds; the larger, the more noise. 0 leaves the data as they are.

    Returns: shape and type of `data`.

    Parity: DALI documents a default of 20 and uses 12 (measured: all outputs are multiples of 12).
    """
    value = data.astype(jnp.float32)
    unit = jnp.where(factor == 0, jnp.float32(1), factor)
    counts = _poisson(key, extent, data.shape, jnp.maximum(value / unit, 0))
    return jnp.where(factor == 0, data, saturate_cast(counts * unit, data.dtype))


def _poisson(key: Array, extent: Array, shape: Sequence[int], mean: Array) -> Array:
    """float32 [*shape]: a Poisson variate for each mean, which must not be negative."""
    few = mean < _FEW
    small = _by_sums(element_uniform(key, extent, shape, 0), jnp.where(few, mean, jnp.float32(0)))
    large = _by_rejection(key, extent, shape, jnp.where(few, _FEW, mean))
    return jnp.where(few, small, large)


def _by_sums(u: Array, mean: Array) -> Array:
    """The least k for which the probability of at most k events is above `u`."""

    def step(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, probability, total, result = state
        result = jnp.where(u >= total, k + 1, result)
        probability = probability * mean / (k + 1)
        return k + 1, probability, total + probability, result

    # float32 sums can stay below the largest u, so the tail ends where it is less than 2**-23 likely.
    last = np.float32(3.5) * _FEW
    none = jnp.exp(-mean)
    start = varying_like((jnp.float32(0), none, none, jnp.zeros_like(mean)), mean, u)
    return lax.while_loop(lambda state: (state[0] < last) & (u >= state[2]).any(), step, start)[3]


def _by_rejection(key: Array, extent: Array, shape: Sequence[int], mean: Array) -> Array:
    """Hörmann's transformed rejection (PTRS, 1993), for means from 10 up."""
    b = 0.931 + 2.53 * jnp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = jnp.log(1.1239 + 1.1328 / (b - 3.4))
    always = 0.9277 - 3.6224 / (b - 2)

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, accepted, result = state
        u = element_uniform(key, extent, shape, number) - 0.5
        v = element_uniform(key, extent, shape, number + 1) + jnp.float32(2.0**-24)
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + mean + 0.43)
        ratio = jnp.log(v) + log_inverse_alpha - jnp.log(a / (edge * edge) + b)
        good = (edge >= 0.07) & (v <= always)
        good |= (k >= 0) & ~((edge < 0.013) & (v > edge)) & (ratio <= _log_probability(k, mean))
        return number + 2, accepted | good, jnp.where(accepted, result, k)

    start = (jnp.uint32(1), jnp.zeros(shape, bool), jnp.zeros(shape, jnp.float32))
    start = varying_like(start, mean, jax.random.key_data(key))
    return lax.while_loop(lambda state: ~state[1].all(), attempt, start)[2]


def _log_probability(k: Array, mean: Array) -> Array:
    """Logarithm of the Poisson probability of `k` events, exact enough for means of millions."""
    safe = jnp.maximum(k, 1)
    distance = (mean - safe) / safe
    # Stirling's series for k!; k log(mean) - mean alone would cancel.
    many = safe * (jnp.log1p(distance) - distance) - 0.5 * jnp.log(jnp.float32(2 * np.pi) * safe)
    many -= 1 / (12 * safe) - 1 / (360 * safe**3)
    return jnp.where(k < 1, -mean, many)
