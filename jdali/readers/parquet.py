"""Reads rows of Parquet files."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import BadRecord, RecordFiles
from jdali._system import limits
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.arrow_columns import content_path, field_of, need_pyarrow
from jdali.readers.formats.parquet_pages import pages_of
from jdali.readers.formats.records import RecordFile, required_paths
from jdali.readers.formats.tables import (
    TableFilesReader,
    column_names,
    condition_of,
    count_of,
    opened_files,
    short,
)

_NAME = "readers.parquet"
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
# Estimated bytes per value that Arrow needs to mark nulls and lists.
_LEVELS = 6


class ParquetReader(TableFilesReader):
    """Reads rows of Parquet files, a row group at a time.

    Args:
        footers: metadata of each file; None for a file that cannot be read.
        condition: pyarrow expression that selects rows; None: all rows.
    """

    def __init__(
        self,
        files: RecordFiles,
        footers: Sequence[Any],
        columns: Sequence[str],
        condition: Any,
        options: Mapping[str, Any],
    ):
        self._footers = footers
        self._schema = next(footer for footer in footers if footer is not None).schema.to_arrow_schema()
        counts = [
            None if f is None else [f.row_group(i).num_rows for i in range(f.num_row_groups)] for f in footers
        ]
        super().__init__(_NAME, files, counts, self._schema, columns, condition, options)

    def span(self, file: int, group: int) -> tuple[int, int]:
        chunks = self._chunks(file, group, self._paths(self._columns))
        return min(start for _, start, _, _ in chunks), max(start + size for _, start, size, _ in chunks)

    def _paths(self, columns: Sequence[str]) -> list[str]:
        """Returns the paths to read for columns; for a struct with a field "bytes", only this field."""
        return [content_path(field_of(self._schema, column), column) for column in columns]

    def _chunks(self, file: int, group: int, paths: Sequence[str]) -> list[tuple[Any, int, int, int]]:
        """Returns the column chunks of a row group: metadata, offset, size, and bytes per value (0: variable)."""
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

    def batches(self, file: int, group: int, columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow.parquet as pq

        rows, paths = self._footers[file].row_group(group).num_rows, self._paths(columns)
        source = _KeptPieces(self._files, file)
        most = limits.most("max_sample_bytes")
        fixed, at_once = 0, rows
        for chunk, start, size, width in self._chunks(file, group, paths):
            pages = pages_of(source.keep(start, size), chunk.num_values)
            fixed += pages.bytes + pages.values * (width + _LEVELS)
            if pages.repeated and not width:
                at_once = min(at_once, max(most // pages.repeated, 1))
        if fixed > most:
            raise BadRecord(str(limits.exceeded("max_sample_bytes", f"row group {group} of {fixed} bytes")))
        held = 0
        try:
            opened = pq.ParquetFile(source, metadata=self._footers[file], page_checksum_verification=True)
            for batch in opened.iter_batches(max(at_once, 1), [group], paths, use_threads=False):
                held += batch.get_total_buffer_size()
                if held > most:
                    raise BadRecord(str(limits.exceeded("max_sample_bytes", f"row group {group}")))
                yield batch
        except BadRecord:
            raise
        except (ValueError, OSError, NotImplementedError) as error:
            if is_of_machine(error):
                raise
            raise BadRecord(f"row group {group} is damaged: {short(error)}") from error


class _KeptPieces(RecordFile):
    """A file object that returns data from pieces that `keep` has read."""

    def __init__(self, files: RecordFiles, number: int):
        super().__init__(files, number)
        self._pieces: list[tuple[int, bytes]] = []

    def keep(self, start: int, size: int) -> bytes:
        data = self._files.read(self._number, start, size)
        self._pieces.append((start, data))
        return data

    def read(self, size: int = -1) -> bytes:
        start, left = self._at, max(self._size - self._at, 0)
        size = left if size < 0 else min(size, left)
        self._at += size
        for begin, data in self._pieces:
            if begin <= start and start + size <= begin + len(data):
                return data if size == len(data) else data[start - begin : start - begin + size]
        return self._files.read(self._number, start, size)


def _footer(files: RecordFiles, file: int) -> Any:
    """Reads the metadata of a file; raises ValueError if they are damaged."""
    import pyarrow.parquet as pq

    try:
        footer = pq.read_metadata(_KeptPieces(files, file))
        rows = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
    except (ValueError, OSError, NotImplementedError) as error:
        if is_of_machine(error):
            raise
        raise ValueError(f"is not a Parquet file, or damaged: {short(error)}") from error
    if any(count < 0 for count in rows) or sum(rows) != footer.num_rows:
        raise ValueError(f"is damaged: its row groups have {rows[:9]} of {footer.num_rows} rows")
    return footer


@reader(name=_NAME, outputs=count_of(_NAME), devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def parquet(
    *,
    columns: Static[tuple[str, ...]],
    paths: Static[tuple[str, ...]],
    filter: Static[Any] = None,
    **options: Any,
) -> ParquetReader:
    """Reads rows of Parquet files: an output for each of `columns`.

    Only these columns are read, in whole row groups, once a pass over the data; `random_shuffle` mixes rows through a
    buffer of `initial_fill` rows. With `shuffle_after_epoch`, row groups that do not fit into `bytes_ahead` of
    `jdali.storage` are read again for each sample, so such files should have small row groups.

    A row with a null in one of the columns, or with ragged lists, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns; "." separates the names of nested fields. For a struct with a field "bytes", only
            this field is read; the Hugging Face Hub stores pictures and sounds in such structs.
        paths: paths of the files.
        filter: selects rows: an expression of `pyarrow.compute`, or conditions as in pandas,
            `[("label", "in", [1, 2])]`. Building the pipeline reads the columns that the filter names.

    Returns: an output for each column: uint8 [bytes] for bytes and strings, [] for numbers, [n, ...] for lists.

    Example: jpegs, labels = fn.readers.parquet(paths=["train.parquet"], columns=["image", "label"])
    """
    need_pyarrow(_NAME)
    names = column_names(_NAME, columns)
    files = RecordFiles(_NAME, required_paths(_NAME, "paths", paths))
    footers = footers_of(files, names, options)
    return ParquetReader(files, footers, names, condition_of(_NAME, filter), options)


def footers_of(files: RecordFiles, columns: Sequence[str], options: Mapping[str, Any]) -> list[Any]:
    """Reads the metadata of files and checks that they have the columns; see `opened_files`."""
    need_pyarrow(_NAME)
    return opened_files(
        _NAME, files, columns, functools.partial(_footer, files), lambda footer: footer.schema.to_arrow_schema(),
        options.get("_goes_on", False),
    )  # fmt: skip
