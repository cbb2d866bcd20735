"""Reads Arrow columns as samples that are views of Arrow's memory.

This module checks all offsets against the ends of the buffers, and then reads the buffers with NumPy. Arrow does not
check offsets, so it would read damaged data out of bounds.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, PaddedBlock, RaggedBlock, Store, aligned_empty
from jdali._storage import BadRecord
from jdali._system.extras import install
from jdali.readers.formats.columns import dense_column

try:
    import pyarrow as pa
except ImportError:
    pa = None
__all__ = [
    "REASONS",
    "Column",
    "column_of",
    "consecutive",
    "content_path",
    "field_of",
    "kind_of",
    "need_pyarrow",
    "of_one_size",
    "pa",
    "taken",
]

# Meanings of the codes in `Column.wrong`.
REASONS = {
    1: "it has no value (null)",
    2: "its lists differ in length, so they make no array",
    3: "its index is not one of the dictionary",
}
_NULL, _IRREGULAR, _BEYOND = REASONS
# Name of the field that is read as the sample if a column has structs. The Hugging Face Hub stores pictures and sounds as
# {"bytes", "path"}.
_CONTENT = "bytes"
# Samples of up to this many bytes are copied into one block; larger samples stay in Arrow's memory.
_SMALL = 1 << 14
_TENSOR = "arrow.fixed_shape_tensor"


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """The samples of one column.

    Attributes:
        values: [elements], in Arrow's memory.
        starts: int64 [n], start of each sample in `values`, elements.
        extents: int64 [n, ndim], shapes of the samples.
        wrong: uint8 [n], 0 for a sample that is an array, otherwise a key of `REASONS`.
    """

    values: np.ndarray
    starts: np.ndarray
    extents: np.ndarray
    wrong: np.ndarray

    @functools.cached_property
    def flawed(self) -> bool:
        """True if some samples are not arrays."""
        return bool(self.wrong.any())

    @functools.cached_property
    def block(self) -> np.ndarray | None:
        """The samples as one view [n, ...] of Arrow's memory; None unless they are contiguous and have one shape."""
        if not len(self.starts) or (self.extents != self.extents[0]).any():
            return None
        first, shape = self.starts.item(0), self.extents[0].tolist()
        size = math.prod(shape)
        if (np.diff(self.starts) != size).any():
            return None
        values = self.values[first : first + size * len(self.starts)]
        if len(values) < size * len(self.starts):  # for instance in a column of type null
            return None
        return values.reshape(len(self.starts), *shape)

    def store(self, rows: np.ndarray | slice) -> Store:
        """Returns the samples of these rows as a column of a batch."""
        if not isinstance(rows, slice):
            rows = run if (run := consecutive(rows)) is not None else rows
        spec = BatchSpec(self.extents[rows], self.values.dtype)
        if self.block is not None and isinstance(rows, slice):
            return Store.of_block(PaddedBlock(self.block[rows]), spec)
        if (store := of_one_size([(self, rows)], [np.arange(spec.batch_size)])) is not None:
            return store
        starts = self.starts[rows]
        if not spec.ndim:
            return Store.of_block(PaddedBlock(self.values[starts]), spec)
        return Store.of_block(RaggedBlock(self.values, starts, spec.extents), spec)


def consecutive(rows: np.ndarray) -> slice | None:
    """Returns rows as a slice; None unless they are consecutive and ascending."""
    if not len(rows) or rows.item(-1) - rows.item(0) != len(rows) - 1 or (rows[1:] <= rows[:-1]).any():
        return None
    return slice(rows.item(0), rows.item(-1) + 1)


def of_one_size(
    parts: Sequence[tuple[Column, np.ndarray | slice]], places: Sequence[np.ndarray]
) -> Store | None:
    """Copies small samples of one shape into one block; returns None if samples are large or their shapes differ.

    Args:
        parts: pairs (column, rows to take from the column).
        places: for each part, the positions of its samples in the batch.
    """
    blocks = [block for column, _ in parts if (block := column.block) is not None]
    if len(blocks) < len(parts) or blocks[0][0].nbytes > _SMALL:
        return None
    first = blocks[0]
    if any((block.dtype, block.shape[1:]) != (first.dtype, first.shape[1:]) for block in blocks):
        return None
    count = sum(map(len, places))
    out = aligned_empty((count, *first.shape[1:]), first.dtype)
    for block, (_, rows), at in zip(blocks, parts, places, strict=True):
        out[at] = block[rows]
    return dense_column(out)


