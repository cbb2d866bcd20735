"""Finds the values of an LMDB database in its file.

The file is read as data, page by page: the library that LMDB databases are usually read with maps them
into memory and trusts them, so that a file that is cut short or damaged ends the process.

The format is that of LMDB 0.9 on 64-bit little-endian machines. A page of the B+ tree holds an array of
16-bit pointers to its nodes; a node of a branch points to a page, one of a leaf holds a key with its
value, or with the number of the page where a large value begins.
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
    FoundBy,
    Misplaced,
    RecordFiles,
    RecordReader,
    parsed_together,
)

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
    """Returns the data file of a database, which is named by its folder, as usual, or by the file itself."""
    return _storage.join(path, _FILE) if _storage.is_folder(path) else path


class LmdbValues(NamedTuple):
    """Offsets of the values of a database, in the order of their keys; what comes before each says how large
    it is.

    Attributes:
        offsets: int64 [n], of what comes before: a node with its key, or the head of a page.
        sizes: int64 [n], with that, bytes.
        heads: int64 [n], bytes of that.
        pages: int64 [n], number of the page that a large value begins on; -1 for one in a node.
        page_sizes: int64 [n], bytes of a page.
        leaves: int64 [n], where the page with the node of a large value begins.
        sums: int64 [n], CRC-32 of that page: a large value's own page does not tell its key.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    heads: np.ndarray
    pages: np.ndarray
    page_sizes: np.ndarray
    leaves: np.ndarray
    sums: np.ndarray


class CutDatabase(ValueError):
    """Some values of a database cannot be found.

    Args:
        name: of the reader.
        path: of the file.
        reason: what is wrong with it.
        known: the values that were found.
    """

    def __init__(self, name: str, path: str, reason: BadRecord, known: LmdbValues):
        super().__init__(f"{name}: {path}: {reason}")
        self._reason, self._known = str(reason), known

    def values(self, files: RecordFiles, file: int) -> LmdbValues:
        """Returns the values that were found, and one more, which cannot be read."""
        files.lost[file] = self._reason
        lost = LmdbValues(*map(np.array, ([files.sizes[file]], [1], [0], [-1], [_SMALLEST_PAGE], [0], [0])))
        return LmdbValues(*map(np.concatenate, zip(self._known, lost, strict=True)))


