from __future__ import annotations

import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, mask_padding
from jdali._kernels.fit import fit
from jdali._kernels.signal import require_float32
from jdali._numerics.platform import platform_dependent
from jdali._operators.record import Static, operator


def setup(magnitude: BatchSpec) -> BatchSpec:
    require_float32("to_decibels", magnitude)
    return magnitude


def _largest(values: Array) -> Array:
    """Returns the largest value, on a CPU; -inf if there are no values.

    XLA's own reduction would wait for a thread of its pool, and other calls may occupy all threads.
    """
    values = values.reshape(-1)
    if not len(values):
        return jnp.array(-jnp.inf, values.dtype)
    while len(values) > 1:
        half = -(-len(values) // 2)
        values = jnp.maximum(values[:half], values[len(values) - half :])
    return values[0]


@operator(setup=setup, nanoseconds=5.0, source="operators/signal/decibel/to_decibels_op.h")
def to_decibels(
    magnitude: Array,
    /,
    *,
    cutoff_db: Static[float] = -200.0,
    multiplier: Static[float] = 10.0,
    reference: Static[float] = 0.0,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Computes multiplier · log10(max(10^(cutoff_db / multiplier), magnitude / reference)).

    Args:
        magnitude: float32, any shape, 0 or more.
        cutoff_db: smallest result; also the result for NaN.
        multiplier: 10 for a power, 20 for an amplitude.
        reference: magnitude of 0 dB; 0: the largest magnitude of the sample.

    Returns: float32, shape of `magnitude`.

    Example: spectrogram = fn.to_decibels(spectrogram, multiplier=10.0, cutoff_db=-80.0)
    """
    # DALI's smallest ratio is the smallest subnormal float. XLA may flush subnormals to zero, so ratios are compared
    # with the smallest normal float, and the result for smaller ratios is computed here, on the host.
    floor = max(10.0 ** (cutoff_db / multiplier), float(np.finfo(np.float32).smallest_subnormal))
    lowest = np.float32(max(floor, float(np.finfo(np.float32).tiny)))
    if reference:
        inverse: Array | np.float32 = np.float32(1 / reference)
    else:
        known = jnp.where(jnp.isnan(magnitude), -jnp.inf, magnitude)
        known = mask_padding(known, extent, -jnp.inf)
        peak = platform_dependent(known, cpu=_largest, default=functools.partial(jnp.max, initial=-jnp.inf))
        inverse = 1 / jnp.where((peak <= 0) | jnp.isinf(peak), 1, peak)
    ratio = magnitude * inverse
    above = ratio > lowest
    logarithm = np.float32(multiplier / math.log2(10)) * jnp.log2(jnp.where(above, ratio, 1))
    return fit(jnp.where(above, logarithm, np.float32(multiplier * math.log10(floor))), out_shape)
