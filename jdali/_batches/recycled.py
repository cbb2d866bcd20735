"""Memory that is used again: fresh pages cost as much as filling them."""

from __future__ import annotations

import collections
import math
import sys
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


def _references(arrays: list[np.ndarray], place: int) -> int:
    return sys.getrefcount(arrays[place])


# Of an array that a list and a queue hold, and nobody else. Versions of Python differ in what a call holds.
_FREE = _references([np.empty(0, np.uint8)], 0) + 1


class Recycler:
    """Byte arrays that are handed out again when nobody else refers to them.

    Views, JAX arrays that alias the memory and programs that still read it all hold a reference to the
    byte array itself, so its reference count says whether it is free.

    Args:
        most_bytes: of all arrays that are kept, together. What was handed out first is let go of first.
    """

    SMALLEST = 1 << 17

    def __init__(self, most_bytes: float = math.inf) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._bytes = 0
        self._kept: collections.deque[np.ndarray] = collections.deque()
        self._by_size: dict[int, list[np.ndarray]] = collections.defaultdict(list)

    def take(self, size: int) -> np.ndarray:
        """uint8 [size], of unspecified values; nothing else holds its memory."""
        if size < self.SMALLEST:
            return np.empty(size, np.uint8)
        # A few sizes only, so that what held one picture can hold another.
        step = 1 << size.bit_length() - 4
        room = -(-size // step) * step
        with self._lock:
            same = self._by_size[room]
            for place in range(len(same)):
                if _references(same, place) == _FREE:
                    return same[place][:size]
            fresh = np.empty(room, np.uint8)
            self._keep(fresh)
            return fresh[:size]

    def _keep(self, fresh: np.ndarray) -> None:
        self._kept.append(fresh)
        self._by_size[fresh.size].append(fresh)
        self._bytes += fresh.size
        while self._bytes > self._most_bytes:
            oldest = self._kept.popleft()
            same = self._by_size[oldest.size]
            del same[next(i for i, raw in enumerate(same) if raw is oldest)]
            self._bytes -= oldest.size


_SAMPLES = Recycler(most_bytes=512 << 20)


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """`numpy.empty` for a sample, of memory that was another sample's if there is some."""
    dtype = np.dtype(dtype)
    size = math.prod(int(n) for n in shape) * dtype.itemsize
    return _SAMPLES.take(size).view(dtype).reshape(shape)


def contiguous(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`numpy.ascontiguousarray`, of such memory."""
    if array.flags.c_contiguous:
        return array
    copy = empty(array.shape, array.dtype)
    np.copyto(copy, array)
    return copy
