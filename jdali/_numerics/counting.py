"""The numbers 0, 1, 2, ..., which many arrays of a batch are."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt


@functools.lru_cache(maxsize=64)
def counting(count: int) -> npt.NDArray[np.int64]:
    """Counts 0, 1, ..., count - 1, int64 [count]; read-only, for batches of one size share it.

    `np.arange` releases the GIL: where several threads make batches, taking it again costs more than the numbers.
    """
    numbers = np.arange(count, dtype=np.int64)
    numbers.setflags(write=False)
    return numbers
