"""Decodes PBM, PGM and PPM, plain and raw, with NumPy alone."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from jdali.codecs.base import UINT8, UINT16, Format, ImageInfo, Request, corrupt
from jdali.codecs.color import gray_14bit
from jdali.types import INDEX

_SPACE_OR_COMMENT = rb"(?:\s|#[^\n]*\n)"
_NUMBER = _SPACE_OR_COMMENT + rb"+(\d{1,10})"
_HEADER = re.compile(rb"P([1-6])" + _NUMBER + _NUMBER)
_MAXIMUM = re.compile(_NUMBER)


class _PnmDetail(NamedTuple):
    kind: int
    start: int  # offset of the samples


def header(view: memoryview) -> ImageInfo:
    found = _HEADER.match(view)
    if found is None:
        raise corrupt("PNM", "kind, width and height are not three numbers")
    kind, width, height = (int(group) for group in found.groups())
    limit, end = 1, found.end()
    if kind not in (1, 4):
        last = _MAXIMUM.match(view, end)
        if last is None or not 0 < int(last[1]) < 65536:
            raise corrupt("PNM", "the largest value is not a number from 1 to 65535")
        limit, end = int(last[1]), last.end()
    # As in DALI, samples are not rescaled; the header's largest value only determines the number of bytes per sample.
    deep = limit > 255
    return ImageInfo(
        "pnm",
        height,
        width,
        3 if kind in (3, 6) else 1,
        UINT16 if deep else UINT8,
        maximum=65535 if deep else 255,
        detail=_PnmDetail(kind, end + 1),
    )


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    kind, start = info.detail
    shape = (info.height, info.width, info.channels)
    body = view[start:]
    if kind in (1, 4):
        ink = _plain_bits(body, info) if kind == 1 else _raw_bits(body, info)
        return np.where(ink.reshape(shape), np.uint8(0), np.uint8(1 if request.output_type == INDEX else 255))
    count = info.height * info.width * info.channels
    if kind in (2, 3):
        # Splits only as much text as needed, because the parts take many times the text's memory.
        words = re.sub(rb"#[^\n]*", b"", body).split(None, min(count, len(body)))
        if len(words) < count:
            raise _too_short(len(words), count, "numbers")
        return np.array(words[:count], np.int64).astype(info.dtype).reshape(shape)
    size = count * info.dtype.itemsize
    if len(body) < size:
        raise _too_short(len(body), size, "bytes")
    samples = np.frombuffer(body[:size], info.dtype.newbyteorder(">")).reshape(shape)
    if request.window is not None:
        y, x, height, width = request.window
        samples = samples[y : y + height, x : x + width]
    return samples.astype(info.dtype, copy=False)


def _plain_bits(body: memoryview, info: ImageInfo) -> np.ndarray:
    characters = np.frombuffer(re.sub(rb"#[^\n]*|\s", b"", body), np.uint8)
    count = info.height * info.width
    if len(characters) < count:
        raise _too_short(len(characters), count, "bits")
    ink: np.ndarray = characters[:count] != ord("0")
    return ink


def _raw_bits(body: memoryview, info: ImageInfo) -> np.ndarray:
    row = (info.width + 7) // 8
    if len(body) < row * info.height:
        raise _too_short(len(body), row * info.height, "bytes")
    rows = np.frombuffer(body[: row * info.height], np.uint8).reshape(info.height, row)
    return np.unpackbits(rows, axis=1)[:, : info.width]


def _too_short(have: int, need: int, what: str) -> Exception:
    return corrupt("PNM", f"it is cut off: {have} {what} of {need}")


def _matches(view: memoryview) -> bool:
    return len(view) > 2 and view[0] == ord("P") and view[1] in b"123456" and bytes(view[2:3]) in b" \t\r\n#"


FORMAT = Format("pnm", _matches, header, decode, gray_14bit)
