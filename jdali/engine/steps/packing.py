"""Packing the small arrays of a compiled program into one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np


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
        """Returns a packed array with some arrays replaced, by position; the old one stays as it is."""
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
