"""Stores a batch as a few blocks of memory, and for each sample the index of its block and its row in this block.

The engine makes a batch in parts, with one compiled program per padded shape. Host operators make one array per sample.
All of these arrays become blocks, so selecting, reordering and merging samples changes only indices: no sample is
copied before its values are read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np
import numpy.typing as npt
from jax.sharding import Sharding, SingleDeviceSharding

from jdali._batches.extent import BatchSpec
from jdali._numerics.counting import counting
from jdali._numerics.rounding import needs_x64, x64_context
from jdali._system.devices import AnyArray, HostArray, is_local, to_host

MakeRows: TypeAlias = "Callable[[np.ndarray[Any, Any]], Sequence[HostArray]]"
"""`make(rows)` makes the samples in these rows (int64 [m]), each in its true size."""

MakePadded: TypeAlias = "Callable[[np.ndarray[Any, Any], tuple[int, ...], int], jax.Array]"
"""`padded(rows, shape, count)` makes the samples in these rows, in the first rows of an array [count, *shape]."""


class LateBlock:
    """Makes samples by calling a function each time they are read.

    Args:
        make: makes samples in host memory.
        padded: makes samples on `device`; None: samples are in host memory.
    """

    __slots__ = ("_device", "_make", "count", "padded")

    nbytes = 0

    def __init__(
        self,
        make: MakeRows,
        count: int,
        padded: MakePadded | None = None,
        device: jax.Device | None = None,
    ):
        self._make, self.count, self.padded, self._device = make, count, padded, device

    @property
    def local(self) -> bool:
        return self.padded is None

    @property
    def sharding(self) -> Sharding | None:
        return None if self._device is None else SingleDeviceSharding(self._device)

    def host_samples(self, rows: np.ndarray[Any, Any]) -> list[HostArray]:
        return list(self._make(rows))

    def host_sample(self, row: int) -> HostArray:
        return self._make(np.array([row]))[0]

    def sample(self, row: int) -> HostArray:
        return self.host_sample(row)

    def to_host(self) -> LateBlock:
        return self if self.local else LateBlock(self._make, self.count)

    def view(self, dtype: np.dtype) -> LateBlock:
        make = self._make
        return LateBlock(lambda rows: [np.ascontiguousarray(s).view(dtype) for s in make(rows)], self.count)


Index: TypeAlias = "npt.NDArray[np.int64]"


class RowSlice(NamedTuple):
    """Holds some samples of a batch in one padded array.

    Attributes:
        array: [k, *padded]; the values past the extent of a sample are unspecified.
        rows: int [m], the row of `array` that holds each sample; other rows are unused.
        samples: int [m], the position of each sample in the batch.
    """

    array: AnyArray
    rows: Any
    samples: Any


def keeping(dtype: np.dtype) -> Any:
    """Returns a context in which JAX keeps `dtype`; by default JAX narrows 64-bit types."""
    return x64_context(True) if needs_x64(dtype) else contextlib.nullcontext()


def compact(value: object) -> Any:
    """Returns a C-contiguous array: a NumPy array with gaps is copied, anything else is returned as it is."""
    if not isinstance(value, np.ndarray) or value.flags.c_contiguous:
        return value
    return np.ascontiguousarray(value)


class PaddedBlock:
    """Holds samples in the rows of one array, each padded past its extent."""

    __slots__ = ("_host", "_local", "array")

    def __init__(self, array: AnyArray):
        self.array = array
        self._local: bool | None = None
        self._host: HostArray | None = array if isinstance(array, np.ndarray) else None

    @property
    def host(self) -> HostArray:
        """Returns the array as NumPy: a view if it is on the CPU, or else a copy that is made only once."""
        if self._host is None:
            self._host = to_host(self.array)
        return self._host

    @property
    def local(self) -> bool:
        if self._local is None:
            self._local = is_local(self.array)
        return self._local

    @property
    def sharding(self) -> Sharding | None:
        """Sharding of the block; None if it is in host memory."""
        return self.array.sharding if isinstance(self.array, jax.Array) and not self.local else None

    @property
    def nbytes(self) -> int:
        return int(math.prod(self.array.shape) * self.array.dtype.itemsize)  # JAX's `nbytes` takes 2 us

    def host_sample(self, row: int) -> HostArray:
        sample: HostArray = self.host[row, ...]  # with `...`, a scalar stays an array
        return sample

    def sample(self, row: int) -> AnyArray:
        return self.host_sample(row) if self.local else self.array[row]

    def to_host(self) -> PaddedBlock:
        return self if self.local else PaddedBlock(self.host)

    def view(self, dtype: np.dtype) -> PaddedBlock:
        return PaddedBlock(self.host.view(dtype) if self.local else self.array.view(dtype))


class SamplesBlock:
    """Holds one array per sample, each of its true size."""

    __slots__ = ("_host", "arrays")

    def __init__(self, arrays: Sequence[AnyArray]):
        self.arrays = arrays
        self._host: list[HostArray | None] = [a if isinstance(a, np.ndarray) else None for a in arrays]

    @property
    def local(self) -> bool:
        return all(is_local(a) for a in self.arrays)

    @property
    def sharding(self) -> Sharding | None:
        """Sharding of the first sample that is on a device; None if all are in host memory."""
        away = (a.sharding for a in self.arrays if isinstance(a, jax.Array) and not is_local(a))
        return next(away, None)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    def host_sample(self, row: int) -> HostArray:
        found = self._host[row]
        if found is None:
            found = self._host[row] = to_host(self.arrays[row])
        return found

    def host_samples(self, rows: Index) -> list[HostArray]:
        return [self.host_sample(row) for row in rows.tolist()]

    def sample(self, row: int) -> AnyArray:
        return self.host_sample(row) if is_local(self.arrays[row]) else self.arrays[row]

    def to_host(self) -> SamplesBlock:
        if self.local:
            return self
        return SamplesBlock([self.host_sample(row) for row in range(len(self.arrays))])

    def view(self, dtype: np.dtype) -> SamplesBlock:
        return SamplesBlock([self.sample(row).view(dtype) for row in range(len(self.arrays))])


class RaggedBlock:
    """Holds samples as slices of one flat array, so that samples need no objects of their own.

    Args:
        values: [elements], in host memory.
        starts: int64 [n], the first element of each sample.
        extents: int64 [n, ndim], true sizes.
    """

    __slots__ = ("extents", "starts", "values")

    local = True
    sharding = None

    def __init__(self, values: HostArray, starts: Index, extents: Index):
        self.values, self.starts, self.extents = values, starts, extents

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    def host_sample(self, row: int) -> HostArray:
        return self.host_samples(np.array([row], np.int64))[0]

    def host_samples(self, rows: Index) -> list[HostArray]:
        values, starts, extents = self.values, self.starts[rows], self.extents[rows]
        ends = starts + extents.prod(axis=1)
        samples = [values[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        if extents.shape[1] == 1:
            return samples
        return [s.reshape(e) for s, e in zip(samples, extents.tolist(), strict=True)]

    def sample(self, row: int) -> AnyArray:
        return self.host_sample(row)

    def to_host(self) -> RaggedBlock:
        return self

    def view(self, dtype: np.dtype) -> RaggedBlock:
        return RaggedBlock(self.values.view(dtype), self.starts, self.extents)


Block: TypeAlias = "PaddedBlock | SamplesBlock | RaggedBlock | LateBlock"


@dataclasses.dataclass(frozen=True, eq=False)
class Store:
    """Holds the samples of a batch, in order.

    Attributes:
        spec: true sizes, element type and layout.
        blocks: the memory.
        block: int [N], the index of each sample's block.
        row: int [N], the row of each sample in its block.
    """

    spec: BatchSpec
    blocks: tuple[Block, ...]
    block: Index
    row: Index

    @classmethod
    def of_parts(cls, parts: Sequence[RowSlice], spec: BatchSpec) -> Store:
        """Makes a store of padded arrays; each position of the batch must be in exactly one part."""
        block = np.full(spec.batch_size, -1, np.int64)
        row = np.zeros(spec.batch_size, np.int64)
        for i, part in enumerate(parts):
            block[part.samples] = i
            row[part.samples] = part.rows
        placed = sum(len(part.samples) for part in parts)
        if placed != spec.batch_size or (block < 0).any():
            raise ValueError(f"parts hold {placed} samples, not each of the {spec.batch_size} samples once")
        return cls(spec, tuple(PaddedBlock(part.array) for part in parts), block, row)

    @classmethod
    def of_block(cls, block: Block, spec: BatchSpec) -> Store:
        """Makes a store of one block whose rows are the samples in order."""
        rows = counting(spec.batch_size)
        return cls(spec, (block,), np.zeros(spec.batch_size, np.int64), rows)

    @classmethod
    def empty(cls, spec: BatchSpec) -> Store:
        none = np.zeros(0, np.int64)
        return cls(spec, (), none, none)

    def with_blocks(self, blocks: tuple[Block, ...]) -> Store:
        """Returns a store with these blocks; each sample keeps its block index and its row."""
        return Store(self.spec, blocks, self.block, self.row)

    def __len__(self) -> int:
        return len(self.row)

    def host_sample(self, i: int) -> HostArray:
        """Returns sample `i` in its true size, C-contiguous; a view of its block if possible."""
        valid: HostArray = _cut(self.blocks[self.block[i]].host_sample(self.row[i]), self.spec.extents[i])
        return valid

    def host_samples(self) -> list[HostArray]:
        """Returns all samples in their true sizes, C-contiguous; views of their blocks if possible."""
        if len(self.blocks) == 1:
            block = self.blocks[0]
            if isinstance(block, PaddedBlock) and self.dense() is not None:
                host = block.host
                if host.ndim > 1 and host.flags.c_contiguous:
                    return list(host)  # takes half the time of indexing
            return self._host_samples_of(block, np.arange(len(self)))
        found: list[Any] = [None] * len(self)
        for number, block in enumerate(self.blocks):
            positions = np.flatnonzero(self.block == number)
            for position, sample in zip(
                positions.tolist(), self._host_samples_of(block, positions), strict=True
            ):
                found[position] = sample
        return found

    def _host_samples_of(self, block: Block, positions: Index) -> list[HostArray]:
        rows = self.row[positions]
        if isinstance(block, RaggedBlock):  # its samples are contiguous
            return block.host_samples(rows)
        if not isinstance(block, PaddedBlock):
            return [compact(sample) for sample in block.host_samples(rows)]
        host, extents = block.host, self.spec.extents[positions]
        if host.flags.c_contiguous and (extents == np.array(host.shape[1:], np.int64)).all():
            return [host[row, ...] for row in rows.tolist()]
        return [_cut(host[row, ...], extent) for row, extent in zip(rows.tolist(), extents, strict=True)]

    def sample(self, i: int) -> AnyArray:
        """Returns sample `i` in its true size, C-contiguous, on its device."""
        with keeping(self.spec.dtype):
            padded: Any = self.blocks[self.block[i]].sample(int(self.row[i]))
            valid: AnyArray = _cut(padded, self.spec.extents[i])
            return valid

    def select(self, indices: Index) -> Store:
        extents = self.spec.extents[indices]
        used, block = np.unique(self.block[indices], return_inverse=True)  # drops blocks without samples
        blocks = tuple(self.blocks[b] for b in used)
        return Store(self.spec.replace(extents=extents), blocks, block, self.row[indices])

    @classmethod
    def concat(cls, stores: Sequence[Store]) -> Store:
        """Joins batches. A block that several stores share is stored once."""
        number: dict[int, int] = {}
        blocks: list[Block] = []
        renumbered = []
        for store in stores:
            for b in store.blocks:
                if id(b) not in number:
                    number[id(b)] = len(blocks)
                    blocks.append(b)
            new = np.array([number[id(b)] for b in store.blocks], np.int64)
            renumbered.append(new[store.block])
        spec = stores[0].spec.replace(extents=np.concatenate([s.spec.extents for s in stores]))
        return cls(spec, tuple(blocks), np.concatenate(renumbered), np.concatenate([s.row for s in stores]))

    @property
    def sharding(self) -> Sharding | None:
        """Sharding of the first block that is not in host memory; None if all are in host memory."""
        return next((b.sharding for b in self.blocks if b.sharding is not None), None)

    @property
    def local(self) -> bool:
        """True if all samples are in host memory."""
        return all(b.local for b in self.blocks)

    def to_host(self) -> Store:
        return dataclasses.replace(self, blocks=tuple(b.to_host() for b in self.blocks))

    def view(self, dtype: np.dtype) -> Store:
        with keeping(self.spec.dtype):
            blocks = tuple(b.view(dtype) for b in self.blocks)
        return dataclasses.replace(self, blocks=blocks, spec=self.spec.replace(dtype=dtype))

    def whole(self) -> AnyArray | None:
        """Returns the padded array whose rows are exactly the samples in order, or None."""
        if len(self.blocks) != 1 or not isinstance(self.blocks[0], PaddedBlock):
            return None
        array = self.blocks[0].array
        if array.shape[0] != len(self):
            return None
        rows = counting(len(self))
        return array if self.row is rows or np.array_equal(self.row, rows) else None

    def dense(self) -> AnyArray | None:
        """Returns the array [N, ...] whose rows are exactly the samples in order, without padding, or None."""
        whole = self.whole()
        return whole if whole is not None and (self.spec.extents == whole.shape[1:]).all() else None

    def padded_shape(self) -> tuple[int, ...]:
        """Returns, for each axis, the largest size among padded blocks and unpadded samples; zeros for an empty batch."""
        shapes = [b.array.shape[1:] for b in self.blocks if isinstance(b, PaddedBlock)]
        alone = [number for number, b in enumerate(self.blocks) if not isinstance(b, PaddedBlock)]
        shapes += self.spec.extents[np.isin(self.block, alone)].tolist() if alone else []
        if not shapes:
            return (0,) * self.spec.ndim
        return tuple(max(sizes) for sizes in zip(*shapes, strict=True))


def _cut(padded: Any, extent: Index) -> Any:
    """Cuts the padding off a sample. The result is C-contiguous: a view with gaps is copied."""
    size = tuple(extent.tolist())
    return compact(padded if padded.shape == size else padded[tuple(map(slice, size))])
