"""Reads samples, or windows of samples, along an axis of chunked arrays."""

from __future__ import annotations

import abc
import bisect
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali._errors import SampleError
from jdali._storage import BadRecord
from jdali._system import limits
from jdali.readers.base import Loaded, Reader, joined, nothing, one_by_one
from jdali.readers.formats.columns import dense_column
from jdali.readers.formats.kept import KeptPieces
from jdali.readers.formats.records import record_tasks

# Kinds of NumPy types that are read: booleans, integers and floats. Other kinds could run code from the file.
NUMBERS = "biuf"
# The cache holds the chunks of two samples even if they exceed `bytes_ahead`, up to `max_sample_bytes` / _SHARE.
_SHARE = 4
_ROI = ("roi_start", "roi_shape")


class ChunkedArray(abc.ABC):
    """An array in a file.

    Args:
        chunks: shape of a chunk.
        dtype: type of the elements, in this machine's byte order.
    """

    def __init__(self, shape: Sequence[int], chunks: Sequence[int], dtype: np.dtype):
        self.shape, self.chunks, self.dtype = tuple(shape), tuple(chunks), dtype

    @abc.abstractmethod
    def read(self, chunk: tuple[int, ...]) -> np.ndarray:
        """Reads the chunk at a grid position, or at least its part inside the array; raises `BadRecord` if it is damaged."""


def check_array(shape: Sequence[int], chunks: Sequence[int], dtype: np.dtype, axis: int) -> int:
    """Checks what a file claims about an array; returns the axis of the samples, counted from 0.

    Raises:
        ValueError: a claim is invalid; callers add the array's name to the message.
    """
    if dtype.kind not in NUMBERS:
        raise ValueError(f"is of type {dtype}; numbers and booleans are read")
    if len(chunks) != len(shape) or any(size < 1 for size in chunks) or any(size < 0 for size in shape):
        raise ValueError(f"is damaged: of shape {list(shape)[:9]} in chunks of {list(chunks)[:9]}")
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"of shape {list(shape)[:9]} has no axis {axis}")
    if math.prod(chunks) * dtype.itemsize > limits.most("max_sample_bytes"):
        raise ValueError(
            str(limits.exceeded("max_sample_bytes", f"has chunks of shape {list(chunks)}, each"))
        )
    return axis % len(shape)


