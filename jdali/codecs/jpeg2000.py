"""JPEG 2000, codestreams and JP2 files: imagecodecs where it is installed, else Pillow."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from PIL import Jpeg2KImagePlugin

from jdali.codecs import jpeg2000_size as _jpeg2000_size
from jdali.codecs.base import (
    UINT8,
    UINT16,
    Format,
    ImageInfo,
    Request,
    as_stored,
    begins,
    corrupt,
    imagecodecs,
    need_imagecodecs,
    open_with_pillow,
    with_channels,
)
from jdali.codecs.color import cmyk_to_rgb, gray_15bit
from jdali.types import ANY_DATA

_BOX_FILE = b"\0\0\0\x0cjP  \r\n\x87\n"
_CODESTREAM = b"\xff\x4f\xff\x51"
# Horizontal and vertical steps of the samples of the first three components. About others OpenJPEG prints.
_SAMPLINGS = (
    ((1, 1), (1, 1), (1, 1)),
    ((1, 1), (2, 1), (2, 1)),
    ((1, 1), (2, 2), (2, 2)),
)
# How a box specifies colours: a number, or a profile and the place of its kind.
_ENUMERATED, _PROFILE_SPACE = b"\1", 16
_COLOURS = {12: "CMYK", 18: "sYCC", 24: "e-sYCC"}


class _Jpeg2000Detail(NamedTuple):
    """Fields of the header that `decode` needs; `middle` is added to signed samples, and 0 for others."""

    colours: str
    middle: int


def boxes(view: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Yields type and content of each box; the last one may lack an end."""
    position = 0
    while position + 8 <= len(view):
        length, kind = struct.unpack_from(">I4s", view, position)
        head = 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", view, position + 8)
            head = 16
        yield kind, view[position + head : position + length if length else None]
        if length < head:
            return
        position += length


def _opened(view: memoryview) -> tuple[memoryview, list[int], str]:
    """Finds the codestream of a JP2 file; returns it with the bits of each palette channel and the colour space.

    The colours are "CMYK", "sYCC" or "e-sYCC"; "" where they need no care.
    """
    if begins(view, _CODESTREAM):
        return view, [], ""
    depths: list[int] = []
    colours: list[str] = []
    for kind, content in boxes(view):
        if kind == b"jp2h":
            for inner, body in boxes(content):
                if inner == b"pclr":
                    depths = [(bits & 127) + 1 for bits in body[3 : 3 + body[2]]]
                elif inner == b"colr":
                    colours.append(_colours(body))
        elif kind == b"jp2c":
            return content, depths, "".join(colours[:1])
    raise corrupt("JPEG2000", "it has no codestream")


def _colours(body: memoryview) -> str:
    """Reads the colours of a box, as `_opened` names them."""
    if begins(body, _ENUMERATED):
        return _COLOURS.get(int.from_bytes(body[3:7]), "")
    return "CMYK" if begins(body, b"CMYK", 3 + _PROFILE_SPACE) else ""


def header(view: memoryview) -> ImageInfo:
    stream, palette, colours = _opened(view)
    if not begins(stream, _CODESTREAM):
        raise corrupt("JPEG2000", "the codestream does not begin with its size")
    right, bottom, left, top = struct.unpack_from(">IIII", stream, 8)
    tile_width, tile_height = struct.unpack_from(">II", stream, 24)
    (channels,) = struct.unpack_from(">H", stream, 40)
    if min(tile_width, tile_height) == 0 or channels == 0:
        raise corrupt("JPEG2000", "it has tiles without pixels, or no channels")
    sampling = tuple((stream[43 + 3 * c], stream[44 + 3 * c]) for c in range(min(channels, 3)))
    if len(sampling) == 3 and sampling not in _SAMPLINGS:
        raise corrupt("JPEG2000", f"components with steps {sampling} are not supported")
    _jpeg2000_size.check(stream)
    bits = max(palette or [(stream[42 + 3 * c] & 127) + 1 for c in range(channels)])
    if bits > 16:
        raise corrupt("JPEG2000", f"samples of {bits} bits are not supported")
    signs = {stream[42 + 3 * c] >> 7 for c in range(channels)}
    if len(signs) > 1:
        raise corrupt("JPEG2000", "components with and without a sign are not supported")
    if colours == "e-sYCC":
        raise corrupt("JPEG2000", "colours in e-sYCC are not supported")
    if colours == "CMYK" and (channels < 4 or bits not in (8, 16)):
        raise corrupt("JPEG2000", f"CMYK of {channels} channels of {bits} bits is not supported")
    dtype = UINT8 if bits <= 8 else UINT16
    # As in DALI full intensity is that of the type, even if the samples have, say, 12 bits.
    maximum = float((1 << bits) - 1) if bits < 8 else float(np.iinfo(dtype).max)
    channels = len(palette) or channels
    detail = _Jpeg2000Detail(colours, 1 << (bits - 1) if signs == {1} else 0)
    return ImageInfo("jpeg2000", bottom - top, right - left, channels, dtype, maximum=maximum, detail=detail)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """Decodes a picture; signed samples are shifted to the middle of the range, as by Pillow."""
    picture = _samples(view, info)
    if info.detail.colours == "CMYK" and request.output_type != ANY_DATA:
        return cmyk_to_rgb(picture, inverted=False)
    return picture


def _samples(view: memoryview, info: ImageInfo) -> np.ndarray:
    codecs = imagecodecs()
    if codecs is None:
        if info.dtype != UINT8 or info.maximum != 255 or info.channels > 4:
            need_imagecodecs("a JPEG 2000 image of other than 8 bits or of more than 4 channels")
        if info.detail.colours == "sYCC":  # which Pillow makes RGB of with another rounding
            need_imagecodecs("a JPEG 2000 image in sYCC")
        picture = open_with_pillow(Jpeg2KImagePlugin.Jpeg2KImageFile, view, info)
        return with_channels(as_stored(picture.convert("RGB") if picture.mode == "P" else picture))
    decoded: np.ndarray = codecs.jpeg2k_decode(view, numthreads=1)
    if info.detail.middle:
        decoded = (decoded.astype(np.int32) + info.detail.middle).astype(info.dtype)
    return with_channels(decoded)


def _matches(view: memoryview) -> bool:
    return begins(view, _BOX_FILE) or begins(view, _CODESTREAM)


FORMAT = Format("jpeg2000", _matches, header, decode, gray_15bit)
