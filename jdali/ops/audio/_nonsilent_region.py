"""Nonsilent region: where the sound between leading and trailing silence lies."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches.extent import BatchSpec
from jdali._operators.record import Static, operator

_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32")


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
        raise ValueError(f"nonsilent_region: reference_power must not be negative, got {reference_power}")
    if signal.dtype.kind == "f" and reset_interval != -1 and reset_interval % window_length:
        raise ValueError(
            "nonsilent_region: `reset_interval` shall be a multiple of `window_length`, or -1. Got: reset_interval: "
            f"{reset_interval} vs window_length: {window_length}"
        )
    scalar = BatchSpec(np.zeros((signal.batch_size, 0)), np.dtype(np.int32))
    return scalar, scalar


@operator(setup=setup, outputs=2, source="operators/audio/nonsilence_op.h")
def nonsilent_region(
    signal: Array,
    /,
    *,
    cutoff_db: Static[float] = -60.0,
    reference_power: Static[float] = 0.0,
    reset_interval: Static[int] = 8192,
    window_length: Static[int] = 2048,
    extent: Array | None = None,
) -> tuple[Array, Array]:
    """First and last window whose mean power reaches a threshold, and what they span.

    Args:
        signal: [T], integers or float32.
        cutoff_db: threshold, relative to the reference.
        reference_power: power of 0 dB; 0: that of the loudest window.
        reset_interval: as in DALI a multiple of `window_length` or -1; without effect here, where sums
            are taken anew for every window and so need no reset.
        window_length: samples in a window; a shorter signal is one window.
        extent: int32 [1], true length; None: all of `signal`.

    Returns: (index of the first sample, number of samples), int32 scalars; (0, 0) if all is silent. If
    the whole signal is zero and no reference given, nothing is below the threshold: it is all of it.
    """
    size = len(signal)
    if size == 0:
        return jnp.int32(0), jnp.int32(0)
    length = jnp.int32(size) if extent is None else extent[0]
    index = jnp.arange(size, dtype=jnp.int32)
    energy = jnp.where(index < length, jnp.square(signal.astype(jnp.float32)), 0)
    window = jnp.minimum(window_length, length)
    power = _window_sums(energy, min(window_length, size)) / jnp.maximum(window, 1).astype(jnp.float32)
    valid = index <= length - window
    reference: Array | float = reference_power
    if not reference_power:
        reference = jnp.max(jnp.where(valid, power, 0))
    loud = valid & (power >= reference * np.float32(10.0 ** (cutoff_db / 10))) & (length > 0)
    first = jnp.argmax(loud).astype(jnp.int32)
    last = size - 1 - jnp.argmax(loud[::-1]).astype(jnp.int32)
    any_loud = jnp.any(loud)
    return jnp.where(any_loud, first, 0), jnp.where(any_loud, last + window - first, 0)


def _window_sums(values: Array, window: int) -> Array:
    """Sum of `window` values from each index on; zeros past the end.

    Cut into blocks of the window's length, a window is the end of one block and the start of the next.
    Only sums of neighbours are taken, no difference of long ones: nothing cancels.
    """
    blocks = -(-len(values) // window) + 1
    table = jnp.pad(values, (0, blocks * window - len(values))).reshape(blocks, window)
    ends = jnp.cumsum(table[:, ::-1], axis=1)[:, ::-1]
    starts = jnp.cumsum(table, axis=1)
    following = jnp.pad(starts[1:, :-1], ((0, 1), (1, 0)))
    return (ends + following).reshape(-1)[: len(values)]
