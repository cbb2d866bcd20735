"""Parses the parts of Protocol Buffers' wire format that data sets use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jdali._storage import BadRecord

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTH = {FIXED64: 8, FIXED32: 4}
_MASK64 = (1 << 64) - 1
_MOST_VARINT_BYTES = 10
# For up to this many bytes, a loop is faster than NumPy.
_FEW_BYTES = 24

# (number, kind, value, end); for kinds other than varint, the value is the offset of the content.
Field = tuple[int, int, int, int]


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Decodes the varint at `at`; returns value and end."""
    if at + 1 < end and data[at + 1] < 0x80 <= data[at]:  # fast path: most lengths have two bytes
        return data[at] & 0x7F | data[at + 1] << 7, at + 2
    value = shift = 0
    last = min(end, at + _MOST_VARINT_BYTES)
    while at < last:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise BadRecord(f"its protocol buffer has a number that does not end (byte {at} of its data)")


def fields(data: bytes, at: int, end: int) -> list[Field]:
    found: list[Field] = []
    while at < end:
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = varint(data, at - 1, end)
        kind = tag & 7
        if kind == BYTES:
            if at < end and data[at] < 0x80:
                length = data[at]
                at += 1
            else:
                length, at = varint(data, at, end)
            stop = at + length
            found.append((tag >> 3, kind, at, stop))
        elif kind == VARINT:
            value, stop = varint(data, at, end)
            found.append((tag >> 3, kind, value, stop))
        elif kind in WIDTH:
            stop = at + WIDTH[kind]
            found.append((tag >> 3, kind, at, stop))
        else:
            raise BadRecord(f"its protocol buffer has a field of unknown kind {kind} (byte {at} of its data)")
        if stop > end:
            raise BadRecord(
                f"its protocol buffer has a field that reaches past its end (byte {at} of its data)"
            )
        at = stop
    return found


def map_entries(data: bytes, at: int, end: int, wanted: Mapping[bytes, int]) -> list[tuple[int, int, int]]:
    """Lists the wanted entries of data[at:end], a message that consists of one map<string, message>, field 1.

    Args:
        wanted: {name: number}.

    Returns: (number, start of the value, end of the value) of each wanted entry, in stored order.
    """
    found = []
    for start, stop in contents(fields(data, at, end), 1):
        name, value = b"", (0, 0)
        for number, kind, first, last in fields(data, start, stop):
            if kind == BYTES and number == 1:
                name = data[first:last]
            elif kind == BYTES and number == 2:
                value = (first, last)
        if name in wanted:
            found.append((wanted[name], *value))
    return found


def signed(value: int) -> int:
    value &= _MASK64
    return value - (1 << 64) if value >> 63 else value


def integers(data: bytes, found: list[Field], number: int) -> np.ndarray:
    """Returns the values of a repeated integer field, packed or not, int64 [n]."""
    parts: list[np.ndarray] = []
    for field, kind, start, end in found:
        if field != number:
            continue
        if kind == BYTES:
            parts.append(packed_integers(data, start, end))
        elif kind == VARINT:
            parts.append(np.array([signed(start)], np.int64))
        else:
            raise BadRecord(
                f"its protocol buffer has a field {number} of kind {kind} where integers should be"
            )
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])


def packed_integers(data: bytes, at: int, end: int) -> np.ndarray:
    """Decodes the varints in data[at:end]; returns int64 [n]."""
    if end - at == 1 and data[at] < 0x80:
        return np.array([data[at]], np.int64)
    if end - at <= _FEW_BYTES:
        few = []
        while at < end:
            value, at = varint(data, at, end)
            few.append(signed(value))
        return np.array(few, np.int64)
    groups = np.frombuffer(data, np.uint8, end - at, at)
    if groups[-1] >= 0x80:
        raise BadRecord(f"its protocol buffer has a number that does not end (byte {end} of its data)")
    values, lengths = varints_of(groups)
    if lengths.max() > _MOST_VARINT_BYTES:
        raise BadRecord("its protocol buffer has a number of more than 10 bytes")
    return values


def varints_of(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decodes bytes that consist of whole varints; returns int64 [n], and the number of bytes of each varint."""
    ends = np.flatnonzero(groups < 0x80)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    digit = np.arange(len(groups)) - np.repeat(starts, lengths)
    # Only one bit of a varint's tenth byte fits into 64 bits; NumPy's shift drops the other bits.
    shifted = (groups & 0x7F).astype(np.uint64) << (7 * digit).astype(np.uint64)
    values: np.ndarray = np.bitwise_or.reduceat(shifted, starts)
    return values.view(np.int64), lengths


def reals(data: bytes, found: list[Field], number: int, dtype: np.dtype[np.floating]) -> np.ndarray:
    """Returns the values of a repeated float (float32) or double (float64) field, packed or not; [n] of `dtype`."""
    parts: list[np.ndarray] = []
    width = dtype.itemsize
    for field, kind, start, end in found:
        if field != number:
            continue
        if kind not in (BYTES, FIXED32 if width == 4 else FIXED64) or (end - start) % width:
            raise BadRecord(
                f"its protocol buffer has a field {number} of {end - start} bytes where {dtype} should be"
            )
        parts.append(np.frombuffer(data, dtype, (end - start) // width, start))
    if len(parts) > 8:  # probably not packed, so each part is one number
        return np.frombuffer(b"".join(p.tobytes() for p in parts), dtype)
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def last_integer(found: list[Field], number: int) -> int | None:
    """Returns the value of an integer field, or its last value if it is repeated; None if it is missing."""
    value = None
    for field, kind, start, _ in found:
        if field == number:
            if kind != VARINT:
                raise BadRecord(
                    f"its protocol buffer has a field {number} of kind {kind} where an integer should be"
                )
            value = signed(start)
    return value


def contents(found: list[Field], number: int) -> list[tuple[int, int]]:
    """Returns start and end of each occurrence of a field of bytes or messages."""
    bounds = []
    for field, kind, start, end in found:
        if field == number:
            if kind != BYTES:
                raise BadRecord(
                    f"its protocol buffer has a field {number} of kind {kind} where bytes should be"
                )
            bounds.append((start, end))
    return bounds
