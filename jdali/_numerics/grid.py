"""Rounds sizes of axes up to a grid, so that few padded sizes occur and few programs are compiled.

The standard grid is 4, 5, 6, 7 times a power of two: 8, 10, 12, 14, 16, 20, 24, 28, 32, ... A size is rounded up by at
most a quarter, and many common sizes (28, 32, 224, 256, 320, 512, 640, 1024, 1280) are on the grid. The coarser grids
below are subsets of it, and the finer grid is a superset.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Sizes: TypeAlias = "npt.NDArray[np.int64]"

# An axis up to this size (channels, coordinates of a box) is not padded.
SMALL_AXIS = 4

_POWERS = 44


def _points(sizes: Iterable[int]) -> Sizes:
    return np.unique([*range(SMALL_AXIS + 1), *sizes])


def _multiples(*multiples: int) -> Sizes:
    return _points(m << k for m in multiples for k in range(_POWERS))


# On the next three grids, a rounded size is at most 1.25, 1.5 and 1.125 times the size.
FINE = _multiples(4, 5, 6, 7)
COARSE = _multiples(4, 6)
FINEST = _multiples(*range(8, 16))
# On the next two grids, a rounded size is at most 2 and 4 times the size.
DOUBLING = _multiples(4)
QUADRUPLING = _points(4 << k for k in range(0, _POWERS, 2))
# 5, 20, 80, 320, 1280, 2560, 5120, ...: grows by a factor of 4 up to 1280, then of 2. The longer side of many
# photographs has one of these sizes. The sizes 8, 28 and 32 are added, so that small images of these common sizes are
# not copied.
ROOMY = _points([8, 28, 32, *(5 << k for k in range(_POWERS) if k >= 8 or k % 2 == 0)])


def round_up(sizes: Any, grid: Sizes = FINE) -> Sizes:
    """Rounds sizes up to the next point of a grid.

    Args:
        sizes: int, any shape, at least 0.
        grid: one of the grids above.

    Returns: int64, shape of `sizes`.
    """
    found: Sizes = grid[np.searchsorted(grid, sizes)]
    return found
