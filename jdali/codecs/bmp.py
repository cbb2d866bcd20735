"""BMP: NumPy for 24-bit pictures, Pillow for all others."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from PIL import BmpImagePlugin

from jdali.codecs.base import (
    Format,
    ImageInfo,
    Request,
    as_stored,
    begins,
    corrupt,
    open_with_pillow,
    with_channels,
)
from jdali.codecs.color import gray_14bit


class _BmpDetail(NamedTuple):
    start: int  # of the pixels
    bits: int
    compression: int
    bottom_up: bool


def header(view: memoryview) -> ImageInfo:
    start, size = struct.unpack_from("<II", view, 10)
    compression = colors = 0
    if size == 12:
        width, height, _, bits = struct.unpack_from("<HHHH", view, 18)
    else:
        width, height, _, bits, compression = struct.unpack_from("<iiHHI", view, 18)
        (colors,) = struct.unpack_from("<I", view, 46)
    if width <= 0 or height == 0:
        raise corrupt("BMP", f"size {height}x{width}")
    channels = 3
    if bits <= 8:
        entry = 3 if size == 12 else 4
        count = min(colors or 1 << bits, 1 << bits)
        palette = np.frombuffer(view[14 + size : 14 + size + count * entry], np.uint8)
        palette = palette[: len(palette) // entry * entry].reshape(-1, entry)[:, :3]
        channels = 1 if (palette == palette[:, :1]).all() else 3
    return ImageInfo(
        "bmp", abs(height), width, channels, detail=_BmpDetail(start, bits, compression, height > 0)
    )


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """An alpha channel is dropped: in most 32-bit files those bytes mean nothing."""
    start, bits, compression, bottom_up = info.detail
    # What fills up the last row may be missing.
    least = (info.width * bits + 31) // 32 * 4 * (info.height - 1) + (info.width * bits + 7) // 8
    if not compression and len(view) - start < least:
        raise corrupt("BMP", f"it is cut off: {max(len(view) - start, 0)} bytes of {least}")
    if bits != 24 or compression:
        picture = open_with_pillow(BmpImagePlugin.BmpImageFile, view, info)
        if picture.mode in ("P", "RGBA") and info.channels == 3:
            picture = picture.convert("RGB")
        elif picture.mode == "P":
            picture = picture.convert("L")
        return with_channels(as_stored(picture))
    row = (info.width * 3 + 3) // 4 * 4
    pixels = view[start : start + row * info.height]
    if len(pixels) < row * info.height:
        raise corrupt("BMP", f"it is cut off: {len(pixels)} bytes of {row * info.height}")
    rows = np.frombuffer(pixels, np.uint8).reshape(info.height, row)[:, : info.width * 3]
    picture_rows = rows.reshape(info.height, info.width, 3)[..., ::-1]
    return picture_rows[::-1] if bottom_up else picture_rows


FORMAT = Format("bmp", lambda view: begins(view, b"BM"), header, decode, gray_14bit)
