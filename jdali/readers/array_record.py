"""Reads records of ArrayRecord files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import BadRecord, Pieces, RecordFiles
from jdali._storage import files as _storage
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import Loaded, Reader, reader_options, shuffle_options
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.arrow_columns import Column, need_pyarrow
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.protobuf import VARINT, contents, fields, last_integer
from jdali.readers.formats.records import FilesReader, FoundBy, RecordReader, required_paths, shared_table
from jdali.readers.formats.riegeli import BLOCK_BYTES, HEAD_BYTES, RECORDS, Chunk, parse_chunk
from jdali.readers.formats.tables import RowGroup, TableReader
from jdali.readers.formats.tf_example import ExampleParser, examples_of

_NAME = "readers.array_record"
_MAGIC = 0x71930E704FDAE05E
_VERSION = 1
Chunks = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Offsets and sizes in bytes, and numbers of records, of the chunks of a file, int64 [n] each."""


class ArrayRecordReader(RecordReader):
    """Reads files whose chunks hold one record each (`group_size:1`, which Grain recommends).

    Args:
        parser: parses each record as a tf.train.Example; None: the record itself is the output.
        found: for each file, its chunks and how they were found (`FoundBy`).
    """

    def __init__(
        self,
        files: RecordFiles,
        found: Sequence[tuple[Chunks, FoundBy]],
        parser: ExampleParser | None,
        options: Mapping[str, Any],
    ):
        super().__init__(_NAME, files, found, options)
        self._parser, self.num_outputs = parser, parser.num_outputs if parser else 1

    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        raise NotImplementedError  # `_parsed` replaces this method, since parsing needs the offset

    def _parsed(self, index: int, record: bytes) -> tuple[np.ndarray, ...]:
        chunk = parse_chunk(record, self._offsets.item(index))
        _check_count(chunk, 1)
        return self._parser.parse(chunk.values.tobytes()) if self._parser else (chunk.values,)

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        """Parses the chunks that are not compressed and contain no block header."""
        ok &= pieces.sizes >= HEAD_BYTES + 2
        start, size = pieces.starts[ok], pieces.sizes[ok]
        data = start + HEAD_BYTES
        of_sizes = buffer.at(data + 1, "u1").astype(np.int64)
        lengths, used, endless = _columns.varints(buffer.ints(data + 2), 7)
        usual = (buffer.ints(start + 8) == size - HEAD_BYTES) & (buffer.ints(start + 24) == 1 << 8 | RECORDS)
        usual &= (buffer.at(data, "u1") == 0) & (of_sizes == used) & ~endless
        usual &= (buffer.ints(start + 32) == lengths) & (HEAD_BYTES + 2 + of_sizes + lengths == size)
        begin = data + 2 + of_sizes
        if self._parser:
            columns = self._parser.columns(buffer, begin, begin + lengths, usual)
        else:
            columns = (_columns.byte_column(buffer, begin[usual], lengths[usual]),)
        ok[ok] = usual
        return columns


class GroupedReader(FilesReader, TableReader):
    """Reads files whose chunks hold several records; the records of a chunk are read together.

    Args:
        parser: parses each record as a tf.train.Example; None: the record itself is the output.
    """

    def __init__(
        self,
        files: RecordFiles,
        chunks: Sequence[Chunks],
        parser: ExampleParser | None,
        options: Mapping[str, Any],
    ):
        self._files, self._parser = files, parser
        self._owners = np.repeat(np.arange(len(chunks)), [len(found[0]) for found in chunks])
        self._offsets, self._sizes, counts = map(np.concatenate, zip(*chunks, strict=True))
        self._row = np.concatenate([np.cumsum(found[2]) - found[2] for found in chunks])
        super().__init__(_NAME, ("record",), counts.tolist(), None, options)
        files.expect(
            self.groups_at_once,
            len(counts),
            lambda: (self._owners, self._offsets, self._offsets + self._sizes),
        )

    def load_many(self, indices: np.ndarray) -> Loaded:
        loaded = super().load_many(indices)
        return examples_of(self._parser, loaded, indices, self._error) if self._parser else loaded

    def read_group(self, number: int) -> RowGroup:
        offset = self._offsets.item(number)
        raw = self._files.read(self._owners.item(number), offset, self._sizes.item(number))
        chunk = parse_chunk(raw, offset)
        _check_count(chunk, self._counts[number])
        good = np.zeros(len(chunk.ends), np.uint8)
        column = Column(chunk.values, chunk.starts, (chunk.ends - chunk.starts)[:, None], good)
        return RowGroup(np.zeros(1, np.int64), [(column,)], len(chunk.values))

    def where(self, group: int, row: int) -> str:
        return f"{self._files.names[self._owners.item(group)]}#record {self._row.item(group) + row}"


def _check_count(chunk: Chunk, count: int) -> None:
    if len(chunk.ends) != count:
        raise BadRecord(f"its chunk holds {len(chunk.ends)} records, {count} by the index of the file")


