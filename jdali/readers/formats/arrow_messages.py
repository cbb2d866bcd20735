"""Locates the record batches of an Arrow file. Only a few fields of each message are parsed."""

from __future__ import annotations

import os
import struct
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from jdali._storage import BadRecord
from jdali._system.regular_file import check_size

# First bytes of a random-access file, which then continues like a stream.
_MAGIC = b"ARROW1\0\0"
_CONTINUES = 0xFFFFFFFF
_END, _OLD_END = b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0"
_PREFIX = 8
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3


class Messages(NamedTuple):
    """Locates the record batches of a file; each attribute is int64 [n].

    Attributes:
        offsets: offset of each head in the file, bytes.
        heads: sizes of the heads, bytes; a body follows each head.
        bodies: sizes of the bodies, bytes.
        rows: numbers of rows.
    """

    offsets: np.ndarray
    heads: np.ndarray
    bodies: np.ndarray
    rows: np.ndarray


class Head(NamedTuple):
    """The head of a message.

    Attributes:
        kind: schema, dictionary or record batch.
        body: size of the body, bytes.
        rows: number of rows of a record batch.
        buffers: (offset in the body, size) of each buffer of a record batch, bytes.
        packed: the buffers are compressed.
    """

    kind: int
    body: int
    rows: int = 0
    buffers: tuple[tuple[int, int], ...] = ()
    packed: bool = False


def head_of(data: bytes) -> Head:
    """Parses the head of a message (a flatbuffer); raises `BadRecord` if it is damaged."""
    try:
        message = _Table(data, _at(data, "<I", 0))
        kind, body = message.number("<B", 1), message.number("<q", 3)
        if body < 0:
            raise BadRecord("a message has a body of less than no bytes")
        if kind != _BATCH:
            return Head(kind, body)
        batch = message.table(2)
        rows = batch.number("<q", 0)
        if rows < 0:
            raise BadRecord("a record batch has less than no rows")
        return Head(kind, body, rows, batch.buffers(2), batch.has(3))
    except struct.error as error:
        raise BadRecord("a message's head is damaged") from error


def _at(data: bytes, form: str, offset: int) -> int:
    if offset < 0:
        raise struct.error
    value: int = struct.unpack_from(form, data, offset)[0]
    return value


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, at: int):
        self._data, self._start = data, at
        self._fields = at - _at(data, "<i", at)
        self._size = _at(data, "<H", self._fields)

    def _where(self, field: int) -> int:
        """Returns the offset of a field; 0 if it is missing."""
        slot = 4 + 2 * field
        offset = _at(self._data, "<H", self._fields + slot) if slot + 2 <= self._size else 0
        return self._start + offset if offset else 0

    def has(self, field: int) -> bool:
        return self._where(field) > 0

    def number(self, form: str, field: int) -> int:
        where = self._where(field)
        return _at(self._data, form, where) if where else 0

    def table(self, field: int) -> _Table:
        where = self._where(field)
        return _Table(self._data, where + _at(self._data, "<I", where))

    def buffers(self, field: int) -> tuple[tuple[int, int], ...]:
        """Returns the pairs of numbers in a field that is a vector of structs."""
        where = self._where(field)
        if not where:
            return ()
        where += _at(self._data, "<I", where)
        count = _at(self._data, "<I", where)
        numbers = struct.unpack_from(f"<{2 * min(count, len(self._data))}q", self._data, where + 4)
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def look_through(path: str, file: BinaryIO) -> tuple[Any, Messages]:
    """Finds the schema and the record batches of a file; raises `BadRecord` if the file is damaged."""
    import pyarrow as pa

    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    at = len(_MAGIC) if file.read(len(_MAGIC)) == _MAGIC else 0
    schema = None
    found: list[tuple[int, int, int, int]] = []
    while at < size:
        file.seek(at)
        prefix = file.read(_PREFIX)
        if prefix in (_END, _OLD_END):
            break
        mark, length = struct.unpack("<II", prefix.ljust(_PREFIX, b"\0"))
        if mark != _CONTINUES:
            raise BadRecord(
                "is not a file or stream of Arrow" if schema is None else f"has no message at byte {at}"
            )
        if at + _PREFIX + length > size:
            raise BadRecord(f"ends within the message at byte {at}")
        check_size(path, length)
        data = file.read(length)
        try:
            head = head_of(data)
            if schema is None:
                if head.kind != _SCHEMA:
                    raise BadRecord("it begins without a schema")
                schema = pa.ipc.read_schema(pa.py_buffer(prefix + data))
            elif head.kind == _BATCH:
                found.append((at, _PREFIX + length, head.body, head.rows))
            elif head.kind != _DICTIONARY:
                raise BadRecord(f"the message at byte {at} is not a record batch")
        except ValueError as error:
            raise BadRecord(f"is damaged: {error}") from error
        at += _PREFIX + length + head.body
        if at > size:
            raise BadRecord(f"ends within the message before byte {at}")
    if schema is None:
        raise BadRecord("is not a file or stream of Arrow: it is empty")
    return schema, Messages(*np.array(found, np.int64).reshape(-1, 4).T.copy())
