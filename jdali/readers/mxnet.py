"""Reads MXNet's RecordIO files of images with labels."""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import Arrays, Pieces, cached_index, scan_bar
from jdali._storage import files as _storage
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.records import (
    BadRecord,
    FoundBy,
    Misplaced,
    RecordFiles,
    RecordReader,
    Records,
    cut_short,
    looked_through,
    number_pairs,
    required_paths,
    user_paths,
)
from jdali.readers.shared_tables import shared

_NAME = "readers.mxnet"
_NO_INDEX = "RecordIO index file doesn't contain any indices"
# A part of a record begins with the magic number, the part's position in the record (3 bits) and its length (29 bits).
# The data follow, padded to a multiple of 4 bytes. The writer splits a record at each aligned magic number in its data,
# and leaves that number out.
_MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", _MAGIC)
_PART = struct.Struct("<II")
_LENGTH_BITS = 29
_WHOLE, _FIRST, _MIDDLE, _LAST = 0, 1, 2, 3
# Header of an image record: number of labels after the header, label (used if this number is 0), two identifiers.
_IMAGE = struct.Struct("<IfQQ")


class RecordIOReader(RecordReader):
    """Reads images and labels from RecordIO files; `every` means that the index contains all records."""

    num_outputs = 2

    def __init__(
        self,
        files: RecordFiles,
        found: Sequence[tuple[Records, FoundBy]],
        every: bool,
        options: Mapping[str, object],
    ):
        super().__init__(_NAME, files, found, options)
        self._every = every

    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        data = _joined(record, self._every)
        if len(data) < _IMAGE.size:
            raise BadRecord(f"it has {len(data)} bytes, an image record has at least {_IMAGE.size}")
        labels, label, _, _ = _IMAGE.unpack_from(data)
        image = _IMAGE.size + 4 * labels
        if image > len(data):
            raise BadRecord(f"it has {len(data)} bytes, too few for its {labels} labels")
        values = np.frombuffer(data, "<f4", labels, _IMAGE.size) if labels else np.array([label], np.float32)
        return np.frombuffer(data, np.uint8, offset=image), values

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        ok &= pieces.sizes >= _PART.size + _IMAGE.size
        chosen = pieces.select(np.flatnonzero(ok))
        starts, data = chosen.starts, chosen.starts + _PART.size
        words = buffer.at(starts + 4, "<u4").astype(np.int64)
        ends = data + (words & ((1 << _LENGTH_BITS) - 1))
        whole = (buffer.at(starts, "<u4") == _MAGIC) & (words >> _LENGTH_BITS == _WHOLE)
        labels = buffer.at(data, "<u4").astype(np.int64)
        images = data + _IMAGE.size + 4 * labels
        # Nothing may follow the record. But if the index omits records, another record may follow.
        after = np.minimum(ends + (data - ends) % 4, chosen.ends)
        # All other records are left to `load`, which raises their errors.
        whole &= (ends <= chosen.ends) & (images <= ends)
        followed = (not self._every) & (after + 4 <= chosen.ends) & (buffer.at(after, "<u4") == _MAGIC)
        whole &= (after == chosen.ends) | followed
        ok[ok] = whole
        rows = np.flatnonzero(whole)
        images, ends, labels = images[rows], ends[rows], labels[rows]
        counts = np.maximum(labels, 1)
        first = data[rows] + np.where(labels > 0, _IMAGE.size, 4)
        shape = (1,) if (counts == 1).all() else None
        values = _columns.shaped_column(_columns.reals(buffer, first, counts), counts, shape, (), whole[rows])
        return _columns.byte_column(buffer, images, ends - images), values


def _joined(record: bytes, every: bool) -> bytes:
    """Joins the parts of a record. With `every`, the index contains all records, so nothing may follow the last part."""
    parts: list[bytes] = []
    at = 0
    while True:
        if at + _PART.size > len(record):
            raise Misplaced(f"its {len(record)} bytes up to the next record end within a part")
        magic, word = _PART.unpack_from(record, at)
        position, length = word >> _LENGTH_BITS, word & ((1 << _LENGTH_BITS) - 1)
        if magic != _MAGIC:
            raise Misplaced(
                f"Invalid RecordIO: wrong magic number: {magic:#010x} "
                f"stands at its byte {at} instead of the magic number {_MAGIC:#010x}"
            )
        expected = (_MIDDLE, _LAST) if parts else (_WHOLE, _FIRST)
        if position not in expected:
            raise Misplaced(f"part {len(parts)} of it is marked as {position}, it should be {expected}")
        at += _PART.size
        if at + length > len(record):
            raise Misplaced(
                f"a part of it has {length} bytes, but there are {len(record) - at} up to the next record "
                "or the end"
            )
        parts.append(record[at : at + length])
        at += length + -length % 4
        if position in (_WHOLE, _LAST):
            break
    # Nothing may follow the last part. But if the index omits records, another record may follow.
    if at < len(record) and (every or record[at : at + 4] != MAGIC_BYTES):
        raise Misplaced(f"its length leaves {len(record) - at} bytes before the next record")
    return MAGIC_BYTES.join(parts)


