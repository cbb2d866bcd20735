"""Decodes PNG with imagecodecs if it is installed, else with Pillow, which cannot decode all kinds."""

from __future__ import annotations

import contextlib
import dataclasses
import struct
import zlib
from collections.abc import Callable, Iterator
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
from jdali.types import INDEX

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
# Chunks that the samples depend on. All other chunks are dropped, because libpng prints warnings about damaged colour
# profiles, and converts tRNS to an alpha channel, unlike DALI.
_NEEDED = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
# Largest compression ratio of deflate.
_LARGEST_RATIO = 1032
# `_plain` does not rewrite streams of at most this many compressed bytes, since they unpack to about 4 MB at most.
_FEW_BYTES = 4096
# Filter types up to this one do not depend on the row above.
_SUB = 1
# If at most this fraction of the rows is needed, it is faster to unpack only these rows, although zlib is slower than
# the decoder's inflate.
_WORTHWHILE = 0.5
# The header of a zlib stream, and the size of the largest stored block.
_ZLIB_HEAD, _STORED_BLOCK = b"\x78\x01", 65535
# (x start, y start, x step, y step) of each of the seven passes of an interlaced picture.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))

Chunk = tuple[bytes, int, int]
"""Type, start and end, including length and checksum."""


class _PngDetail(NamedTuple):
    depth: int
    color: int
    interlaced: bool

    def row_bytes(self, width: int) -> int:
        """Returns the number of bytes in a row."""
        samples = 1 if self.color == _PALETTE else _CHANNELS[self.color]
        return (width * samples * self.depth + 7) // 8


def _chunks(view: memoryview) -> Iterator[Chunk]:
    """Yields each complete chunk, up to and including IEND."""
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
        indexed=color == _PALETTE,
        detail=_PngDetail(depth, color, bool(interlace)),
    )


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    if request.output_type == INDEX:
        return _indices(view, info, request)
    return _decoded(view, info, request)


