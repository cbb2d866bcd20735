"""Rows of Parquet files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import BadRecord, RecordFiles
from jdali._system import limits
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.arrow_columns import content_path, field_of, need_pyarrow
from jdali.readers.formats.parquet_pages import pages_of
from jdali.readers.formats.records import required_paths
from jdali.readers.formats.tables import RowGroup, Schemas, TableReader, chosen_rows, column_names, count_of

_NAME = "readers.parquet"
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
# Bytes that Arrow takes for each value besides: marks of nulls and of lists.
_LEVELS = 6


class ParquetReader(TableReader):
    """Rows of Parquet files, of which row groups are read.

    Args:
        files: to read.
        footers: metadata of each file; None for one that cannot be read, which counts as one sample.
        columns: to read.
        condition: expression of pyarrow that says which rows are samples; None: all.
        options: of every reader.
    """

    def __init__(
        self,
        files: RecordFiles,
        footers: Sequence[Any],
        columns: Sequence[str],
        condition: Any,
        options: Mapping[str, Any],
    ):
        self._files, self._footers = files, footers
        self._groups = [
            (file, number)
            for file, footer in enumerate(footers)
            for number in ([-1] if footer is None else range(footer.num_row_groups))
        ]
        counts = [1 if n < 0 else footers[f].row_group(n).num_rows for f, n in self._groups]
        self._before = np.cumsum([0, *counts])
        schemas = [None if footer is None else footer.schema.to_arrow_schema() for footer in footers]
        schema = next(one for one in schemas if one is not None)
        self._paths = [content_path(field_of(schema, column), column) for column in columns]
        rows = None
        if condition is not None:
            # An expression does not tell its columns, but its text has their names.
            text = str(condition)
            named = [c for c in schema.names if re.search(rf"(?<!\w){re.escape(c)}(?!\w)", text)]

            def batches(number: int) -> Iterator[Any]:
                try:
                    yield from self._batches(number, named)
                except BadRecord as error:
                    where = files.names[self._groups[number][0]]
                    raise ValueError(f"{_NAME}: {where} cannot be filtered: {error}") from error

            rows = chosen_rows(counts, batches, condition)
        super().__init__(_NAME, columns, counts, rows, options)
        files.expect(self.groups_at_once, len(counts), self._pieces)

    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        starts, ends = [], []
        for number in range(len(self._groups)):
            chunks = self._chunks(number, self._paths)
            starts.append(min((start for _, start, _, _ in chunks), default=0))
            ends.append(max((start + size for _, start, size, _ in chunks), default=0))
        return np.array([file for file, _ in self._groups]), np.array(starts), np.array(ends)

    def where(self, group: int, row: int) -> str:
        file, _ = self._groups[group]
        begin = next(i for i, (other, _) in enumerate(self._groups) if other == file)
        return f"{self._files.names[file]}#row {self._before.item(group) - self._before.item(begin) + row}"

    def read_group(self, number: int) -> RowGroup:
        return RowGroup.of(self._batches(number, self._paths), self._columns, self._counts[number])

    def _chunks(self, number: int, paths: Sequence[str]) -> list[tuple[Any, int, int, int]]:
        """Finds the column chunks of a row group: metadata, start, bytes, and bytes of a value (0 where they differ)."""
        file, group = self._groups[number]
        if group < 0:
            return []
        footer = self._footers[file]
        found = footer.row_group(group)
        chunks = []
        for i in range(found.num_columns):
            leaf = footer.schema.column(i)
            if not any(leaf.path == path or leaf.path.startswith(f"{path}.") for path in paths):
                continue
            chunk = found.column(i)
            start, first = chunk.data_page_offset, chunk.dictionary_page_offset
            if first is not None and 0 < first < start:
                start = first
            width = max(leaf.length, 1) if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0
            chunks.append((chunk, start, chunk.total_compressed_size, _WIDTHS.get(leaf.physical_type, width)))
        return chunks

    def _batches(self, number: int, paths: Sequence[str]) -> Iterator[Any]:
        """Reads columns of a row group, as record batches."""
        import pyarrow.parquet as pq

        file, group = self._groups[number]
        if group < 0:
            raise BadRecord(self._files.lost[file])
        rows = self._footers[file].row_group(group).num_rows
        source = _KeptPieces(self._files, file)
        most = limits.most("max_sample_bytes")
        fixed, at_once = 0, rows
        for chunk, start, size, width in self._chunks(number, paths):
            data = source.keep(start, size)
            pages = pages_of(data, chunk.num_values)
            fixed += pages.bytes + pages.values * (width + _LEVELS)
            if pages.repeated and not width:
                at_once = min(at_once, max(most // pages.repeated, 1))
        if fixed > most:
            raise BadRecord(str(limits.exceeded("max_sample_bytes", f"row group {group} of {fixed} bytes")))
        held = 0
        try:
            opened = pq.ParquetFile(source, metadata=self._footers[file], page_checksum_verification=True)
            for batch in opened.iter_batches(at_once, [group], list(paths), use_threads=False):
                held += batch.get_total_buffer_size()
                if held > most:
                    raise BadRecord(str(limits.exceeded("max_sample_bytes", f"row group {group}")))
                yield batch
        except BadRecord:
            raise
        except (ValueError, OSError, NotImplementedError) as error:
            if is_of_machine(error):
                raise
            raise BadRecord(f"row group {group} is damaged: {_short(error)}") from error

    def interrupt(self) -> None:
        self._files.interrupt()

    @property
    def reads_ahead(self) -> bool:  # type: ignore[override]
        return self._files.reads_ahead

    def close(self) -> None:
        super().close()
        self._files.close()


class _KeptPieces(io.RawIOBase):
    """A file for Arrow, which keeps the pieces that will be asked for.

    Args:
        files: of the reader.
        file: number of the one.
    """

    def __init__(self, files: RecordFiles, file: int):
        self._files, self._file = files, file
        self._at, self._size = 0, files.sizes[file]
        self._pieces: list[tuple[int, bytes]] = []

    def keep(self, start: int, size: int) -> bytes:
        """Reads a piece of the file, and keeps it."""
        data = self._files.read(self._file, start, size)
        self._pieces.append((start, data))
        return data

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        start, left = self._at, max(self._size - self._at, 0)
        size = left if size < 0 else min(size, left)
        self._at += size
        for begin, data in self._pieces:
            if begin <= start and start + size <= begin + len(data):
                return data if size == len(data) else data[start - begin : start - begin + size]
        return self._files.read(self._file, start, size)


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def _footer(files: RecordFiles, file: int) -> Any:
    """Reads the metadata of a file; raises ValueError if they are none."""
    import pyarrow.parquet as pq

    path = files.names[file]
    try:
        footer = pq.read_metadata(_KeptPieces(files, file))
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    except BadRecord as error:
        raise ValueError(f"{_NAME}: {path}: {error}") from error
    except (ValueError, OSError, NotImplementedError) as error:
        if is_of_machine(error):
            raise
        raise ValueError(f"{_NAME}: {path} is no Parquet file, or damaged: {_short(error)}") from error
    rows = [group.num_rows for group in groups]
    if any(count < 0 for count in rows) or sum(rows) != footer.num_rows:
        raise ValueError(
            f"{_NAME}: {path} is damaged: its row groups have {rows[:9]} of {footer.num_rows} rows"
        )
    return footer


def _footers(files: RecordFiles, schemas: Schemas, goes_on: bool) -> list[Any]:
    """Reads the metadata of all files; with `goes_on` one that is damaged has none, unless all are."""
    footers: list[Any] = []
    failure: ValueError | None = None
    for file, path in enumerate(files.names):
        try:
            footer = _footer(files, file)
        except ValueError as error:
            if not goes_on:
                raise
            failure, footer = error, None
            files.lost[file] = str(error).removeprefix(f"{_NAME}: ")
        else:
            schemas.check(footer.schema.to_arrow_schema(), path)
        footers.append(footer)
    if failure is not None and not any(footers):
        raise failure
    return footers


@reader(name=_NAME, outputs=count_of(_NAME), devices=("cpu",))
@also_takes(shuffle_options)
@also_takes(reader_options)
def parquet(
    *,
    columns: Static[tuple[str, ...]],
    paths: Static[tuple[str, ...]],
    filter: Static[Any] = None,
    **options: Any,
) -> ParquetReader:
    """Reads rows of Parquet files: an output for each of `columns`.

    Row groups are read whole, of them only these columns, once a pass over the data; `random_shuffle` mixes rows
    through a buffer of `initial_fill`. With `shuffle_after_epoch`, row groups that do not fit into
    `bytes_ahead` of `jdali.storage` are read for each sample: write files with small ones for it.

    A row without a value (null) in a column, or with lists that make no array, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns, with "." between those of nested fields. Of a struct with "bytes", as the Hugging
            Face Hub has for pictures and sounds, these are read.
        paths: of the files.
        filter: which rows are samples: an expression of `pyarrow.compute`, or conditions as those of pandas,
            `[("label", "in", [1, 2])]`. The columns that it names are read when the pipeline is built.

    Returns: for each column uint8 [bytes] of bytes and strings, [] of numbers, [n, ...] of lists.

    Example: jpegs, labels = fn.readers.parquet(paths=["train.parquet"], columns=["image", "label"])
    """
    need_pyarrow(_NAME)
    names = column_names(_NAME, columns)
    files = RecordFiles(_NAME, required_paths(_NAME, "paths", paths))
    footers = _footers(files, Schemas(_NAME, names), options.get("_goes_on", False))
    return ParquetReader(files, footers, names, _condition(filter), options)


def _condition(given: Any) -> Any:
    """Returns the expression of a filter; None if there is none."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if given is None or isinstance(given, pc.Expression):
        return given
    try:
        return pq.filters_to_expression(given)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{_NAME}: filter must be an expression of pyarrow.compute or conditions "
            f'such as [("label", "==", 3)]: {error}'
        ) from error