def build_index(path: str, progress: Callable[[int], object] | None = None) -> Arrays:
    """Scans a file for the offsets of its records.

    Args:
        progress: called with the number of bytes seen, after each part of a record.

    Raises:
        CutShort: the file is not a RecordIO file, is damaged, or ends within a record.
    """
    offsets: list[int] = []
    at = 0
    with _storage.open(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        while at < size:
            head = file.read(_PART.size)
            magic, word = _PART.unpack(head) if len(head) == _PART.size else (_MAGIC, 0)
            if magic != _MAGIC:
                reason = (
                    f"is not a RecordIO file, or damaged: {magic:#010x} stands at byte {at} instead of the magic "
                    f"number {_MAGIC:#010x}"
                )
                raise cut_short(_NAME, path, reason, offsets, at)
            end = at + _PART.size + (word & ((1 << _LENGTH_BITS) - 1))
            if len(head) < _PART.size or end > size:
                reason = f"ends at byte {size}, within record {len(offsets)} that has a part at byte {at}"
                raise cut_short(_NAME, path, reason, offsets, at)
            if word >> _LENGTH_BITS in (_WHOLE, _FIRST):
                offsets.append(at)
            at = end + -end % 4
            file.seek(at)
            if progress is not None:
                progress(at)
    return {"offsets": np.array(offsets, np.int64)}


def _scanned(size: int, path: str, fits: Callable[[Arrays], bool]) -> Records:
    def scan() -> Arrays:
        with scan_bar(path) as progress:
            return build_index(path, progress)

    offsets = cached_index("recordio", path, scan, fits)["offsets"]
    return Records(offsets, np.diff(offsets, append=size))


def _records(files: RecordFiles, index_paths: Sequence[str], goes_on: bool) -> list[tuple[Records, FoundBy]]:
    """Finds the records of each file from an index or a scan, ordered by offset; a record ends where the next begins.

    With `goes_on`, a failed scan keeps the records found so far.
    """
    if len(index_paths) > 1:
        raise ValueError(
            f"{_NAME}: RecordIOReader supports only a single index file (for all files together), got {len(index_paths)}"
        )
    if not index_paths:

        def begins(file: int, offset: int, size: int) -> bool:
            magic, word = _PART.unpack(files.read(file, offset, _PART.size))
            room = size - _PART.size - (word & ((1 << _LENGTH_BITS) - 1))
            position = word >> _LENGTH_BITS
            return magic == _MAGIC and (
                0 <= room < 4 if position == _WHOLE else position == _FIRST and room > 0
            )

        return [
            looked_through(files, file, goes_on, functools.partial(_scanned, size), begins)
            for file, size in enumerate(files.sizes)
        ]
    records = shared("records", lambda: _indexed(files, index_paths[0]))
    return [(of_file, index_paths[0]) for of_file in records]


def _indexed(files: RecordFiles, index: str) -> list[Records]:
    """Reads the records of each file from an index of all files."""
    ends = np.cumsum(files.sizes)
    offsets = np.unique(number_pairs(_NAME, index, _NO_INDEX)[:, 1])
    if offsets[-1] >= ends[-1]:
        beyond = offsets[np.searchsorted(offsets, ends[-1])]
        raise ValueError(
            f"{_NAME}: the index {index} does not fit {', '.join(files.paths)}: one of its records "
            f"begins at byte {beyond}, but there are {ends[-1]} bytes"
        )
    found: list[Records] = []
    for size, end in zip(files.sizes, ends, strict=True):
        start = end - size
        mine = offsets[(offsets >= start) & (offsets < end)] - start
        found.append(Records(mine, np.diff(mine, append=size)))
    return found


@reader(name=_NAME, outputs=2, devices=("cpu",), source="operators/reader/parser/recordio_parser.h")
@also_takes(shuffle_options, reader_options)
def mxnet(
    *, path: Static[tuple[str, ...]], index_path: Static[tuple[str, ...] | None] = None, **options: Any
) -> RecordIOReader:
    """Reads MXNet's RecordIO files: encoded images, and their labels.

    Records come in the order in which the files store them; the order of the index is ignored.

    Args:
        path: paths of the files.
        index_path: path of one index for all files. Each line has a number and the offset of a record, counted as if
            the files were concatenated. None: the index is made on first use and cached in the user's cache folder.

    Returns: uint8 [bytes], and float32 [labels], one label or more.

    Example: jpegs, labels = fn.readers.mxnet(path=["data.rec"])
    """
    files = RecordFiles(_NAME, required_paths(_NAME, "path", path, "No files specified"))
    indexes = user_paths(_NAME, "index_path", index_path)
    found = _records(files, indexes, options.get("_goes_on", False))
    return RecordIOReader(files, found, not indexes, options)
