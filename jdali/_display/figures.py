"""Shows one value as HTML, by its kind."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jdali._display.markup import data_uri, escape
from jdali._display.numbers import bytes_text, histogram, histogram_svg, numbers_text
from jdali._display.overlays import Overlay, overlay_html
from jdali._display.pictures import Pixels, animation_of, fit, picture_of, png, webp
from jdali._display.spectra import SpectrumAxes, spectrum_pixels, spectrum_svg

_SHOWN_SIDE = 200  # smaller pictures are enlarged until their longest side has this many pixels
_TINY = 64  # pictures whose longest side has fewer pixels are enlarged without smoothing
_CHANNELS, _MANY_FRAMES = 8, 4000


class Detail(NamedTuple):
    """Limits how much of a value is shown.

    Attributes:
        side: maximum pixels of a picture's side.
        frames: maximum frames of a video.
        seconds: maximum length of a sound.
        exact: whether to encode pictures without loss.
    """

    side: int
    frames: int
    seconds: float
    exact: bool


SMALL = Detail(side=160, frames=12, seconds=1.0, exact=False)
LARGE = Detail(side=1024, frames=64, seconds=60.0, exact=True)


@dataclasses.dataclass(frozen=True)
class Hint:
    """Facts about a value that its array does not contain.

    Attributes:
        kind: "picture", "sound", "spectrogram", "boxes", "labels", "mask", "vertices", "points", or "" to guess from the array.
        rate: sampling rate of a sound in Hz; None if unknown.
        axes: axes of a spectrogram.
        names: class names by label.
    """

    kind: str = ""
    rate: float | None = None
    axes: SpectrumAxes = dataclasses.field(default_factory=SpectrumAxes)
    names: Sequence[str] | Mapping[int, str] = ()


class Shown(NamedTuple):
    """A value as HTML. `kind` is a result of `kind_of`: the way in which the value is shown."""

    html: str
    kind: str


class _Value(NamedTuple):
    """The arguments of `figure`."""

    array: NDArray[np.generic]
    layout: str
    hint: Hint
    detail: Detail
    overlay: Overlay


_Body: TypeAlias = tuple[str, tuple[str, ...]]  # HTML, and notes for the caption


def kind_of(array: NDArray[np.generic], layout: str, hint: Hint) -> str:
    """Chooses how to show a value: "picture", "video", "sound", "spectrogram", "bytes", "number" or "tensor"."""
    if hint.kind in ("sound", "spectrogram") and array.ndim in (1, 2) and array.size:
        return hint.kind
    if array.size == 0:
        return "tensor"
    if array.size == 1 and array.ndim <= 1 and array.dtype.kind in "biuf":
        return "number"
    if set(layout) >= {"H", "W"}:
        others = set(layout) - set("HWC")
        if not others:
            return "picture"
        return "video" if len(others) == 1 and len(layout) == array.ndim else "tensor"
    if layout in ("ft", "tf"):
        return "spectrogram"
    if array.dtype == np.uint8 and array.ndim == 1:
        return "bytes"
    if hint.kind == "picture" or (not layout and _looks_like_picture(array)):
        return "picture"
    if not (layout or hint.kind) and _looks_like_sound(array):
        return "sound"
    return "tensor"


def _looks_like_picture(array: NDArray[np.generic]) -> bool:
    """Returns True if the last or the first of three axes has 1, 3 or 4 elements, and the other two have at least 8."""
    if array.ndim != 3:
        return False
    last, first = array.shape[-1] in (1, 3, 4), array.shape[0] in (1, 3, 4)
    return (last and min(array.shape[:2]) >= 8) or (first and min(array.shape[1:]) >= 8)


def may_be_sound(array: NDArray[np.generic]) -> bool:
    """Returns True for types and shapes of decoded sounds: [frames], or [frames, channels] with up to 8 channels."""
    typed = array.dtype.kind == "f" or array.dtype == np.int16
    return (
        typed and array.ndim in (1, 2) and len(array) > 1 and (array.ndim == 1 or array.shape[1] <= _CHANNELS)
    )


def _looks_like_sound(array: NDArray[np.generic]) -> bool:
    """Returns True for one or two channels with at least 4000 frames, values within full scale and a mean near 0."""
    if not may_be_sound(array) or len(array) < _MANY_FRAMES or (array.ndim == 2 and array.shape[1] > 2):
        return False
    frames = frames_of(array)
    return bool(frames.min() < 0 < frames.max() and np.abs(frames).max() <= 1 and abs(frames.mean()) < 0.1)


def figure(
    array: NDArray[np.generic],
    *,
    name: str = "",
    layout: str = "",
    hint: Hint | None = None,
    overlay: Overlay | None = None,
    detail: Detail = LARGE,
) -> Shown:
    """Shows one value.

    Args:
        array: one sample without padding.
        layout: one letter per axis; "" if unknown.
    """
    hint = hint or Hint()
    kind = kind_of(array, layout, hint)
    facts = [
        name,
        f"{layout} " * bool(layout) + f"{array.dtype} {'×'.join(map(str, array.shape)) or 'scalar'}",
    ]
    body, notes = _BODIES[kind](_Value(array, layout, hint, detail, overlay or Overlay()))
    caption = escape(" · ".join(filter(None, [*facts, *notes])))
    return Shown(
        f'<figure class="jd-figure" data-kind="{kind}">{body}<figcaption>{caption}</figcaption></figure>',
        kind,
    )


def _image(pixels: Pixels, detail: Detail) -> str:
    """Encodes a picture as a data URI, with sides of at most `detail.side` pixels."""
    small = fit(pixels, detail.side)
    if detail.exact or small.shape[-1] == 1 or small.size < 6000:
        return data_uri(png(small), "image/png")
    return data_uri(webp(small), "image/webp")


def _frame(uri: str, height: int, width: int, over: str, what: str) -> str:
    """Draws a picture, enlarged if it is small, with its overlays."""
    longest = max(height, width)
    scale = max(_SHOWN_SIDE / longest, 1.0)
    tiny = ' class="jd-tiny"' if longest < _TINY else ""
    size = f'width="{max(round(width * scale), 1)}" height="{max(round(height * scale), 1)}"'
    return f'<div class="jd-frame"><img{tiny} src="{uri}" {size} alt="{what}">{over}</div>'


def _picture(value: _Value) -> _Body:
    array, layout, detail, overlay = value.array, value.layout, value.detail, value.overlay
    pixels, notes = picture_of(array, layout)
    height, width = pixels.shape[:2]
    over = "" if overlay.is_empty else overlay_html(overlay, height, width, detail.side)
    if not layout:
        notes = ("taken for a picture by its shape", *notes)
    return _frame(_image(pixels, detail), height, width, over, "picture"), notes


def _video(value: _Value) -> _Body:
    array, layout, detail = value.array, value.layout, value.detail
    frames, notes = animation_of(array, layout, detail.frames)
    small = fit(frames, min(detail.side, 320))
    height, width = frames.shape[1:3]
    if not len(small):
        return "", notes
    uri = data_uri(webp(small, quality=85 if detail.exact else 60), "image/webp")
    return _frame(uri, height, width, "", "video"), notes


def _sound(value: _Value) -> _Body:
    array, hint, detail = value.array, value.hint, value.detail
    frames = frames_of(array)
    rate = hint.rate or 16000.0
    most = int(detail.seconds * rate)
    notes = [] if hint.kind else ["taken for a sound by its values"]
    known = (
        f"{hint.rate:.0f} Hz, {len(frames) / rate:.3g} s" if hint.rate else "rate not known, played at 16 kHz"
    )
    notes.append(known)
    if len(frames) > most:
        notes.append(f"the first {detail.seconds:g} s play")
    uri = data_uri(wav(frames[:most], rate), "audio/wav")
    sound = f'{waveform_svg(frames, hint.rate)}<audio controls preload="metadata" src="{uri}"></audio>'
    return sound, tuple(notes)


def _spectrogram(value: _Value) -> _Body:
    array, layout, hint, detail = value.array, value.layout, value.hint, value.detail
    if array.ndim != 2:
        return _tensor(value)
    pixels, note = spectrum_pixels(array, layout or "ft")
    return spectrum_svg(pixels, hint.axes, detail.side), (note,)


def _bytes(value: _Value) -> _Body:
    array = value.array
    what, text = bytes_text(array.astype(np.uint8))
    return f"<pre>{escape(text)}</pre>", (what,)


def _number(value: _Value) -> _Body:
    array = value.array
    number, names = array.reshape(-1)[0].item(), value.hint.names
    text = f"{number:.7g}" if isinstance(number, float) else named(number, names)
    return f'<div class="jd-number">{escape(text)}</div>', ()


def named(label: int, names: Sequence[str] | Mapping[int, str]) -> str:
    """Returns "name (label)" for a label with a name, otherwise the label."""
    has = label in names if isinstance(names, Mapping) else 0 <= label < len(names)
    return f"{names[label]} ({label})" if has else str(label)


def _tensor(value: _Value) -> _Body:
    array = value.array
    body = f"<pre>{escape(numbers_text(array))}</pre>"
    notes: tuple[str, ...] = ()
    if array.size > 8 and array.dtype.kind in "iuf":
        counts, low, high = histogram(array)
        body += histogram_svg(counts, f"{low:.4g}", f"{high:.4g}")
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        if finite.size:
            with np.errstate(over="ignore", invalid="ignore"):
                wide = finite.astype(np.float64)
                mean, deviation = wide.mean(), wide.std()
            notes = (f"mean {mean:.4g}, std {deviation:.4g}",)
        if finite.size < array.size:
            notes = (*notes, f"{array.size - finite.size} values are NaN or infinite")
    return body, notes


_BODIES = {
    "picture": _picture, "video": _video, "sound": _sound, "spectrogram": _spectrogram, "bytes": _bytes, "number": _number,
    "tensor": _tensor,
}  # fmt: skip


_COLUMNS = 400
_HEIGHT = 60


def frames_of(array: NDArray[np.generic]) -> NDArray[np.float32]:
    """Converts a sound, [frames] or [frames, channels], to float32 [frames, channels] with a full scale of 1."""
    values = array[:, None] if array.ndim == 1 else array
    if np.issubdtype(values.dtype, np.integer):
        info = np.iinfo(np.dtype(values.dtype.name))
        middle = (info.max + info.min + 1) / 2
        return ((values.astype(np.float64) - middle) / ((info.max - info.min) / 2)).astype(np.float32)
    with np.errstate(over="ignore"):  # values beyond the range of float32 become infinite, then 0
        single = values.astype(np.float32)
    return np.nan_to_num(single, posinf=0.0, neginf=0.0)


def wav(frames: NDArray[np.float32], rate: float) -> bytes:
    """Encodes a sound as 16-bit WAV; values beyond full scale are clipped.

    `frames` is [frames, channels] with a full scale of 1, `rate` is in Hz.
    """
    channels = frames.shape[1]
    body = np.rint(np.clip(frames, -1, 1) * 32767).astype("<i2").tobytes()
    hertz = round(rate)
    head = struct.pack("<HHIIHH", 1, channels, hertz, hertz * channels * 2, channels * 2, 16)
    data = b"fmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(data)) + b"WAVE" + data


def envelope(frames: NDArray[np.float32], columns: int = _COLUMNS) -> NDArray[np.float32]:
    """Finds the lowest and highest value, over all channels, in each of `columns` equal parts of a sound.

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
        rate: sampling rate in Hz; None: the length is shown in frames.
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
