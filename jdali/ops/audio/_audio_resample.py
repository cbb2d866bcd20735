"""Resamples audio on the device, with the window of `jdali.codecs.resampling`."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._numerics.platform import one_program, platform_dependent
from jdali._numerics.rounding import saturate_cast, varying_like
from jdali._operators.record import PerSample, Static, operator
from jdali.codecs.resampling import lobes_of, window_table

_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32")
_STEPS = 32  # entries of the window's table for each sample
_TAPS_A_TURN = 11
# For an integer n from 0 to 2^23: bits(2^23 + n) - bits(2^23) = n, where bits(x) reads the float32 x as an integer.
_WHOLE = np.float32(2**23)
_BITS_OF_WHOLE = int(_WHOLE.view(np.int32))


def setup(
    signal: BatchSpec,
    *,
    dtype: np.dtype | None,
    in_rate: np.ndarray | None,
    out_length: np.ndarray | None,
    out_rate: np.ndarray | None,
    quality: float,
    scale: np.ndarray | None,
) -> Plan:
    out = dtype or signal.dtype
    for checked in (signal.dtype, out):
        if checked.name not in _TYPES:
            raise ValueError(
                f"audio_resample: Unsupported output type: {checked}. Supported types are : {', '.join(_TYPES)}"
            )
    if signal.ndim not in (1, 2):
        raise ValueError(
            "audio_resample: Audio resampling supports only time series data, with an optional innermost channel "
            f"dimension. Got {signal.ndim} axes"
        )
    lobes_of(quality)
    if (in_rate is None) != (out_rate is None):
        raise ValueError(
            "audio_resample: The parameters ``in_rate`` and ``out_rate`` must be specified together."
        )
    count = sum(v is not None for v in (in_rate, scale, out_length))
    if count != 1:
        raise ValueError(
            "audio_resample: The sampling rates, ``scale`` and ``out_length`` cannot be used together."
            if count
            else "audio_resample: No resampling factor specified! Please supply either the scale, the output length or the "
            "input and output sampling rates."
        )
    old = signal.extents[:, 0]
    if out_length is not None:
        new = np.asarray(out_length, np.int64)
        _check("out_length", new >= 0, new)
        _check("out_length", (old > 0) | (new == 0), new)
        step = np.maximum(old, 1) / np.maximum(new, 1)
    else:
        rate_in = np.ones(len(old)) if in_rate is None else np.asarray(in_rate, np.float64)
        rate_out = np.asarray(scale if out_rate is None else out_rate, np.float64)
        _check("in_rate", rate_in > 0, rate_in)
        _check("scale" if out_rate is None else "out_rate", rate_out >= 0, rate_out)
        new = np.minimum(np.ceil(old * rate_out / rate_in), 2.0**60).astype(np.int64)  # 2⁶⁰ is rejected later
        step = rate_in / np.where(rate_out > 0, rate_out, rate_in)
    extents = signal.extents.copy()
    extents[:, 0] = new
    whole = np.floor(step)
    part = np.minimum(np.round((step - whole) * 2.0**32), 2.0**32 - 1)
    return Plan(
        (signal.replace(extents=extents, dtype=out),),
        params={"_whole": whole.astype(np.int32), "_part": part.astype(np.uint32)},
    )


_RULES = {
    "in_rate": "Input sampling rates must be positive",
    "out_rate": "Output sampling rates must be non-negative",
    "scale": "The scaling factor must be non-negative",
    "out_length": "Input size less than zero not supported, nor can an empty signal become longer",
}


def _check(name: str, good: np.ndarray, values: np.ndarray) -> None:
    check_samples(
        ~good, lambda i: f"audio_resample: {_RULES[name]}. Got {name} == {values[i]:g}", argument=name
    )


@operator(
    setup=setup,
    setup_needs=lambda arguments: ("in_rate", "out_length", "out_rate", "scale"),
    source="operators/audio/resample.h",
)
def audio_resample(
    signal: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    in_rate: PerSample[float | None] = None,
    out_length: PerSample[int | np.integer | None] = None,
    out_rate: PerSample[float | None] = None,
    quality: Static[float] = 50.0,
    scale: PerSample[float | None] = None,
    _whole: PerSample[Array | None] = None,
    _part: PerSample[Array | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Changes the sampling rate by windowed-sinc interpolation, with a Hann window.

    No low-pass filter is applied, even if the rate becomes lower.

    Args:
        signal: [T] or [T, C], integers of up to 32 bits or float32.
        dtype: type of the result; values are scaled to its range, for floats -1 to 1. None: the type of `signal`.
        in_rate: rate of `signal`, in the unit of `out_rate`.
        out_length: length of the result, in place of the rates.
        out_rate: rate of the result.
        quality: 0 to 100; sets the number of lobes of the sinc on each side: 3 at 0, 16 at 50, 64 at 100.
        scale: out_rate / in_rate, in place of the rates.

    Returns: `dtype`, saturated, ceil(T · out_rate / in_rate) samples.

    Parity: the position of output sample i is exact to within i · 2⁻³³ of a sample. DALI adds up float32 steps in blocks of
    256, which moves positions by up to 1e-3 of a sample.

    Example: sound = fn.audio_resample(sound, in_rate=16000, out_rate=8000)
    """
    out = np.dtype(dtype or signal.dtype)
    wave = _to_unit_range(signal)
    if out.kind == "u":  # 0 to 1, so that the zeros around the signal are the lowest value
        wave = (wave + 1) / 2
    length = extent[0]
    if wave.size == 0 or out_shape[0] == 0:
        return jnp.zeros(out_shape, out)
    index, share = _positions(out_shape[0], _whole, _part)
    total = _weighted(wave, index, share, length, lobes_of(quality))
    return fit(_from_unit_range(total, out), out_shape)


