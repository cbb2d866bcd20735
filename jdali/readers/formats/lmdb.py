"""Finds the values of an LMDB database in its file.

The LMDB library is not used, because it maps a database into memory without checks, so that a truncated or damaged file
would kill the process. Here, the file is parsed page by page.

The format is LMDB 0.9's on 64-bit little-endian machines. A page of the B+ tree holds an array of 16-bit pointers to
its nodes. A branch node points to a page. A leaf node contains a key, and either the value or, for a large value, the
number of the page where the value begins.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jdali._storage import Arrays, Pieces, always, cached_index, never, read_pieces
from jdali._storage import files as _storage
from jdali._system import limits
from jdali._system.progress import progress_bar
from jdali.readers.base import Loaded
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.records import (
    BadRecord,
    CutShort,
    FoundBy,
    Misplaced,
    RecordFiles,
    RecordReader,
    parsed_together,
)

_FILE = "data.mdb"
_MAGIC, _VERSION = 0xBEEFC0DE, 1
# Page header: number, padding, flags, end of the pointers, unused. An overflow page has the number of its pages in place of the
# last two fields.
_PAGE = struct.Struct("<QHHHH")
_BRANCH, _LEAF, _OVERFLOW, _META = 1, 2, 4, 8
# A meta page: _HEADER (magic number, version, address, map size), _DATABASE of the free pages (its first number is the page
# size), _DATABASE of the data, _TAIL (last page, transaction).
_HEADER = struct.Struct("<IIQQ")
_DATABASE = struct.Struct("<IHHQQQQQ")
_TAIL = struct.Struct("<QQ")
# Node: size of the value, flags, size of the key. In a branch node, size and flags are low and high bits of a page number.
_NODE = struct.Struct("<IHH")
_BIG, _SUB, _DUPLICATES = 1, 2, 4
_NO_PAGE = (1 << 64) - 1
_SMALLEST_PAGE, _LARGEST_PAGE = 256, 1 << 16
_DEEPEST = 32


def database_file(path: str) -> str:
    """Returns the data file of a database, given its folder or the file itself."""
    return _storage.join(path, _FILE) if _storage.is_folder(path) else path


class LmdbValues(NamedTuple):
    """Locates the values of a database, ordered by key.

    A head with the value's size precedes each value. For a large value, the head is a page header. For any other
    value, the head is a node, which also has the key.

    Attributes:
        offsets: int64 [n], offset of the head, bytes.
        sizes: int64 [n], size of head and value, bytes.
        heads: int64 [n], size of the head, bytes.
        pages: int64 [n], number of the first page of a large value; -1 for a value in a node.
        page_sizes: int64 [n], size of a page, bytes.
        leaves: int64 [n], offset of the leaf page with the node of a value, bytes.
        sums: int64 [n], CRC-32 of this leaf page. Reads of large values check it, because their own pages lack the key.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    heads: np.ndarray
    pages: np.ndarray
    page_sizes: np.ndarray
    leaves: np.ndarray
    sums: np.ndarray


def locate_values(name: str, path: str) -> Arrays:
    """Finds a database's values; returns the columns of `LmdbValues`, and "meta": the latest meta page's fields.

    Raises:
        CutShort: the file is not an LMDB database, is truncated or damaged, or does not hold plain records.
    """
    files = RecordFiles(name, [path])
    tree: _Tree | None = None
    try:
        tree = _Tree(files)
        with progress_bar(tree.entries, "records", path) as advance:
            tree.look_through(advance)
        return {**tree.values()._asdict(), "meta": tree.meta}
    except BadRecord as error:
        known = tree.values() if tree is not None else _table([])
        raise CutShort(f"{name}: {path}: {error}", error, known) from error
    finally:
        files.close()


def _table(rows: Sequence[tuple[int, ...]]) -> LmdbValues:
    return LmdbValues(*np.array(rows, np.int64).reshape(-1, len(LmdbValues._fields)).T.copy())


