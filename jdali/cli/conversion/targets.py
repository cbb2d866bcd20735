"""Writes shards of WebDataset, ArrayRecord and Parquet, and reads them back."""

from __future__ import annotations

import abc
import hashlib
import importlib
import io
import json
import os
import struct
import tarfile
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar

import numpy as np

from jdali._system.extras import install
from jdali.cli.conversion.pictures import extension
from jdali.cli.conversion.sources import Source, SourceSample
from jdali.readers.formats.arrow_columns import need_pyarrow

# Limits of a Parquet row group. A row group is always read whole, so it should have few samples, but enough bytes for one
# large request.
_GROUP_BYTES, _GROUP_ROWS = 8 << 20, 10_000
_Value = TypeVar("_Value")


class ShardWriter(abc.ABC):
    """Writes a shard. If the format has types and `source` has no schema, the samples `first` determine the types."""

    extension: str
    # True if the types of fields must be known before the first sample is written.
    has_types = False

    @abc.abstractmethod
    def __init__(self, path: str, source: Source, first: Sequence[SourceSample]): ...

    @abc.abstractmethod
    def add(self, sample: SourceSample) -> bytes:
        """Writes a sample; returns the checksum that `checksums` must yield for it."""

    @abc.abstractmethod
    def close(self) -> None:
        """Finishes the file."""

    @staticmethod
    @abc.abstractmethod
    def checksums(path: str) -> Iterator[bytes]:
        """Reads a file and yields the checksum of each sample."""


