"""Reads the first directory of a TIFF file, and cuts a file down to the strips or tiles that a window needs."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from jdali.codecs.base import begins, corrupt
from jdali.codecs.exif import Window

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
ORIENTATION, CHANNELS, PLANAR, COLOR_MAP = 274, 277, 284, 320
TILE_WIDTH, TILE_HEIGHT, SAMPLE_FORMAT = 322, 323, 339
STRIP_SIZES, TILE_SIZES, EXTRA = 279, 325, 338
_STRIP_OFFSETS, _ROWS_PER_STRIP, _TILE_OFFSETS = 273, 278, 324
_JPEG_TABLES = 347
# Tags that have one value and determine the samples. 266 is the order of bits, 292 and 293 are fax options, 317 is the
# predictor.
_SINGLE = frozenset(
    {COMPRESSION, PHOTOMETRIC, CHANNELS, PLANAR, TILE_WIDTH, TILE_HEIGHT, _ROWS_PER_STRIP}
    | {266, 292, 293, 317}
)
# All tags that determine the samples. 318 is the white point; 529, 530 and 532 are YCbCr coefficients, sampling and
# range; 50674 are LERC parameters.
_COPIED = _SINGLE | {BITS, COLOR_MAP, SAMPLE_FORMAT, _JPEG_TABLES, EXTRA, 318, 529, 530, 532, 50674}
_INTEGERS = {1: "B", 3: "H", 4: "I", 16: "Q"}  # `struct` codes by type of entry
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 16: 8}
_LONG, _UNDEFINED, _LONG8 = 4, 7, 16
_OLD_JPEG = 6  # with this compression, the data are not in the strips


class _TiffEntry(NamedTuple):
    kind: int
    length: int
    offset: int


@dataclasses.dataclass(frozen=True)
class Directory:
    """The directory of the first page.

    Attributes:
        view: the file.
        order: byte order, "<" or ">".
        big: the file is a BigTIFF, with 64-bit offsets.
        entries: entries of a known type, by tag.
    """

    view: memoryview
    order: str
    big: bool
    entries: Mapping[int, _TiffEntry]

    def values(self, tag: int) -> tuple[int, ...]:
        """Returns the integers of a tag; an empty tuple if the tag is missing or its type is not an integer."""
        entry = self.entries.get(tag)
        if entry is None or entry.kind not in _INTEGERS:
            return ()
        code = f"{self.order}{entry.length}{_INTEGERS[entry.kind]}"
        return struct.unpack_from(code, self._content(tag))

    def one(self, tag: int, default: int) -> int:
        entry = self.entries.get(tag)
        if entry is None or entry.kind not in _INTEGERS or not entry.length:
            return default
        value: int = struct.unpack_from(self.order + _INTEGERS[entry.kind], self._content(tag))[0]
        return value

    def _content(self, tag: int) -> memoryview:
        kind, count, offset = self.entries[tag]
        size = _SIZES[kind] * count
        if offset + size > len(self.view):
            raise corrupt("TIFF", f"the values of tag {tag} are outside of the file")
        return self.view[offset : offset + size]


def read(view: memoryview) -> Directory:
    """Reads the directory of the first page: types, counts and offsets of its values."""
    order = "<" if begins(view, b"II") else ">"
    (magic,) = struct.unpack_from(order + "H", view, 2)
    big = magic == 43
    (start,) = struct.unpack_from(order + ("Q" if big else "I"), view, 8 if big else 4)
    (count,) = struct.unpack_from(order + ("Q" if big else "H"), view, start)
    entry_size, inline, number = (20, 8, "Q") if big else (12, 4, "I")
    first = start + (8 if big else 2)
    if first + count * entry_size > len(view):
        raise corrupt("TIFF", "the directory of the first page is cut off")
    entries: dict[int, _TiffEntry] = {}
    for entry in range(first, first + count * entry_size, entry_size):
        tag, kind, length = struct.unpack_from(order + "HH" + number, view, entry)
        if kind not in _SIZES:
            continue
        offset = entry + 4 + inline
        if length * _SIZES[kind] > inline:
            (offset,) = struct.unpack_from(order + number, view, offset)
        entries.setdefault(tag, _TiffEntry(kind, length, offset))
    return Directory(view, order, big, entries)


def not_turned(view: memoryview) -> memoryview:
    """Returns the file with orientation 1, that is, not rotated."""
    directory = read(view)
    if directory.one(ORIENTATION, 1) == 1:
        return view
    entry = directory.entries[ORIENTATION]
    data = bytearray(view)
    struct.pack_into(directory.order + _INTEGERS[entry.kind], data, entry.offset, 1)
    return memoryview(data)


def part(
    view: memoryview, window: Window, whole: bool = False, photometric: int | None = None
) -> tuple[memoryview, Window] | None:
    """Cuts a file down to the strips or tiles that a window touches.

    Args:
        window: the window, in the stored picture.
        whole: return a file even if the window touches all strips or tiles.
        photometric: interpretation of the samples for the new file; None: unchanged.

    Returns: the new file, and the part of the picture that it contains. None if cutting does not pay, or if strips or
        tiles lie outside the file; the decoder raises an error for such a file.
    """
    directory = read(view)
    width, height = directory.one(WIDTH, 0), directory.one(HEIGHT, 0)
    tiled = TILE_WIDTH in directory.entries
    if tiled:
        columns, rows = directory.one(TILE_WIDTH, 0), directory.one(TILE_HEIGHT, 0)
    else:
        columns, rows = width, min(directory.one(_ROWS_PER_STRIP, height), height)
    if min(columns, rows) < 1 or directory.one(COMPRESSION, 1) == _OLD_JPEG:
        return None
    across, down = -(-width // columns), -(-height // rows)
    planes = directory.one(CHANNELS, 1) if directory.one(PLANAR, 1) == 2 else 1
    offset_tag, size_tag = (_TILE_OFFSETS, TILE_SIZES) if tiled else (_STRIP_OFFSETS, STRIP_SIZES)
    offsets, sizes = (directory.values(tag) for tag in (offset_tag, size_tag))
    if not len(offsets) == len(sizes) == planes * across * down:
        return None
    y, x, window_height, window_width = window
    top, bottom = y // rows, -(-(y + window_height) // rows)
    left, right = x // columns, -(-(x + window_width) // columns)
    touched = (bottom - top) * (right - left)
    if touched == 0 or (touched == across * down and not whole):
        return None
    grid = np.arange(len(offsets)).reshape(planes, down, across)[:, top:bottom, left:right]
    pieces = [view[offsets[i] : offsets[i] + sizes[i]] for i in grid.ravel()]
    if any(len(piece) != sizes[i] or sizes[i] == 0 for piece, i in zip(pieces, grid.ravel(), strict=True)):
        return None
    held = (
        top * rows,
        left * columns,
        min(bottom * rows, height) - top * rows,
        min(right * columns, width) - left * columns,
    )
    return memoryview(_file(directory, held[2:], photometric, offset_tag, size_tag, pieces)), held


def _copied(directory: Directory) -> dict[int, tuple[int, int, bytes]]:
    """Returns the tags to keep as {tag: (type, count, content)}, in a form that Pillow accepts without a warning."""
    values = {}
    for tag in _COPIED & directory.entries.keys():
        entry, content = directory.entries[tag], bytes(directory._content(tag))
        if tag == _JPEG_TABLES:
            values[tag] = _UNDEFINED, len(content), content
        elif tag not in _SINGLE:
            values[tag] = entry.kind, entry.length, content
        elif entry.length:
            values[tag] = entry.kind, 1, content[: _SIZES[entry.kind]]
    return values


def _file(
    directory: Directory,
    size: tuple[int, int],
    photometric: int | None,
    offset_tag: int,
    size_tag: int,
    pieces: list[memoryview],
) -> bytes:
    """Builds a TIFF file of one page from the tags of `directory`, a new image size, and new strips or tiles."""
    order, number, kind = directory.order, "Q" if directory.big else "I", _LONG8 if directory.big else _LONG
    lengths = [len(piece) for piece in pieces]
    values = _copied(directory)
    values[HEIGHT], values[WIDTH] = ((_LONG, 1, struct.pack(order + "I", n)) for n in size)
    if photometric is not None:
        values[PHOTOMETRIC] = _LONG, 1, struct.pack(order + "I", photometric)
    packed = struct.pack(f"{order}{len(pieces)}{number}", *lengths)
    values[size_tag] = kind, len(pieces), packed
    values[offset_tag] = kind, len(pieces), packed  # placeholder of the same size; the offsets are set below
    entry_size, inline = (20, 8) if directory.big else (12, 4)
    start = 16 if directory.big else 8
    end = start + len(values) * entry_size + (16 if directory.big else 6)
    outside = sum(len(content) for _, _, content in values.values() if len(content) > inline)
    offsets = np.cumsum([end + outside, *lengths])[:-1]
    values[offset_tag] = kind, len(pieces), struct.pack(f"{order}{len(pieces)}{number}", *offsets.tolist())
    first = struct.pack(order + "HHQ", 8, 0, start) if directory.big else struct.pack(order + "I", start)
    head = bytes(directory.view[:4]) + first
    parts, tail = [head, struct.pack(order + ("Q" if directory.big else "H"), len(values))], b""
    for tag in sorted(values):
        entry_kind, count, content = values[tag]
        parts.append(struct.pack(order + "HH" + number, tag, entry_kind, count))
        if len(content) > inline:
            parts.append(struct.pack(order + number, end + len(tail)))
            tail += content
        else:
            parts.append(content.ljust(inline, b"\0"))
    return b"".join([*parts, bytes(8 if directory.big else 4), tail, *pieces])
