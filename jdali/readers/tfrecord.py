"""Reads TensorFlow's TFRecord files of tf.train.Example."""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import Arrays, Pieces, cached_index, scan_bar
from jdali._storage import files as _storage
from jdali._system.extras import install
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.records import (
    BadRecord,
    FoundBy,
    Misplaced,
    RecordFiles,
    RecordReader,
    Records,
    cut_short,
    looked_through,
    number_pairs,
    required_paths,
    shared_table,
    user_paths,
)
from jdali.readers.formats.tf_example import ExampleParser
from jdali.tfrecord import Feature

try:
    from crc32c import crc32c
except ImportError:
    crc32c = None

_NAME = "readers.tfrecord"
# A record: length of the data (8 bytes), CRC of the length (4 bytes), data, CRC of the data (4 bytes).
_HEAD = struct.Struct("<QI")
_CRC = struct.Struct("<I")
_AROUND = _HEAD.size + _CRC.size
_CRC_PLUS = 0xA282EAD8
_GZIP = b"\x1f\x8b"


def masked_crc(data: bytes | memoryview) -> int:
    """Computes the CRC-32C as TFRecord files store it, rotated by 15 bits and with a constant added."""
    crc: int = crc32c(data)
    return ((crc >> 15 | crc << 17) + _CRC_PLUS) & 0xFFFFFFFF


@functools.lru_cache(maxsize=1 << 16)
def _crc_of_length(length: int) -> int:
    return masked_crc(length.to_bytes(8, "little"))


