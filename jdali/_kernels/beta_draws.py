"""Draws from the beta distribution."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jdali._batches import valid_mask
from jdali._numerics.platform import one_program
from jdali._numerics.random import element_normal, element_uniform
from jdali._numerics.rounding import varying_like

# An attempt is rejected with a probability of at most 1/20 (at alpha = 1), so 24 rejections in a row do not happen.
_ATTEMPTS = 24


@one_program(static_argnums=2)
def draw_beta(
    key: Array, extent: Array, shape: tuple[int, ...], alpha: ArrayLike, beta: ArrayLike
) -> Array:  # fmt: skip
    """Draws float32 [*shape] from 0 to 1. The result is NaN if `alpha` or `beta` is not above 0.

    Passes 0 to 48 and 2^31 to 2^31 + 48 as `draw` to `element_bits`. Other draws from `key` must use other numbers.
    """
    parameters = jnp.stack(jnp.broadcast_arrays(jnp.float32(alpha), jnp.float32(beta)))
    # One loop draws both gamma variates, because XLA takes a second to compile a loop.
    gammas = jax.vmap(lambda parameter, first: _log_gamma(key, extent, shape, parameter, first))(
        parameters, np.array([0, 1 << 31], np.uint32)
    )
    return jax.nn.sigmoid(gammas[0] - gammas[1])


def _log_gamma(key: Array, extent: Array, shape: Sequence[int], alpha: Array, draw: Array) -> Array:
    """Draws logarithms of gamma variates, float32 [*shape], by the rejection method of Marsaglia and Tsang (2000).

    The function returns logarithms, because for a small `alpha` the variates are too small for float32.

    Args:
        alpha: shape parameter; results are NaN unless it is above 0.
        draw: number of the first draw; each attempt uses two draws.
    """
    alpha = jnp.where(alpha > 0, alpha, jnp.float32(np.nan))
    boosted = alpha < 1  # then draw with alpha + 1 and multiply by u^(1 / alpha)
    d = jnp.where(boosted, alpha + 1, alpha) - jnp.float32(1 / 3)
    c = jax.lax.rsqrt(9 * d)

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, accepted, result = state
        x = element_normal(key, extent, shape, number)
        u = element_uniform(key, extent, shape, number + 1)
        log_v = 3 * jnp.log1p(jnp.maximum(c * x, -1))
        good = jnp.log(u) < 0.5 * x * x + d * (1 - jnp.exp(log_v) + log_v)
        return number + 2, accepted | good, jnp.where(accepted, result, jnp.log(d) + log_v)

    # Padding counts as accepted. If `alpha` is NaN, no attempt succeeds, and the loop ends after the last attempt.
    start = (draw + 1, ~valid_mask(extent, shape), jnp.zeros(shape, jnp.float32))
    start = varying_like(start, alpha, jax.random.key_data(key))
    last = draw + 1 + 2 * _ATTEMPTS
    _, _, result = jax.lax.while_loop(lambda state: (state[0] < last) & ~state[1].all(), attempt, start)
    u = element_uniform(key, extent, shape, draw) + jnp.float32(2.0**-24)
    return jnp.where(boosted, result + jnp.log(u) / alpha, result)
