"""Base classes of readers of files that hold many records, and helpers for their arguments and indexes."""

from __future__ import annotations

import abc
import bisect
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jdali._batches import Store
from jdali._errors import SampleError
from jdali._storage import Arrays, Pieces, SizedFile, always, never, read_pieces
from jdali._storage import BadRecord as BadRecord
from jdali._storage import Misplaced as Misplaced
from jdali._storage import RecordFiles as RecordFiles
from jdali._storage import files as _storage
from jdali.readers.base import Loaded, Reader, joined, one_by_one
from jdali.readers.formats.columns import Buffer
from jdali.readers.found_by import FoundBy as FoundBy
from jdali.readers.found_by import Table, Tables
from jdali.readers.found_by import fits_at as fits_at
from jdali.readers.found_by import shared_table as shared_table

# Minimum size of a task in bytes, because each call of `parse_many` has an overhead of half a millisecond.
_TASK_BYTES = 4 << 20
_Opened = TypeVar("_Opened")


class Records(NamedTuple):
    """Locates the records of one file.

    Attributes:
        offsets: int64 [n], offset in the file, bytes.
        sizes: int64 [n], bytes; -1 for a part of the file that cannot be read, see `RecordFiles.lost`.
    """

    offsets: np.ndarray
    sizes: np.ndarray


class RecordFile(SizedFile):
    """A file object over a file of `RecordFiles`, for libraries that read from file objects."""

    def __init__(self, files: RecordFiles, number: int):
        self._files, self._number, self._size = files, number, files.sizes[number]


class CutShort(ValueError):
    """Raised if the records of a file can be found only up to some offset.

    Args:
        reason: the error found in a record after this offset.
        known: the records found.
    """

    def __init__(self, message: str, reason: object, known: Any):
        super().__init__(message)
        self.reason, self.known = str(reason), known


def cut_short(name: str, path: str, reason: str, offsets: Sequence[int], at: int) -> CutShort:
    """Builds the error of a file that is damaged at byte `at`, behind records at these offsets."""
    return CutShort(f"{name}: {path} {reason}", f"the file {reason}", np.array([*offsets, at], np.int64))


def looked_through(
    files: RecordFiles,
    file: int,
    goes_on: bool,
    look: Callable[[str, Callable[[Arrays], bool]], Records],
    begins: Callable[[int, int, int], bool],
) -> tuple[Records, FoundBy]:
    """Finds the records of a file for which the user gave no index.

    Args:
        goes_on: if the file is damaged, return the records before the damage, and one unreadable record for the rest.
        look: look(path, fits) returns the records in the cached index of a file if fits(index) is True. Otherwise it
            scans the file, and may raise `CutShort`.
        begins: begins(file, offset, size) returns True if a record of this size begins there.
    """
    path = files.paths[file]

    def fits(index: Arrays) -> bool:
        offsets = index["offsets"]
        sizes = np.diff(offsets, append=files.sizes[file])
        # Records must be contiguous and fill the file.
        return bool((sizes > 0).all() and offsets[:1].sum() == 0) and fits_at(
            len(offsets), lambda number: begins(file, offsets.item(number), sizes.item(number))
        )

    def find() -> Records:
        try:
            return look(path, fits if files.is_local(file) else always)
        except CutShort as cut:
            if not goes_on:
                raise
            files.lost[file] = cut.reason
            return Records(cut.known, np.append(np.diff(cut.known), -1))

    return shared_table(files, file, find), lambda: look(path, never)


def opened_each(
    name: str, files: RecordFiles, open_one: Callable[[int], _Opened], goes_on: bool
) -> list[_Opened | None]:
    """Opens files by their numbers.

    With `goes_on`, a file for which `open_one` raises ValueError is lost: it gets None, and an entry in `files.lost`. If all
    files are lost, raises ValueError.
    """
    found: list[_Opened | None] = []
    for file in range(len(files.names)):
        try:
            found.append(open_one(file))
        except ValueError as error:
            if not goes_on:
                raise
            files.lost[file] = str(error).removeprefix(f"{name}: ")
            found.append(None)
    if len(files.lost) == len(found):
        raise ValueError(f"{name}: {files.lost[0]}")
    return found


