"""Reads rows of Arrow files and streams."""

from __future__ import annotations

import functools
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import BadRecord, OpenFiles, RecordFiles
from jdali._storage import files as _storage
from jdali._system import limits
from jdali._system.regular_file import is_of_machine, open_regular
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.arrow_columns import need_pyarrow, pa
from jdali.readers.formats.arrow_messages import Head, Messages, head_of, look_through
from jdali.readers.formats.records import required_paths
from jdali.readers.formats.tables import (
    TableFilesReader,
    column_names,
    condition_of,
    count_of,
    opened_files,
    short,
)

_NAME = "readers.arrow"
# Estimated overhead of a row in memory, bytes.
_ROW_BYTES = 64


class _ArrowFile(NamedTuple):
    schema: Any
    messages: Messages


class ArrowReader(TableFilesReader):
    """Reads rows of Arrow files, a record batch at a time.

    Args:
        opened: schema and record batches of each file; None for a file that cannot be read.
        condition: pyarrow expression that selects rows; None: all rows.
        maps: map local files into memory.
    """

    def __init__(
        self,
        files: RecordFiles,
        opened: Sequence[_ArrowFile | None],
        columns: Sequence[str],
        condition: Any,
        maps: bool,
        options: Mapping[str, Any],
    ):
        self._opened = opened
        self._mapped = OpenFiles(lambda file: _mapped(files.paths[file])) if maps else None
        schema = next(one for one in opened if one is not None).schema
        counts = [None if one is None else one.messages.rows.tolist() for one in opened]
        super().__init__(_NAME, files, counts, schema, columns, condition, options)

    def span(self, file: int, group: int) -> tuple[int, int]:
        offset, head, body = self._message(file, group)
        return offset, offset + head + body

    def _message(self, file: int, group: int) -> tuple[int, int, int]:
        opened = self._opened[file]
        assert opened is not None
        offsets, heads, bodies, _ = opened.messages
        return offsets.item(group), heads.item(group), bodies.item(group)

    def batches(self, file: int, group: int, columns: Sequence[str]) -> Iterator[Any]:
        opened = self._opened[file]
        assert opened is not None
        offset, size, body = self._message(file, group)
        if self._mapped is not None and self._files.is_local(file):
            mapped, buffer = self._mapped.get(file)
            # Reading past the end of a truncated mapped file would kill the process.
            if mapped.size() != self._files.sizes[file]:
                had = self._files.sizes[file]
                raise BadRecord(f"the file has {mapped.size()} bytes, it had {had} when it was opened")
            data = buffer.slice(offset, size + body)
        else:
            data = pa.py_buffer(self._files.read(file, offset, size + body))
        head = head_of(data.slice(8, size - 8).to_pybytes())
        if head.rows != opened.messages.rows[group] or head.body != body:
            raise BadRecord(f"record batch {group} is another one than when the file was opened")
        try:
            _check(head, data.slice(size))
            batch = pa.ipc.read_record_batch(pa.ipc.read_message(data), _plain(opened.schema))
            batch = batch.select(list(dict.fromkeys(_outer(batch.schema, column) for column in columns)))
            batch.validate()
        except (ValueError, OSError, NotImplementedError) as error:
            if is_of_machine(error):
                raise
            raise BadRecord(f"record batch {group} is damaged: {short(error)}") from error
        yield batch

    def close(self) -> None:
        super().close()
        if self._mapped is not None:
            self._mapped.close()


def _mapped(path: str) -> tuple[mmap.mmap, Any]:
    """Maps a file into memory, as long as samples refer to it; returns the map, and a buffer of pyarrow."""
    descriptor, size = open_regular(path)
    try:
        mapped = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) if size else None
    finally:
        os.close(descriptor)
    if mapped is None:
        raise BadRecord("the file is empty now")
    return mapped, pa.py_buffer(mapped)


def _check(head: Head, body: Any) -> None:
    """Raises `BadRecord` if a record batch needs more memory than the limit."""
    needed = head.rows * _ROW_BYTES
    for offset, size in head.buffers:
        if offset < 0 or size < 0 or offset + size > head.body:
            raise BadRecord("a buffer reaches past the body of its record batch")
        if head.packed and size >= 8:
            (unpacked,) = struct.unpack("<q", body.slice(offset, 8).to_pybytes())
            needed += max(unpacked, 0)  # -1 stands for an uncompressed buffer
    if needed > limits.most("max_sample_bytes"):
        raise BadRecord(str(limits.exceeded("max_sample_bytes", f"a record batch of {needed} bytes")))


def _plain(schema: Any) -> Any:
    """Replaces dictionary types in a schema by their index types, because the reader does not read dictionaries."""
    types = pa.types
    return pa.schema([(f.name, f.type.index_type if types.is_dictionary(f.type) else f.type) for f in schema])


def _outer(schema: Any, column: str) -> str:
    """Returns the top-level column that contains `column`, for example "image" for "image.bytes"."""
    if schema.get_field_index(column) >= 0:
        return column
    return max((n for n in schema.names if column.startswith(f"{n}.")), key=len)


def _file(files: RecordFiles, columns: Sequence[str], file: int) -> _ArrowFile:
    """Indexes a file; raises ValueError if the file is damaged or one of `columns` is a dictionary."""
    with _storage.open(files.paths[file]) as opened:
        found = _ArrowFile(*look_through(files.paths[file], opened))
    for column in columns:
        kind = found.schema.field(column).type if column in found.schema.names else None
        if kind is not None and pa.types.is_dictionary(kind):
            raise ValueError(
                f"has categories (a dictionary) in column {column!r}: write them as {kind.value_type}, or use Parquet"
            )
    return found


@reader(name=_NAME, outputs=count_of(_NAME), devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def arrow(
    *,
    columns: Static[tuple[str, ...]],
    paths: Static[tuple[str, ...]],
    filter: Static[Any] = None,
    **options: Any,
) -> ArrowReader:
    """Reads rows of Arrow files and streams (IPC, Feather, the output of `save_to_disk`): an output for each of `columns`.

    Local files are mapped into memory. Samples are views of the mapped files, so any order costs the same. A file must not be
    truncated while the pipeline runs. With `dont_use_mmap`, and from URLs, record batches are read whole, as
    `readers.parquet` reads row groups.

    A row with a null in one of the columns, or with ragged lists, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns; "." separates the names of nested fields. For a struct with a field "bytes", only
            this field is read; the Hugging Face Hub stores pictures and sounds in such structs.
        paths: paths of the files.
        filter: selects rows: an expression of `pyarrow.compute`, or conditions as in pandas,
            `[("label", "in", [1, 2])]`. Building the pipeline reads the columns that the filter names.

    Returns: an output for each column: uint8 [bytes] for bytes and strings, [] for numbers, [n, ...] for lists.

    Example: jpegs, labels = fn.readers.arrow(paths=["train.arrow"], columns=["image", "label"])
    """
    need_pyarrow(_NAME)
    names = column_names(_NAME, columns)
    files = RecordFiles(_NAME, required_paths(_NAME, "paths", paths))
    opened = opened_files(
        _NAME, files, names, functools.partial(_file, files, names), lambda one: one.schema,
        options.get("_goes_on", False),
    )  # fmt: skip
    maps = not options.get("dont_use_mmap", False)
    return ArrowReader(files, opened, names, condition_of(_NAME, filter), maps, options)
