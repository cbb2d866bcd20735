"""Parses many records at once, by NumPy operations over all records.

Only records of the usual form are parsed. For any other record, a function sets the record's element of `ok` to False.
Slower code then parses this record alone, and raises an error if it is bad. So functions here raise no errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, PaddedBlock, RaggedBlock, Store
from jdali.readers.formats.protobuf import BYTES, VARINT, WIDTH, varints_of

# In a record of the usual form, lengths have at most 4 bytes and numbers at most 7; both are varints.
_LENGTH_BYTES, _NUMBER_BYTES = 4, 7
_MOST_FIELDS = 64


class Buffer:
    """Reads numbers at many offsets of a block of bytes at once.

    Args:
        raw: uint8 [bytes]; offsets must lie at least 8 bytes before its end.
    """

    def __init__(self, raw: np.ndarray):
        self.bytes = raw
        self._views: dict[str, np.ndarray] = {}

    def at(self, offsets: np.ndarray, dtype: str) -> np.ndarray:
        """Reads an element of `dtype` at each offset; returns [n]."""
        view = self._views.get(dtype)
        if view is None:
            # A view with a stride of 1 byte can read an element at any offset.
            room = len(self.bytes) - np.dtype(dtype).itemsize + 1
            view = self._views[dtype] = np.ndarray((room,), dtype, self.bytes.data, strides=(1,))
        return view[offsets]

    def ints(self, offsets: np.ndarray) -> np.ndarray:
        """Reads 8 bytes at each offset as one number; returns int64 [n]."""
        return self.at(offsets, "<i8")


def varints(words: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decodes varints; returns their values, their sizes in bytes, and bool [n], True if a varint has more than `most` bytes.

    Args:
        words: int64 [n]; in each, a varint begins at the lowest byte.
        most: maximum number of bytes of a varint, at most 8.
    """
    values = words & 0x7F
    more = (words & 0x80) != 0
    sizes = np.ones(len(words), np.int64)
    for byte in range(1, most):
        if not more.any():
            break
        part = words >> (8 * byte)
        values |= ((part & 0x7F) << (7 * byte)) * more
        sizes += more
        more = more & ((part & 0x80) != 0)
    return values, sizes, more


def only_content(buffer: Buffer, at: np.ndarray, end: np.ndarray, tag: int) -> tuple[np.ndarray, np.ndarray]:
    """Reads a field at each offset; returns its content's start, and True if it has this tag and ends at `end`."""
    words = buffer.ints(at)
    lengths, sizes, endless = varints(words >> 8, _LENGTH_BYTES)
    starts = at + 1 + sizes
    return starts, ((words & 0xFF) == tag) & ~endless & (starts + lengths == end)


