"""Reads rows of a table in memory or of a CSV file: numbers, strings, and files by name."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import BadRecord, NameTable, read_named
from jdali._storage import files as _storage
from jdali.readers.base import Loaded, file_tasks, reader_options, shuffle_options
from jdali.readers.formats.arrow_columns import column_of, field_of, need_pyarrow, pa
from jdali.readers.formats.records import csv_text, path_list, required_paths
from jdali.readers.formats.tables import RowGroup, TableReader, column_names, count_of, kinds_of, short
from jdali.readers.shared_tables import shared

_TABLE, _CSV = "readers.table", "readers.csv"
# Largest block of a CSV file that pyarrow can parse, bytes.
_MOST_BLOCK = (1 << 31) - 1


class FrameReader(TableReader):
    """Reads rows of a table in memory.

    Args:
        files: columns whose values are names of files to read.
        root: folder of the files.
        where: description of a row for messages, with "{}" for its number.
    """

    mixes = False
    often_cheap = True

    def __init__(
        self, name: str, table: Any, columns: Sequence[str], files: Sequence[str], root: str, where: str,
        options: Mapping[str, Any],
    ):  # fmt: skip
        self._table, self._where = table, where
        self._all, self._root, self._folder = columns, root, _storage.placed(root)
        self._files = {file: _names(name, table, file, root, self._folder, where) for file in files}
        super().__init__(
            name, [column for column in columns if column not in files], [len(table)], None, options
        )
        self.num_outputs = len(columns)

    def read_group(self, number: int) -> RowGroup:
        return RowGroup.of(self._table.to_batches(), self._columns, len(self._table))

    def load_many(self, indices: np.ndarray) -> Loaded:
        loaded = super().load_many(indices) if self._columns else Loaded((), {})
        if not self._files:
            return loaded
        failures = dict(loaded.failures)
        kept = np.array([i for i in range(len(indices)) if i not in failures], np.int64)
        found: dict[str, tuple[np.ndarray, Store]] = {
            name: (kept, column) for name, column in zip(self._columns, loaded.columns, strict=True)
        }
        for name, names in self._files.items():
            contents = read_named(self._folder, names, indices)
            found[name] = contents.positions, contents.column()
            failures |= {i: error for i, error in contents.failures.items() if i not in failures}
        good = np.array([i for i in range(len(indices)) if i not in failures], np.int64)
        columns = []
        for name in self._all:
            positions, column = found[name]
            columns.append(
                column if len(positions) == len(good) else column.select(np.searchsorted(positions, good))
            )
        return Loaded(tuple(columns), failures)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        if not self._files:
            return super().tasks(indices, threads)
        return file_tasks(len(indices), threads)

    def where(self, group: int, row: int) -> str:
        return self._where.format(row)

    def source(self, index: int) -> str:
        for names in self._files.values():
            return _storage.join(self._root, names[index])
        return super().source(index)


def _names(name: str, table: Any, column: str, root: str, folder: str, where: str) -> NameTable:
    try:
        found = column_of(table.column(column).combine_chunks())
    except (TypeError, BadRecord) as error:
        raise ValueError(f"{name}: column {column!r} cannot be read: {error}") from None
    if found.values.dtype != np.uint8 or found.extents.shape[1] != 1:
        raise ValueError(f"{name}: column {column!r} holds no names of files, but {found.values.dtype}")
    if found.wrong.any():
        raise ValueError(
            f"{name}: {where.format(int(np.flatnonzero(found.wrong)[0]))} has no name in column {column!r}"
        )
    below = os.path.join(folder, "")

    def listed() -> NameTable:
        texts = table.column(column).to_pylist()
        names = NameTable.of(
            text.removeprefix(below) if isinstance(text, str) else os.fsdecode(text) for text in texts
        )
        return _storage.table_from_data(root, names, lambda i: f"{name}: {where.format(i)}", free=False)

    return shared(f"files {column}", listed)


def _opened(
    name: str,
    table: Any,
    columns: Sequence[str],
    files: Any,
    root: str,
    where: str,
    options: Mapping[str, Any],
) -> FrameReader:
    named, place = path_list(name, "files", files), where.partition("#")[0]
    if unknown := [file for file in named if file not in columns]:
        raise ValueError(f"{name}: files names {unknown[0]!r}, which is none of columns {list(columns)}")
    if missing := [column for column in columns if field_of(table.schema, column) is None]:
        has = ", ".join(map(repr, table.schema.names))
        raise ValueError(f"{name}: {place} has no column {missing[0]!r}; of them it has {has}")
    kinds_of(name, table.schema, [column for column in columns if column not in named], place)
    if not len(table):
        raise ValueError(f"{name}: {place} has no rows")
    return FrameReader(name, table, columns, named, root, where, options)


@reader(name=_TABLE, outputs=count_of(_TABLE), devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def table(
    *,
    columns: Static[tuple[str, ...]],
    frame: Static[Any],
    file_root: Static[str | None] = None,
    files: Static[tuple[str, ...]] = (),
    **options: Any,
) -> FrameReader:
    """Reads rows of a table in memory: an output for each of `columns`.

    A row with a null in one of the columns is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns.
        frame: table of pandas, polars or pyarrow, or a dict of lists and arrays; it must not change.
        file_root: folder that holds all named files and that their names are relative to; None: the working
            folder.
        files: columns, among `columns`, whose values are names of files to read.

    Returns: an output for each column: uint8 [bytes] for files, bytes and strings, [] for numbers, [n, ...] for lists.

    Example:
        frame = {"name": ["building/china.jpg", "flower/flower.jpg"], "label": [0, 1]}
        jpegs, labels = fn.readers.table(frame=frame, columns=["name", "label"], files=["name"], file_root="photos")
    """
    return opened_frame(_TABLE, frame, columns, options, file_root, files)


def opened_frame(
    name: str,
    frame: Any,
    columns: Any,
    options: Mapping[str, Any],
    file_root: str | None = None,
    files: Any = (),
) -> FrameReader:
    need_pyarrow(name)
    names = column_names(name, columns)
    found = shared("frame", lambda: _as_table(frame, names))
    return _opened(
        name, found, names, files, _storage.user_path(file_root or ""), "the table#row {}", options
    )


def _as_table(frame: Any, columns: Sequence[str]) -> Any:
    try:
        if isinstance(frame, pa.RecordBatch):
            frame = pa.Table.from_batches([frame])
        if isinstance(frame, pa.Table):
            present = frame.schema.names
            return frame.select([c for c in columns if c in present]).combine_chunks()
        if isinstance(frame, Mapping):
            return pa.table({name: _array(frame[name]) for name in dict.fromkeys(columns) if name in frame})
        present = list(frame.columns)
        chosen = frame[[column for column in dict.fromkeys(columns) if column in present]]
        if hasattr(chosen, "iloc"):  # a DataFrame of pandas
            return pa.Table.from_pandas(chosen, preserve_index=False).combine_chunks()
        return pa.table(chosen).combine_chunks()
    except (AttributeError, TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(
            f"{_TABLE}: frame must be a table of pandas, polars or pyarrow, or a dict of columns; of {type(frame).__name__}: "
            f"{short(error)}"
        ) from error


def _array(values: Any) -> Any:
    if isinstance(values, jax.Array):
        values = np.asarray(values)
    if isinstance(values, np.ndarray):
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        if values.ndim > 1:
            return pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(values))
    return pa.array(values)


@reader(name=_CSV, outputs=count_of(_CSV), devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def csv(
    *,
    columns: Static[tuple[str, ...]],
    path: Static[str],
    delimiter: Static[str] = ",",
    file_root: Static[str | None] = None,
    files: Static[tuple[str, ...]] = (),
    **options: Any,
) -> FrameReader:
    """Reads rows of a CSV file, whose first line names the columns: an output for each of `columns`.

    Types are inferred from the values: int64, float64, bool, or otherwise string. A row with an empty field in a
    column of numbers is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns.
        path: path of the CSV file.
        delimiter: separator of the values in a line.
        file_root: folder that holds all named files and that their names are relative to; None: the folder of the CSV
            file.
        files: columns, among `columns`, whose values are names of files to read.

    Returns: an output for each column: uint8 [bytes] for files and strings, [] for numbers.

    Example: jpegs, labels = fn.readers.csv(path="train.csv", columns=["name", "label"], files=["name"], file_root="photos")
    """
    need_pyarrow(_CSV)
    names = column_names(_CSV, columns)
    (file,) = required_paths(_CSV, "path", path)
    root = _storage.parent(file) if file_root is None else _storage.user_path(file_root)
    strings = path_list(_CSV, "files", files)
    found = shared("table", lambda: _parsed(file, names, strings, delimiter))
    return _opened(_CSV, found, names, files, root, f"{file}#row {{}}", options)


def _parsed(path: str, columns: Sequence[str], strings: Sequence[str], delimiter: str) -> Any:
    """Reads columns of a CSV file as a pyarrow table; `strings` are columns not to convert to numbers."""
    from pyarrow import csv as arrow_csv

    text = csv_text(_CSV, path)
    # A single block, because a row must fit into a block.
    reading = arrow_csv.ReadOptions(use_threads=False, block_size=min(max(len(text), 1), _MOST_BLOCK))

    def read(strings: Sequence[str]) -> Any:
        converting = arrow_csv.ConvertOptions(
            include_columns=list(dict.fromkeys(columns)), column_types=dict.fromkeys(strings, pa.string())
        )
        return arrow_csv.read_csv(io.BytesIO(text), reading, parsing, converting).combine_chunks()

    try:
        parsing = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        table = read(strings)
        dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        return read([*strings, *dates]) if dates else table
    except KeyError:  # a column is missing
        found = arrow_csv.open_csv(io.BytesIO(text), reading, parsing).schema.names
        missing = next(column for column in columns if column not in found)
        has = ", ".join(map(repr, found))
        raise ValueError(f"{_CSV}: {path} has no column {missing!r}; it has {has}") from None
    except ValueError as error:
        raise ValueError(f"{_CSV}: {path} {short(error)}") from error
