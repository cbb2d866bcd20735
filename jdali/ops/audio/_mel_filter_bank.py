from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._kernels.signal import require_float32
from jdali._numerics.sums import fixed_sum
from jdali._operators.record import Static, operator

# Slaney's Auditory Toolbox: linear up to 1 kHz (200/3 Hz per mel), then logarithmic (27 mels per factor of 6.4).
_LINEAR_HZ = 200 / 3
_KNEE_HZ = 1000.0
_KNEE_MEL = _KNEE_HZ / _LINEAR_HZ
_LOG_STEP = math.log(6.4) / 27


def hz_to_mel(hz: float, formula: str) -> float:
    """Converts a frequency to mel, by the formula "slaney" or "htk" (O'Shaughnessy's)."""
    if formula == "htk":
        return 1127 * math.log1p(hz / 700)
    return hz / _LINEAR_HZ if hz < _KNEE_HZ else _KNEE_MEL + math.log(hz / _KNEE_HZ) / _LOG_STEP


def mel_to_hz(mel: np.ndarray, formula: str) -> np.ndarray:
    if formula == "htk":
        return 700 * np.expm1(mel / 1127)
    curved = _KNEE_HZ * np.exp(_LOG_STEP * (np.maximum(mel, _KNEE_MEL) - _KNEE_MEL))
    return np.where(mel < _KNEE_MEL, mel * _LINEAR_HZ, curved)


def frequency_axis(name: str, spec: BatchSpec) -> int:
    """Returns the index of the axis "f"; without a layout, the second to last axis or the only axis."""
    if not spec.layout:
        return max(spec.ndim - 2, 0)
    if "f" not in spec.layout:
        raise ValueError(f"{name}: 'f' axis not present in the layout. Got: `{spec.layout}`")
    return spec.layout.index("f")


# Minimum number of bins in the sum for a triangle; bins outside of the triangle have weight 0.
_LEAST_BINS = 4


def setup(
    spectrum: BatchSpec,
    *,
    freq_high: float,
    freq_low: float,
    mel_formula: str,
    nfilter: int,
    sample_rate: float,
) -> Plan:
    require_float32("mel_filter_bank", spectrum)
    if spectrum.ndim == 0:
        raise ValueError("mel_filter_bank: takes at least one axis, got a scalar")
    if mel_formula not in ("slaney", "htk"):
        raise ValueError(
            f'mel_filter_bank: Unsupported mel_formula value "{mel_formula}". Supported values are: "slaney", "htk"'
        )
    if nfilter < 1:
        raise ValueError(f"mel_filter_bank: number of filters should be > 0, got {nfilter}")
    if not sample_rate > 0:
        raise ValueError(f"mel_filter_bank: sample rate should be > 0, got {sample_rate}")
    high = freq_high if freq_high > 0 else sample_rate / 2
    if not freq_low >= 0:
        raise ValueError(f"mel_filter_bank: freq_low should be >= 0, got {freq_low}")
    if not freq_low < high <= sample_rate:
        raise ValueError(
            "mel_filter_bank: freq_high should be within the range (freq_low, sample_rate], got freq_low "
            f"{freq_low} and freq_high {high} at {sample_rate} Hz"
        )
    axis = frequency_axis("mel_filter_bank", spectrum)
    extents = spectrum.extents.copy()
    extents[:, axis] = nfilter
    return Plan((spectrum.replace(extents=extents),), static={"_axis": axis})


