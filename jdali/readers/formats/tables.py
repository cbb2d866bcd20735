"""Base classes of table readers: rows are samples, columns are outputs, and groups of rows are read together."""

from __future__ import annotations

import abc
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jdali._batches import Store
from jdali._errors import SampleError
from jdali._storage import BadRecord, RecordFiles
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import Loaded, Reader, joined, nothing
from jdali.readers.formats.arrow_columns import (
    REASONS,
    Column,
    column_of,
    consecutive,
    field_of,
    kind_of,
    of_one_size,
    taken,
)
from jdali.readers.formats.kept import KeptPieces
from jdali.readers.formats.records import FilesReader, opened_each, path_list
from jdali.readers.shared_tables import shared

# Number of groups to cache in addition to `groups_at_once`: the next group, and one that earlier batches still read.
_BESIDES = 2
# Name of a column of row numbers, which is added to apply a filter.
_ROW = "__jdali_row__"
_Opened = TypeVar("_Opened")


class RowGroup(NamedTuple):
    """A group of rows that are read together, in one or several parts.

    Attributes:
        starts: int64 [parts], number of each part's first row in the group.
        parts: the columns of each part.
        bytes: size of all parts, bytes.
    """

    starts: np.ndarray
    parts: list[tuple[Column, ...]]
    bytes: int

    @classmethod
    def of(cls, batches: Iterable[Any], paths: Sequence[str], rows: int) -> RowGroup:
        """Builds a group of consecutive record batches; raises `BadRecord` if they are damaged.

        Args:
            rows: expected number of rows.
        """
        batches = [batch for batch in batches if batch.num_rows]
        starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
        if starts[-1] != rows:
            raise BadRecord(f"it has {starts[-1]} rows, {rows} were expected")
        parts = []
        for batch in batches:
            columns = []
            for path in paths:
                try:
                    columns.append(column_of(taken(batch, path)))
                except BadRecord as error:
                    raise BadRecord(f"column {path!r}: {error}") from error
            parts.append(tuple(columns))
        return cls(starts[:-1], parts, sum(batch.get_total_buffer_size() for batch in batches))


class _Piece(NamedTuple):
    """The samples of a batch that lie in one part of a group.

    Attributes:
        positions: int64 [n], positions of the samples in the batch, ascending.
        rows: int64 [n], rows of these samples in the part; a slice if they are known to be consecutive.
        columns: the columns of the part.
    """

    positions: np.ndarray
    rows: np.ndarray | slice
    columns: tuple[Column, ...]


def _alike(numbers: np.ndarray) -> list[tuple[int, np.ndarray]]:
    if not len(numbers):
        return []
    if (numbers == numbers[0]).all():  # fast path for sequential reads
        return [(numbers.item(0), np.arange(len(numbers)))]
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order])) + 1
    places = np.split(order, starts)
    return [(numbers.item(at.item(0)), at) for at in places]


def _numbered(rows: np.ndarray | slice) -> np.ndarray:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def _by_part(group: RowGroup, positions: np.ndarray, rows: np.ndarray | slice) -> list[_Piece]:
    """Divides samples of a row group among the parts of the group."""
    if len(group.parts) == 1:
        return [_Piece(positions, rows, group.parts[0])]
    rows = _numbered(rows)
    owners = np.searchsorted(group.starts, rows, side="right") - 1
    return [
        _Piece(positions[own], rows[own] - group.starts[part], group.parts[part])
        for part, own in _alike(owners)
    ]


