"""Sounds: a waveform to look at, a WAV file to listen to."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from jdali._display.markup import escape

_COLUMNS = 400
_HEIGHT = 60


def frames_of(array: NDArray[np.generic]) -> NDArray[np.float32]:
    """Scales a sound to float32 [frames, channels]; full scale is 1.

    Args:
        array: [frames] or [frames, channels].
    """
    values = array[:, None] if array.ndim == 1 else array
    if np.issubdtype(values.dtype, np.integer):
        info = np.iinfo(np.dtype(values.dtype.name))
        middle = (info.max + info.min + 1) / 2
        return ((values.astype(np.float64) - middle) / ((info.max - info.min) / 2)).astype(np.float32)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, then 0
        single = values.astype(np.float32)
    return np.nan_to_num(single, posinf=0.0, neginf=0.0)


def wav(frames: NDArray[np.float32], rate: float) -> bytes:
    """Encodes a sound as WAV of 16 bits; what is louder than full scale is cut off.

    Args:
        frames: [frames, channels], full scale is 1.
        rate: frames a second.
    """
    channels = frames.shape[1]
    body = np.rint(np.clip(frames, -1, 1) * 32767).astype("<i2").tobytes()
    hertz = round(rate)
    head = struct.pack("<HHIIHH", 1, channels, hertz, hertz * channels * 2, channels * 2, 16)
    data = b"fmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(data)) + b"WAVE" + data


def envelope(frames: NDArray[np.float32], columns: int = _COLUMNS) -> NDArray[np.float32]:
    """Finds the lowest and highest value in each of `columns` equal parts of a sound, over all channels.

    Returns: [min(columns, frames), 2].
    """
    count = len(frames)
    edges = np.linspace(0, count, min(columns, count) + 1).astype(int)[:-1]
    lowest, highest = frames.min(axis=1), frames.max(axis=1)
    return np.stack([np.minimum.reduceat(lowest, edges), np.maximum.reduceat(highest, edges)], axis=1)


def waveform_svg(frames: NDArray[np.float32], rate: float | None) -> str:
    """Draws a sound between -peak and peak, with its length below.

    Args:
        frames: [frames, channels], not empty.
        rate: frames a second; None: not known, and the axis counts frames.
    """
    parts = envelope(frames)
    peak = max(float(np.abs(parts).max()), 1e-9)
    middle = _HEIGHT / 2
    upper = [f"{x},{middle - high / peak * middle:.1f}" for x, high in enumerate(parts[:, 1].tolist())]
    lower = [f"{x},{middle - low / peak * middle + 0.5:.1f}" for x, low in enumerate(parts[:, 0].tolist())]
    length = f"{len(frames) / rate:.3g} s" if rate else f"{len(frames)} frames"
    width = len(parts)
    return (
        f'<svg class="jd-wave" viewBox="0 0 {width} {_HEIGHT}" preserveAspectRatio="none" height="{_HEIGHT}" role="img" '
        f'aria-label="waveform, {escape(length)}"><polygon fill="var(--cpu)" points="{" ".join(upper + lower[::-1])}"/></svg>'
    )
