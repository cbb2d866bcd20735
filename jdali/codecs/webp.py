"""Decodes WebP with imagecodecs if it is installed, else with Pillow."""

from __future__ import annotations

import struct

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


def _exif_orientation(view: memoryview) -> int:
    position = 12
    while position + 8 <= len(view):
        kind, length = struct.unpack_from("<4sI", view, position)
        if kind == b"EXIF":
            block = view[position + 8 : position + 8 + length]
            return orientation(block[6:] if begins(block, b"Exif\0\0") else block)
        position += 8 + length + (length & 1)
    return 1


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    animated = info.detail
    codecs = imagecodecs()
    if codecs is None or animated:
        picture = open_with_pillow(WebPImagePlugin.WebPImageFile, view, info)  # positioned at the first frame
        return np.asarray(picture.convert("RGBA" if info.channels == 4 else "RGB"))
    out = request.out if request.out is not None and request.out.shape[2] == info.channels else None
    decoded: np.ndarray = codecs.webp_decode(view, hasalpha=info.channels == 4, out=out)
    return decoded


FORMAT = Format(
    "webp", lambda view: begins(view, b"RIFF") and begins(view, b"WEBP", 8), header, decode, gray_15bit
)
