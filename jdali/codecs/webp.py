"""Decodes WebP with imagecodecs if it is installed, else with Pillow; of an animation, the first frame."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

import numpy as np
from PIL import WebPImagePlugin

from jdali.codecs.base import Format, ImageInfo, Request, begins, corrupt, imagecodecs, open_with_pillow
from jdali.codecs.color import gray_15bit
from jdali.codecs.exif import orientation

_ANIMATED, _EXIF, _ALPHA = 0x02, 0x08, 0x10  # flags in the extended header


def header(view: memoryview) -> ImageInfo:
    (size,) = struct.unpack_from("<I", view, 4)
    if size + 8 > len(view):
        raise corrupt("WEBP", f"it is cut off: {len(view)} bytes of {size + 8}")
    kind, body = bytes(view[12:16]), view[20:]
    animated, turned = False, 1
    if kind == b"VP8 ":
        if not begins(body, b"\x9d\x01\x2a", 3):
            raise corrupt("WEBP", "it does not begin with a key frame")
        width, height = (n & 0x3FFF for n in struct.unpack_from("<HH", body, 6))
        channels = 3
    elif kind == b"VP8L":
        (packed,) = struct.unpack_from("<I", body, 1)
        width, height = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        channels = 4 if packed >> 28 & 1 else 3
    elif kind == b"VP8X":
        flags = body[0]
        width, height = (int.from_bytes(body[i : i + 3], "little") + 1 for i in (4, 7))
        animated = bool(flags & _ANIMATED)
        channels = 4 if flags & _ALPHA else 3
        if flags & _EXIF:
            turned = _exif_orientation(view)
    else:
        raise corrupt("WEBP", f"unknown first chunk {kind!r}")
    return ImageInfo("webp", height, width, channels, orientation=turned, detail=animated)


def _chunks(view: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Yields the type and the content of each chunk."""
    position = 12
    while position + 8 <= len(view):
        kind, length = struct.unpack_from("<4sI", view, position)
        yield kind, view[position + 8 : position + 8 + length]
        position += 8 + length + (length & 1)


def _exif_orientation(view: memoryview) -> int:
    block = next((content for kind, content in _chunks(view) if kind == b"EXIF"), None)
    if block is None:
        return 1
    return orientation(block[6:] if begins(block, b"Exif\0\0") else block)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    return _first_frame(view, info) if info.detail else _still(view, info, request.out)


def _first_frame(view: memoryview, info: ImageInfo) -> np.ndarray:
    """Decodes the first frame alone: libwebp's decoder of animations takes 24 bytes for each pixel of the picture."""
    frame = next((content for kind, content in _chunks(view) if kind == b"ANMF"), None)
    if frame is None:
        raise corrupt("WEBP", "it is an animation without frames")
    x, y, width, height = (int.from_bytes(frame[i : i + 3], "little") for i in (0, 3, 6, 9))
    x, y, width, height = 2 * x, 2 * y, width + 1, height + 1
    if x + width > info.width or y + height > info.height:
        reason = f"its first frame of {height}x{width} at ({y}, {x}) reaches out of it"
        raise corrupt("WEBP", f"{reason}, its header says {info.height}x{info.width}")
    flags = _ALPHA if info.channels == 4 else 0
    body = struct.pack("<4s4sIB3x", b"WEBP", b"VP8X", 10, flags) + bytes(frame[6:12]) + bytes(frame[16:])
    still = memoryview(struct.pack("<4sI", b"RIFF", len(body)) + body)
    picture = _still(still, dataclasses.replace(info, height=height, width=width), None)
    if (height, width) == (info.height, info.width):
        return picture
    whole = np.zeros((info.height, info.width, info.channels), np.uint8)
    whole[y : y + height, x : x + width] = picture
    return whole


def _still(view: memoryview, info: ImageInfo, out: np.ndarray | None) -> np.ndarray:
    codecs = imagecodecs()
    if codecs is None:
        picture = open_with_pillow(WebPImagePlugin.WebPImageFile, view, info)
        return np.asarray(picture.convert("RGBA" if info.channels == 4 else "RGB"))
    target = out if out is not None and out.shape[2] == info.channels else None
    decoded: np.ndarray = codecs.webp_decode(view, hasalpha=info.channels == 4, out=target)
    return decoded


FORMAT = Format(
    "webp", lambda view: begins(view, b"RIFF") and begins(view, b"WEBP", 8), header, decode, gray_15bit
)