class _Tree:
    """The main database of a file."""

    def __init__(self, files: RecordFiles, file: int = 0):
        self._files, self._file = files, file
        self._size = files.sizes[file]
        if not self._size:
            raise BadRecord("the file is empty, it is not an LMDB database")
        first = self._meta(0)
        self._page_size = first[0]
        latest = max(first, self._meta(self._page_size), key=lambda meta: meta[-1])
        _, self._flags, self._depth, self.entries, self._root, self._last, _ = latest
        self.meta = np.array(latest, np.uint64)
        self._pages_left = self._size // self._page_size
        self._found: list[tuple[int, ...]] = []

    def _meta(self, at: int) -> tuple[int, int, int, int, int, int, int]:
        """Parses a meta page; returns (page size, flags, depth, entries, root page, last page, transaction)."""
        length = _PAGE.size + _HEADER.size + 2 * _DATABASE.size + _TAIL.size
        page = self._files.read(self._file, at, min(length, self._size - at))
        if len(page) < length:
            raise BadRecord(f"the file has {self._size} bytes, it is not an LMDB database, or cut short")
        magic, version, _, _ = _HEADER.unpack_from(page, _PAGE.size)
        if magic != _MAGIC or version != _VERSION or not _PAGE.unpack_from(page)[2] & _META:
            raise BadRecord(
                f"it is not an LMDB database of version {_VERSION}: there is no meta page at byte {at}"
            )
        at = _PAGE.size + _HEADER.size
        page_size = _DATABASE.unpack_from(page, at)[0]
        _, flags, depth, _, _, _, entries, root = _DATABASE.unpack_from(page, at + _DATABASE.size)
        last, transaction = _TAIL.unpack_from(page, at + 2 * _DATABASE.size)
        if not _SMALLEST_PAGE <= page_size <= _LARGEST_PAGE or page_size & (page_size - 1):
            raise BadRecord(f"its pages cannot have {page_size} bytes; the database is damaged")
        return page_size, flags, depth, entries, root, last, transaction

    def values(self) -> LmdbValues:
        return _table(self._found)

    def look_through(self, advance: Callable[[int], object] = lambda count: None) -> None:
        """Finds all values; raises `BadRecord` if the database is damaged or too large.

        Calls `advance` with the number of records of each page.
        """
        if self._flags & _DUPLICATES:
            raise BadRecord("the database has several values to a key, which data sets do not")
        if self.entries > limits.most("max_items"):
            raise BadRecord(
                f"its {self.entries} records are more than the limit of {limits.words('max_items')}"
            )
        if self._root != _NO_PAGE:
            self._walk(self._root, min(self._depth, _DEEPEST), advance)
        if len(self._found) != self.entries:
            raise BadRecord(
                f"the database says it has {self.entries} records, but {len(self._found)} were found; "
                "it is damaged"
            )

    def _walk(self, number: int, depth: int, advance: Callable[[int], object]) -> None:
        """Collects the values under a page, at most `depth` levels down."""
        at = number * self._page_size
        if number > self._last or at + self._page_size > self._size:
            raise BadRecord(
                f"page {number} of its tree is not in the file of {self._size} bytes; the database is cut "
                "short or damaged"
            )
        self._pages_left -= 1
        page = self._files.read(self._file, at, self._page_size)
        stated, _, flags, pointers_end, _ = _PAGE.unpack_from(page)
        if (
            stated != number or not flags & (_BRANCH | _LEAF) or not depth or self._pages_left < 0
            or not _PAGE.size <= pointers_end <= self._page_size
        ):  # fmt: skip
            raise BadRecord(f"page {number} at byte {at} is not a page of a tree; the database is damaged")
        pointers = struct.unpack_from(f"<{(pointers_end - _PAGE.size) // 2}H", page, _PAGE.size)
        if pointers and max(pointers) + _NODE.size > self._page_size:
            raise BadRecord(f"page {number} at byte {at} has a node outside of it; the database is damaged")
        if flags & _BRANCH:
            for pointer in pointers:
                low, high, _ = _NODE.unpack_from(page, pointer)
                self._walk(low | high << 32, depth - 1, advance)
        else:
            crc = zlib.crc32(page)
            for pointer in pointers:
                self._found.append((*self._value(page, at, pointer), self._page_size, at, crc))
                if len(self._found) > self.entries:
                    raise BadRecord(
                        f"the database says it has {self.entries} records, but has more; it is damaged"
                    )
            advance(len(pointers))

    def _value(self, page: bytes, at: int, pointer: int) -> tuple[int, int, int, int]:
        """Parses a node of a leaf page at offset `at`; returns the first four fields of `LmdbValues`."""
        size, flags, key_size = _NODE.unpack_from(page, pointer)
        if flags & (_SUB | _DUPLICATES):
            raise BadRecord("the database holds named databases instead of records")
        data = pointer + _NODE.size + key_size
        if not flags & _BIG:
            if data + size > self._page_size:
                raise BadRecord(
                    f"record {len(self._found)} reaches out of its page at byte {at}; it is damaged"
                )
            return at + pointer, data - pointer + size, data - pointer, -1
        if data + 8 > self._page_size:
            raise BadRecord(f"record {len(self._found)} reaches out of its page at byte {at}; it is damaged")
        number = int.from_bytes(page[data : data + 8], "little")
        first = number * self._page_size
        if first + _PAGE.size + size > self._size:
            raise BadRecord(
                f"record {len(self._found)}, {size} bytes at byte {first + _PAGE.size}, is not in "
                "the file of "
                f"{self._size} bytes; the database is cut short or damaged"
            )
        return first, _PAGE.size + size, _PAGE.size, number


