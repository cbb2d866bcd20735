from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan, reflect_101, size_text
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.signal import require_float32
from jdali._numerics.platform import platform_dependent
from jdali._operators.record import Static, operator

# Longest window, in steps, that is assembled from slices; longer windows are gathered.
_MOST_PIECES = 16


def hann_window(length: int) -> np.ndarray:
    """Makes a Hann window, sampled at the centres of `length` intervals, so that no factor is 0."""
    phase = (np.arange(length) + 0.5) * (2 * np.pi / length)
    return np.asarray(0.5 * (1 - np.cos(phase)), np.float32)


def setup(
    signal: BatchSpec,
    *,
    center_windows: bool,
    layout: str,
    nfft: int | None,
    power: int,
    window_fn: tuple[float, ...] | None,
    window_length: int,
    window_step: int,
) -> Plan:
    require_float32("spectrogram", signal)
    size = window_length if nfft is None else nfft
    if layout not in ("ft", "tf"):
        raise ValueError(f"spectrogram: Unexpected layout: {layout}. It must be 'ft' or 'tf'")
    if power not in (1, 2):
        raise ValueError(f"spectrogram: `power` can be only 1 (energy) or 2 (power), received {power}")
    if window_length < 1:
        raise ValueError(f"spectrogram: Invalid window length: {window_length}. It must be positive")
    if window_step < 1:
        raise ValueError(f"spectrogram: Invalid window step: {window_step}. It must be positive")
    if window_length > size:
        raise ValueError(
            f"spectrogram: Window length ({window_length}) can't be bigger than the FFT size ({size})"
        )
    if window_fn and len(window_fn) != window_length:
        raise ValueError(
            "spectrogram: Window function should match the specified `window_length`. It has "
            f"{len(window_fn)} samples, window_length is {window_length}"
        )
    axis = _time_axis(signal)
    length = signal.extents[:, axis]
    windows = length // window_step + 1
    if not center_windows:
        windows = (length - window_length) // window_step + 1
    check_samples(
        windows < 1,
        lambda i: (
            f"spectrogram: Signal is too short ({length[i]}) for sample {i}: a window has {window_length}; "
            "take center_windows=True or pad it"
        ),
    )
    bins = np.full_like(windows, size // 2 + 1)
    extents = np.stack([bins, windows] if layout == "ft" else [windows, bins], axis=1)
    return Plan((BatchSpec(extents, np.dtype(np.float32), layout),), static={"nfft": size, "_axis": axis})


def _time_axis(signal: BatchSpec) -> int:
    """Returns the axis that is longer than 1; 0 if there is none. Raises an error if there are several."""
    check_samples(
        (signal.extents == 0).any(axis=1),
        lambda i: (
            "spectrogram: Spectogram does not support empty (0-volume) samples. The shape is "
            f"{size_text(signal.extents[i])}"
        ),
    )
    longer = signal.extents > 1
    many = longer.sum(axis=1)
    long = np.flatnonzero(longer.any(axis=0))
    check_samples(
        (many == many.max(initial=0)) & (len(long) > 1),
        lambda i: (
            "spectrogram: Input data must be 1D or all but one dimensions must be degenerate (extent 1). Got: "
            f"{size_text(signal.extents[i])}; take one channel of it or mix them first"
        ),
    )
    return int(long[0]) if len(long) else 0


@operator(setup=setup, nanoseconds=20.0, source="operators/signal/fft/spectrogram.cc")
def spectrogram(
    signal: Array,
    /,
    *,
    center_windows: Static[bool] = True,
    layout: Static[str] = "ft",
    nfft: Static[int | None] = None,
    power: Static[int] = 2,
    reflect_padding: Static[bool] = True,
    window_fn: Static[tuple[float, ...] | None] = None,
    window_length: Static[int] = 512,
    window_step: Static[int] = 256,
    _axis: Static[int] = 0,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Computes the power or magnitude of the short-time Fourier transform.

    Args:
        signal: float32, one channel: all axes but one have size 1.
        center_windows: True: windows are centred at multiples of `window_step`; False: windows start at these multiples, and
            lie wholly within the signal.
        layout: "ft", frequency first, or "tf", time first.
        nfft: length of the transform, at least `window_length`; None: `window_length`.
        power: 2 for the power, 1 for the magnitude.
        reflect_padding: for centred windows: True: the signal is extended by mirroring it at its first and last sample;
            False: the signal is extended by zeros.
        window_fn: `window_length` factors; None: a Hann window.
        window_length: samples in a window.
        window_step: samples from one window to the next.

    Returns: float32 [nfft // 2 + 1, windows], for "tf" [windows, nfft // 2 + 1].

    Example: spectrogram = fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)
    """
    size = window_length if nfft is None else nfft
    wave = signal[tuple(slice(None) if a == _axis else 0 for a in range(signal.ndim))]
    length = extent[_axis]
    count = out_shape[1 if layout == "ft" else 0]
    inside = jnp.where(jnp.arange(len(wave), dtype=jnp.int32) < length, wave, 0)
    if center_windows:
        reached = _reached(count, window_length, window_step)
        inside = _with_borders(inside, length, window_length, reached, mirrored=reflect_padding)
    window = np.asarray(window_fn, np.float32) if window_fn else hann_window(window_length)
    spectrum = jnp.fft.rfft(_frames(inside, count, window, window_step, size), axis=1)
    if power == 1:
        result = jnp.abs(spectrum)
    else:
        result = jnp.square(spectrum.real) + jnp.square(spectrum.imag)
    if layout == "ft":
        result = platform_dependent(result, cpu=_turned, default=jnp.transpose)
    return fit(result, out_shape)


def _turned(power: Array) -> Array:
    """Transposes [windows, bins] for a CPU.

    XLA fuses a transpose, even past barriers, into the operations that read the result. They would then read with
    strides. XLA does not fuse a concatenation, so two halves of the bins are transposed and concatenated.
    """
    half = -(-power.shape[1] // 2)
    return jnp.concatenate([power[:, :half].T, power[:, half:].T])


def _reached(count: int, window: int, step: int) -> int:
    """Returns the number of samples that `count` windows cover, rounded up to whole steps."""
    return (count + -(-window // step) - 1) * step


def _with_borders(wave: Array, length: Array, window: int, reached: int, *, mirrored: bool) -> Array:
    """Extends the signal past both ends, by half a window each.

    Args:
        wave: [T], 0 from `length` on.
        length: int32, true size.
        window: samples in a window.
        reached: minimum length of the result. Zeros are added here up to this length, which saves a copy later.
        mirrored: True: mirror the signal at its first and last sample; False: pad it with zeros.
    """
    before, after = window // 2, window - window // 2
    more = max(0, reached - before - len(wave) - after)
    if not mirrored:
        return jnp.pad(wave, (before, after + more))

    def ends(wave: Array, length: Array) -> Array:
        # Only the elements past the ends are gathered.
        positions = [jnp.arange(-before, 0, dtype=jnp.int32), length + jnp.arange(after, dtype=jnp.int32)]
        left, right = (wave[jnp.clip(reflect_101(p, length), 0, len(wave) - 1)] for p in positions)
        body = jnp.concatenate([left, wave, jnp.zeros(after + more, wave.dtype)])
        return lax.dynamic_update_slice(body, right, (before + length,))

    def whole(wave: Array, length: Array) -> Array:
        # XLA fuses this gather into the next operation, while a `dynamic_update_slice` per sample would be a separate pass.
        position = jnp.arange(-before, len(wave) + after + more, dtype=jnp.int32)
        at = jnp.clip(reflect_101(position, length), 0, len(wave) - 1)
        seen = wave.at[at].get(mode="promise_in_bounds", wrap_negative_indices=False)
        return jnp.where(position < length + after, seen, 0)

    result: Array = platform_dependent(wave, length, cpu=ends, default=whole, tpu=ends)
    return result


def _frames(wave: Array, count: int, window: np.ndarray, step: int, size: int) -> Array:
    """Cuts out a piece of the signal every `step` samples and multiplies it by `window`: [count, size], zero-padded."""
    length = len(window)
    pieces = -(-length // step)
    if pieces > _MOST_PIECES:
        wave = jnp.pad(wave, (0, max(0, (count - 1) * step + length - len(wave))))
        starts = np.arange(count, dtype=np.int32)[:, None] * step
        columns = [wave[starts + np.arange(length, dtype=np.int32)] * window]
    else:
        reached = _reached(count, length, step)
        steps = jnp.pad(wave, (0, max(0, reached - len(wave))))[:reached].reshape(-1, step)
        parts = [window[i * step : (i + 1) * step] for i in range(pieces)]
        columns = [steps[i : i + count, : len(part)] * part for i, part in enumerate(parts)]
    # Pieces and zeros are assembled in one copy, because windows have several times as many numbers as the signal.
    return jnp.concatenate([*columns, jnp.zeros((count, size - length), wave.dtype)], axis=1)