def need_pyarrow(name: str) -> None:
    if pa is None:
        raise ImportError(
            f"{name}: the package pyarrow, which reads the data, is missing: {install('tables')}"
        )


def field_of(kind: Any, path: str) -> Any:
    """Returns the type of a column, or None if it does not exist.

    Args:
        path: name of the column, or names of nested fields separated by ".".
    """
    if (number := kind.get_field_index(path)) >= 0:
        return kind.field(number).type
    outer, dot, inner = path.partition(".")
    if not dot or (number := kind.get_field_index(outer)) < 0:
        return None
    nested = kind.field(number).type
    return field_of(nested, inner) if pa.types.is_struct(nested) else None


def kind_of(kind: Any) -> tuple[np.dtype, int]:
    """Returns element type and number of axes of a column's samples; raises TypeError if they are not arrays."""
    empty = column_of(pa.nulls(0, kind))
    return empty.values.dtype, empty.extents.shape[1]


def content_path(kind: Any, path: str) -> str:
    """Returns the path to read for a column; for a struct with a field "bytes", this field's path."""
    return f"{path}.{_CONTENT}" if pa.types.is_struct(kind) and _content(kind) >= 0 else path


def taken(batch: Any, path: str) -> Any:
    """Returns a column of a record batch by its path; values inside a null struct are null."""
    if (number := batch.schema.get_field_index(path)) >= 0:
        return batch.column(number)
    outer, _, inner = path.partition(".")
    array = batch.column(batch.schema.get_field_index(outer))
    while True:
        if (number := array.type.get_field_index(inner)) >= 0:
            return array.flatten()[number]
        outer, _, inner = inner.partition(".")
        array = array.flatten()[array.type.get_field_index(outer)]


def column_of(array: Any) -> Column:
    """Reads an Arrow array; raises TypeError for an unsupported type, `BadRecord` for damaged data."""
    kind, types = array.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _shaped(column_of(array.storage), kind)
    if types.is_dictionary(kind):
        return _looked_up(array)
    if types.is_struct(kind) and (number := _content(kind)) >= 0:
        return column_of(array.flatten()[number])
    if types.is_fixed_size_list(kind):
        starts = (array.offset + np.arange(len(array) + 1)) * kind.list_size
        return _lists(array, starts)
    if types.is_list(kind) or types.is_large_list(kind):
        return _lists(array, _offsets(array, 64 if types.is_large_list(kind) else 32))
    if types.is_binary_view(kind) or types.is_string_view(kind):
        array.validate(full=True)
        array = array.cast(pa.large_binary())
        kind = array.type
    if types.is_binary(kind) or types.is_string(kind):
        return _bytes(array, 32)
    if types.is_large_binary(kind) or types.is_large_string(kind):
        return _bytes(array, 64)
    if types.is_fixed_size_binary(kind):
        return _fixed_bytes(array)
    return _numbers(array)


def _content(kind: Any) -> int:
    number: int = kind.get_field_index(_CONTENT)
    return number


def _buffer(array: Any, number: int, dtype: Any) -> np.ndarray:
    """Reads the buffer of an array as elements; ignores an incomplete element at its end."""
    buffer, dtype = array.buffers()[number], np.dtype(dtype)
    if buffer is None:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype, buffer.size // dtype.itemsize)


def _wrong(array: Any) -> np.ndarray:
    wrong = np.zeros(len(array), np.uint8)
    if array.null_count:
        bits = np.unpackbits(_buffer(array, 0, np.uint8), bitorder="little")
        valid = bits[array.offset : array.offset + len(array)]
        if len(valid) < len(array):
            raise BadRecord("its marks of nulls are cut short")
        wrong[valid == 0] = _NULL
    return wrong


def _offsets(array: Any, bits: int) -> np.ndarray:
    if not len(array):
        return np.zeros(1, np.int64)
    offsets = _buffer(array, 1, f"<i{bits // 8}")[array.offset : array.offset + len(array) + 1]
    offsets = offsets.astype(np.int64)
    if len(offsets) < len(array) + 1 or offsets[0] < 0 or (np.diff(offsets) < 0).any():
        raise BadRecord("its offsets are damaged")
    return offsets


def _bytes(array: Any, bits: int) -> Column:
    offsets, values = _offsets(array, bits), _buffer(array, 2, np.uint8)
    if offsets[-1] > len(values):
        raise BadRecord("its offsets reach past its values")
    return Column(values, offsets[:-1], np.diff(offsets)[:, None], _wrong(array))