def _masked_crcs(raw: memoryview, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    crcs = np.array(
        [crc32c(raw[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)], np.uint32
    )
    masked: np.ndarray = (crcs >> 15 | crcs << 17) + np.uint32(_CRC_PLUS)
    return masked


class TFRecordReader(RecordReader):
    """Reads examples from TFRecord files.

    Args:
        found: for each file, its records, including heads and CRCs, and how they were found (`FoundBy`).
    """

    def __init__(
        self,
        files: RecordFiles,
        found: Sequence[tuple[Records, FoundBy]],
        parser: ExampleParser,
        options: Mapping[str, object],
    ):
        super().__init__(_NAME, files, found, options)
        self._parser, self.num_outputs = parser, parser.num_outputs

    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        return self._parser.parse(checked(record))

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        ok &= pieces.sizes >= _AROUND
        chosen = pieces.select(np.flatnonzero(ok))
        fine = self._sound(buffer, chosen)
        columns = self._parser.columns(buffer, chosen.starts + _HEAD.size, chosen.ends - _CRC.size, fine)
        ok[ok] = fine
        return columns

    def _sound(self, buffer: Buffer, pieces: Pieces) -> np.ndarray:
        """Checks lengths and CRCs; returns bool [n], True for intact records."""
        starts, ends = pieces.starts, pieces.ends
        raw = buffer.bytes.data
        lengths = pieces.sizes - _AROUND
        sound: np.ndarray = buffer.ints(starts) == lengths
        length_crcs = [_crc_of_length(length) for length in lengths.tolist()]
        sound &= buffer.at(starts + 8, "<u4") == np.array(length_crcs, np.uint32)
        data_end = ends - _CRC.size
        sound &= buffer.at(data_end, "<u4") == _masked_crcs(raw, starts + _HEAD.size, data_end)
        return sound


def checked(record: bytes) -> bytes:
    if len(record) < _AROUND:
        raise Misplaced(f"the index gives it {len(record)} bytes, a record has at least {_AROUND}")
    length, crc = _HEAD.unpack_from(record)
    if masked_crc(record[:8]) != crc:
        raise Misplaced("the CRC of its length is wrong, no record begins there")
    if length != len(record) - _AROUND:
        raise Misplaced(
            f"the index gives it {len(record)} bytes, but its length of {length} makes {length + _AROUND}"
        )
    data = record[_HEAD.size : -_CRC.size]
    if masked_crc(data) != _CRC.unpack_from(record, len(record) - _CRC.size)[0]:
        raise BadRecord("the CRC of its data is wrong; the record is damaged")
    return data


def begins_record(head: bytes) -> bool:
    """Returns True if a TFRecord file can begin with these bytes."""
    _need_crc()
    return len(head) >= _HEAD.size and masked_crc(head[:8]) == _HEAD.unpack_from(head)[1]


def build_index(path: str, progress: Callable[[int], object] | None = None) -> Records:
    """Scans a file for its records.

    Args:
        progress: called with the number of bytes seen, after each record.

    Raises:
        CutShort: the file is not a TFRecord file, is damaged, or ends within a record.
    """
    _need_crc()
    offsets: list[int] = []
    sizes: list[int] = []
    at = 0

    def record() -> str:
        return f"record {len(offsets)} at byte {at}"

    with _storage.open(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        while at < size:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise cut_short(_NAME, path, f"ends at byte {size}, within {record()}", offsets, at)
            length, crc = _HEAD.unpack(head)
            if masked_crc(head[:8]) != crc:
                reason = (
                    f"has no {record()} (the CRC of its length is wrong); where the next one begins cannot be "
                    "known without an index"
                )
                if at == 0 and head.startswith(_GZIP):
                    reason = "is compressed (gzip); only plain TFRecord files can be read, unpack it first"
                raise cut_short(_NAME, path, reason, offsets, at)
            if at + length + _AROUND > size:
                reason = f"ends at byte {size}, within {record()}, which has {length + _AROUND} bytes"
                raise cut_short(_NAME, path, reason, offsets, at)
            offsets.append(at)
            sizes.append(length + _AROUND)
            at += length + _AROUND
            file.seek(at)
            if progress is not None:
                progress(at)
    return Records(np.array(offsets, np.int64), np.array(sizes, np.int64))


def _scanned(path: str, fits: Callable[[Arrays], bool]) -> Records:
    def scan() -> Arrays:
        with scan_bar(path) as progress:
            return build_index(path, progress)._asdict()

    return Records(**cached_index("tfrecord", path, scan, fits))


def _records(files: RecordFiles, index_paths: Sequence[str], goes_on: bool) -> list[tuple[Records, FoundBy]]:
    """Finds the records of each file from an index or a scan. With `goes_on`, a failed scan keeps the records found so far."""
    if not index_paths:

        def begins(file: int, offset: int, size: int) -> bool:
            return _size_of(files, file, offset) == size

        return [looked_through(files, file, goes_on, _scanned, begins) for file in range(len(files.paths))]
    found: list[tuple[Records, FoundBy]] = []
    for file, index in enumerate(index_paths):
        found.append((shared_table(files, file, functools.partial(_indexed, files, file, index)), index))
    return found


def _indexed(files: RecordFiles, file: int, index: str) -> Records:
    offsets, sizes = number_pairs(_NAME, index).T.copy()
    beyond = np.flatnonzero(offsets >= files.sizes[file])
    if len(beyond):
        raise ValueError(
            f"{_NAME}: the index {index} does not fit {files.paths[file]}: its record {beyond[0]} begins at byte "
            f"{offsets[beyond[0]]}, but the file has {files.sizes[file]} bytes"
        )
    records = Records(offsets, sizes)
    _check_first(files, file, index, records)
    return records


def _size_of(files: RecordFiles, file: int, offset: int) -> int | None:
    """Returns the size of the record at an offset, bytes; None if no record begins there."""
    head = files.read(file, offset, _HEAD.size)
    length, crc = _HEAD.unpack(head)
    return length + _AROUND if masked_crc(head[:8]) == crc else None


def _check_first(files: RecordFiles, file: int, index: str, records: Records) -> None:
    """Raises ValueError if the first record is intact, but has another size than in the index."""
    offset, size = records.offsets.item(0), records.sizes.item(0)
    if offset + _HEAD.size > files.sizes[file]:
        return
    found = _size_of(files, file, offset)
    if found is not None and found != size:
        raise ValueError(
            f"{_NAME}: the index {index} does not fit {files.paths[file]}: it gives the record at byte {offset} {size} "
            f"bytes, but it has {found}"
        )


def _need_crc() -> None:
    if crc32c is None:
        raise ImportError(
            f"{_NAME}: the package crc32c, which checks the records, is missing: {install('records')}"
        )


def _num_outputs(arguments: Mapping[str, Any]) -> int:
    _check_features(arguments["features"])
    return len(arguments["features"])


def _check_features(features: object) -> None:
    if not isinstance(features, Mapping) or not features:
        raise TypeError(f"{_NAME}: features must be a dict with at least one feature, got {features!r}")
    for name, feature in features.items():
        if not isinstance(feature, Feature):
            raise TypeError(
                f'{_NAME}: Expected `jdali.tfrecord.Feature` for the "{name}", but got {type(feature)}. Use '
                "`jdali.tfrecord.FixedLenFeature` or `jdali.tfrecord.VarLenFeature` to define the features to extract."
            )


@reader(
    name=_NAME, outputs=_num_outputs, devices=("cpu",), source="operators/reader/parser/tfrecord_parser.h"
)
@also_takes(shuffle_options, reader_options)
def tfrecord(
    *,
    features: Static[Mapping[str, Feature]],
    path: Static[tuple[str, ...]],
    index_path: Static[tuple[str, ...] | None] = None,
    use_o_direct: Static[bool] = False,
    **options: Any,
) -> TFRecordReader:
    """Reads features from the records of TFRecord files: an output for each feature; `fn` returns a dict of the outputs.

    The CRC of each record is checked. Where a record has fewer elements than the feature's shape, the
    feature's default value fills the rest. A feature whose stored type differs from the declared type raises an error.

    Parity: DALI does not check CRCs, leaves missing elements undefined, and requires an index.

    Args:
        features: {name: `jdali.tfrecord.FixedLenFeature` or `VarLenFeature`}, the features to read.
        path: paths of the files.
        index_path: path of the index of each file, in the format of `tfrecord2idx`: each line has the offset and the
            size of a record. None: the index is made on first use and cached in the user's cache folder.
        use_o_direct: without effect.

    Returns: for each feature int64 or float32 of its shape, or uint8 [bytes] for a string.

    Example:
        features = {"image": tfrec.FixedLenFeature((), tfrec.string, ""), "label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}
        record = fn.readers.tfrecord(path="data.tfrecord", features=features)
        jpegs, labels = record["image"], record["label"]
    """
    _need_crc()
    _check_features(features)
    paths, indexes = required_paths(_NAME, "path", path), user_paths(_NAME, "index_path", index_path)
    if indexes and len(indexes) != len(paths):
        raise ValueError(
            f"{_NAME}: {len(indexes)} index files for {len(paths)} files. Number of index files needs to match the number of "
            "data files"
        )
    return opened(RecordFiles(_NAME, paths), indexes, ExampleParser(features), options)


def opened(
    files: RecordFiles, index_paths: Sequence[str], parser: ExampleParser, options: Mapping[str, Any]
) -> TFRecordReader:
    _need_crc()
    records = _records(files, index_paths, options.get("_goes_on", False))
    return TFRecordReader(files, records, parser, options)
