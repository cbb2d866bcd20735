from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from jdali._numerics.random import element_normal
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, operator


@operator(name="noise.gaussian", source="operators/random/noise/gaussian_noise.h")
def gaussian(
    key: Array,
    data: Array,
    /,
    *,
    mean: PerSample[float] = 0.0,
    stddev: PerSample[float] = 1.0,
    extent: Array,
) -> Array:
    """Adds normally distributed noise to each element. Results are rounded half away from zero and saturated.

    Args:
        data: any shape and type.
        mean: mean of the noise, in units of the data.
        stddev: standard deviation of the noise, in units of the data.

    Returns: shape and type of `data`.

    Example: images = fn.noise.gaussian(images, stddev=40.0)
    """
    noise = mean + stddev * element_normal(key, extent, data.shape)
    return saturate_cast(data.astype(jnp.float32) + noise, data.dtype)
