from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._numerics.random import element_uniform
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, is_traced, operator


def setup(data: BatchSpec, *, prob: object, salt_vs_pepper: object) -> BatchSpec:
    _check_probability("prob", "Noise", prob)
    _check_probability("salt_vs_pepper", "Salt-vs-pepper", salt_vs_pepper)
    return data


def _check_probability(name: str, title: str, values: Any) -> None:
    if not is_traced(values):
        check_samples(
            ~((values >= 0) & (values <= 1)),  # refuses NaN, too
            lambda i: (
                f"noise.salt_and_pepper: {title} probability should be a value within [0.0, 1.0]. Got: {values[i]:g} "
                f"for {name}"
            ),
            argument=name,
        )


@operator(setup=setup, name="noise.salt_and_pepper", source="operators/random/noise/salt_and_pepper_noise.h")
def salt_and_pepper(
    key: Array,
    data: Array,
    /,
    *,
    pepper_val: PerSample[float | None] = None,
    per_channel: Static[bool] = False,
    prob: PerSample[float] = 0.05,
    salt_val: PerSample[float | None] = None,
    salt_vs_pepper: PerSample[float] = 0.5,
    extent: Array,
    layout: str,
) -> Array:
    """Replaces random pixels by "salt" or "pepper".

    Args:
        data: any shape and type; without a layout, the last axis has the channels.
        pepper_val: value of pepper, rounded and saturated; None: the smallest value of integer types, -1 for floats.
        per_channel: True: replace channels independently; False: whole pixels.
        prob: probability that a pixel is replaced, 0 to 1.
        salt_val: value of salt, rounded and saturated; None: the largest value of integer types, 1 for floats.
        salt_vs_pepper: probability that a replaced pixel becomes salt, 0 to 1.

    Returns: shape and type of `data`.

    Parity: DALI wraps values that an integer type cannot hold.

    Example: images = fn.noise.salt_and_pepper(images, prob=0.1)
    """
    shape = list(data.shape)
    channel = layout.find("C") if layout else data.ndim - 1
    if channel >= 0 and not per_channel:
        shape[channel] = 1
        extent = extent.at[channel].set(1)
    replaced = element_uniform(key, extent, shape, 0) < prob
    salt = element_uniform(key, extent, shape, 1) < salt_vs_pepper
    least, largest = _limits(np.dtype(data.dtype))
    values = jnp.where(salt, _value(salt_val, largest), _value(pepper_val, least))
    replaced, values = lax.optimization_barrier((replaced, values))
    return jnp.where(replaced, values, data)


def _limits(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    if jnp.issubdtype(dtype, jnp.floating):
        return np.array(-1, dtype), np.array(1, dtype)
    if dtype.kind == "b":
        return np.array(False), np.array(True)
    return np.array(np.iinfo(dtype).min, dtype), np.array(np.iinfo(dtype).max, dtype)


def _value(noise: Any, default: np.ndarray) -> np.ndarray | jax.Array:
    return default if noise is None else saturate_cast(noise, default.dtype)
