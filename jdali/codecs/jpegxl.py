"""Decodes JPEG XL with imagecodecs."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali.codecs.base import UINT8, UINT16, Format, ImageInfo, Request, begins, corrupt, need_imagecodecs
from jdali.codecs.color import gray_15bit
from jdali.codecs.heif import as_rgb
from jdali.codecs.jpeg2000 import boxes

_STREAM, _BOX_FILE = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
# The header lies in the first _HEAD bytes of the codestream. The codestream may be split over several boxes.
_HEAD = 256
# Two bits select the number of bits of a size. Three bits select the ratio of width to height. Two bits select a bit
# depth; if they are 3, the depth follows in six bits.
_SIZES = (9, 13, 18, 30)
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
_DEPTHS, _FLOAT_DEPTHS = (8, 10, 12), (32, 16, 24)


class _Bits:
    """Reads the bits of a codestream, the lowest bit of each byte first."""

    def __init__(self, data: bytes):
        self._value, self._left = int.from_bytes(data, "little"), 8 * len(data)

    def take(self, count: int) -> int:
        if count > self._left:
            raise IndexError
        value = self._value & (1 << count) - 1
        self._value >>= count
        self._left -= count
        return value

    def size(self) -> tuple[int, int]:
        small = self.take(1)
        height = self._side(small)
        ratio = self.take(3)
        if not ratio:
            return height, self._side(small)
        numerator, denominator = _RATIOS[ratio - 1]
        return height, height * numerator // denominator

    def _side(self, small: int) -> int:
        return (self.take(5) + 1) * 8 if small else self.take(_SIZES[self.take(2)]) + 1

    def depth(self) -> tuple[int, bool]:
        is_float, choice = bool(self.take(1)), self.take(2)
        depths = _FLOAT_DEPTHS if is_float else _DEPTHS
        return (depths[choice] if choice < 3 else 1 + self.take(6)), is_float


def _head(view: memoryview) -> bytes:
    if begins(view, _STREAM):
        return bytes(view[:_HEAD])
    parts = b""
    for kind, content in boxes(view):
        if kind in (b"jxlc", b"jxlp"):
            parts += bytes(content[4 * (kind == b"jxlp") :][:_HEAD])
            if kind == b"jxlc" or len(parts) >= _HEAD:
                break
    return parts


def header(view: memoryview) -> ImageInfo:
    head = _head(view)
    if not head.startswith(_STREAM):
        raise corrupt("JPEGXL", "it has no codestream")
    bits = _Bits(head[2:])
    height, width = bits.size()
    depth, is_float, orientation = 8, False, 1
    if not bits.take(1):
        if bits.take(1):
            orientation = bits.take(3) + 1
            if bits.take(1):
                bits.size()  # skips the intrinsic size for display
            if bits.take(1):
                raise corrupt("JPEGXL", "pictures with a preview are not supported")
            if bits.take(1):
                raise corrupt("JPEGXL", "animations are not supported")
        depth, is_float = bits.depth()
    if is_float or depth > 16:
        return ImageInfo("jpegxl", height, width, 3, np.dtype(np.float32), orientation, 1.0, detail=depth)
    dtype = UINT8 if depth <= 8 else UINT16
    return ImageInfo("jpegxl", height, width, 3, dtype, orientation, (1 << depth) - 1, detail=depth)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    codecs: Any = need_imagecodecs("a JPEG XL image")
    picture = as_rgb(codecs.jpegxl_decode(view, index=0, keeporientation=True, numthreads=1))
    if picture.dtype.kind == "f":
        return picture.astype(np.float32, copy=False)
    return picture


FORMAT = Format(
    "jpegxl", lambda view: begins(view, _STREAM) or begins(view, _BOX_FILE), header, decode, gray_15bit
)