def _checksum(values: Sequence[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=8)
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode(errors="surrogateescape")
        digest.update(b"%d:" % len(data) + data)
    return digest.digest()


class WebDataset(ShardWriter):
    """Writes a tar archive: a file for each picture, sound and array, `cls` for the label, `json` for other fields."""

    extension = "tar"

    def __init__(self, path: str, source: Source, first: Sequence[SourceSample]):
        self._archive = tarfile.open(path, "w")  # noqa: SIM115  closed by `close`
        self._last = ""

    def add(self, sample: SourceSample) -> bytes:
        folder, slash, name = sample.key.rpartition("/")
        key = folder + slash + name.replace(".", "_")  # a dot in a key would begin the extension
        while key == self._last:
            key += "_"
        self._last = key
        written: list[Any] = []
        for suffix, content in _components(sample).items():
            entry = tarfile.TarInfo(f"{key}.{suffix}")
            entry.size = len(content)
            self._archive.addfile(entry, io.BytesIO(content))
            written += [entry.name, content]
        return _checksum(written)

    def close(self) -> None:
        self._archive.close()

    @staticmethod
    def checksums(path: str) -> Iterator[bytes]:
        last: str | None = None
        held: list[Any] = []
        with tarfile.open(path) as archive:
            for entry in archive:
                folder, slash, name = entry.name.rpartition("/")
                key = folder + slash + name.partition(".")[0]
                if held and key != last:
                    yield _checksum(held)
                    held = []
                last = key
                content = archive.extractfile(entry)
                held += [entry.name, content.read() if content is not None else b""]
        if held:
            yield _checksum(held)


def _components(sample: SourceSample) -> dict[str, bytes]:
    """Returns a sample's files by extension: "NAME", "EXT" or "NAME.EXT" (NAME: a field; EXT: the kind of content).

    Raises:
        ValueError: a field has no name, or the same name as another field has in the archive.
    """
    # Entries are (name in the archive, field, value).
    files: list[tuple[str, str, bytes]] = []
    rest: list[tuple[str, str, Any]] = []
    single = sum(extension(_content(value)) is not None for value in sample.fields.values()) == 1
    for name, value in sample.fields.items():
        if not name:
            raise ValueError("a field has an empty name, which a file in the archive cannot have")
        content, word = _content(value), name.replace("/", "_")
        if (kind := extension(content)) is not None:
            keeps = word == kind or word.endswith(f".{kind}") or (kind == "jpg" and word.endswith("jpeg"))
            file = word if keeps else kind if single else f"{word.replace('.', '_')}.{kind}"
            files.append((file, name, content))
            if isinstance(value, dict) and value.get("path"):
                rest.append((f"{name}_path", name, value["path"]))
        elif isinstance(content, bytes):
            files.append((word, name, content))
        elif isinstance(value, np.ndarray):
            files.append((f"{word}.npy", name, _npy(value)))
        elif name == "label" and isinstance(value, (int, float)) and "cls" not in sample.fields:
            whole = isinstance(value, int) or value.is_integer()
            files.append(("cls", name, (b"%d" % value) if whole else repr(value).encode()))
        else:
            rest.append((name, name, value))
    if rest:
        file = "fields.json" if any(file == "json" for file, _, _ in files) else "json"
        text = json.dumps(_distinct(rest), default=_as_text).encode()
        files.append((file, rest[0][1], text))
    return _distinct(files)


def _distinct(entries: Sequence[tuple[str, str, _Value]]) -> dict[str, _Value]:
    """Returns the values of (name, field, value) by name; raises ValueError if two fields have the same name."""
    found: dict[str, _Value] = {}
    fields: dict[str, str] = {}
    for name, field, value in entries:
        if name in found:
            raise ValueError(
                f"the fields {fields[name]!r} and {field!r} would both be {name!r} in the archive; rename one of them"
            )
        found[name], fields[name] = value, field
    return found


def _npy(value: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, value, allow_pickle=False)
    return out.getvalue()


def _content(value: Any) -> Any:
    """Returns the bytes of a dict {"bytes", "path"}, the Hugging Face Hub's form of a file; returns other values unchanged."""
    if isinstance(value, dict) and isinstance(value.get("bytes"), bytes) and set(value) == {"bytes", "path"}:
        return value["bytes"]
    return value


def _as_text(value: Any) -> Any:
    """Returns the text for a value that JSON cannot represent; decodes bytes as latin-1."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _fields(sample: SourceSample, source: Source, untyped: Set[str] = frozenset()) -> dict[str, Any]:
    """Returns the fields of a sample for a table; parses those that come from a WebDataset, except `untyped`."""
    named = {
        name: value if name in untyped and isinstance(value, bytes) else _typed(name, value)
        for name, value in sample.fields.items()
    }
    return {"key": sample.key, **named} if source.keyed and "key" not in named else named


def _utf8(text: str) -> str:
    """Returns text as it is; in a file's name, bytes that are not UTF-8 become, for instance, \\xff."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _typed(name: str, value: Any) -> Any:
    """Converts an array to NumPy's format, and the bytes of `cls`, `txt` and `json`, as in a WebDataset, to a number or text.

    Bytes of which a number would lose something, such as 007, stay as they are.
    """
    if isinstance(value, np.ndarray):
        return _npy(value)
    suffix = name.rpartition(".")[2]
    if not isinstance(value, bytes) or suffix not in ("cls", "cls2", "txt", "text", "json"):
        return value
    try:
        if not suffix.startswith("cls"):
            return value.decode()
        number = int(value)
    except ValueError:
        return value
    return number if b"%d" % number == value.strip() else value


class Parquet(ShardWriter):
    """Writes a Parquet file with a column for each field."""

    extension = "parquet"
    has_types = True

    def __init__(self, path: str, source: Source, first: Sequence[SourceSample]):
        need_pyarrow("convert")
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._source, self._schema = source, source.schema
        self._lists: set[str] = set()
        self._untyped: set[str] = set()
        if self._schema is None:
            # A column has one type: if it is not a number in one sample, it is bytes in all.
            self._untyped = {
                name
                for sample in first
                for name, value in sample.fields.items()
                if isinstance(value, bytes) and _typed(name, value) is value
            }
            rows = [self._row(sample) for sample in first]
            # A feature may have one value in some tf.train.Examples and several in others; then all its values become lists.
            self._lists = {name for row in rows for name, value in row.items() if isinstance(value, list)}
            types = []
            for name in dict.fromkeys(name for row in rows for name in row):
                try:
                    column = pa.array([self._listed(name, row.get(name)) for row in rows])
                except (TypeError, ValueError, OverflowError) as error:
                    raise ValueError(
                        f"the values of the field {name!r} in the first {len(rows)} samples have no common type: {error}"
                    ) from error
                types.append((name, column.type))
            self._schema = pa.schema(types, _classes(source.classes))
        self._make = pa.Table.from_pylist
        self._writer = pq.ParquetWriter(path, self._schema)
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def _row(self, sample: SourceSample) -> dict[str, Any]:
        return {
            _utf8(name): _utf8(value) if isinstance(value, str) else value
            for name, value in _fields(sample, self._source, self._untyped).items()
        }

    def _listed(self, name: str, value: Any) -> Any:
        return value if value is None or isinstance(value, list) or name not in self._lists else [value]

    def add(self, sample: SourceSample) -> bytes:
        row = {name: self._listed(name, value) for name, value in self._row(sample).items()}
        if unknown := set(row) - set(self._schema.names):
            raise ValueError(
                f"the field {min(unknown)!r} is not in the first samples, from which the columns are taken"
            )
        table = self._make([row], self._schema)
        (found,) = table.to_pylist()
        for name, value in row.items():
            if _differs(value, found[name]):
                raise ValueError(
                    f"the field {name!r} has the value {value!r}, which its column of {self._schema.field(name).type}, the "
                    "type in the first samples, cannot hold"
                )
        self._rows.append(table)
        self._bytes += table.nbytes
        if self._bytes >= _GROUP_BYTES or len(self._rows) >= _GROUP_ROWS:
            self._flush()
        return _checksum([*map(str, self._schema.names), *found.values()])

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.concat_tables(self._rows).combine_chunks())
        self._rows, self._bytes = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()

    @staticmethod
    def checksums(path: str) -> Iterator[bytes]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as opened:
            for group in range(opened.num_row_groups):
                for row in opened.read_row_group(group).to_pylist():
                    yield _checksum([*map(str, row), *row.values()])


