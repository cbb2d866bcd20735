from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.moving_sums import exact_moving_sums, moving_sums
from jdali._operators.record import Static, operator

_EXACT = ("uint8", "int8", "uint16", "int16")
_TYPES = (*_EXACT, "uint32", "int32", "uint64", "int64", "float32")


def setup(
    signal: BatchSpec, *, reference_power: float, reset_interval: int, window_length: int
) -> tuple[BatchSpec, BatchSpec]:
    if signal.dtype.name not in _TYPES:
        raise ValueError(
            f"nonsilent_region: Unsupported input type: {signal.dtype}. Supported types are integers and float32"
        )
    if signal.ndim != 1:
        raise ValueError(
            f"nonsilent_region: Input with dimension ({signal.ndim}) cannot be converted to dimension (1)."
        )
    if window_length < 1:
        raise ValueError(f"nonsilent_region: window_length must be positive, got {window_length}")
    if reference_power < 0:
        raise ValueError(f"nonsilent_region: `reference_power` has to be positive. Got: {reference_power}")
    if signal.dtype.kind == "f" and reset_interval != -1:
        if reset_interval % window_length:
            raise ValueError(
                "nonsilent_region: `reset_interval` shall be a multiple of `window_length`, or -1. Got: reset_interval: "
                f"{reset_interval} vs window_length: {window_length}"
            )
        if reset_interval < window_length:
            raise ValueError(f"nonsilent_region: reset_interval must be positive or -1, got {reset_interval}")
    scalar = BatchSpec(np.zeros((signal.batch_size, 0)), np.dtype(np.int32))
    return scalar, scalar


@operator(setup=setup, outputs=2, nanoseconds=6.0, source="operators/audio/nonsilence_op.h")
def nonsilent_region(
    signal: Array,
    /,
    *,
    cutoff_db: Static[float] = -60.0,
    reference_power: Static[float] = 0.0,
    reset_interval: Static[int] = 8192,
    window_length: Static[int] = 2048,
    extent: Array,
) -> tuple[Array, Array]:
    """Finds the region from the first to the last window whose mean power reaches a threshold.

    Args:
        signal: [T], integers or float32.
        cutoff_db: threshold in dB, relative to the reference.
        reference_power: power of 0 dB; 0: the power of the loudest window.
        reset_interval: for floats, number of samples after which the power of a window is summed anew, a multiple of
            `window_length`; -1: never. In between, the power is updated from the previous window, and rounding errors
            accumulate.
        window_length: samples in a window; a shorter signal is one window.

    Returns: (index of the first sample, number of samples), int32 scalars; (0, 0) if all windows are below the
    threshold. A signal of zeros without `reference_power` has a threshold of 0, so the region is the whole signal.

    Parity: on an accelerator, each window is summed by itself, without accumulated rounding errors. Results for float32 and
    32- and 64-bit integers may therefore differ from DALI's.

    Example: begin, length = fn.nonsilent_region(sound, cutoff_db=-30.0)
    """
    size = len(signal)
    if size == 0:
        return jnp.int32(0), jnp.int32(0)
    length = extent[0]
    window = jnp.minimum(window_length, length)
    power = _sums(signal, length, min(window_length, size), reset_interval) * _mean_factor(
        window, window_length
    )
    index = jnp.arange(size, dtype=jnp.int32)  # index of the last sample of a window
    valid = (index >= window - 1) & (index < length)
    reference = jnp.float32(reference_power) if reference_power else _loudest(power, valid, window - 1)
    loud = valid & (power >= reference * _ratio(cutoff_db))
    first, last = jnp.min(jnp.where(loud, index, size)), jnp.max(jnp.where(loud, index, -1))
    any_loud = last >= 0
    begin = first - window + 1
    return jnp.where(any_loud, begin, 0), jnp.where(any_loud, last + 1 - begin, 0)


def _sums(signal: Array, length: Array, window: int, reset_interval: int) -> Array:
    signal = jnp.where(jnp.arange(len(signal), dtype=jnp.int32) < length, signal, 0)
    if signal.dtype.name in _EXACT:
        signed = jnp.issubdtype(signal.dtype, jnp.signedinteger)
        magnitude = jnp.abs(signal.astype(jnp.int32)) if signed else signal
        return exact_moving_sums(jnp.square(magnitude.astype(jnp.uint32)), window)
    never = reset_interval == -1 or jnp.issubdtype(signal.dtype, jnp.integer)
    return moving_sums(
        jnp.square(signal.astype(jnp.float32)), window, len(signal) if never else reset_interval
    )


def _mean_factor(window: Array, window_length: int) -> Array:
    """Returns 1 / window in float32. As in DALI, this factor is rounded before the sums are multiplied by it."""
    shorter = np.float32(1) / jnp.maximum(window, 1).astype(jnp.float32)
    return jnp.where(window == window_length, np.float32(1) / np.float32(window_length), shorter)


def _loudest(power: Array, valid: Array, first: Array) -> Array:
    """Returns the largest power. As in DALI, the result is NaN only if the power of the first window is NaN."""
    start = jnp.take(power, first)
    greatest = jnp.max(jnp.where(valid & ~jnp.isnan(power), power, 0))
    return jnp.where(jnp.isnan(start), start, greatest)


def _ratio(decibels: float) -> np.float32:
    """Converts decibels to a ratio of powers, in float32."""
    exponent = np.float32(decibels) * (np.float32(1) / np.float32(10))
    return np.float32(10.0 ** float(exponent))
