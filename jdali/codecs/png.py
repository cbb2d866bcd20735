"""PNG: imagecodecs where it is installed, Pillow for what it can do without."""

from __future__ import annotations

import dataclasses
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from PIL import PngImagePlugin

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
from jdali.codecs.color import gray_libpng
from jdali.codecs.exif import orientation

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}
_CHANNELS = {_GRAY: 1, _RGB: 3, _PALETTE: 3, _GRAY_ALPHA: 2, _RGBA: 4}
# Chunks that the samples depend on. The others are dropped: libpng prints warnings about damaged
# colour profiles, and would make an alpha channel of tRNS, which DALI does not.
_NEEDED = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
# No deflate stream unpacks to more than this.
_LARGEST_RATIO = 1032
# Filter types up to this one use nothing of the row above.
_SUB = 1
# Up to this share of the rows it is faster to unpack them alone: zlib is slower than what libpng uses here.
_WORTHWHILE = 0.5
# (x start, y start, x step, y step) of the seven passes of an interlaced picture.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


class _PngDetail(NamedTuple):
    depth: int
    color: int
    interlaced: bool

    def row_bytes(self, width: int) -> int:
        """Bytes of a row of samples; a palette's indices are one sample a pixel."""
        samples = 1 if self.color == _PALETTE else _CHANNELS[self.color]
        return (width * samples * self.depth + 7) // 8


def _chunks(view: memoryview) -> Iterator[tuple[bytes, int, int]]:
    """Type, start and end (with length and checksum) of each chunk that is there as a whole."""
    position = len(_SIGNATURE)
    while position + 12 <= len(view):
        length, kind = struct.unpack_from(">I4s", view, position)
        end = position + 12 + length
        if end > len(view):
            return
        yield kind, position, end
        if kind == b"IEND":
            return
        position = end


def header(view: memoryview) -> ImageInfo:
    length, kind, width, height, depth, color, _, _, interlace = struct.unpack_from(
        ">I4sIIBBBBB", view, len(_SIGNATURE)
    )
    if kind != b"IHDR" or length != 13:
        raise corrupt("PNG", "it does not begin with IHDR")
    if depth not in _DEPTHS.get(color, ()):
        raise corrupt("PNG", f"bit depth {depth} with colour type {color}")
    turned = 1
    for kind, start, end in _chunks(view):
        if kind == b"eXIf":
            turned = orientation(view[start + 8 : end - 4])
    return ImageInfo(
        "png",
        height,
        width,
        _CHANNELS[color],
        UINT16 if depth == 16 else UINT8,
        turned,
        65535 if depth == 16 else 255,
        detail=_PngDetail(depth, color, bool(interlace)),
    )


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    detail: _PngDetail = info.detail
    chunks = list(_chunks(view))
    if not chunks or chunks[-1][0] != b"IEND":
        raise corrupt("PNG", "it is cut off (there is no IEND)")
    compressed = sum(end - start - 12 for kind, start, end in chunks if kind == b"IDAT")
    if info.height * (1 + detail.row_bytes(info.width)) > _LARGEST_RATIO * compressed:
        raise corrupt("PNG", f"{compressed} bytes cannot hold {info.height}x{info.width} pixels")
    window = request.window
    if window is None or detail.interlaced or (window[0] + window[2]) > info.height * _WORTHWHILE:
        return _decode_chunks(view, chunks, info, request)
    y, x, height, width = window
    stop = y + max(height, 1)
    view, first = _rows(view, chunks, info, y, stop)
    rows = dataclasses.replace(info, height=stop - first)
    return _decode_chunks(view, list(_chunks(view)), rows, request)[y - first :][:height, x : x + width]