def _batch(pieces: Sequence[_Piece]) -> tuple[Store, ...]:
    """Joins pieces into the columns of a batch, with samples ordered by position."""
    if len(pieces) == 1:
        return tuple(column.store(pieces[0].rows) for column in pieces[0].columns)
    places = np.concatenate([piece.positions for piece in pieces])
    back = np.argsort(places)
    ranks = np.empty(len(back), np.int64)
    ranks[back] = np.arange(len(back))
    bounds = np.cumsum([len(piece.positions) for piece in pieces])[:-1]
    columns = []
    for number in range(len(pieces[0].columns)):
        parts = [(piece.columns[number], piece.rows) for piece in pieces]
        store = of_one_size(parts, np.split(ranks, bounds))
        if store is None:
            (store,) = joined([(column.store(rows),) for column, rows in parts])
            store = store.select(back)
        columns.append(store)
    return tuple(columns)


class TableReader(Reader):
    """Base of readers whose samples are rows of tables.

    Each group of rows is read whole, once a pass, in order; `random_shuffle` mixes rows through a buffer of
    `initial_fill` rows. The groups that the buffer spans are always cached; `bytes_ahead` of `jdali.storage` limits the
    cache for other groups.

    Args:
        counts: number of rows of each group.
        rows: for each group, the rows that are samples; None: all.

    Attributes:
        groups_at_once: maximum number of groups in the window of rows that contains the next sample (`Order.window`);
            1 with `shuffle_after_epoch`.
    """

    mixes = True

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        counts: Sequence[int],
        rows: Sequence[np.ndarray] | None,
        options: Mapping[str, Any],
    ):
        self._name, self._columns, self._counts = name, columns, counts
        self.num_outputs = len(columns)
        self._rows = None if rows is None else np.concatenate([np.zeros(0, np.int64), *rows])
        self._first = np.cumsum([0, *(counts if rows is None else map(len, rows))])
        super().__init__(int(self._first[-1]), options)
        self.groups_at_once = 1 if options.get("shuffle_after_epoch") else self._spanned(self._order.window)
        self._kept = KeptPieces[RowGroup](self.groups_at_once + _BESIDES, lambda group: group.bytes)

    def _spanned(self, window: int) -> int:
        """Returns the largest number of groups that `window` consecutive samples span."""
        last = np.searchsorted(self._first, self._first[1:] + window - 2, side="right")
        return int((last - np.arange(len(last))).clip(1, len(last)).max(initial=1))

    @abc.abstractmethod
    def read_group(self, number: int) -> RowGroup:
        """Reads a group; raises `BadRecord` if it is damaged, `OSError` if the machine fails to read it."""

    @abc.abstractmethod
    def where(self, group: int, row: int) -> str:
        """Names a row of a group, for messages."""

    def load_many(self, indices: np.ndarray) -> Loaded:
        pieces: list[_Piece] = []
        failures: dict[int, Exception] = {}
        for number, positions, rows in self._by_group(indices):
            try:
                group = self._kept.get(number, functools.partial(self.read_group, number))
            except BadRecord as error:
                failures |= {i: self._error(indices.item(i), error) for i in positions.tolist()}
                continue
            except (OSError, MemoryError) as error:
                failures |= dict.fromkeys(positions.tolist(), error)
                continue
            for piece in _by_part(group, positions, rows):
                if any(column.flawed for column in piece.columns):
                    piece = self._without_flaws(piece, indices, failures)
                pieces.append(piece)
        if not pieces:
            return Loaded((nothing(),) * self.num_outputs, failures)
        return Loaded(_batch(pieces), failures)

    def _by_group(self, indices: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray | slice]]:
        """Groups samples; returns (group number, positions in the batch, rows in the group) for each group."""
        if self._rows is None and (run := consecutive(indices)) is not None:  # a slice is ten times as fast
            number = int(self._first.searchsorted(run.start, side="right")) - 1
            start = self._first.item(number)
            if run.stop <= self._first.item(number + 1):
                return [(number, np.arange(len(indices)), slice(run.start - start, run.stop - start))]
        numbers = np.searchsorted(self._first, indices, side="right") - 1
        rows = indices - self._first[numbers] if self._rows is None else self._rows[indices]
        return [(number, positions, rows[positions]) for number, positions in _alike(numbers)]

    def _without_flaws(self, piece: _Piece, indices: np.ndarray, failures: dict[int, Exception]) -> _Piece:
        """Returns the samples that have an array in each column; adds the errors of all other samples to `failures`."""
        good = np.ones(len(piece.positions), bool)
        for path, column in zip(self._columns, piece.columns, strict=True):
            wrong = column.wrong[piece.rows]
            for i in np.flatnonzero(wrong).tolist():
                position = piece.positions.item(i)
                reason = f"column {path!r}: {REASONS[wrong.item(i)]}"
                failures.setdefault(position, self._error(indices.item(position), reason))
                good[i] = False
        return _Piece(piece.positions[good], _numbered(piece.rows)[good], piece.columns)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return [slice(0, len(indices))]  # samples are views, so a batch is too little work to divide

    def source(self, index: int) -> str:
        number = int(np.searchsorted(self._first, index, side="right")) - 1
        row = index - self._first.item(number) if self._rows is None else self._rows.item(index)
        return self.where(number, row)

    def _error(self, index: int, reason: object) -> SampleError:
        return SampleError(f"{self._name}: {self.source(index)}: {reason}")

    def close(self) -> None:
        self._kept.clear()