class FilesReader(Reader):
    """Base of readers of `RecordFiles`; closing the reader closes the files."""

    _files: RecordFiles

    @property
    def reads_ahead(self) -> bool:  # type: ignore[override]
        return self._files.reads_ahead

    def interrupt(self) -> None:
        self._files.interrupt()

    def close(self) -> None:
        super().close()
        self._files.close()


class PiecesReader(FilesReader):
    """Base of readers whose samples are pieces of files.

    Files are read sequentially, even with `random_shuffle`; only `shuffle_after_epoch` reads in random order.

    Args:
        found: for each file, the table of its samples, and how it was found (`FoundBy`).
    """

    mixes = True

    def __init__(
        self,
        name: str,
        files: RecordFiles,
        found: Sequence[tuple[Table, FoundBy]],
        options: Mapping[str, object],
    ):
        self._name, self._files, self._tables = name, files, Tables(files, found)
        self._starts = self._tables.bounds
        self._first = np.array(self._starts)
        if not self._starts[-1]:
            raise ValueError(f"{name}: there are no records in {', '.join(files.paths)}")
        super().__init__(self._starts[-1], options)
        files.expect(self._order.window, self.count, self._pieces)

    @abc.abstractmethod
    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns file, start and end of each piece, see `RecordFiles.expect`."""

    @abc.abstractmethod
    def _read(self, file: int, index: int) -> tuple[np.ndarray, ...]:
        """Reads and parses a sample; raises `BadRecord` if it is damaged."""

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        file = self._file_of(index)
        try:
            return self._tables.read(file, lambda: self._read(file, index))
        except BadRecord as error:
            raise self._error(index, error) from error

    def _file_of(self, index: int) -> int:
        return bisect.bisect_right(self._starts, index) - 1

    def _error(self, index: int, error: BadRecord) -> SampleError:
        return SampleError(f"{self._name}: {self.source(index)}: {error}")


class RecordReader(PiecesReader):
    """Base of readers whose samples are records of files; their tables begin with the columns of `Records`."""

    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        owners = np.repeat(np.arange(len(self._first) - 1), np.diff(self._first))
        return owners, self._offsets, self._offsets + self._sizes

    @property
    def _offsets(self) -> np.ndarray:
        return self._tables.all[0]

    @property
    def _sizes(self) -> np.ndarray:
        return self._tables.all[1]

    @abc.abstractmethod
    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        """Parses one record into its outputs; raises `BadRecord` if it is damaged."""

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        """Parses many records of the usual form together.

        Args:
            buffer: the bytes of `pieces`.
            ok: bool [n], True for the records to parse; it is cleared for records that could not be parsed.

        Returns: a column for each output, with the records that remain ok.
        """
        ok[:] = False
        return ()

    def _read(self, file: int, index: int) -> tuple[np.ndarray, ...]:
        record = self._files.read(file, self._offsets.item(index), self._sizes.item(index))
        return self._parsed(index, record)

    def _parsed(self, index: int, record: bytes) -> tuple[np.ndarray, ...]:
        """Parses a record as `parse` does. Readers override this method if parsing needs the record's index."""
        return self.parse(record)

    def _error(self, index: int, error: BadRecord) -> SampleError:
        return SampleError(
            f"{self._name}: {self.source(index)}, at byte {self._offsets.item(index)}: {error}"
        )

    def load_many(self, indices: np.ndarray) -> Loaded:
        sizes = self._sizes[indices]
        file = np.searchsorted(self._first, indices, side="right") - 1
        pieces = read_pieces(self._files, file, self._offsets[indices], sizes)

        def alone(position: int) -> tuple[np.ndarray, ...]:
            index = indices.item(position)
            if pieces.known[position]:
                try:
                    return self._parsed(index, pieces.piece(position))
                except Misplaced:
                    pass  # `load` finds out whether the index is stale
                except BadRecord as error:
                    raise self._error(index, error) from error
            return self.load(index)

        return parsed_together(self.parse_many, self.num_outputs, pieces, len(indices), alone)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return record_tasks(self._sizes[indices], threads)

    def source(self, index: int) -> str:
        file = self._file_of(index)
        return f"{self._files.names[file]}#record {index - self._starts[file]}"


