"""random.beta: numbers from 0 to 1 with a beta distribution."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from jdali._batches import BatchSpec, valid_mask
from jdali._errors import check_samples
from jdali._kernels.random_output import needs_shape_and, output_spec
from jdali._numerics.random import element_normal, element_uniform
from jdali._numerics.rounding import varying_like
from jdali._operators.record import PerSample, Static, is_traced, operator

# An attempt is refused with a probability of at most 1/20 (that of alpha = 1), so all of these never are.
_ATTEMPTS = 24


def setup(
    *shape_like: BatchSpec,
    alpha: np.ndarray,
    beta: np.ndarray,
    shape: np.ndarray | None,
    dtype: np.dtype | None,
    batch_size: int,
) -> BatchSpec:
    dtype = dtype or np.dtype(np.float32)
    if dtype not in (np.float32, np.float64):
        raise TypeError(
            f"random.beta: Data type {dtype} is not supported. Supported types are: float32, float64"
        )
    _check_positive("alpha", alpha)
    _check_positive("beta", beta)
    return output_spec("random.beta", shape_like, shape, dtype, batch_size)


def _check_positive(name: str, value: np.ndarray) -> None:
    if not is_traced(value):
        check_samples(
            ~((value > 0) & np.isfinite(value)),
            lambda i: (
                f"random.beta: The `{name}` must be a positive float32, got `{value[i]:g}` for sample at index {i}."
            ),
            argument=name,
        )


@operator(
    setup=setup,
    name="random.beta",
    setup_needs=needs_shape_and("alpha", "beta"),
    source="operators/random/beta_distribution.h",
)
def beta(
    key: Array,
    shape_like: Array | None = None,
    /,
    *,
    alpha: PerSample[float] = 1.0,
    beta: PerSample[float] = 1.0,
    dtype: Static[np.dtype | None] = None,
    shape: PerSample[tuple[int, ...] | None] = None,
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws from the beta distribution, with density proportional to x^(alpha-1) (1-x)^(beta-1).

    Args:
        shape_like: anything whose shape the output is to have.
        alpha: above 0.
        beta: above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: that of `shape_like`, or a scalar.

    Returns: `shape`, `dtype`, from 0 to 1; NaN where `alpha` or `beta` is computed in the program that draws
        (so that its value cannot be checked before) and is not above 0.

    Example: values = fn.random.beta(alpha=2.0, beta=5.0, shape=[3])
    """
    gammas = [
        _log_gamma(key, out_extent, out_shape, shape_parameter, first_draw)
        for shape_parameter, first_draw in ((alpha, 0), (beta, 1 << 31))
    ]
    return jax.nn.sigmoid(gammas[0] - gammas[1]).astype(dtype or np.float32)


def _log_gamma(key: Array, extent: Array, shape: Sequence[int], alpha: ArrayLike, draw: int) -> Array:
    """Draws logarithms of gamma variates, float32 [*shape], rejecting as Marsaglia and Tsang (2000) do.

    The logarithm, since for a small `alpha` the variates themselves are too small for float32.

    Args:
        key: of the sample.
        extent: true size.
        shape: padded size.
        alpha: shape parameter, above 0; else the results are NaN.
        draw: number of the first of many independent draws.
    """
    alpha = jnp.asarray(alpha, jnp.float32)
    alpha = jnp.where(alpha > 0, alpha, jnp.float32(np.nan))
    boosted = alpha < 1  # then it is a variate of alpha + 1, times u^(1 / alpha)
    d = jnp.where(boosted, alpha + 1, alpha) - jnp.float32(1 / 3)
    c = jax.lax.rsqrt(9 * d)

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, accepted, result = state
        x = element_normal(key, extent, shape, number)
        u = element_uniform(key, extent, shape, number + 1)
        log_v = 3 * jnp.log1p(jnp.maximum(c * x, -1))
        good = jnp.log(u) < 0.5 * x * x + d * (1 - jnp.exp(log_v) + log_v)
        return number + 2, accepted | good, jnp.where(accepted, result, jnp.log(d) + log_v)

    # Elements past the extent are not waited for, nor is what no attempt would satisfy.
    start = (jnp.uint32(draw + 1), ~valid_mask(extent, shape), jnp.zeros(shape, jnp.float32))
    start = varying_like(start, alpha, jax.random.key_data(key))
    last = np.uint32(draw + 1 + 2 * _ATTEMPTS)
    _, _, result = jax.lax.while_loop(lambda state: (state[0] < last) & ~state[1].all(), attempt, start)
    u = element_uniform(key, extent, shape, draw) + jnp.float32(2.0**-24)
    return jnp.where(boosted, result + jnp.log(u) / alpha, result)