class TableFilesReader(FilesReader, TableReader):
    """Base of readers whose samples are rows of files.

    Args:
        counts: for each file, number of rows of each group; None for a file that cannot be read, which counts as one sample.
        condition: pyarrow expression that selects rows; None: all rows.
    """

    def __init__(
        self,
        name: str,
        files: RecordFiles,
        counts: Sequence[Sequence[int] | None],
        schema: Any,
        columns: Sequence[str],
        condition: Any,
        options: Mapping[str, Any],
    ):
        self._name, self._files, self._names = name, files, schema.names
        self._places = [
            (file, group)
            for file, rows in enumerate(counts)
            for group in ([-1] if rows is None else range(len(rows)))
        ]
        flat = [row for rows in counts for row in ([1] if rows is None else rows)]
        self._row = np.concatenate(
            [np.cumsum([0, *(rows or ())])[: max(len(rows or ()), 1)] for rows in counts]
        )
        chosen = None
        if condition is not None:
            # pyarrow does not list the columns of an expression, but its text contains their names.
            text = str(condition)
            named = [n for n in schema.names if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", text)]
            chosen = shared(
                "rows", lambda: [self._chosen(i, flat[i], named, condition) for i in range(len(flat))]
            )
        super().__init__(name, columns, flat, chosen, options)
        self.name_classes(classes_of(schema), columns)
        files.expect(self.groups_at_once, len(flat), self._pieces)

    def rows_by_file(self) -> list[int]:
        """Returns the number of rows of each file, before any filter."""
        files = [file for file, _ in self._places]
        return np.bincount(files, weights=self._counts).astype(np.int64).tolist()

    @abc.abstractmethod
    def batches(self, file: int, group: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yields the record batches of a group with these columns; raises `BadRecord` if the group is damaged."""

    @abc.abstractmethod
    def span(self, file: int, group: int) -> tuple[int, int]:
        """Returns the range of bytes in the file to read for a group: (start, end)."""

    def _chosen(self, number: int, rows: int, columns: Sequence[str], condition: Any) -> np.ndarray:
        """Returns the numbers of a group's rows that meet a condition, int64 [n]."""
        import pyarrow as pa

        file, group = self._places[number]
        if group < 0:
            return np.zeros(1, np.int64)  # an unreadable file counts as one sample, which fails to load
        if not rows:
            return np.zeros(0, np.int64)
        try:
            table = pa.Table.from_batches(list(self.batches(file, group, columns)))
        except BadRecord as error:
            raise ValueError(
                f"{self._name}: {self._files.names[file]} cannot be filtered: {error}"
            ) from error
        numbered = table.append_column(_ROW, pa.array(np.arange(rows)))
        try:
            found: np.ndarray = numbered.filter(condition).column(_ROW).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            names = ", ".join(map(repr, self._names))
            raise ValueError(
                f"{self._name}: filter {condition} does not fit {self._files.names[file]}: {short(error)}; its columns: {names}"
            ) from error
        return found

    def read_group(self, number: int) -> RowGroup:
        file, group = self._places[number]
        if group < 0:
            raise BadRecord(self._files.lost[file])
        return RowGroup.of(self.batches(file, group, self._columns), self._columns, self._counts[number])

    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        spans = np.array([(0, 0) if group < 0 else self.span(file, group) for file, group in self._places])
        return np.array([file for file, _ in self._places]), spans[:, 0], spans[:, 1]

    def where(self, group: int, row: int) -> str:
        return f"{self._files.names[self._places[group][0]]}#row {self._row.item(group) + row}"


def opened_files(
    name: str,
    files: RecordFiles,
    columns: Sequence[str],
    begin: Callable[[int], _Opened],
    schema_of: Callable[[_Opened], Any],
    goes_on: bool,
) -> list[_Opened | None]:
    """Opens all files, and checks that they have the columns, with equal types.

    Args:
        begin: takes a file's number and reads the file's metadata; raises ValueError if the metadata are damaged.
        schema_of: returns the schema in the metadata of a file.
        goes_on: return None for a damaged file, see `opened_each`.
    """

    def opened(file: int) -> _Opened:
        try:
            return begin(file)
        except (ValueError, OSError) as error:
            if is_of_machine(error):
                raise
            raise ValueError(f"{name}: {files.names[file]} {short(error)}") from error

    found = opened_each(name, files, opened, goes_on)
    known = [(path, one) for path, one in zip(files.names, found, strict=True) if one is not None]
    kinds = [kinds_of(name, schema_of(one), columns, path) for path, one in known]
    for (path, _), own in zip(known, kinds, strict=True):
        for column, mine, theirs in zip(columns, own, kinds[0], strict=True):
            if mine != theirs:
                raise ValueError(
                    f"{name}: column {column!r} differs: {theirs[0]} with {theirs[1]} axes in {known[0][0]}, {mine[0]} with "
                    f"{mine[1]} axes in {path}"
                )
    return found


def classes_of(schema: Any) -> dict[str, list[str]]:
    """Returns class names by column, from the metadata that `datasets` writes into a schema."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        labels = {c: f["names"] for c, f in features.items() if f.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}
    return {
        column: names
        for column, names in labels.items()
        if isinstance(names, list) and all(isinstance(name, str) for name in names)
    }


def kinds_of(name: str, schema: Any, columns: Sequence[str], path: str) -> list[tuple[np.dtype, int]]:
    """Returns element type and number of axes of columns; raises ValueError if one is missing or cannot be read."""
    kinds = []
    for column in columns:
        kind = field_of(schema, column)
        if kind is None:
            raise ValueError(
                f"{name}: {path} has no column {column!r}; it has {', '.join(map(repr, schema.names))}"
            )
        try:
            kinds.append(kind_of(kind))
        except TypeError as error:
            raise ValueError(f"{name}: column {column!r} of {path} cannot be read: {error}") from None
    return kinds


def short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def condition_of(name: str, given: Any) -> Any:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if given is None or isinstance(given, pc.Expression):
        return given
    try:
        return pq.filters_to_expression(given)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name}: filter must be an expression of pyarrow.compute or conditions "
            f'such as [("label", "==", 3)]: {error}'
        ) from error


def column_names(name: str, columns: Any) -> list[str]:
    """Converts the user's `columns` to a list; raises ValueError if it is empty."""
    names = path_list(name, "columns", columns)
    if not names:
        raise ValueError(f"{name}: columns is empty, it must name at least one column")
    return names


def count_of(name: str) -> Callable[[Mapping[str, Any]], int]:
    """Returns a function that counts a reader's outputs, one for each of its `columns`."""
    return lambda arguments: len(column_names(name, arguments["columns"]))