def _differs(value: Any, found: Any) -> bool:
    """Returns True if a number, or one in a list, was rounded: Arrow makes a row's 1.5 the 1 of a column of integers."""
    if isinstance(value, list):
        return any(map(_differs, value, found))
    return isinstance(value, (int, float)) and value == value and value != found


def _classes(classes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Builds Arrow metadata with class names, as on the Hugging Face Hub."""
    features = {name: {"names": list(names), "_type": "ClassLabel"} for name, names in classes.items()}
    return {"huggingface": json.dumps({"info": {"features": features}})} if features else {}


class ArrayRecord(ShardWriter):
    """Writes an ArrayRecord file of tf.train.Examples, each in its own chunk."""

    extension = "array_record"

    def __init__(self, path: str, source: Source, first: Sequence[SourceSample]):
        self._source = source
        self._writer = _array_record().ArrayRecordWriter(path, "group_size:1")

    def add(self, sample: SourceSample) -> bytes:
        record = sample.record
        if record is None:
            record = _example(_fields(sample, self._source))
        self._writer.write(record)
        return _checksum([record])

    def close(self) -> None:
        self._writer.close()

    @staticmethod
    def checksums(path: str) -> Iterator[bytes]:
        reader = _array_record().ArrayRecordReader(path)
        try:
            for index in range(reader.num_records()):
                yield _checksum([reader.read([index])[0]])
        finally:
            reader.close()


def _array_record() -> Any:
    try:
        return importlib.import_module("array_record.python.array_record_module")
    except ImportError as error:
        raise ImportError(
            f"writing ArrayRecord needs the package array-record: {install('convert')}"
        ) from error


def _example(fields: Mapping[str, Any]) -> bytes:
    """Builds a tf.train.Example; objects and nested lists become JSON."""
    entries = b""
    for name, value in fields.items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        if all(isinstance(one, (bool, int)) for one in values) and values:
            feature = _field(3, _field(1, b"".join(_varint(one) for one in values)))
        elif all(isinstance(one, float) for one in values) and values:
            feature = _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
        else:
            feature = _field(1, b"".join(_field(1, _as_bytes(one)) for one in values))
        entries += _field(1, _field(1, name.encode(errors="surrogateescape")) + _field(2, feature))
    return _field(1, entries)


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=_as_text)
    return text.encode(errors="surrogateescape")


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


TARGETS: dict[str, type[ShardWriter]] = {
    "webdataset": WebDataset,
    "array_record": ArrayRecord,
    "parquet": Parquet,
}
"""Maps names to the formats that can be written."""


def sync(path: str) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
