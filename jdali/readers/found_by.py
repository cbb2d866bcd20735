"""Rebuilds or rejects stale indexes.

An index is stale if its file was rewritten afterwards. Even a cached index may be stale, because the new file may have
the path, size and times of the old file. So readers check the records they read, and raise `Misplaced` if no record is
where the index says. A cached index is then rebuilt once. For an index from the user, the error names the index as a
possible cause.
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
"""Columns that locate the records of a file, such as offsets and sizes, one entry for each record."""
_TableT = TypeVar("_TableT", bound=Table)
FoundBy = str | Callable[[], Table]
"""The path of the user's index, or a function that scans the file and returns a new table."""


class Tables:
    """Joins the tables of all files into `all`, and corrects stale tables.

    `found` has the table of each file, and how it was found. `bounds` has the number of its first row, then of all rows.
    """

    def __init__(self, files: RecordFiles, found: Sequence[tuple[Table, FoundBy]]):
        self._files, self._found_by = files, [by for _, by in found]
        tables = [table for table, _ in found]
        self.bounds: list[int] = np.cumsum([0, *(len(table[0]) for table in tables)]).tolist()
        self.all: Table = shared("tables", lambda: _joined(tables))
        self._lock = threading.Lock()
        # For each file that was scanned again: True if its table was corrected, False if the file is damaged, or the reason why
        # the reader must be reopened.
        self._seen: dict[int, bool | str] = {}

    def read(self, file: int, attempt: Callable[[], _T]) -> _T:
        """Calls `attempt()`, which reads a record of a file. If the index is stale, corrects the index and retries.

        Raises:
            BadRecord: the record is damaged, or the index is stale and cannot be corrected.
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
            return False  # the file is damaged, not the index
        first, end = self.bounds[file], self.bounds[file + 1]
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
    # Does not copy the arrays of a single file, because workers share them.
    return tuple(tables[0]) if len(tables) == 1 else tuple(map(np.concatenate, zip(*tables, strict=True)))


def shared_table(files: RecordFiles, file: int, find: Callable[[], _TableT]) -> _TableT:
    """Returns the table of a file; the table and the file's entry in `files.lost` are shared with workers, see `shared`.

    `find` finds the file's records, and may set `files.lost[file]`.
    """
    table, lost = shared(f"table of {file}", lambda: (find(), files.lost.get(file)))
    if lost is not None:
        files.lost[file] = lost
    return table


def fits_at(count: int, begins: Callable[[int], bool]) -> bool:
    """Returns True if an index fits its file at the first, middle and last record.

    Args:
        count: number of records; 0 returns False, since nothing can be checked and a new index is cheap.
        begins: takes a record's number and returns True if the record is where the index says; may raise `BadRecord`.
    """
    try:
        return count > 0 and all(begins(number) for number in (0, count // 2, count - 1))
    except BadRecord:
        return False
