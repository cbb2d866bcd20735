"""Decodes JPEG XL with imagecodecs."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali.codecs.base import (
    UINT8,
    UINT16,
    Format,
    ImageInfo,
    Request,
    begins,
    corrupt,
    need_imagecodecs,
    with_channels,
)
from jdali.codecs.color import gray_15bit
from jdali.codecs.jpeg2000 import boxes

_STREAM, _BOX_FILE = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
# The header lies in the first _HEAD bytes of the codestream. The codestream may be split over several boxes.
_HEAD = 4096
# Two bits select the number of bits of a size. Three bits select the ratio of width to height. Two bits select a bit
# depth; if they are 3, the depth follows in six bits.
_SIZES = (9, 13, 18, 30)
_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
_DEPTHS, _FLOAT_DEPTHS = (8, 10, 12), (32, 16, 24)
# Two bits select the form of another number: a base, and the number of bits that are added to it.
_ENUM = ((0, 0), (1, 0), (2, 4), (18, 6))
_EXTRA_CHANNELS, _NAME_LENGTH = ((0, 0), (1, 0), (2, 4), (1, 12)), ((0, 0), (0, 4), (16, 5), (48, 10))
_SHIFT, _FILTER = ((0, 0), (3, 0), (4, 0), (1, 3)), ((1, 0), (0, 2), (3, 4), (19, 8))
_GRAY = 1  # a colour space
_ALPHA, _SPOT_COLOR, _COLOR_FILTER = 0, 2, 5  # kinds of extra channels


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
        depth = depths[choice] if choice < 3 else 1 + self.take(6)
        if is_float:
            self.take(4)  # skips the size of the exponent
        return depth, is_float

    def number(self, forms: tuple[tuple[int, int], ...]) -> int:
        base, count = forms[self.take(2)]
        return base + self.take(count)

    def extra_channel(self) -> int:
        """Skips the description of an extra channel; returns its kind."""
        if self.take(1):
            return _ALPHA
        kind = self.number(_ENUM)
        self.depth()
        self.number(_SHIFT)
        self.take(8 * self.number(_NAME_LENGTH))
        if kind == _ALPHA:
            self.take(1)  # whether colours are multiplied by it
        elif kind == _SPOT_COLOR:
            self.take(4 * 16)
        elif kind == _COLOR_FILTER:
            self.number(_FILTER)
        return kind

    def is_gray(self) -> bool:
        """Reads the beginning of the description of colours."""
        if self.take(1):
            return False
        self.take(1)  # whether a profile follows
        return self.number(_ENUM) == _GRAY


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
    depth, is_float, orientation, channels = 8, False, 1, 3
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
        bits.take(1)  # whether 16 bits suffice for computations
        kinds = [bits.extra_channel() for _ in range(bits.number(_EXTRA_CHANNELS))]
        bits.take(1)  # whether colours are stored as XYB
        channels = (1 if bits.is_gray() else 3) + (kinds[:1] == [_ALPHA])
    if is_float or depth > 16:
        return ImageInfo(
            "jpegxl", height, width, channels, np.dtype(np.float32), orientation, 1.0, detail=depth
        )
    dtype = UINT8 if depth <= 8 else UINT16
    return ImageInfo("jpegxl", height, width, channels, dtype, orientation, (1 << depth) - 1, detail=depth)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    codecs: Any = need_imagecodecs("a JPEG XL image")
    picture = with_channels(codecs.jpegxl_decode(view, index=0, keeporientation=True, numthreads=1))
    picture = picture[..., : info.channels]  # without extra channels other than alpha
    if picture.dtype.kind == "f":
        return picture.astype(np.float32, copy=False)
    return picture


FORMAT = Format(
    "jpegxl", lambda view: begins(view, _STREAM) or begins(view, _BOX_FILE), header, decode, gray_15bit
)