@operator(setup=setup, nanoseconds=13.0, source="operators/audio/mel_scale/mel_filter_bank.h")
def mel_filter_bank(
    spectrum: Array,
    /,
    *,
    freq_high: Static[float] = 0.0,
    freq_low: Static[float] = 0.0,
    mel_formula: Static[str] = "slaney",
    nfilter: Static[int] = 128,
    normalize: Static[bool] = True,
    sample_rate: Static[float] = 44100.0,
    _axis: Static[int] = 0,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Sums the bins of a spectrogram under `nfilter` triangles that are evenly spaced in mel.

    Args:
        spectrum: float32, with an axis "f" of nfft // 2 + 1 bins from 0 to sample_rate / 2.
        freq_high: upper end of the last triangle in Hz; 0: sample_rate / 2.
        freq_low: lower end of the first triangle in Hz.
        mel_formula: "slaney" (linear below 1 kHz) or "htk".
        nfilter: number of triangles.
        normalize: True: each triangle has area 1 (in Hz); False: peak 1.
        sample_rate: sampling rate of the signal, Hz.

    Returns: float32, shape of `spectrum` with size `nfilter` along "f".

    Example: mel = fn.mel_filter_bank(spectrogram, sample_rate=16000.0, nfilter=40)
    """
    bins = extent[_axis]
    high = freq_high if freq_high > 0 else sample_rate / 2
    mels = np.linspace(hz_to_mel(freq_low, mel_formula), hz_to_mel(high, mel_formula), nfilter + 2)
    edges = mel_to_hz(mels, mel_formula)
    step = jnp.float32(sample_rate / 2) / jnp.maximum(bins - 1, 1).astype(jnp.float32)
    most = _most_bins(edges, spectrum.shape[_axis], sample_rate)
    rows = jnp.moveaxis(spectrum, _axis, 0)
    if not len(rows):
        rows = jnp.zeros((1, *rows.shape[1:]), rows.dtype)
    sums, order = [], []
    for size in np.unique(most).tolist():
        (filters,) = np.nonzero(most == size)
        sums.append(_triangles(rows, bins, step, edges, filters, size, normalize))
        order.append(filters)
    mel = jnp.concatenate(sums)[np.argsort(np.concatenate(order))]
    mel = jnp.moveaxis(mel, 0, _axis)
    return fit(mel, out_shape)


def _most_bins(edges: np.ndarray, bins: int, sample_rate: float) -> np.ndarray:
    """Returns an upper bound of the number of bins in each triangle, int [filters].

    `bins` is the padded size of the spectrum. Bounds are powers of two, so that many triangles have the same bound and
    are summed together.
    """
    widths = (edges[2:] - edges[:-2]) * (max(bins - 1, 1) / (sample_rate / 2))
    least = np.minimum(np.floor(widths + 0.01).astype(np.int64) + 1, bins)
    return np.asarray(1 << np.ceil(np.log2(np.maximum(least, _LEAST_BINS))).astype(np.int64))


def _triangles(
    rows: Array, bins: Array, step: Array, edges: np.ndarray, filters: np.ndarray, size: int, normalize: bool
) -> Array:
    """Sums the spectrum under some of the triangles: [filters, ...]. The bits do not depend on the padding of `rows`.

    Args:
        rows: [bins, ...], the spectrum, padded.
        bins: int32, true number of bins.
        step: Hz from bin to bin.
        edges: Hz; triangle i rises from edge i to i + 1, and falls to edge i + 2.
        size: upper bound of the number of bins in each triangle.
        normalize: True: each triangle has area 1; False: peak 1.
    """
    left, right = (edges[filters + n].astype(np.float32)[:, None] for n in (0, 2))
    slopes = [1 / (edges[filters + n + 1] - edges[filters + n]) for n in range(2)]
    rising, falling = (slope.astype(np.float32)[:, None] for slope in slopes)
    first = jnp.floor(left / step).astype(jnp.int32) + 1
    index = first + jnp.arange(size, dtype=jnp.int32)
    hz = index.astype(jnp.float32) * step
    weights = jnp.maximum(jnp.minimum((hz - left) * rising, (right - hz) * falling), 0)
    if normalize:
        weights = weights * (2 / (right - left))
    wide = (slice(None), slice(None), *[None] * (rows.ndim - 1))
    values = rows[jnp.minimum(index, len(rows) - 1)]
    # Masked, because bins past the triangle's end may be NaN, and 0 · NaN is NaN.
    products = jnp.where(((index < bins) & (weights > 0))[wide], values * weights[wide], 0)
    return fixed_sum(products, (1,))
