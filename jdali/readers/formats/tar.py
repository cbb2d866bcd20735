"""Locates the regular files in a tar archive, or in concatenated archives, without reading their contents."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jdali.readers.formats.records import BadRecord, RecordFiles

BLOCK = 512
# Fields of a POSIX ustar header. The older format has the same fields up to the type.
_NAME, _SIZE, _CHECKSUM, _TYPE, _MAGIC, _PREFIX = (
    slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(257, 263), slice(345, 500),
)  # fmt: skip
_PLAIN, _SPARSE = (b"0", b"\0", b"7"), b"S"
_REGULAR = (*_PLAIN, _SPARSE)
_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL = b"L", b"K", b"x", b"g"
# Offset of the flag "another block follows" in the header of a GNU sparse file, and in each block after it.
_CONTINUED, _CONTINUED_AGAIN = 482, 504
# Maximum size in bytes of a long name or an extended header, and of the zeros between archives. GNU tar writes less than
# 10 KiB.
_MOST_EXTRA = _MOST_ZEROS = 1 << 20
_ZEROS_AT_ONCE = 1 << 16
# Number of bytes to hash from the start of a header: all fields up to the type (`header_mark`), most of the name
# (`name_mark`).
MARKED, NAMED = 160, 96
# Factors of the hash, odd and without a pattern: powers of 2**64 / golden ratio.
_FACTORS = np.array([pow(0x9E3779B97F4A7C15, n, 1 << 64) for n in range(1, MARKED // 8 + 1)], np.uint64)
_SIGNED = struct.Struct(f"{BLOCK}b")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


class Member(NamedTuple):
    """A regular file in an archive.

    Attributes:
        name: path in the archive.
        offset: offset of the content in the archive, bytes.
        size: size of the content, bytes.
        header: the block before the content.
        is_sparse: the file is stored without its zeros, in one of GNU tar's four formats; `offset` and `size` then
            describe the stored data.
    """

    name: bytes
    offset: int
    size: int
    header: bytes
    is_sparse: bool


def members(files: RecordFiles, file: int) -> Iterator[Member]:
    """Yields the regular files of the archive `files.paths[file]`, in order.

    Reads long names in GNU and PAX format, and concatenated archives (`cat a.tar b.tar`).

    Raises:
        BadRecord: the file is not an archive, or is damaged or truncated.
    """
    at, size = 0, files.sizes[file]
    long_name: bytes | None = None
    extended: dict[bytes, bytes] = {}
    while at + BLOCK <= size:
        header = files.read(file, at, BLOCK)
        if not header.strip(b"\0"):
            following = _next_archive(files, file, at)
            if following is None:
                return
            at = following
            header = files.read(file, at, BLOCK)
        _check(header, at)
        kind, length = header[_TYPE], content_size(header, at)
        if kind in _REGULAR and b"size" in extended:
            length = _number(extended[b"size"], at, base=10)
        content = at + BLOCK
        if kind == _SPARSE and header[_CONTINUED]:
            while files.read(file, content, BLOCK)[_CONTINUED_AGAIN]:
                content += BLOCK
            content += BLOCK
        if kind not in _REGULAR and kind not in (_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL):
            # Links and devices have no content, whatever their size field says.
            length = 0 if kind in (b"1", b"2", b"3", b"4", b"5", b"6") else length
        if content + length > size:
            raise BadRecord(
                f"it ends at byte {size}, within the entry at byte {at}, which has {length} bytes"
            )
        if kind in (_LONG_NAME, _EXTENDED):
            if length > _MOST_EXTRA:
                raise BadRecord(
                    f"the name or extended header at byte {at} has {length} bytes, that cannot be"
                )
            extra = files.read(file, content, length)
            if kind == _LONG_NAME:
                long_name = extra.rstrip(b"\0")
            else:
                extended = _extended(extra, at)
        elif kind not in (_LONG_LINK, _GLOBAL):
            name = extended.get(b"GNU.sparse.name") or extended.get(b"path") or long_name or _name(header)
            if kind in _REGULAR and not name.endswith(b"/"):
                is_sparse = kind == _SPARSE or any(key.startswith(b"GNU.sparse.") for key in extended)
                yield Member(name, content, length, header, is_sparse)
            long_name, extended = None, {}
        at = content + length + -length % BLOCK
    if not size:
        raise BadRecord("it is empty, an archive has at least two blocks of 512 bytes")
    if at != size:
        where = f"the header at byte {at}" if at < size else f"the block that ends at byte {at}"
        raise BadRecord(f"it ends at byte {size}, within {where}")


def _next_archive(files: RecordFiles, file: int, end: int) -> int | None:
    """Returns the offset of the archive after the zeros that begin at byte `end`; None if no archive follows."""
    stop = min(files.sizes[file], end + _MOST_ZEROS)
    for at in range(end, stop, _ZEROS_AT_ONCE):
        block = files.read(file, at, min(_ZEROS_AT_ONCE, stop - at))
        zeros = len(block) - len(block.lstrip(b"\0"))
        if zeros < len(block):
            at += zeros - zeros % BLOCK
            has_header = (
                files.sizes[file] - at >= BLOCK and files.read(file, at, BLOCK)[_MAGIC][:5] == b"ustar"
            )
            return at if has_header else None  # like tar, ignores other data after the end
    return None


def content_size(header: bytes, at: int) -> int:
    field = header[_SIZE]
    if field[0] & 0x80:  # binary, for sizes too large for octal digits
        return int.from_bytes(field[1:], "big")
    return _number(field, at, base=8)


def is_header_of(header: bytes, size: int) -> bool:
    """Returns True for the header of a regular file of this size."""
    if header[_TYPE] == b"0" and header[124:135] == b"%011o" % size and header[257:262] == b"ustar":
        return True  # fast path for most headers, since the checksum is expensive
    try:
        _check(header, 0)
        return header[_TYPE] in _PLAIN and content_size(header, 0) == size
    except BadRecord:
        return False


def marks(heads: np.ndarray) -> np.ndarray:
    """Hashes each row of bytes; returns uint64 [n], never 0.

    Args:
        heads: uint8 [n, bytes]; the number of bytes is a multiple of 8.
    """
    words = np.ascontiguousarray(heads).view(np.uint64)
    mixed: np.ndarray = (words ^ words >> np.uint64(29)) @ _FACTORS[: words.shape[1]]
    return mixed | np.uint64(1)  # 0 stands for "no mark"


def header_mark(header: bytes) -> int:
    """Hashes the fields of a header that describe the file: name, owner, size, time, type."""
    mark: int = marks(np.frombuffer(header, np.uint8, MARKED)[None]).item()
    return mark


def name_mark(name: bytes) -> int:
    """Hashes a name as a header stores it; returns 0 for long or non-ASCII names, which formats store in different ways."""
    if len(name) >= NAMED or not name.isascii():
        return 0
    mark: int = marks(np.frombuffer(name.ljust(NAMED, b"\0"), np.uint8)[None]).item()
    return mark


def has_name(header: bytes, mark: int) -> bool:
    """Returns True if `mark` is the hash of the name in a header, with or without its folders; 0 fits any name."""
    name = header[_NAME].split(b"\0", 1)[0]
    return mark in (
        0,
        name_mark(name),
        name_mark(name.removeprefix(b"./")),
        name_mark(name.rpartition(b"/")[2]),
    )


def _check(header: bytes, at: int) -> None:
    """Raises `BadRecord` unless a block is a header with a correct checksum."""
    field = header[_CHECKSUM].strip(b" \0")
    stated = int(field, 8) if field and not field.strip(b"01234567") else -1
    # The checksum counts its own field as blanks. Old programs summed signed bytes.
    own = header[_CHECKSUM]
    total = sum(header) - sum(own) + 8 * ord(" ")
    if stated == total:
        return
    if stated == sum(_SIGNED.unpack(header)) - sum(b - (b >> 7 << 8) for b in own) + 8 * ord(" "):
        return
    if at == 0:
        packed = next((name for magic, name in _COMPRESSED.items() if header.startswith(magic)), None)
        if packed is not None:
            raise BadRecord(
                f"it is compressed ({packed}); only plain tar archives can be read, unpack it first"
            )
        raise BadRecord(
            "Corrupted tar file: it is not a tar archive, or damaged: the checksum of its first header is wrong"
        )
    raise BadRecord(f"it is damaged: the checksum of the header at byte {at} is wrong")


def _number(field: bytes, at: int, *, base: int) -> int:
    digits = field.strip(b" \0")
    try:
        value = int(digits, base) if digits else 0
    except ValueError:
        value = -1
    if value < 0 or b"_" in digits:
        raise BadRecord(f"the header at byte {at} gives the size {field!r}, that is not a number")
    return value


def _name(header: bytes) -> bytes:
    name = header[_NAME].split(b"\0", 1)[0]
    # Only POSIX headers have a prefix; GNU headers use these bytes for other fields.
    prefix = header[_PREFIX].split(b"\0", 1)[0] if header[_MAGIC] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _extended(data: bytes, at: int) -> dict[bytes, bytes]:
    """Parses the records "LENGTH KEY=VALUE\\n" of a PAX header."""
    records = {}
    start, end = 0, len(data.rstrip(b"\0"))
    while start < end:
        blank = data.find(b" ", start, start + 9)
        digits = data[start : max(blank, start)]
        if not digits.isdigit() or not len(digits) + 2 < int(digits) <= len(data) - start:
            raise BadRecord(f"the extended header at byte {at} is damaged")
        start += int(digits)
        key, _, value = data[blank + 1 : start - 1].partition(b"=")
        records[key] = value
    return records