@one_program(static_argnums=4)
def _weighted(wave: Array, index: Array, share: Array, length: Array, lobes: int) -> Array:
    """Sums the samples around each position, weighted by the window: float32 [len(index), ...]."""
    table = window_table(lobes)
    starts, slopes = jnp.asarray(table[:-1]), jnp.asarray(np.diff(table))

    def add_tap(
        wave: Array, index: Array, share: Array, length: Array, total: Array, tap: Array
    ) -> tuple[Array, None]:
        source = index + tap
        distance = (tap * _STEPS).astype(jnp.float32) - share  # in entries of the table
        position = distance + np.float32(_STEPS * lobes + 1)
        left = jnp.floor(position)
        # `left.astype(int32)` in fewer GPU instructions. Taps outside of the window read arbitrary entries; these are
        # masked below.
        entry = lax.bitcast_convert_type(left + _WHOLE, jnp.int32) - _BITS_OF_WHOLE
        weight = _taken(starts, entry) + (position - left) * _taken(slopes, entry)
        # A negative source is a large unsigned number, so one comparison checks both ends.
        inside = (jnp.abs(distance) < _STEPS * lobes) & (
            source.astype(jnp.uint32) < length.astype(jnp.uint32)
        )
        weight, inside = (v[:, None] if wave.ndim == 2 else v for v in (weight, inside))
        # Masked, because values outside of the signal may be NaN, and 0 · NaN is NaN.
        return total + jnp.where(inside, _taken(wave, source) * weight, 0), None

    def summed(unroll: int, *arrays: Array) -> Array:
        wave, index, *_ = arrays
        start = varying_like(jnp.zeros((len(index), *wave.shape[1:]), jnp.float32), *arrays)
        taps = jnp.arange(-lobes, lobes + 1, dtype=jnp.int32)
        total: Array = lax.scan(functools.partial(add_tap, *arrays), start, taps, unroll=unroll)[0]
        return total

    # On an accelerator, each iteration reads and writes the whole sum, which takes most of the time. So the loop is unrolled.
    turns = {"cpu": functools.partial(summed, 1), "default": functools.partial(summed, _TAPS_A_TURN)}
    total: Array = platform_dependent(wave, index, share * _STEPS, length, **turns)
    return total


def _taken(values: Array, index: Array) -> Array:
    return values.at[index].get(mode="clip", wrap_negative_indices=False)


def _positions(count: int, whole: Any, part: Any) -> tuple[Array, Array]:
    """Computes the position of each output sample in the input: integer part, int32, and fraction, float32.

    The step between positions is a fixed-point number with 32 fractional bits: `whole`, and `part` in units of 2⁻³². Its
    products with the output indices are exact, computed in 16-bit halves.
    """
    n = jnp.arange(count, dtype=jnp.uint32)
    low, high = part & 0xFFFF, part >> 16
    n_low, n_high = n & 0xFFFF, n >> 16
    middle = n_high * low + ((n_low * low) >> 16)
    middle2 = n_low * high + (middle & 0xFFFF)
    carried = n_high * high + (middle >> 16) + (middle2 >> 16)
    rest = n * part
    index = n.astype(jnp.int32) * whole + carried.astype(jnp.int32)
    # Only the upper 24 bits are used, because they are exact in float32; all 32 bits could be rounded up to 1.
    return index, (rest >> 8).astype(jnp.float32) * np.float32(2.0**-24)


def _to_unit_range(signal: Array) -> Array:
    """Scales integers to floats from -1 to 1; the middle of an unsigned type becomes 0."""
    if jnp.issubdtype(signal.dtype, jnp.floating):
        return signal.astype(jnp.float32)
    largest = np.float32(np.iinfo(signal.dtype).max)
    if np.dtype(signal.dtype).kind == "u":
        return signal.astype(jnp.float32) * (2 / largest) - 1
    return signal.astype(jnp.float32) * (1 / largest)


def _from_unit_range(value: Array, dtype: np.dtype) -> Array:
    """Scales floats by the largest value of an integer type. Results are rounded half away from zero and saturated."""
    if dtype.kind == "f":
        return value.astype(dtype)
    return saturate_cast(value * np.float32(np.iinfo(dtype).max), dtype)
