"""Representative sizes of the samples of a padded shape."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

# Shares of a padded size. Sizes in between plan alike; shapes get a margin for rounding.
_SHARES_OF_TWO = (1.0, 0.9, 0.75, 0.6, 0.5, 0.35, 0.25)
_SHARES_OF_MORE = (1.0, 0.5)
_MARGIN = 8


def sizes_within(shape: Sequence[int], layout: str, max_aspect: float) -> list[tuple[int, ...]]:
    """Returns sizes of samples up to a padded shape, the largest first.

    Args:
        shape: of one padded sample.
        layout: of it; channels do not vary.
        max_aspect: of the sides of a picture, the longest to the shortest.
    """
    names = layout or "." * len(shape)
    free = [axis for axis, name in enumerate(names) if name != "C" and shape[axis] > 1]
    shares = _SHARES_OF_TWO if len(free) <= 2 else _SHARES_OF_MORE
    sides = [axis for axis in free if names[axis] in "HW"]
    found: dict[tuple[int, ...], None] = {}
    for chosen in itertools.product(shares, repeat=len(free)):
        size = np.array(shape, np.int64)
        size[free] = np.maximum(1, np.round(size[free] * chosen)).astype(np.int64)
        found[tuple(size.tolist())] = None
    if len(sides) == 2:
        for long, short in (sides, sides[::-1]):
            size = np.array(shape, np.int64)
            size[short] = max(1, int(np.ceil(min(size[long] / max_aspect, size[short]))))
            found[tuple(size.tolist())] = None
    return [size for size in found if aspect([size[a] for a in sides]) <= max_aspect]


def combined(sizes: Sequence[Sequence[tuple[int, ...]]]) -> list[list[tuple[int, ...]]]:
    """Combines sizes of several values, the largest first: all shrink together, and each alone.

    Args:
        sizes: of each value, the largest first.
    """
    together = [[each[min(i, len(each) - 1)] for each in sizes] for i in range(max(map(len, sizes)))]
    alone = [
        [size if i == j else other[0] for j, other in enumerate(sizes)]
        for i, each in enumerate(sizes)
        for size in each[1:]
    ]
    return together + (alone if len(sizes) > 1 else [])


def aspect(sides: Sequence[int]) -> float:
    """Returns the ratio of the longest side to the shortest."""
    return max(sides) / max(min(sides), 1) if sides else 1.0


def covering(sizes: Sequence[Sequence[tuple[int, ...]]], growth: float = 1.0) -> tuple[tuple[int, ...], ...]:
    """Returns padded shapes that hold the values of all representatives and of sizes in between.

    Args:
        sizes: of each representative the size of each value.
        growth: factor on sizes that differ, for larger random values.
    """
    shapes = []
    for each in zip(*sizes, strict=True):
        columns = list(zip(*each, strict=True))
        shapes.append(tuple(_covered(column, growth) for column in columns))
    return tuple(shapes)


def _covered(column: tuple[int, ...], growth: float) -> int:
    most = max(column)
    return most if min(column) == most else -(-(int(most * growth) + 1) // _MARGIN) * _MARGIN
