"""Makes the arrays 0, 1, 2, ..., which batches often need."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt


@functools.lru_cache(maxsize=64)
def counting(count: int) -> npt.NDArray[np.int64]:
    """Returns 0, 1, ..., count - 1 as int64 [count], a cached and therefore read-only array.

    It is cached, because `np.arange` releases the GIL. With several threads, waiting for the GIL takes longer than filling
    the array.
    """
    numbers = np.arange(count, dtype=np.int64)
    numbers.setflags(write=False)
    return numbers
