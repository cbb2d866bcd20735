"""Estimates the memory that the header of an MP4 or MOV file makes FFmpeg allocate: an entry for each frame
that it claims.

A table of sizes that are all the same, and a fragment without a table, name any number of frames in a few bytes;
FFmpeg takes two gigabytes for sixty million of them before it reads a single one.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from jdali._errors import SampleError
from jdali._system import limits

# Boxes that hold others, as FFmpeg reads them.
_FOLDERS = frozenset(
    {
        b"moov",
        b"trak",
        b"mdia",
        b"minf",
        b"stbl",
        b"moof",
        b"traf",
        b"mvex",
        b"edts",
        b"udta",
        b"dinf",
        b"wave",
    }
)
# Offset of the number of frames, bytes after a box's head.
_COUNTS = {b"stsz": 8, b"stz2": 8, b"trun": 4}
_FIRST = frozenset(
    {b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot", b"styp", b"moof", b"sidx", b"udta"}
)
_DEEPEST = 12
_LARGEST_HEADER = 1 << 28  # of those that are compressed


def check(file: BinaryIO) -> None:
    """Raises `SampleError` if a file claims more frames than it has bytes, or than the limit."""
    size = file.seek(0, os.SEEK_END)
    claimed = 0
    for count in _counts(file, 0, size, 0):
        claimed += count
        if claimed > size:
            raise SampleError(f"its header tells of {claimed} frames in {size} bytes; it is damaged")


def _counts(file: BinaryIO, start: int, end: int, depth: int) -> Iterator[int]:
    """Yields the numbers of frames in the boxes between two bytes."""
    while start + 8 <= end:
        file.seek(start)
        length, kind = struct.unpack(">I4s", file.read(8).ljust(8, b"\0"))
        if depth == 0 and start == 0 and kind not in _FIRST:
            return  # another format
        content = start + 8
        if length == 1:
            length = int.from_bytes(file.read(8), "big")
            content += 8
        stop = end if length == 0 else start + length
        if stop < content:
            return
        if kind in _COUNTS:
            file.seek(content + _COUNTS[kind])
            yield int.from_bytes(file.read(4), "big")
        elif kind == b"cmvd":
            yield from _of_compressed(file, content, min(stop, end), depth)
        elif (kind in _FOLDERS or kind == b"cmov") and depth < _DEEPEST:
            yield from _counts(file, content, min(stop, end), depth + 1)
        start = stop


def _of_compressed(file: BinaryIO, start: int, end: int, depth: int) -> Iterator[int]:
    """Reads the boxes in a compressed header, after four bytes of its size."""
    file.seek(start + 4)
    limit = min(_LARGEST_HEADER, limits.most("max_sample_bytes"))
    try:
        header = zlib.decompressobj().decompress(file.read(max(end - start - 4, 0)), limit)
    except zlib.error:
        return  # said by FFmpeg
    if len(header) == limit:
        raise SampleError(f"its header is compressed, and has more than {limit} bytes")
    if depth < _DEEPEST:
        yield from _counts(io.BytesIO(header), 0, len(header), depth + 1)
