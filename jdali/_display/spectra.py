"""Draws spectrograms, with time to the right and low frequencies at the bottom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jdali._display.markup import data_uri, escape
from jdali._display.numbers import parts_of_range
from jdali._display.pictures import Pixels, fit, png

_SCALE = np.array(
    [
        (13, 8, 60),
        (72, 30, 120),
        (140, 45, 125),
        (205, 70, 95),
        (245, 125, 55),
        (252, 190, 60),
        (250, 245, 170),
    ],
    np.float64,
)


class SpectrumAxes(NamedTuple):
    """The scales of a spectrogram's axes; unknown values are None.

    Attributes:
        seconds: seconds from one window to the next.
        low, high: frequencies of the lowest and the highest row in Hz.
        mel: True if rows are equally spaced on the mel scale, not in Hz.
    """

    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    mel: bool = False


def spectrum_pixels(array: NDArray[np.generic], layout: str = "ft") -> tuple[Pixels, str]:
    """Maps the values of a spectrogram to colours, from the smallest to the largest finite value.

    Args:
        array: [frequencies, windows] for "ft", [windows, frequencies] for "tf".
        layout: "ft" or "tf".

    Returns: uint8 [frequencies, windows, 3] with the lowest frequency in the last row, and a note on the range of values.
    """
    values = array.astype(np.float64)
    values = values.T if layout == "tf" else values
    finite = np.isfinite(values)
    low, high, share = 0.0, 0.0, np.zeros(values.shape)
    if finite.any():
        low, high = float(values[finite].min()), float(values[finite].max())
        share[finite] = parts_of_range(values[finite])
    at = share * (len(_SCALE) - 1)
    below = np.clip(at.astype(int), 0, len(_SCALE) - 2)
    part = (at - below)[..., None]
    colours = _SCALE[below] * (1 - part) + _SCALE[below + 1] * part
    return np.rint(colours).astype(np.uint8)[::-1], f"values {low:.4g} to {high:.4g}"


def spectrum_svg(pixels: Pixels, axes: SpectrumAxes, side: int) -> str:
    """Draws a spectrogram with its axes; `pixels` come from `spectrum_pixels`, `side` is the maximum pixels of a side."""
    rows, windows = pixels.shape[:2]
    width, height, left, below = 360, 150, 52, 30
    uri = data_uri(png(fit(pixels, side)), "image/png")
    end = windows * axes.seconds if axes.seconds else windows
    unit = "s" if axes.seconds else "windows"
    lines = [
        f'<image href="{uri}" x="{left}" y="4" width="{width}" height="{height}" preserveAspectRatio="none"/>',
        *(
            f'<text x="{left + width * share:.0f}" y="{height + 18}" text-anchor="{anchor}">{share * end:.3g} {unit}</text>'
            for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end"))
        ),
    ]
    for share in (0.0, 0.5, 1.0):
        lines.append(
            f'<text x="{left - 4}" y="{8 + height * (1 - share):.0f}" text-anchor="end">{escape(_frequency(axes, share, rows))}'
            "</text>"
        )
    return (
        f'<svg class="jd-axes" viewBox="0 0 {left + width + 4} {height + below}" role="img" aria-label="spectrogram" '
        f'font-size="11" fill="currentColor">{"".join(lines)}</svg>'
    )


def _frequency(axes: SpectrumAxes, share: float, rows: int) -> str:
    """Formats the frequency at a height (`share`) from 0, the bottom, to 1, the top."""
    if axes.low is None or axes.high is None:
        return f"row {share * (rows - 1):.0f}"
    if not axes.mel:
        return f"{axes.low + share * (axes.high - axes.low):.4g} Hz"
    low, high = (2595 * np.log10(1 + f / 700) for f in (axes.low, axes.high))
    return f"{700 * (10 ** ((low + share * (high - low)) / 2595) - 1):.4g} Hz"
