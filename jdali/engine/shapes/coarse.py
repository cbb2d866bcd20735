"""Computes padded shapes at ever coarser levels, so that samples of any sizes share a few programs.

Levels are numbered. Level 0 uses the fine grids of `buckets`. Each other level has a grid of sizes (`GRIDS`) and a
floor: the minimum number of elements of a padded value (`FLOORS`). Small samples have most of the shapes, but take
little of the time; the floor pads them to a few shapes. The shape of a sample does not depend on other samples.

A stage never rises to a level with a finer grid or a lower floor. Each grid is a subset of the next finer grid. At the
last level, all pictures of up to 4096 × 4096 pixels share one shape; so do all sounds of up to 16 million values.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator

import numpy as np

from jdali._numerics.grid import COARSE, DOUBLING, FINE, QUADRUPLING, ROOMY, SMALL_AXIS, Sizes, round_up


@dataclasses.dataclass(frozen=True, eq=False)
class CoarseGrid:
    """Holds the sizes that the axes of a value may have at a level."""

    text: str
    sizes: Sizes
    longest: Sizes | None  # sizes of the longest side of a picture; None: the same as `sizes`
    frames: Sizes  # sizes of further axes of pictures; few, because each axis multiplies the number of shapes


# Grids from the finest to the coarsest. Each contains all sizes of the next grid.
GRIDS = (
    CoarseGrid("steps of a quarter", FINE, None, DOUBLING),
    CoarseGrid("two sizes an octave", COARSE, None, DOUBLING),
    CoarseGrid("two sizes an octave, powers of 2 for longest sides", COARSE, DOUBLING, QUADRUPLING),
    CoarseGrid("powers of 2", DOUBLING, None, QUADRUPLING),
    CoarseGrid("powers of 2, powers of 4 for longest sides", DOUBLING, QUADRUPLING, QUADRUPLING),
    CoarseGrid("powers of 4", QUADRUPLING, None, QUADRUPLING),
)
# Minimum numbers of elements of a padded value, counted over its named axes except channels.
FLOORS = (1, *(1 << k for k in range(8, 25)))
# An unnamed axis, such as the axis of boxes, is padded to at least floor ** (1 / max(2, number of unnamed axes)). But
# the floor never pads it beyond this size: the time of some operators grows with the square of the number of boxes. If
# a value has only one axis, as a sound has, and this axis is unnamed, it is padded to the floor itself.
_MOST_UNNAMED = 256

LAST_LEVEL = len(GRIDS) * len(FLOORS)
_ROOMY_OUTPUT = GRIDS.index(next(g for g in GRIDS if g.sizes is DOUBLING))


class Roomy(enum.Enum):
    """Lists the kinds of values whose padding costs next to no time."""

    INPUT = "it only lies in memory"
    OUTPUT = "bringing it to its memory takes time"


def level_of(grid: int, floor: int) -> int:
    """Returns the level, at least 1, of a grid and a floor, given by their positions in `GRIDS` and `FLOORS`."""
    return grid * len(FLOORS) + floor + 1


def grid_and_floor(level: int) -> tuple[int, int]:
    return divmod(level - 1, len(FLOORS))


def text_of(level: int) -> str:
    if not level:
        return "by their own sizes"
    grid, floor = grid_and_floor(level)
    return GRIDS[grid].text + (f", at least {FLOORS[floor]} elements" if floor else "")


def coarser_than(level: int) -> Iterator[list[int]]:
    """Yields the levels to which a stage at `level` may rise: a list for each grid, in ascending order of the floors."""
    first_grid, first_floor = grid_and_floor(max(level, 1))
    for grid in range(first_grid, len(GRIDS)):
        begin = first_floor + (level > 0 and grid == first_grid)
        yield [level_of(grid, floor) for floor in range(begin, len(FLOORS))]


def coarse_shapes(extents: np.ndarray, layout: str, level: int, roomy: Roomy | None = None) -> np.ndarray:
    """Returns the padded shapes of a value, int [N, ndim], at a level of at least 1."""
    number, floor_number = grid_and_floor(level)
    grid = GRIDS[max(number, _ROOMY_OUTPUT) if roomy is Roomy.OUTPUT else number]
    floor = FLOORS[floor_number]
    letters = layout.ljust(extents.shape[1])[: extents.shape[1]]
    space = [a for a, letter in enumerate(letters) if letter in "DHW"]
    named = [a for a, letter in enumerate(letters) if letter not in "C "]
    side = min(_whole_root(floor, max(letters.count(" "), 2)), _MOST_UNNAMED) if letters != " " else floor
    shapes = extents.copy()
    for axis, letter in enumerate(letters):
        if letter == " ":
            sizes = extents[:, axis]  # a small axis is not padded, because it may hold coordinates
            shapes[:, axis] = np.where(
                sizes <= SMALL_AXIS, sizes, round_up(np.maximum(sizes, side), grid.sizes)
            )
        elif axis in named:
            shapes[:, axis] = round_up(
                extents[:, axis], grid.frames if space and axis not in space else grid.sizes
            )
    if space:
        sides = extents[:, space]
        if roomy is Roomy.INPUT:  # a square, since the padding only takes memory
            shapes[:, space] = round_up(sides.max(axis=1, keepdims=True), ROOMY)
        else:
            shapes[:, space] = _sides(sides, grid)
    if named:
        shapes[:, named] = _raised(shapes[:, named], floor)
    return shapes


def _whole_root(number: int, degree: int) -> int:
    """Returns the largest integer whose `degree`-th power is at most `number`."""
    root = round(number ** (1 / degree))
    return root - (root**degree > number)


def _sides(sides: np.ndarray, grid: CoarseGrid) -> np.ndarray:
    padded = round_up(sides, grid.sizes)
    if grid.longest is None:
        return padded
    most = sides.max(axis=1, keepdims=True)
    longest = round_up(most, grid.longest)
    return np.where(sides == most, longest, np.minimum(padded, longest))


def _raised(shapes: np.ndarray, floor: int) -> np.ndarray:
    """Increases sizes until a shape has at least `floor` elements; the results are as square as possible."""
    raised, missing = shapes.copy(), np.full(len(shapes), float(floor))
    order, rows = np.argsort(-shapes, axis=1, kind="stable"), np.arange(len(shapes))
    count = shapes.shape[1]
    for rank in range(count):
        axis = order[:, rank]
        # Take slightly less than the root, because rounding may put the root above a power of two.
        fewest = np.ceil(np.maximum(missing, 1) ** (1 / (count - rank)) - 1e-6).astype(np.int64)
        raised[rows, axis] = np.maximum(shapes[rows, axis], round_up(fewest, DOUBLING) if floor > 1 else 0)
        missing /= np.maximum(raised[rows, axis], 1)
    return raised