class ChunkedReader(Reader):
    """Reads samples along an axis of chunked arrays.

    Consecutive samples share the decoded chunks, which are cached within `bytes_ahead` of `jdali.storage`. If chunks
    hold several samples, `random_shuffle` mixes samples through a buffer.

    Args:
        arrays: for each file, an array for each output; None for a file that cannot be read, which counts as one sample.
        lost: {file number: error} for files that cannot be read.
        places: name of each file, for messages.
        roi: {"roi_start": value, "roi_shape": value}, the window in the first output; None for a value that is not
            given, or differs between samples.
    """

    def __init__(
        self,
        name: str,
        arrays: Sequence[Sequence[ChunkedArray] | None],
        lost: Mapping[int, str],
        places: Sequence[str],
        axis: int,
        roi: Mapping[str, np.ndarray | None],
        options: Mapping[str, Any],
    ):
        self._name, self._arrays, self._lost, self._places, self._axis = name, arrays, lost, places, axis
        self._roi = {key: value for key, value in roi.items() if value is not None and value.shape != (0,)}
        known = next(found for found in arrays if found is not None)
        self.num_outputs = len(known)
        counts = [self._samples_of(file) for file in range(len(arrays))]
        self._starts = list(itertools.accumulate(counts, initial=0))
        if not self._starts[-1]:
            raise ValueError(f"{name}: {places[0]} has no samples along axis {axis}")
        self.mixes = any(array.chunks[axis % len(array.chunks)] > 1 for array in known)
        # True if each chunk holds whole samples, in all files.
        self._by_row = not axis and all(
            chunk >= size
            for array in itertools.chain(*(found or () for found in arrays))
            for chunk, size in zip(array.chunks[1:], array.shape[1:], strict=True)
        )
        in_sample = sum(
            math.prod(-(-size // chunk) for i, (size, chunk) in enumerate(zip(a.shape, a.chunks, strict=True))
                      if i != axis % len(a.shape))
            for a in known
        )  # fmt: skip
        # Determines the minimum number of chunks to cache, see `_SHARE`.
        largest = max(math.prod(a.chunks) * a.dtype.itemsize for a in known)
        fitting = max(limits.most("max_sample_bytes") // _SHARE // largest, 1)
        self._kept = KeptPieces[np.ndarray](min(2 * in_sample, fitting), lambda chunk: chunk.nbytes)
        self._bytes = sum(
            array.dtype.itemsize * math.prod(array.shape) // max(counts[0], 1) for array in known
        )
        super().__init__(self._starts[-1], options)

    def _samples_of(self, file: int) -> int:
        found = self._arrays[file]
        if found is None:
            return 1
        counts = [array.shape[self._axis % len(array.shape)] for array in found]
        if len(set(counts)) > 1:
            raise ValueError(
                f"{self._name}: {self._places[file]} has {counts} samples along axis {self._axis}"
            )
        return counts[0]

    def load(self, index: int, **borders: np.ndarray) -> tuple[np.ndarray, ...]:
        file = bisect.bisect_right(self._starts, index) - 1
        arrays = self._arrays[file]
        try:
            if arrays is None:
                raise BadRecord(self._lost[file])
            row = index - self._starts[file]
            return tuple(
                self._sample(file, output, row, self._roi | borders if output == 0 else {})
                for output in range(self.num_outputs)
            )
        except (SampleError, BadRecord) as error:
            argument = getattr(error, "argument", None)
            raise SampleError(f"{self._name}: {self.source(index)}: {error}", argument=argument) from error

    def _chunk(self, file: int, output: int, position: tuple[int, ...]) -> np.ndarray:
        arrays = self._arrays[file]
        assert arrays is not None
        read = functools.partial(arrays[output].read, position)
        return self._kept.get((file, output, position), read)

    def _sample(self, file: int, output: int, row: int, roi: Mapping[str, np.ndarray]) -> np.ndarray:
        arrays = self._arrays[file]
        assert arrays is not None
        array = arrays[output]
        axis = self._axis % len(array.shape)
        extent = [size for i, size in enumerate(array.shape) if i != axis]
        start, shape = _window(extent, roi)
        asked = math.prod(shape) * array.dtype.itemsize
        limits.check("max_sample_bytes", asked, f"its window of {asked} bytes")
        first, last = [*start], [a + n for a, n in zip(start, shape, strict=True)]
        first.insert(axis, row)
        last.insert(axis, row + 1)
        grid = [range(a // size, -(-b // size)) for a, b, size in zip(first, last, array.chunks, strict=True)]
        out = np.empty(shape, array.dtype)
        count = math.prod(map(len, grid))
        limits.check("max_items", count, f"its number of chunks, {count},")
        for position in itertools.product(*grid):
            source, target = [], []
            for at, a, b, size in zip(position, first, last, array.chunks, strict=True):
                low, high = max(a, at * size), min(b, (at + 1) * size)
                source.append(slice(low - at * size, high - at * size))
                target.append(slice(low - a, high - a))
            del target[axis]
            out[tuple(target)] = self._chunk(file, output, position)[tuple(source)].squeeze(axis)
        return out

    def load_many(self, indices: np.ndarray, **borders: np.ndarray) -> Loaded:
        if borders or self._roi or not self._by_row:
            return one_by_one(self.load, indices, self.num_outputs, **borders)
        return self._rows(indices)

    def _rows(self, indices: np.ndarray) -> Loaded:
        """Reads samples that are whole rows of chunks; returns views of the chunks."""
        files = np.searchsorted(self._starts, indices, side="right") - 1
        rows = indices - np.array(self._starts)[files]
        order: list[np.ndarray] = []
        parts: list[tuple[Store, ...]] = []
        failures: dict[int, Exception] = {}
        for file in np.unique(files).tolist():
            mine = np.flatnonzero(files == file)
            arrays = self._arrays[file]
            lengths = [1] if arrays is None else [array.chunks[0] for array in arrays]
            # Groups samples by the chunks that contain them.
            keys = np.stack([rows[mine] // length for length in lengths], axis=1)
            for key in np.unique(keys, axis=0).tolist():
                positions = mine[(keys == key).all(axis=1)]
                try:
                    if arrays is None:
                        raise BadRecord(self._lost[file])
                    columns = []
                    for output, (array, at) in enumerate(zip(arrays, key, strict=True)):
                        chunk = self._chunk(file, output, (at, *(0 for _ in array.shape[1:])))
                        inside = chunk[(slice(None), *(slice(size) for size in array.shape[1:]))]
                        whole = dense_column(np.ascontiguousarray(inside))
                        columns.append(whole.select(rows[positions] - at * array.chunks[0]))
                except BadRecord as error:
                    for position in positions.tolist():
                        where = self.source(indices.item(position))
                        failures[position] = SampleError(f"{self._name}: {where}: {error}")
                except (OSError, MemoryError) as error:
                    failures.update(dict.fromkeys(positions.tolist(), error))
                else:
                    order.append(positions)
                    parts.append(tuple(columns))
        if not parts:
            return Loaded((nothing(),) * self.num_outputs, failures)
        back = np.argsort(np.concatenate(order))
        return Loaded(tuple(column.select(back) for column in joined(parts)), failures)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return record_tasks(np.full(len(indices), self._bytes), threads)

    def source(self, index: int) -> str:
        file = bisect.bisect_right(self._starts, index) - 1
        return f"{self._places[file]}#sample {index - self._starts[file]}"

    def close(self) -> None:
        self._kept.clear()


def _window(extent: Sequence[int], roi: Mapping[str, np.ndarray]) -> tuple[list[int], list[int]]:
    """Returns start and shape of the window in a sample; raises `SampleError` if the window exceeds the sample."""
    start, shape = [0] * len(extent), list(extent)
    for argument, target in zip(_ROI, (start, shape), strict=True):
        if (given := roi.get(argument)) is None:
            continue
        if given.shape != (len(extent),):
            raise SampleError(
                f"{argument} has {given.size} values for a sample of {len(extent)} axes", argument=argument
            )
        target[:] = given.tolist()
    if "roi_start" in roi and "roi_shape" not in roi:
        shape = [size - a for size, a in zip(extent, start, strict=True)]
    for a, n, size in zip(start, shape, extent, strict=True):
        if a < 0 or n < 0 or a + n > size:
            raise SampleError(
                f"the window at {start} of shape {shape} reaches out of the sample of shape {list(extent)}"
            )
    return start, shape
