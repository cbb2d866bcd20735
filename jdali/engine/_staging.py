"""Gathering samples into the padded arrays that a compiled program takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batch import PaddedBlock, Store
from jdali._recycled import Recycler
from jdali.tensors import TensorList

# XLA on the CPU takes a NumPy array without a copy if it starts at a multiple of this.
ALIGNMENT = 64


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An array of unspecified values whose first byte is aligned for zero-copy use by XLA.

    Nothing else holds its memory. Large arrays come from memory used before (new pages cost as much as
    filling them), but only once every program and every array that saw it is gone.
    """
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = _RECYCLER.take(size + ALIGNMENT)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


# A consumer may hold many batches for a while: what they lay in is not kept for ever after.
_RECYCLER = Recycler(most_bytes=2 << 30)


def gather(
    value: TensorList, samples: np.ndarray, count: int, shape: tuple[int, ...], device: jax.Device | None
) -> Any:
    """Array [count, *shape] whose first rows are the given samples; the rest is unspecified.

    A result of an earlier program that is exactly this array is handed on as it is; otherwise the
    samples are copied to a fresh staging buffer.

    Args:
        value: the batch.
        samples: positions in the batch, at most `count`.
        count: number of rows.
        shape: padded shape of a sample.
        device: where the result must live; None: NumPy is fine.
    """
    ready = _ready(value.store, samples, count, shape)
    if ready is not None:
        return ready if device is None or isinstance(ready, jax.Array) else jax.device_put(ready, device)
    staged = aligned_empty((count, *shape), value.spec.dtype)
    fill(staged, [value.store.host_sample(i) for i in samples.tolist()])
    return staged if device is None else jax.device_put(staged, device)


def _ready(store: Store, samples: np.ndarray, count: int, shape: tuple[int, ...]) -> Any:
    """The array of a block whose rows are just the samples wanted, or None."""
    block = store.blocks[store.block[samples[0]]]
    if not isinstance(block, PaddedBlock) or block.array.shape != (count, *shape):
        return None
    own = (store.block[samples] == store.block[samples[0]]).all()
    return block.array if own and (store.row[samples] == np.arange(len(samples))).all() else None


def fill(staged: np.ndarray, samples: Sequence[np.ndarray]) -> None:
    """Copies samples to the start corners of the rows of `staged`."""
    if staged.ndim == 1:
        staged[: len(samples)] = samples
        return
    for row, sample in zip(staged, samples, strict=False):
        row[tuple(map(slice, sample.shape))] = sample


class Packing:
    """Packs the small per-sample arrays of a program into one int32 array [N, columns].

    Handing over many small arrays costs a few microseconds each, every call; one costs it once.
    Floats and unsigned integers travel as their bits; 64-bit values do not fit and stay apart.
    """

    def __init__(self, arrays: Sequence[np.ndarray]):
        self.items: list[tuple[np.dtype[Any], tuple[int, ...], int, int]] = []
        self.apart: list[int] = []
        column = 0
        for i, array in enumerate(arrays):
            size = math.prod(array.shape[1:])
            if array.dtype.itemsize > 4:
                self.apart.append(i)
                self.items.append((array.dtype, array.shape[1:], -1, size))
            else:
                self.items.append((array.dtype, array.shape[1:], column, size))
                column += size
        self.columns = column
        self.key = tuple((d, s) for d, s, _, _ in self.items)

    def pack(self, arrays: Sequence[np.ndarray], count: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """The packed array and those that stay apart."""
        packed = np.empty((count, self.columns), np.int32)
        for position, array in enumerate(arrays):
            self._write(packed, position, array)
        return packed, [np.ascontiguousarray(arrays[i]) for i in self.apart]

    def repack(
        self, packed: np.ndarray, apart: Sequence[np.ndarray], arrays: Mapping[int, np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """What `pack` returned, with some of the arrays, by position, replaced; the old one stays as it is."""
        packed = packed.copy()
        for position, array in arrays.items():
            self._write(packed, position, array)
        kept = zip(self.apart, apart, strict=True)
        return packed, [np.ascontiguousarray(arrays[i]) if i in arrays else old for i, old in kept]

    def _write(self, packed: np.ndarray, position: int, array: np.ndarray) -> None:
        """Writes an array to its columns, if it has some."""
        dtype, _, column, size = self.items[position]
        if column < 0 or not size:
            return
        flat = array.reshape(len(packed), size)
        if dtype.kind == "f":
            flat = np.ascontiguousarray(flat, np.float32).view(np.int32)
        packed[:, column : column + size] = flat

    def unpack(self, packed: jax.Array, apart: Sequence[jax.Array]) -> list[jax.Array]:
        """The arrays again, inside a compiled program."""
        result = []
        remaining = list(apart)
        for dtype, shape, column, size in self.items:
            if column < 0:
                result.append(remaining.pop(0))
                continue
            flat = packed[:, column : column + size]
            if dtype.kind == "f":
                flat = jax.lax.bitcast_convert_type(flat, np.float32).astype(dtype)
            elif dtype.kind == "u" and dtype.itemsize == 4:
                flat = jax.lax.bitcast_convert_type(flat, np.uint32)
            else:
                flat = flat.astype(dtype)
            result.append(flat.reshape(packed.shape[0], *shape))
        return result