def locate_values(name: str, path: str) -> Arrays:
    """Finds the values: the columns of `LmdbValues`, and `meta`, which tells databases apart.

    Raises:
        CutDatabase: the file is no LMDB database, is cut short or damaged, or holds other than plain
            records.
    """
    files = RecordFiles(name, [path])
    tree: _Tree | None = None
    try:
        tree = _Tree(files)
        with progress_bar(tree.entries, "records", path) as advance:
            tree.look_through(advance)
        return {**tree.values()._asdict(), "meta": tree.meta}
    except BadRecord as error:
        raise CutDatabase(name, path, error, tree.values() if tree is not None else _table([])) from error
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
            raise BadRecord("the file is empty, it is no LMDB database")
        first = self._meta(0)
        self._page_size = first[0]
        latest = max(first, self._meta(self._page_size), key=lambda meta: meta[-1])
        _, self._flags, self._depth, self._entries, self._root, self._last, _ = latest
        self.meta = np.array(latest, np.uint64)
        self._pages_left = self._size // self._page_size
        self._found: list[tuple[int, ...]] = []

    def _meta(self, at: int) -> tuple[int, int, int, int, int, int, int]:
        """Parses a meta page: (page size, flags, depth, entries, root page, last page, transaction)."""
        length = _PAGE.size + _HEADER.size + 2 * _DATABASE.size + _TAIL.size
        page = self._files.read(self._file, at, min(length, self._size - at))
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

    def values(self) -> LmdbValues:
        """Returns the values that were found so far."""
        return _table(self._found)

    @property
    def entries(self) -> int:
        """Records that the database says it has."""
        return self._entries

    def look_through(self, advance: Callable[[int], object] = lambda count: None) -> None:
        """Finds all values; raises `BadRecord` where that is not possible.

        Args:
            advance: gets the number of records of each page.
        """
        if self._flags & _DUPLICATES:
            raise BadRecord("the database has several values to a key, which data sets do not")
        if self._entries > limits.most("max_items"):
            raise BadRecord(
                f"its {self._entries} records are more than the limit of {limits.words('max_items')}"
            )
        if self._root != _NO_PAGE:
            self._walk(self._root, min(self._depth, _DEEPEST), advance)
        if len(self._found) != self._entries:
            raise BadRecord(
                f"the database says it has {self._entries} records, but {len(self._found)} were found; "
                "it is damaged"
            )

    def _walk(self, number: int, depth: int, advance: Callable[[int], object]) -> None:
        """Takes in the values under a page, at most `depth` levels down."""
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
            raise BadRecord(f"page {number} at byte {at} is no page of a tree; the database is damaged")
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
                if len(self._found) > self._entries:
                    raise BadRecord(
                        f"the database says it has {self._entries} records, but has more; it is damaged"
                    )
            advance(len(pointers))

    def _value(self, page: bytes, at: int, pointer: int) -> tuple[int, int, int, int]:
        """Parses a node of the leaf `page`, which lies at `at`: the first fields of `LmdbValues`."""
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
    """A reader each of whose samples is one value of an LMDB database, in the order of the keys.

    Args:
        name: of the reader, for messages.
        paths: folders of the databases.
        options: of every reader.
    """

    def __init__(self, name: str, paths: Sequence[str], options: Mapping[str, object]):
        files = RecordFiles(name, [_database_file(path) for path in paths])
        found: list[tuple[LmdbValues, FoundBy]] = []
        for file, path in enumerate(files.paths):
            fits = functools.partial(_fits, files, file) if files.is_local(file) else always
            try:
                values = _cached(name, path, fits)
            except CutDatabase as cut:
                if not options.get("_goes_on"):
                    raise
                values = cut.values(files, file)
            found.append((values, functools.partial(_cached, name, path, never)))
        super().__init__(name, files, found, options)
        # Pages with nodes of large values that have not changed since the index was made.
        self._sound: set[tuple[int, int, int]] = set()

    def _is_sound(self, leaf: tuple[int, int, int], size: int) -> bool:
        """Returns True if a page, by its file's number, offset and CRC-32, is still the one that was indexed."""
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
            file = int(np.searchsorted(self._first, index, side="right")) - 1
            leaf = file, values.leaves.item(index), values.sums.item(index)
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
        return parsed_together(self, plain, len(indices), lambda i: self.load(indices.item(i)))

    def _leaves_are_sound(self, file: np.ndarray, values: LmdbValues) -> np.ndarray:
        """Checks the nodes of large values: bool [n], False where one has changed or cannot be read."""
        sound = np.ones(len(file), bool)
        for i in np.flatnonzero(values.pages >= 0).tolist():
            leaf = file.item(i), values.leaves.item(i), values.sums.item(i)
            if leaf not in self._sound:
                try:
                    sound[i] = self._is_sound(leaf, values.page_sizes.item(i))
                except BadRecord:
                    sound[i] = False  # `load` says why
        return sound


def _cached(name: str, path: str, fits: Callable[[Arrays], bool]) -> LmdbValues:
    index = cached_index("lmdb", path, lambda: locate_values(name, path), fits)
    return LmdbValues(*(index[column] for column in LmdbValues._fields))


def _fits(files: RecordFiles, file: int, index: Arrays) -> bool:
    """Returns True if an index is that of the latest transaction of a database."""
    try:
        return np.array_equal(_Tree(files, file).meta, index["meta"])
    except BadRecord:
        return False


def _are_there(buffer: Buffer, starts: np.ndarray, values: LmdbValues) -> np.ndarray:
    """Checks that the bytes before each start belong to such a value: bool [n].

    Args:
        buffer: of the bytes.
        starts: int64 [n], where it lies in them.
        values: where it lies in the file.
    """
    words = buffer.at(starts, f"V{_PAGE.size}").view("<u8").reshape(-1, 2)
    lengths = values.sizes - values.heads
    # Size of the value, no flags, size of the key.
    node = lengths | (values.heads - _NODE.size) << 48
    # Number of the page, number of the value's pages, and their kind (16 bits in between).
    count = (values.sizes - 1) // values.page_sizes + 1
    large = (words[:, 0] == values.pages.astype(np.uint64)) & (
        words[:, 1] >> np.uint64(32) == count.astype(np.uint64)
    )
    large &= words[:, 1] >> np.uint64(16) & np.uint64(_OVERFLOW) != 0
    there: np.ndarray = np.where(values.pages < 0, words[:, 0] == node.astype(np.uint64), large)
    return there