def record_tasks(sizes: np.ndarray, threads: int) -> list[slice]:
    """Divides records among threads by their sizes in bytes; see `Reader.tasks`.

    Each task gets at least `_TASK_BYTES`, because small records are processed mostly under the GIL.
    """
    ends = np.cumsum(sizes)
    count = min(max(ends.item(-1) // _TASK_BYTES, 1), threads)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, count) // count, side="right")
    bounds = np.unique([0, *cuts.tolist(), len(sizes)]).tolist()
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def parsed_together(
    parse_many: Callable[[Buffer, Pieces, np.ndarray], tuple[Store, ...]], outputs: int, pieces: Pieces, count: int,
    alone: Callable[[int], tuple[np.ndarray, ...]],
) -> Loaded:  # fmt: skip
    """Parses samples from their pieces: samples of the usual form together, all other samples one by one.

    Args:
        parse_many: parses samples of the usual form, see `RecordReader.parse_many`.
        pieces: pieces of the `count` samples, one sample after another; each sample has the same number of pieces.
        alone: loads a single sample by its position, or raises.
    """
    ok = np.asarray(pieces.known.reshape(count, -1).all(axis=1))
    columns = parse_many(Buffer(pieces.raw), pieces, ok)
    if ok.all():
        return Loaded(columns, {})
    left = np.flatnonzero(~ok)
    others, failed = one_by_one(alone, left, outputs)
    failures = {left.item(position): error for position, error in failed.items()}
    if not ok.any():
        return Loaded(others, failures)
    order = np.argsort(np.concatenate([np.flatnonzero(ok), np.delete(left, list(failed))]))
    return Loaded(tuple(column.select(order) for column in joined([columns, others])), failures)


def path_list(name: str, argument: str, value: str | os.PathLike[str] | Sequence[Any] | None) -> list[str]:
    """Converts one or several paths (or other strings) to a list; converts None to an empty list."""
    if value is None:
        return []
    values = [value] if isinstance(value, (str, os.PathLike)) else list(value)
    for path in values:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{name}: {argument} must be one or several strings, got {path!r}")
    return [os.fspath(path) for path in values]


def user_paths(name: str, argument: str, value: Any) -> list[str]:
    return [_storage.user_path(path) for path in path_list(name, argument, value)]


def required_paths(name: str, argument: str, value: object, lacking: str = "") -> list[str]:
    """Converts the user's paths to a list; if the list is empty, raises ValueError with `lacking`, DALI's message."""
    paths = user_paths(name, argument, value)
    if not paths:
        words = f"{lacking}: " if lacking else ""
        raise ValueError(f"{name}: {words}{argument} is empty, it must name at least one file")
    return paths


def json_object(name: str, folder: str, file: str) -> dict[str, Any]:
    path = _storage.join(folder, file)
    with _storage.found(f"{name}: cannot read {path}"):
        text = _storage.read(path)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: {path} is not JSON, or damaged: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{name}: {path} holds no object")
    return found


def csv_text(name: str, path: str) -> bytes:
    """Reads a CSV file; raises FileNotFoundError if it cannot be read or has too many lines."""
    with _storage.found(f"{name}: Cannot open {path}"):
        return _storage.text_of_lines(path)


def number_pairs(
    name: str, path: str, empty: str = "Content of index files should not be empty"
) -> np.ndarray:
    """Reads an index, a text file with two non-negative integers per line; returns int64 [lines, 2].

    `empty` is the message for a file without lines.
    """
    with _storage.found(f"{name}: Could not open file {path}, the index"):
        lines = [line.split() for line in _storage.lines(path)]
    rows = [line for line in lines if line]
    if not rows:
        raise ValueError(f"{name}: {empty}: {path}")
    if all(len(row) == 2 for row in rows):
        try:
            numbers = np.array([int(word) for row in rows for word in row], np.int64).reshape(-1, 2)
            if numbers.min() >= 0:
                return numbers
        except (ValueError, OverflowError):
            pass  # the error below names the line
    for number, row in enumerate(lines, 1):
        if row and not (len(row) == 2 and all(word.isdigit() and len(word) < 19 for word in row)):
            shown = b" ".join(row)[:60].decode(errors="replace")
            raise ValueError(
                f"{name}: line {number} of the index {path} must be 2 numbers from 0 on, but is {shown!r}"
            )
    raise ValueError(f"{name}: the index {path} holds no numbers")