def _indices(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """Decodes the stored samples. Palette indices are decoded as if they were gray values."""
    detail: _PngDetail = info.detail
    if info.indexed:
        kept = (view[start:end] for kind, start, end in _chunks(view) if kind in (b"IDAT", b"IEND"))
        ihdr = bytes(view[16:25]) + bytes([_GRAY]) + bytes(view[26:29])
        view = memoryview(b"".join([_SIGNATURE, _chunk(b"IHDR", ihdr), *kept]))
        info = dataclasses.replace(info, channels=1, detail=detail._replace(color=_GRAY))
    picture = _decoded(view, info, request)
    return picture // (255 // ((1 << detail.depth) - 1)) if detail.depth < 8 else picture


def _decoded(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    detail: _PngDetail = info.detail
    chunks = [chunk for chunk in _chunks(view) if chunk[0] in _NEEDED]
    if not chunks or chunks[-1][0] != b"IEND":
        raise corrupt("PNG", "it is cut off (there is no IEND)")
    kinds = [kind for kind, _, _ in chunks]
    if detail.color == _PALETTE and b"PLTE" not in kinds[: kinds.index(b"IDAT") if b"IDAT" in kinds else 0]:
        raise corrupt("PNG", "no palette stands before its data")
    compressed = sum(end - start - 12 for kind, start, end in chunks if kind == b"IDAT")
    if info.height * (1 + detail.row_bytes(info.width)) > _LARGEST_RATIO * compressed:
        raise corrupt("PNG", f"{compressed} bytes cannot hold {info.height}x{info.width} pixels")
    codecs: Any = imagecodecs()
    deep = detail.depth == 16 and detail.color != _GRAY
    if deep:
        codecs = need_imagecodecs("a 16-bit PNG image with colour or alpha")
    window = request.window
    if window is not None and not detail.interlaced and window[0] + window[2] <= info.height * _WORTHWHILE:
        y, x, height, width = window
        stop = y + max(height, 1)
        first, part = _rows(view, chunks, info, y, stop, _checksums(codecs))
        rows = dataclasses.replace(info, height=stop - first)
        picture = (
            _decode_with_pillow(part, rows) if codecs is None else with_channels(codecs.png_decode(part))
        )
        return picture[y - first :][:height, x : x + width]
    if codecs is None or (detail.interlaced and not deep):
        return _decode_with_pillow(_with_needed(view, chunks), info)
    if detail.interlaced:
        return _decode_passes(view, chunks, info, codecs)
    few = compressed <= _FEW_BYTES
    file = _with_needed(view, chunks) if few else _plain(view, chunks, info, codecs)
    return with_channels(codecs.png_decode(file, out=_usable(info, request)))


def _with_needed(view: memoryview, chunks: list[Chunk]) -> memoryview:
    """Returns a PNG file with only these chunks of the given file."""
    return memoryview(b"".join([_SIGNATURE, *(view[start:end] for _, start, end in chunks)]))


def _stream(view: memoryview, chunks: list[Chunk]) -> bytes:
    return b"".join(view[start + 8 : end - 4] for kind, start, end in chunks if kind == b"IDAT")


class _Checksums(NamedTuple):
    crc32: Callable[[Any], int]
    adler32: Callable[[Any], int]


def _checksums(codecs: Any) -> _Checksums:
    if codecs is not None and codecs.DEFLATE.available:
        return _Checksums(codecs.deflate_crc32, codecs.deflate_adler32)
    return _Checksums(zlib.crc32, zlib.adler32)


def _plain(view: memoryview, chunks: list[Chunk], info: ImageInfo, codecs: Any) -> object:
    """Rewrites the picture with uncompressed rows.

    libpng unpacks the whole stream, even data after the last row. Two megabytes of such data may unpack to two
    gigabytes. This function unpacks only the rows, and uses the faster libdeflate.
    """
    checksums = _checksums(codecs)
    for kind, start, end in chunks:
        if (
            kind == b"IDAT"
            and checksums.crc32(view[start + 4 : end - 4]) != struct.unpack_from(">I", view, end - 4)[0]
        ):
            raise corrupt("PNG", "IDAT: CRC error")
    stream = _stream(view, chunks)
    size = info.height * (1 + info.detail.row_bytes(info.width))
    rows: Any = None
    if codecs.DEFLATE.available:
        with contextlib.suppress(codecs.DeflateError):  # the stream is damaged, or longer than the rows
            rows = codecs.deflate_decode(stream, out=size)
    if rows is None or len(rows) != size:
        unpacker = zlib.decompressobj()
        try:
            rows = unpacker.decompress(stream, size)
            # Verifies the checksum if it follows the rows; ignores any other bytes after the rows.
            unpacker.decompress(unpacker.unconsumed_tail, 1)
        except zlib.error as error:
            raise corrupt("PNG", f"its data are damaged ({error})") from error
        if len(rows) < size:
            raise corrupt("PNG", "not enough data")
    first = next(i for i, chunk in enumerate(chunks) if chunk[0] == b"IDAT")
    head = [view[start:end] for _, start, end in chunks[:first]]
    return _with_rows(head, memoryview(rows), checksums)


def _with_rows(head: list[Any], rows: memoryview, checksums: _Checksums) -> bytearray:
    """Builds a PNG file from the chunks in `head`, and uncompressed rows."""
    stored: list[Any] = [b"IDAT", _ZLIB_HEAD]
    for start in range(0, len(rows), _STORED_BLOCK):
        block = rows[start : start + _STORED_BLOCK]
        is_last = start + _STORED_BLOCK >= len(rows)
        stored += struct.pack("<BHH", is_last, len(block), len(block) ^ 0xFFFF), block
    stored.append(struct.pack(">I", checksums.adler32(rows)))
    length = struct.pack(">I", sum(map(len, stored)) - 4)
    begin = len(_SIGNATURE) + sum(map(len, head)) + len(length)
    tail = [bytes(4), _chunk(b"IEND", b"")]
    file = bytearray().join([_SIGNATURE, *head, length, *stored, *tail])
    end = len(file) - sum(map(len, tail))
    struct.pack_into(">I", file, end, checksums.crc32(memoryview(file)[begin:end]))
    return file


def _rows(
    view: memoryview, chunks: list[Chunk], info: ImageInfo, start: int, stop: int, checksums: _Checksums
) -> tuple[int, memoryview]:
    """Finds the last row up to `start` that does not depend on the row above.

    Returns: the number of this row, and a PNG file of the rows from this row to `stop`.
    """
    row = 1 + info.detail.row_bytes(info.width)
    rows = zlib.decompressobj().decompress(_stream(view, chunks), row * stop)
    if len(rows) < row * stop:
        raise corrupt("PNG", "not enough data")
    filters = np.frombuffer(rows, np.uint8)[: row * (start + 1) : row]
    first = int(np.flatnonzero(filters <= _SUB)[-1:].sum())
    size = struct.pack(">II", info.width, stop - first)
    palette = [view[begin:end] for kind, begin, end in chunks if kind == b"PLTE"]
    # Copies bit depth, colour type and the other fields.
    head = [_chunk(b"IHDR", size + bytes(view[24:29])), *palette]
    return first, memoryview(_with_rows(head, memoryview(rows)[first * row :], checksums))


def _usable(info: ImageInfo, request: Request) -> np.ndarray | None:
    """Returns `request.out` if the decoder can write to it directly."""
    out = request.out
    return out if out is not None and out.shape[2] == info.channels > 1 and info.dtype == UINT8 else None


def _decode_with_pillow(view: memoryview, info: ImageInfo) -> np.ndarray:
    picture = open_with_pillow(PngImagePlugin.PngImageFile, view, info)
    if info.detail.color == _PALETTE:
        picture = picture.convert("RGB")
    return with_channels(as_stored(picture)).astype(info.dtype, copy=False)


def _decode_passes(view: memoryview, chunks: list[Chunk], info: ImageInfo, codecs: Any) -> np.ndarray:
    """Decodes each pass of an interlaced picture as a separate picture.

    imagecodecs does not enable libpng's interlace handling, and Pillow has no 16-bit RGB.
    """
    detail: _PngDetail = info.detail
    unpacker = zlib.decompressobj()
    size = info.height * (detail.row_bytes(info.width) + 8) * 2 + 64
    rows = memoryview(unpacker.decompress(_stream(view, chunks), size))
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