def _rows(
    view: memoryview, chunks: list[tuple[bytes, int, int]], info: ImageInfo, start: int, stop: int
) -> tuple[memoryview, int]:
    """A picture of the rows before `stop`, from one on that depends on no row above it, and which that is."""
    row = 1 + info.detail.row_bytes(info.width)
    stream = b"".join(view[begin + 8 : end - 4] for kind, begin, end in chunks if kind == b"IDAT")
    rows = zlib.decompressobj().decompress(stream, row * stop)
    if len(rows) < row * stop:
        raise corrupt("PNG", "not enough data")
    filters = np.frombuffer(rows, np.uint8)[: row * (start + 1) : row]
    first = int(np.flatnonzero(filters <= _SUB)[-1:].sum())
    palette = b"".join(view[begin:end] for kind, begin, end in chunks if kind == b"PLTE")
    size = struct.pack(">II", info.width, stop - first)
    head = size + bytes(view[24:29])  # depth and so on as they are
    data = zlib.compress(memoryview(rows)[first * row :], 0)
    parts = [_SIGNATURE, _chunk(b"IHDR", head), palette, _chunk(b"IDAT", data), _chunk(b"IEND", b"")]
    return memoryview(b"".join(parts)), first


def _decode_chunks(
    view: memoryview, chunks: list[tuple[bytes, int, int]], info: ImageInfo, request: Request
) -> np.ndarray:
    detail: _PngDetail = info.detail
    codecs: Any = imagecodecs()
    deep = detail.depth == 16 and detail.color != _GRAY
    if deep:
        codecs = need_imagecodecs("a 16-bit PNG image with colour or alpha")
    if codecs is None or (detail.interlaced and not deep):
        return _decode_with_pillow(view, info)
    if any(kind not in _NEEDED for kind, _, _ in chunks):
        parts = [view[start:end] for kind, start, end in chunks if kind in _NEEDED]
        view = memoryview(b"".join([_SIGNATURE, *parts]))
        chunks = list(_chunks(view))
    if detail.interlaced:
        return _decode_passes(view, chunks, info, codecs)
    return with_channels(codecs.png_decode(view, out=_usable(info, request)))


def _usable(info: ImageInfo, request: Request) -> np.ndarray | None:
    """The buffer asked for, if the samples fit into it as they are."""
    out = request.out
    return out if out is not None and out.shape[2] == info.channels > 1 and info.dtype == UINT8 else None


def _decode_with_pillow(view: memoryview, info: ImageInfo) -> np.ndarray:
    picture = open_with_pillow(PngImagePlugin.PngImageFile, view, info)
    if info.detail.color == _PALETTE:
        picture = picture.convert("RGB")
    return with_channels(as_stored(picture)).astype(info.dtype, copy=False)


def _decode_passes(
    view: memoryview, chunks: list[tuple[bytes, int, int]], info: ImageInfo, codecs: Any
) -> np.ndarray:
    """An interlaced picture, each pass as a picture of its own.

    imagecodecs does not turn on libpng's own interlace handling, and Pillow has no 16-bit RGB.
    """
    detail: _PngDetail = info.detail
    unpacker = zlib.decompressobj()
    size = info.height * (detail.row_bytes(info.width) + 8) * 2 + 64
    stream = b"".join(view[start + 8 : end - 4] for kind, start, end in chunks if kind == b"IDAT")
    rows = memoryview(unpacker.decompress(stream, size))
    out = np.empty((info.height, info.width, info.channels), info.dtype)
    position = 0
    for x, y, step_x, step_y in _PASSES:
        width, height = -(-(info.width - x) // step_x), -(-(info.height - y) // step_y)
        if width <= 0 or height <= 0:
            continue
        count = height * (1 + detail.row_bytes(width))
        part = rows[position : position + count]
        if len(part) < count:
            raise corrupt("PNG", "not enough data")
        position += count
        one = struct.pack(">IIBBBBB", width, height, detail.depth, detail.color, 0, 0, 0)
        encoded = b"".join(
            [_SIGNATURE, _chunk(b"IHDR", one), _chunk(b"IDAT", zlib.compress(part, 0)), _chunk(b"IEND", b"")]
        )
        out[y::step_y, x::step_x] = with_channels(codecs.png_decode(encoded))
    return out


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


FORMAT = Format("png", lambda view: begins(view, _SIGNATURE), header, decode, gray_libpng)
