"""Finds the values of an LMDB database in its file.

The file is read as data, page by page: the library that LMDB databases are usually read with maps them
into memory and trusts them, so that a file that is cut short or damaged ends the process.

The format is that of LMDB 0.9 on 64-bit little-endian machines. A page of the B+ tree holds an array of
16-bit pointers to its nodes; a node of a branch points to a page, one of a leaf holds a key with its
value, or with the number of the page where a large value begins.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._storage import files as _storage
from jdali._storage.index_cache import cached_index
from jdali.readers.formats.records import BadRecord, RecordFiles, RecordReader, Records

_FILE = "data.mdb"
_MAGIC, _VERSION = 0xBEEFC0DE, 1
# Page: number, -, flags, end of the pointers (or low half of the count of overflow pages), -.
_PAGE = struct.Struct("<QHHHH")
_BRANCH, _LEAF, _OVERFLOW, _META = 1, 2, 4, 8
# Meta page: magic, version, address, map size; two databases (that of free pages, whose first number
# is the size of a page, and the main one); last page, transaction.
_HEADER = struct.Struct("<IIQQ")
_DATABASE = struct.Struct("<IHHQQQQQ")
_TAIL = struct.Struct("<QQ")
# Node: the size of the value (or the low bits of a page's number), flags (its high bits), size of the key.
_NODE = struct.Struct("<IHH")
_BIG, _SUB, _DUPLICATES = 1, 2, 4
_NO_PAGE = (1 << 64) - 1
_SMALLEST_PAGE, _LARGEST_PAGE = 256, 1 << 16
_DEEPEST = 32


def _database_file(path: str) -> str:
    """The data file of a database that is named by its folder, as usual, or by the file itself."""
    return _storage.join(path, _FILE) if _storage.is_folder(path) else path


def locate_values(name: str, path: str) -> Records:
    """Finds the values, in the order of their keys.

    Raises:
        ValueError: the file is no LMDB database, is cut short or damaged, or holds other than plain
            records.
    """
    files = RecordFiles(name, [path])
    try:
        return _Tree(files).values()
    except BadRecord as error:
        raise ValueError(f"{name}: {path}: {error}") from error
    finally:
        files.close()


class _Tree:
    """The main database of a file."""

    def __init__(self, files: RecordFiles):
        self._files = files
        self._size = files.sizes[0]
        if not self._size:
            raise BadRecord("the file is empty, it is no LMDB database")
        first = self._meta(0)
        self._page_size = first[0]
        _, self._flags, self._depth, self._entries, self._root, self._last, _ = max(
            first, self._meta(self._page_size), key=lambda meta: meta[-1]
        )
        self._pages_left = self._size // self._page_size

    def _meta(self, at: int) -> tuple[int, int, int, int, int, int, int]:
        """(page size, flags, depth, entries, root page, last page, transaction) of a meta page."""
        length = _PAGE.size + _HEADER.size + 2 * _DATABASE.size + _TAIL.size
        page = self._files.read(0, at, min(length, self._size - at))
        if len(page) < length:
            raise BadRecord(f"the file has {self._size} bytes, it is no LMDB database, or cut short")
        magic, version, _, _ = _HEADER.unpack_from(page, _PAGE.size)
        if magic != _MAGIC or version != _VERSION or not _PAGE.unpack_from(page)[2] & _META:
            raise BadRecord(
                f"it is no LMDB database of version {_VERSION}: there is no meta page at byte {at}"
            )
        at = _PAGE.size + _HEADER.size
        page_size = _DATABASE.unpack_from(page, at)[0]
        _, flags, depth, _, _, _, entries, root = _DATABASE.unpack_from(page, at + _DATABASE.size)
        last, transaction = _TAIL.unpack_from(page, at + 2 * _DATABASE.size)
        if not _SMALLEST_PAGE <= page_size <= _LARGEST_PAGE or page_size & (page_size - 1):
            raise BadRecord(f"its pages cannot have {page_size} bytes; the database is damaged")
        return page_size, flags, depth, entries, root, last, transaction

    def values(self) -> Records:
        if self._flags & _DUPLICATES:
            raise BadRecord("the database has several values to a key, which data sets do not")
        self._offsets: list[int] = []
        self._sizes: list[int] = []
        if self._root != _NO_PAGE:
            self._walk(self._root, min(self._depth, _DEEPEST))
        if len(self._offsets) != self._entries:
            raise BadRecord(
                f"the database says it has {self._entries} records, but {len(self._offsets)} were found; "
                "it is damaged"
            )
        return Records(np.array(self._offsets, np.int64), np.array(self._sizes, np.int64))

    def _walk(self, number: int, depth: int) -> None:
        """Takes in the values under a page, at most `depth` levels down."""
        at = number * self._page_size
        if number > self._last or at + self._page_size > self._size:
            raise BadRecord(
                f"page {number} of its tree is not in the file of {self._size} bytes; the database is cut "
                "short or damaged"
            )
        self._pages_left -= 1
        page = self._files.read(0, at, self._page_size)
        stated, _, flags, pointers_end, _ = _PAGE.unpack_from(page)
        if (
            stated != number or not flags & (_BRANCH | _LEAF) or not depth or self._pages_left < 0
            or not _PAGE.size <= pointers_end <= self._page_size
        ):  # fmt: skip
            raise BadRecord(f"page {number} at byte {at} is no page of a tree; the database is damaged")
        pointers = struct.unpack_from(f"<{(pointers_end - _PAGE.size) // 2}H", page, _PAGE.size)
        if pointers and max(pointers) + _NODE.size > self._page_size:
            raise BadRecord(f"page {number} at byte {at} has a node outside of it; the database is damaged")
        if flags & _BRANCH:
            for pointer in pointers:
                low, high, _ = _NODE.unpack_from(page, pointer)
                self._walk(low | high << 32, depth - 1)
        else:
            for pointer in pointers:
                self._take(page, at, pointer)

    def _take(self, page: bytes, at: int, pointer: int) -> None:
        """Takes in the value of one node of the leaf `page`, which lies at `at`."""
        size, flags, key_size = _NODE.unpack_from(page, pointer)
        if flags & (_SUB | _DUPLICATES):
            raise BadRecord("the database holds named databases instead of records")
        data = pointer + _NODE.size + key_size
        if not flags & _BIG:
            if data + size > self._page_size:
                raise BadRecord(
                    f"record {len(self._offsets)} reaches out of its page at byte {at}; it is damaged"
                )
            self._offsets.append(at + data)
        else:
            if data + 8 > self._page_size:
                raise BadRecord(
                    f"record {len(self._offsets)} reaches out of its page at byte {at}; it is damaged"
                )
            first = int.from_bytes(page[data : data + 8], "little") * self._page_size
            if first + _PAGE.size + size > self._size:
                raise BadRecord(
                    f"record {len(self._offsets)}, {size} bytes at byte {first + _PAGE.size}, is not in "
                    "the file of "
                    f"{self._size} bytes; the database is cut short or damaged"
                )
            self._offsets.append(first + _PAGE.size)
        self._sizes.append(size)


class DatabaseReader(RecordReader):
    """A reader each of whose samples is one value of an LMDB database, in the order of the keys.

    Args:
        name: of the reader, for messages.
        paths: folders of the databases.
        options: of every reader.
    """

    def __init__(self, name: str, paths: Sequence[str], options: Mapping[str, Any]):
        files = RecordFiles(name, [_database_file(path) for path in paths])
        super().__init__(name, files, [_cached(name, path) for path in files.paths], options)


def _cached(name: str, path: str) -> Records:
    return Records(**cached_index("lmdb", path, lambda: locate_values(name, path)._asdict()))