class DatabaseReader(RecordReader):
    """Base of readers whose samples are the values of LMDB databases, ordered by key."""

    def __init__(self, name: str, paths: Sequence[str], options: Mapping[str, object]):
        files = RecordFiles(name, [database_file(path) for path in paths])
        found: list[tuple[LmdbValues, FoundBy]] = []
        for file, path in enumerate(files.paths):
            fits = functools.partial(_fits, files, file) if files.is_local(file) else always
            try:
                values = _cached(name, path, fits)
            except CutShort as cut:
                if not options.get("_goes_on"):
                    raise
                files.lost[file] = cut.reason
                lost = _table([(files.sizes[file], 1, 0, -1, _SMALLEST_PAGE, 0, 0)])
                values = LmdbValues(*map(np.concatenate, zip(cut.known, lost, strict=True)))
            found.append((values, functools.partial(_cached, name, path, never)))
        super().__init__(name, files, found, options)
        # Leaf pages that were checked: (file, offset, CRC-32).
        self._sound: set[tuple[int, int, int]] = set()

    def _is_sound(self, leaf: tuple[int, int, int], size: int) -> bool:
        """Returns True if a leaf page (file number, offset, CRC-32) has not changed since it was indexed."""
        if leaf not in self._sound:
            file, at, crc = leaf
            if zlib.crc32(self._files.read(file, at, size)) != crc:
                return False
            self._sound.add(leaf)
        return True

    def _parsed(self, index: int, record: bytes) -> tuple[np.ndarray, ...]:
        values = LmdbValues(*self._tables.all)
        head = values.heads.item(index)
        raw = np.frombuffer(record.ljust(max(len(record), _PAGE.size), b"\0"), np.uint8)
        at, row = np.zeros(1, np.int64), np.array([index])
        is_there = bool(_are_there(Buffer(raw), at, LmdbValues(*(column[row] for column in values))).all())
        if is_there and values.pages[index] >= 0:
            leaf = self._file_of(index), values.leaves.item(index), values.sums.item(index)
            is_there = self._is_sound(leaf, values.page_sizes.item(index))
        if not is_there:
            raise Misplaced(f"there is no value of {len(record) - head} bytes")
        return super()._parsed(index, record[head:])

    def load_many(self, indices: np.ndarray) -> Loaded:
        values = LmdbValues(*(column[indices] for column in self._tables.all))
        file = np.searchsorted(self._first, indices, side="right") - 1
        pieces = read_pieces(self._files, file, values.offsets, values.sizes)
        known = pieces.known & _are_there(Buffer(pieces.raw), pieces.starts, values)
        known &= self._leaves_are_sound(file, values)
        starts, sizes = pieces.starts + values.heads, pieces.sizes - values.heads
        plain = Pieces(pieces.raw, np.where(known, starts, 0), np.where(known, sizes, 0), known)
        return parsed_together(
            self.parse_many, self.num_outputs, plain, len(indices), lambda i: self.load(indices.item(i))
        )

    def _leaves_are_sound(self, file: np.ndarray, values: LmdbValues) -> np.ndarray:
        """Checks the leaf pages of large values; returns bool [n], False if a page has changed or cannot be read."""
        sound = np.ones(len(file), bool)
        for i in np.flatnonzero(values.pages >= 0).tolist():
            leaf = file.item(i), values.leaves.item(i), values.sums.item(i)
            try:
                sound[i] = self._is_sound(leaf, values.page_sizes.item(i))
            except BadRecord:
                sound[i] = False  # `load` will raise the error
        return sound


def _cached(name: str, path: str, fits: Callable[[Arrays], bool]) -> LmdbValues:
    index = cached_index("lmdb", path, lambda: locate_values(name, path), fits)
    return LmdbValues(*(index[column] for column in LmdbValues._fields))


def _fits(files: RecordFiles, file: int, index: Arrays) -> bool:
    """Returns True if an index belongs to the latest transaction of a database."""
    try:
        return np.array_equal(_Tree(files, file).meta, index["meta"])
    except BadRecord:
        return False


def _are_there(buffer: Buffer, starts: np.ndarray, values: LmdbValues) -> np.ndarray:
    """Compares the head of each value with the index; returns bool [n], True if they agree.

    `starts` are the positions of the heads in the buffer; `values` are the entries of the index.
    """
    words = buffer.at(starts, f"V{_PAGE.size}").view("<u8").reshape(-1, 2)
    lengths = values.sizes - values.heads
    # A node: size of the value, no flags, size of the key.
    node = lengths | (values.heads - _NODE.size) << 48
    # A page header: number of the page, flags, number of the value's pages.
    count = (values.sizes - 1) // values.page_sizes + 1
    large = (words[:, 0] == values.pages.astype(np.uint64)) & (
        words[:, 1] >> np.uint64(32) == count.astype(np.uint64)
    )
    large &= words[:, 1] >> np.uint64(16) & np.uint64(_OVERFLOW) != 0
    there: np.ndarray = np.where(values.pages < 0, words[:, 0] == node.astype(np.uint64), large)
    return there
