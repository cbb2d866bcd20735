"""Converts arrays of any layout, type, range and number of channels to pictures, with notes on changes."""

from __future__ import annotations

import io
import struct
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Values = NDArray[np.generic]

_FRAME_MS = 120
_FEW = 32  # if all values are at most this number, they are probably class numbers, not brightness


class Picture(NamedTuple):
    """A picture, or frames to play, that can be shown.

    Attributes:
        pixels: uint8 [H, W, C] or [F, H, W, C] with 1, 3 or 4 channels.
        notes: changes to the values.
    """

    pixels: Pixels
    notes: tuple[str, ...] = ()


def picture_of(array: Values, layout: str = "") -> Picture:
    """Converts a picture to uint8.

    uint8 values stay as they are. Floats in [0, 1] are scaled by 255. Values in [0, 255] are rounded if the largest is
    above 32. All other values are scaled so that the smallest becomes 0 and the largest 255. NaN and infinity become
    black. If there are two channels, the first is shown; if more than four, the first three.

    Args:
        array: [H, W], [H, W, C] or [C, H, W], not empty; with a layout, axes in any order.
        layout: the letters H, W and optionally C; "" for a guess by the shape.
    """
    values, notes = _channels_last(array, layout)
    pixels, more = to_bytes(values)
    return Picture(pixels, (*notes, *more))


def animation_of(array: Values, layout: str, most: int) -> Picture:
    """Converts frames, or the slices of a volume, to uint8, all with the same scaling.

    Args:
        array: its axes are in the order of `layout`.
        layout: H, W, optionally C, and one other axis, for instance "FHWC", "FCHW", "DHWC" or "FHW".
        most: maximum number of frames; from longer videos, frames are taken at equal steps.
    """
    axis = next(i for i, letter in enumerate(layout) if letter not in "HWC")
    frames = np.moveaxis(array, axis, 0)
    notes: tuple[str, ...] = ()
    if len(frames) > most:
        chosen = np.linspace(0, len(frames) - 1, most).round().astype(int)
        notes = (f"{most} of {len(frames)} shown",)
        frames = frames[chosen]
    inner = layout[:axis] + layout[axis + 1 :]
    made = [_channels_last(frame, inner) for frame in frames]
    pixels, more = to_bytes(np.stack([values for values, _ in made]))
    return Picture(pixels, (*notes, *made[0][1], *more))


def _channels_last(array: Values, layout: str) -> tuple[Values, tuple[str, ...]]:
    """Moves the channels to the last axis; returns [H, W, C] with 1, 3 or 4 channels."""
    notes: tuple[str, ...] = ()
    values = array
    if layout:
        values = array.transpose([layout.index(letter) for letter in "HWC" if letter in layout])
    elif array.ndim == 3 and array.shape[-1] > 4 and array.shape[0] <= 4:
        values, notes = np.moveaxis(array, 0, -1), ("taken as CHW",)
    if values.ndim == 2:
        return values[..., None], notes
    channels = values.shape[-1]
    if channels not in (1, 3, 4):
        shown = values[..., :3] if channels > 2 else values[..., :1]
        notes = (*notes, f"{shown.shape[-1]} of {channels} channels shown")
        values = shown
    return values, notes


def to_bytes(values: Values) -> tuple[Pixels, tuple[str, ...]]:
    """Maps values to the range from 0 to 255; see `picture_of`.

    Returns: uint8 of the same shape, and notes on the scaling.
    """
    if values.dtype == np.uint8:
        return np.asarray(values, np.uint8), ()
    if values.dtype == np.bool_:
        return np.where(values, np.uint8(255), np.uint8(0)), ("bool: white is true",)
    numbers = values.astype(np.float64)
    finite = np.isfinite(numbers)
    notes: tuple[str, ...] = ()
    if not finite.all():
        notes = (f"{int((~finite).sum())} values are NaN or infinite, shown black",)
    if not finite.any():
        return np.zeros(values.shape, np.uint8), notes
    low, high = float(numbers[finite].min()), float(numbers[finite].max())
    floating = np.issubdtype(values.dtype, np.floating)
    if floating and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
        notes = ("0 to 1", *notes)
    elif low >= 0 and _FEW < high <= 255:
        low, high = 0.0, 255.0
    else:
        what = "normalized" if floating and low < 0 else str(values.dtype)
        notes = (f"{what}: shown between its min {low:.4g} and max {high:.4g}", *notes)
    half = high / 2 - low / 2  # `high - low` may overflow
    scaled = (np.where(finite, numbers, low) / 2 - low / 2) * (255 / half if half > 0 else 1.0)
    pixels = np.rint(np.clip(scaled, 0, 255)).astype(np.uint8)
    pixels[~finite] = 0
    return pixels, notes


def fit(pixels: Pixels, side: int) -> Pixels:
    """Shrinks a picture that is larger than `side` by averaging blocks of pixels.

    Args:
        pixels: uint8 [..., H, W, C].
        side: maximum height and width of the result.
    """
    height, width = pixels.shape[-3:-1]
    step = -(-max(height, width) // side)
    if step <= 1:
        return pixels
    rows, columns = max(height // step, 1), max(width // step, 1)
    cut = pixels[..., : rows * step, : columns * step, :]
    down, across = min(step, height), min(step, width)
    blocks = cut.reshape(*cut.shape[:-3], rows, down, columns, across, cut.shape[-1])
    return np.rint(blocks.mean(axis=(-4, -2))).astype(np.uint8)


def png(pixels: Pixels) -> bytes:
    """Encodes uint8 [H, W, C] with 1, 3 or 4 channels as PNG, without loss."""
    height, width, channels = pixels.shape
    kind = {1: 0, 3: 2, 4: 6}[channels]
    rows = np.ascontiguousarray(pixels).reshape(height, width * channels)
    body = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(body, 6)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def webp(pixels: Pixels, *, quality: int = 80) -> bytes:
    """Encodes uint8 [H, W, C], or the frames of [F, H, W, C], as lossy WebP; frames play in a loop."""
    from PIL import Image  # imported on first use, because it is slow to load

    frames = pixels[None] if pixels.ndim == 3 else pixels
    images = [Image.fromarray(frame[..., 0] if frame.shape[-1] == 1 else frame) for frame in frames]
    modes = {1: "RGB", 3: "RGB", 4: "RGBA"}
    first, *others = [image.convert(modes[pixels.shape[-1]]) for image in images]
    out = io.BytesIO()
    more = {"save_all": True, "append_images": others, "duration": _FRAME_MS, "loop": 0} if others else {}
    first.save(out, "WEBP", quality=quality, method=2, **more)
    return out.getvalue()
