"""The grid of padded sizes: the few sizes that an axis may have, so that programs are few.

The grid is 4, 5, 6, 7 times a power of two: 8, 10, 12, 14, 16, 20, 24, 28, 32, ..., so a size is rounded up by
a quarter at most, and many sizes in use (28, 32, 224, 256, 320, 512, 640, 1024, 1280) are on it. Coarser
grids are parts of it, and a finer one holds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Sizes: TypeAlias = "npt.NDArray[np.int64]"

# Up to this size an axis (channels, coordinates of a box) is its own padded size.
SMALL_AXIS = 4

_POWERS = 44


def _points(sizes: Iterable[int]) -> Sizes:
    return np.unique([*range(SMALL_AXIS + 1), *sizes])


def _multiples(*multiples: int) -> Sizes:
    return _points(m << k for m in multiples for k in range(_POWERS))


# At most 1.25, 1.5 and 1.125 times the size.
FINE = _multiples(4, 5, 6, 7)
COARSE = _multiples(4, 6)
FINEST = _multiples(*range(8, 16))
# At most 2 and 4 times the size.
DOUBLING = _multiples(4)
QUADRUPLING = _points(4 << k for k in range(0, _POWERS, 2))
# By a factor of two from 1280 on, and of four below: 20, 80, 320, 1280, 2560, ..., the longer sides of many photographs.
# Sets of small pictures are of one size, often 8, 28 or 32: on the grid, they are not copied.
ROOMY = _points([8, 28, 32, *(5 << k for k in range(_POWERS) if k >= 8 or k % 2 == 0)])


def round_up(sizes: Any, grid: Sizes = FINE) -> Sizes:
    """Rounds sizes up to those of a grid.

    Args:
        sizes: int, any shape, at least 0.
        grid: one of those above.

    Returns: int64, shape of `sizes`.
    """
    found: Sizes = grid[np.searchsorted(grid, sizes)]
    return found
