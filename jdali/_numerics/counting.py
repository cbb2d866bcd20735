"""Makes the arrays 0, 1, 2, ..., which batches often need."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt


@functools.lru_cache(maxsize=64)
def counting(count: int) -> npt.NDArray[np.int64]:
    """Returns 0, 1, ..., count - 1 as int64 [count]; read-only, because batches of one size share it.

    The array is cached, because `np.arange` releases the GIL, and with several threads, taking it again costs more than the
    numbers.
    """
    numbers = np.arange(count, dtype=np.int64)
    numbers.setflags(write=False)
    return numbers
