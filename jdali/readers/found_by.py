"""Rebuilds or rejects indexes that point at no record.

An index may be of another file: one that the user made before the file was written again, or one of the cache for a file
whose path, size and times are those of the file before. So readers check what they read. Where a record is
`Misplaced`, an index of the cache is built anew, once, and an index of the user's is named as the cause.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from jdali._storage import BadRecord, Misplaced, RecordFiles
from jdali._system.regular_file import is_of_machine
from jdali.readers.shared_tables import shared

_T = TypeVar("_T")
Table = tuple[np.ndarray, ...]
"""Of each record of a file where it is, one array for each fact."""
_TableT = TypeVar("_TableT", bound=Table)
FoundBy = str | Callable[[], Table]
"""The path of the user's index, or what looks through the file and makes the table anew."""


class Tables:
    """Offsets of the records of all files: a row for each record, in arrays that cover all files.

    Args:
        files: of the records.
        tables: of each file.
        found_by: of each file.
    """

    def __init__(self, files: RecordFiles, tables: Sequence[Table], found_by: Sequence[FoundBy]):
        self._files, self._found_by = files, list(found_by)
        self._bounds = np.cumsum([0, *(len(table[0]) for table in tables)]).tolist()
        self.all: Table = shared("tables", lambda: _joined(tables))
        self._lock = threading.Lock()
        # Files that were scanned again: whether their records lie elsewhere, or why that does not help.
        self._seen: dict[int, bool | str] = {}

    def read(self, file: int, attempt: Callable[[], _T]) -> _T:
        """Calls `attempt()`, which reads a record of a file, and once more if the index was wrong and could be corrected.

        Raises:
            BadRecord: the record is damaged, or the index is of another file.
        """
        try:
            return attempt()
        except Misplaced as error:
            by = self._found_by[file]
            if isinstance(by, str):
                raise BadRecord(
                    f"{error}. The index {by} does not fit, or the file is damaged: make the index anew, or leave it out"
                ) from error
            with self._lock:
                if file not in self._seen:
                    self._seen[file] = self._look_again(file, by)
                seen = self._seen[file]
            if isinstance(seen, str):
                raise BadRecord(f"{error}. {seen}") from error
            if not seen:
                raise
        return attempt()

    def _look_again(self, file: int, again: Callable[[], Table]) -> bool | str:
        try:
            same_size = self._files.reopen(file)
            table = again()
        except (OSError, ValueError) as error:
            if is_of_machine(error):
                raise
            return False  # it is the file that is damaged
        first, end = self._bounds[file], self._bounds[file + 1]
        before = end - first
        if len(table[0]) != before or not same_size:
            return (
                f"The file was changed after its index was made: it has {len(table[0])} records now, and had "
                f"{before} when the reader was opened; open it again"
            )
        corrected = tuple(column.copy() for column in self.all)
        for column, found in zip(corrected, table, strict=True):
            column[first:end] = found
        self.all = corrected
        return True


def _joined(tables: Sequence[Table]) -> Table:
    # The arrays of one file are not copied: they are sent to workers by themselves as well.
    return tuple(tables[0]) if len(tables) == 1 else tuple(map(np.concatenate, zip(*tables, strict=True)))


def shared_table(files: RecordFiles, file: int, find: Callable[[], _TableT]) -> _TableT:
    """Returns the table of a file, and notes in `files.lost` what cannot be read; see `shared`.

    Args:
        files: all of them.
        file: number of the one.
        find: looks for its records.
    """
    table, lost = shared(f"table of {file}", lambda: (find(), files.lost.get(file)))
    if lost is not None:
        files.lost[file] = lost
    return table


def fits_at(count: int, begins: Callable[[int], bool]) -> bool:
    """Returns True if an index fits its file at the first, middle and last record.

    Args:
        count: of its records; of none nothing can be told, and an index of none is soon made.
        begins: looks for a record by its number; may raise `BadRecord`.
    """
    try:
        return count > 0 and all(begins(number) for number in (0, count // 2, count - 1))
    except BadRecord:
        return False