def _messages(chunk: Chunk, first: int, count: int) -> list[np.ndarray]:
    """Parses `count` records of a chunk as messages; returns their fields 1 to 3, int64 [count] each."""
    slack = np.zeros(16, np.uint8)
    buffer = Buffer(np.concatenate([chunk.values, slack]))
    ok = np.ones(count, bool)
    starts, ends = chunk.starts[first : first + count], chunk.ends[first : first + count]
    found = {f: values for f, kind, values, _ in _columns.fields(buffer, starts, ends, ok) if kind == VARINT}
    if not ok.all():
        raise BadRecord("its index of chunks is damaged")
    return [found.get(field, np.zeros(count, np.int64)) for field in (1, 2, 3)]


def _chunks(files: RecordFiles, file: int) -> Chunks:
    """Reads the index at the end of a file; raises `BadRecord` if the file is damaged."""
    last = files.sizes[file] - BLOCK_BYTES
    if last < 0:
        raise BadRecord(f"has {files.sizes[file]} bytes, an ArrayRecord file has at least {BLOCK_BYTES}")
    postscript = parse_chunk(files.read(file, last, BLOCK_BYTES), last)
    if not len(postscript.ends):
        raise BadRecord("has no postscript at its end")
    message = postscript.values.tobytes()
    listed = fields(message, 0, postscript.ends.item(0))
    begin = last_integer(listed, 1)
    if last_integer(listed, 2) != _MAGIC or begin is None or not 0 <= begin <= last:
        raise BadRecord("has no postscript of an ArrayRecord file at its end")
    footer = parse_chunk(files.read(file, begin, last - begin), begin)
    if not len(footer.ends):
        raise BadRecord("has an index without a head")
    message = footer.values[: footer.ends.item(0)].tobytes()
    facts = [fields(message, *bounds) for bounds in contents(fields(message, 0, len(message)), 1)]
    version, chunks, records = [last_integer(facts[-1], n) if facts else None for n in (1, 2, 3)]
    if version != _VERSION:
        raise BadRecord(f"has an index of version {version}, {_VERSION} is known")
    if b"transpose:true" in message:  # an option of the writer
        raise BadRecord("has transposed records, which are not read; write it with transpose:false")
    count = len(footer.ends) - 1
    _storage.check_items(files.paths[file], max(count, records or 0), "records")
    offsets, _, counts = _messages(footer, 1, count)
    sizes = np.diff(offsets, append=begin)
    if (
        chunks != count
        or counts.sum() != records
        or (counts < 0).any()
        or (sizes <= 0).any()
        or (offsets < 0).any()
    ):
        raise BadRecord("has an index that contradicts itself")
    full = counts > 0
    return offsets[full], sizes[full], counts[full]


def _found(files: RecordFiles, file: int, goes_on: bool) -> tuple[Chunks, FoundBy]:
    """Finds the chunks of a file. With `goes_on`, a damaged file counts as one record that cannot be read."""
    path = files.names[file]

    def read() -> Chunks:
        try:
            return _chunks(files, file)
        except (BadRecord, OSError) as error:
            if is_of_machine(error):
                raise
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"{_NAME}: {path}: {reason}") from error

    def find() -> Chunks:
        try:
            return read()
        except ValueError as error:
            if not goes_on:
                raise
            files.lost[file] = str(error).removeprefix(f"{_NAME}: ")
            return np.zeros(1, np.int64), np.array([-1]), np.ones(1, np.int64)

    return shared_table(files, file, find), read


@reader(name=_NAME, devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def array_record(*, paths: Static[tuple[str, ...]], **options: Any) -> Reader:
    """Reads the records of ArrayRecord files, the format of TensorFlow Datasets and Grain.

    If chunks hold one record each (`group_size:1`), any order is cheap. A chunk with several records is read whole,
    once an epoch, and `random_shuffle` mixes records through a buffer of `initial_fill` records. With
    `shuffle_after_epoch`, such a chunk is read again for each of its records, unless all chunks together fit into
    `bytes_ahead` of `jdali.storage`.

    Each chunk is checked against the index at the end of its file; hashes of data are not checked. Files written with
    `transpose:true` raise an error.

    Parity: DALI has no such reader.

    Args:
        paths: paths of the files.

    Returns: uint8 [bytes], a record.

    Example: jpegs = fn.readers.array_record(paths=["train.array_record"], shuffle_after_epoch=True)
    """
    return opened(RecordFiles(_NAME, required_paths(_NAME, "paths", paths)), None, options)


def opened(files: RecordFiles, parser: ExampleParser | None, options: Mapping[str, Any]) -> Reader:
    need_pyarrow(_NAME)
    goes_on = options.get("_goes_on", False)
    found = [_found(files, file, goes_on) for file in range(len(files.names))]
    if len(files.lost) == len(found):
        raise ValueError(f"{_NAME}: {files.lost[0]}")
    chunks = [chunks for chunks, _ in found]
    if all((counts == 1).all() for _, _, counts in chunks):
        return ArrayRecordReader(files, found, parser, options)
    return GroupedReader(files, chunks, parser, options)
