"""Shows numbers, histograms, bytes and text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jdali._display.markup import escape

_BINS = 32
_MOST_NUMBERS = 60
_MOST_TEXT = 600
_MAGIC = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"RIFF", "RIFF"), (b"fLaC", "FLAC"), (b"OggS", "Ogg"),
          (b"GIF8", "GIF"), (b"BM", "BMP"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"\x93NUMPY", "npy"))  # fmt: skip


def histogram(array: NDArray[np.generic], bins: int = _BINS) -> tuple[NDArray[np.int64], float, float]:
    """Counts finite values in equal bins between the smallest and the largest value.

    Returns: counts [bins], the smallest and the largest value.
    """
    values = array.reshape(-1)
    values = values[np.isfinite(values)]
    if not values.size:
        return np.zeros(bins, np.int64), 0.0, 0.0
    counts, _ = np.histogram(parts_of_range(values), bins, (0.0, 1.0))
    return counts, float(values.min()), float(values.max())


def parts_of_range(values: NDArray[Any]) -> NDArray[np.float64]:
    """Scales finite values to the range from 0 to 1, or to 0 if all are equal.

    Differences of integers, such as times in nanoseconds, are exact; differences of floats do not overflow.
    """
    if values.dtype.kind in "iub":
        wide = values.astype(np.uint64)  # modulo 2**64, so differences are exact
        offsets = (wide - wide[values.argmin()]).astype(np.float64)
    else:
        halves = values.astype(np.float64) / 2
        offsets = halves - halves.min()
    most = offsets.max()
    return offsets / most if most > 0 else offsets


def curve_svg(values: Sequence[float], top: float | None, label: str) -> str:
    """Draws values from left to right above a line at 0.

    Args:
        values: at least two values, all at least 0.
        top: upper end of the axis; None: the largest value.
        label: text for screen readers.
    """
    width, height = 320, 60
    most = max(top or max(values), 1e-9)
    step = width / (len(values) - 1)
    points = " ".join(
        f"{i * step:.1f},{height * (1 - min(v / most, 1)) + 2:.1f}" for i, v in enumerate(values)
    )
    return (
        f'<svg class="jd-curve" viewBox="0 0 {width} {height + 18}" role="img" aria-label="{escape(label)}" font-size="11">'
        f'<path d="M0 {height + 2}H{width}" stroke="var(--line)"/><polyline points="{points}" fill="none" stroke="var(--cpu)" '
        f'stroke-width="1.5"/>'
        f'<text x="0" y="{height + 15}" fill="currentColor">0 to {most:.4g}, now {values[-1]:.4g}</text></svg>'
    )


def histogram_svg(counts: NDArray[np.integer], low: str, high: str) -> str:
    """Draws counts as bars; writes the ends of the range below the bars."""
    top, width, height = max(int(counts.max(initial=0)), 1), 320, 60
    step = width / max(len(counts), 1)
    bars = "".join(
        f'<rect x="{i * step:.1f}" y="{height * (1 - n / top):.1f}" width="{step * 0.9:.1f}" height="{height * n / top:.1f}">'
        f"<title>{n}</title></rect>"
        for i, n in enumerate(counts.tolist())
    )
    return (
        f'<svg class="jd-histogram" viewBox="0 0 {width} {height + 16}" role="img" aria-label="histogram" font-size="11">'
        f'<g fill="var(--cpu)">{bars}</g><g fill="currentColor"><text x="0" y="{height + 13}">{escape(low)}</text>'
        f'<text x="{width}" y="{height + 13}" text-anchor="end">{escape(high)}</text></g></svg>'
    )


def numbers_text(array: NDArray[np.generic]) -> str:
    return np.array2string(array, threshold=_MOST_NUMBERS, edgeitems=3, precision=5, max_line_width=40)


def bytes_text(array: NDArray[np.uint8]) -> tuple[str, str]:
    """Returns bytes as text if they are printable UTF-8, otherwise the first 64 bytes in hexadecimal.

    Returns: the kind of content ("text", "JPEG file", "bytes"), and the text, not yet escaped.
    """
    data = array.tobytes()
    kind = next((name for magic, name in _MAGIC if data.startswith(magic)), "")
    if not kind:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if all(c.isprintable() or c in "\n\r\t" for c in text):
            return "text", text[:_MOST_TEXT] + ("…" if len(text) > _MOST_TEXT else "")
    head = data[:64]
    lines = [head[i : i + 16].hex(" ") for i in range(0, len(head), 16)]
    return f"{kind} file".strip() if kind else "bytes", "\n".join(lines) + (
        " …" if len(data) > len(head) else ""
    )