def map_entries(
    buffer: Buffer, at: np.ndarray, end: np.ndarray, ok: np.ndarray, wanted: Mapping[bytes, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Finds values in messages that consist of one map<string, message>, field 1.

    Args:
        buffer, at, end: the messages are the bytes from `at` to `end`.
        ok: bool [n], updated.
        wanted: {name: its number, from 0}.

    Returns: starts and ends of the values, int64 [wanted, n] each; 0 for a missing value.
    """
    first = np.zeros((len(wanted), len(at)), np.int64)
    last = np.zeros_like(first)
    rows = np.flatnonzero(ok & (at < end))
    at, end = at[rows], end[rows]
    while len(rows):
        words = buffer.ints(at)
        lengths, sizes, endless = varints(words >> 8, _LENGTH_BYTES)
        starts = at + 1 + sizes
        stops = starts + lengths
        heads = buffer.at(starts, "<u2").astype(np.int64)
        names = heads >> 8
        values = starts + 2 + names
        usual = (
            ((words & 0xFF) == 0x0A) & ~endless & (stops <= end)
            & ((heads & 0xFF) == 0x0A) & (names < 0x80) & (values < stops)
        )  # fmt: skip
        if not usual.all():
            ok[rows[~usual]] = False
            rows, starts, stops, end, names, values = (
                a[usual] for a in (rows, starts, stops, end, names, values)
            )
        numbers = _numbers(buffer, starts + 2, names, wanted)
        taken = numbers >= 0
        if taken.any():
            if not taken.all():
                numbers, mine, values, ends = numbers[taken], rows[taken], values[taken], stops[taken]
            else:
                mine, ends = rows, stops
            contents, usual = only_content(buffer, values, ends, 0x12)
            ok[mine[~usual]] = False
            first[numbers, mine], last[numbers, mine] = contents, ends
        live = stops < end
        at = stops
        if not live.all():
            rows, at, end = rows[live], at[live], end[live]
    return first, last


def _numbers(
    buffer: Buffer, starts: np.ndarray, sizes: np.ndarray, wanted: Mapping[bytes, int]
) -> np.ndarray:
    """Looks up the name at each offset in `wanted`; returns the names' numbers, int64 [n]; -1 for unwanted names."""
    if not len(starts):
        return np.zeros(0, np.int64)
    size = sizes.item(0)
    # Fast path if all names are equal. They often are, because most writers use the same order in all records.
    if size and (sizes == size).all():
        together = buffer.at(starts, f"V{size}").tobytes()
        name = together[:size]
        if together == name * len(starts):
            return np.full(len(starts), wanted.get(name, -1), np.int64)
    pairs = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
    raw = buffer.bytes
    return np.array([wanted.get(raw[a:b].tobytes(), -1) for a, b in pairs], np.int64)


def fields(
    buffer: Buffer, at: np.ndarray, end: np.ndarray, ok: np.ndarray
) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """Finds the fields of messages. Clears `ok` for each message whose list of tags differs from the first message's.

    Args:
        buffer, at, end: the messages are the bytes from `at` to `end`.
        ok: bool [n], updated.

    Returns: (number, kind, values, ends) of each field. `values` are the decoded varints, or the starts of the content for
        other kinds of fields. `values` and `ends` are unspecified for messages that are not ok.
    """
    found: list[tuple[int, int, np.ndarray, np.ndarray]] = []
    ok &= at <= end
    while ok.any():
        model = int(ok.argmax())
        if at[model] == end[model]:
            ok &= at == end
            return found
        words = buffer.ints(at)
        tags = words & 0xFF
        tag = tags.item(model)
        kind = tag & 7
        ok &= (tags == tag) & (at < end)
        if kind == BYTES:
            lengths, sizes, endless = varints(words >> 8, _LENGTH_BYTES)
            values = at + 1 + sizes
            ends = values + lengths
        elif kind == VARINT:
            values, sizes, endless = varints(words >> 8, _NUMBER_BYTES)
            ends = at + 1 + sizes
        else:
            endless = np.zeros(len(at), bool)
            values = at + 1
            ends = values + WIDTH.get(kind, 0)
        ok &= ~endless & (ends <= end)
        if tag >= 0x80 or kind not in (BYTES, VARINT, *WIDTH) or len(found) == _MOST_FIELDS:
            ok[:] = False
        found.append((tag >> 3, kind, values, ends))
        at = np.where(ok, ends, at)
    return found


def byte_column(buffer: Buffer, starts: np.ndarray, sizes: np.ndarray) -> Store:
    """Builds a column of bytes, uint8 [size], as views of the buffer."""
    extents = sizes.reshape(-1, 1)
    return Store.of_block(RaggedBlock(buffer.bytes, starts, extents), BatchSpec(extents, buffer.bytes.dtype))


def dense_column(values: np.ndarray) -> Store:
    """Builds a column of samples of one shape from an array [n, ...]."""
    extents = np.tile(np.array(values.shape[1:], np.int64), (len(values), 1))
    return Store.of_block(PaddedBlock(values), BatchSpec(extents, values.dtype))


def ragged_column(values: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> Store:
    """Builds a column whose samples are views of an array [rows, ...]: sample i has `counts[i]` rows from `starts[i]` on."""
    tail = np.tile(np.array(values.shape[1:], np.int64), (len(starts), 1))
    extents = np.concatenate([counts[:, None], tail], axis=1)
    block = RaggedBlock(values.reshape(-1), starts * math.prod(values.shape[1:]), extents)
    return Store.of_block(block, BatchSpec(extents, values.dtype))


def packed_integers(
    buffer: Buffer, first: np.ndarray, last: np.ndarray, ok: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Decodes the varints from `first` to `last` in each record; clears `ok` for bad records.

    Returns: the values of all records, int64 [all], and the number of values of each record, int64 [n].
    """
    sizes = last - first
    if len(sizes) and sizes.min() > 0 and sizes.max() <= _NUMBER_BYTES:
        values, bytes_, endless = varints(buffer.ints(first), _NUMBER_BYTES)
        if (bytes_ == sizes).all() and not endless.any():  # each record has one varint
            return values, np.ones(len(first), np.int64)
    # A varint that does not end would continue into the next record.
    ended = (sizes > 0) & (buffer.at(np.maximum(last - 1, 0), "u1") < 0x80)
    ok &= ended
    rows = np.flatnonzero(ended)
    counts = np.zeros(len(first), np.int64)
    if not len(rows):
        return np.empty(0, np.int64), counts
    groups = buffer.bytes[_ranges(first[rows], sizes[rows])]
    values, lengths = varints_of(groups)
    ends = np.cumsum(lengths)
    bounds = np.searchsorted(ends, np.cumsum(sizes[rows]), side="right")
    counts[rows] = np.diff(bounds, prepend=0)
    too_long = lengths > 10
    if too_long.any():
        ok[rows[np.searchsorted(bounds, np.flatnonzero(too_long), side="right")]] = False
    return values, counts


def packed_reals(
    buffer: Buffer, first: np.ndarray, last: np.ndarray, ok: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Reads the floats from `first` to `last` in each record; clears `ok` for records that end within a float.

    Returns: the values of all records, float32 [all], and the number of values of each record, int64 [n].
    """
    counts, rest = np.divmod(last - first, 4)
    ok &= rest == 0
    return reals(buffer, first, counts), counts


def reals(buffer: Buffer, first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Reads `counts` floats from each offset on; returns all of them, float32 [sum of counts]."""
    return buffer.at(_ranges(first, counts, 4), "<f4")


def _ranges(starts: np.ndarray, counts: np.ndarray, step: int = 1) -> np.ndarray:
    """Concatenates ranges. Range i has `counts[i]` numbers from `starts[i]` on, `step` apart."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - step * before, counts) + step * np.arange(counts.sum())


def shaped_column(
    values: np.ndarray, counts: np.ndarray, shape: tuple[int, ...] | None, partial: tuple[int, ...],
    ok: np.ndarray,
) -> Store:  # fmt: skip
    """Builds a column of samples of shape `shape`, or [rows, *partial] if `shape` is None.

    Clears `ok` for records whose number of values does not fit the shape; their samples are unspecified.
    """
    if shape is not None:
        usual = counts == math.prod(shape)
        ok &= usual
        if usual.all():
            return dense_column(values.reshape(len(counts), *shape))
        extents = np.tile(np.array(shape, np.int64), (len(counts), 1))
    else:
        rows, rest = np.divmod(counts, math.prod(partial))
        ok &= rest == 0
        tails = np.tile(np.array(partial, np.int64), (len(counts), 1))
        extents = np.concatenate([rows[:, None], tails], axis=1)
    starts = np.cumsum(counts) - counts
    return Store.of_block(RaggedBlock(values, starts, extents), BatchSpec(extents, values.dtype))


def pick(columns: list[Store], ok: np.ndarray) -> tuple[Any, ...]:
    if ok.all():
        return tuple(columns)
    rows = np.flatnonzero(ok)
    return tuple(column.select(rows) for column in columns)