def _fixed_bytes(array: Any) -> Column:
    size, values = array.type.byte_width, _buffer(array, 1, np.uint8)
    starts = (array.offset + np.arange(len(array))) * size
    if len(array) and starts[-1] + size > len(values):
        raise BadRecord("it has fewer values than rows")
    return Column(values, starts, np.full((len(array), 1), size), _wrong(array))


def _numbers(array: Any) -> Column:
    kind, types, count = array.type, pa.types, len(array)
    none = np.zeros((count, 0), np.int64)
    if types.is_null(kind):
        return Column(
            np.empty(0, np.float32), np.zeros(count, np.int64), none, np.full(count, _NULL, np.uint8)
        )
    if types.is_boolean(kind):
        values = np.unpackbits(_buffer(array, 1, np.uint8), bitorder="little").view(bool)
    elif types.is_integer(kind) or types.is_floating(kind):
        values = _buffer(array, 1, kind.to_pandas_dtype())
    elif types.is_temporal(kind) and not types.is_interval(kind):
        values = _buffer(array, 1, f"<i{kind.bit_width // 8}")
    else:
        has_fields = types.is_struct(kind) and kind.num_fields > 0
        fields = f"; name a field of it, as in 'column.{kind.field(0).name}'" if has_fields else ""
        raise TypeError(f"it is of type {kind}: no numbers, bytes, strings, or lists of numbers{fields}")
    starts = array.offset + np.arange(count)
    if count and starts[-1] >= len(values):
        raise BadRecord("it has fewer values than rows")
    return Column(values, starts, none, _wrong(array))


def _lists(array: Any, bounds: np.ndarray) -> Column:
    """Reads lists; nested lists of a sample must have the same length.

    Args:
        bounds: int64 [n + 1]; list i has the inner values bounds[i] to bounds[i + 1] - 1.
    """
    if _holds_bytes(array.type.value_type):
        raise TypeError(f"it is of type {array.type}: lists of strings, bytes or structs make no array")
    inner = column_of(array.values)
    if bounds[-1] > len(inner.starts):
        raise BadRecord("its lists reach past their values")
    first, last = bounds[:-1], bounds[1:]
    counts, wrong = last - first, _wrong(array)
    some = np.flatnonzero(counts)
    sizes = np.zeros((len(counts), inner.extents.shape[1]), np.int64)
    starts = np.zeros(len(counts), np.int64)
    sizes[some], starts[some] = inner.extents[first[some]], inner.starts[first[some]]
    bad = np.cumsum(np.concatenate([[0], inner.wrong != 0]))
    wrong[(bad[last] > bad[first]) & (wrong == 0)] = _NULL
    if inner.extents.shape[1]:
        follows = (inner.extents[1:] == inner.extents[:-1]).all(axis=1)
        follows &= inner.starts[1:] == inner.starts[:-1] + inner.extents[:-1].prod(axis=1)
        breaks = np.cumsum(np.concatenate([[0], ~follows]))
        wrong[some[(breaks[last[some] - 1] > breaks[first[some]]) & (wrong[some] == 0)]] = _IRREGULAR
    return Column(inner.values, starts, np.concatenate([counts[:, None], sizes], axis=1), wrong)


def _holds_bytes(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _holds_bytes(kind.value_type)
    return not (pa.types.is_primitive(kind) or pa.types.is_null(kind))


def _looked_up(array: Any) -> Column:
    index, known = column_of(array.indices), column_of(array.dictionary)
    numbers = index.values[index.starts].astype(np.int64)
    wrong = index.wrong.copy()
    wrong[((numbers < 0) | (numbers >= len(known.starts))) & (wrong == 0)] = _BEYOND
    if not len(known.starts):
        return dataclasses.replace(
            known,
            starts=np.zeros(len(array), np.int64),
            extents=np.zeros((len(array), known.extents.shape[1]), np.int64),
            wrong=np.maximum(wrong, _NULL),
        )
    numbers[wrong != 0] = 0
    return Column(
        known.values, known.starts[numbers], known.extents[numbers], np.maximum(wrong, known.wrong[numbers])
    )


def _shaped(column: Column, kind: Any) -> Column:
    """Reshapes the samples of a tensor column to the shape in its type."""
    if kind.extension_name != _TENSOR:
        return column
    shape = tuple(kind.shape)
    if list(kind.permutation or range(len(shape))) != list(range(len(shape))):
        raise TypeError(f"it is of type {kind}: its axes are permuted")
    if len(column.extents) and (column.extents.prod(axis=1) != math.prod(shape)).any():
        raise BadRecord("its tensors are not of their shape")
    return dataclasses.replace(column, extents=np.tile(np.array(shape, np.int64), (len(column.starts), 1)))
