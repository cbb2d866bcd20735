"""Memory that is used again: fresh pages cost as much as filling them."""

from __future__ import annotations

import math
import sys
import threading

import numpy as np


class Recycler:
    """Byte arrays that are handed out again when nobody else refers to them.

    Views, JAX arrays that alias the memory and programs that still read it all hold a reference to the
    byte array itself, so its reference count says whether it is free.

    Args:
        most_bytes: of all arrays that are kept, together.
    """

    SMALLEST = 1 << 17
    MOST = 64  # arrays kept, whatever their size

    def __init__(self, most_bytes: float = math.inf) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: list[np.ndarray] = []

    def take(self, size: int) -> np.ndarray:
        """uint8 [size], of unspecified values; nothing else holds its memory."""
        if size < self.SMALLEST:
            return np.empty(size, np.uint8)
        with self._lock:
            for raw in self._kept:
                # Referred to by the list, by this loop and by the call to getrefcount: by nobody else.
                if raw.size == size and sys.getrefcount(raw) == 3:
                    return raw
            fresh = np.empty(size, np.uint8)
            self._kept.append(fresh)
            while len(self._kept) > self.MOST or sum(raw.size for raw in self._kept) > self._most_bytes:
                del self._kept[0]
            return fresh
