"""Masks of the COCO format as runs of pixels, and pictures of labels made of them.

A mask's pixels are counted down the columns, one column after the other. A run is the half-open interval of
those numbers from a start to an end.

Polygons are rasterised as COCO's own tools do it: their vertices are rounded to a grid five times as fine as
the pixels, and an edge is the staircase of grid points nearest to the line. A pixel column takes the places
where the staircases step between the third and the fourth of its five grid columns, rounded up to whole
pixels; between each two of them the mask is set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_FINE = 5  # grid points a pixel
_MIDDLE = 2  # the step of a column is after this one of its grid columns
_LARGEST = float(1 << 40)  # coordinates further out are taken back, which does not show in a picture
_MOST_CROSSINGS = 1 << 24
_MOST_DIGITS = 12  # of a compressed number; 32 bits need 7


class Runs(NamedTuple):
    """Pixels of a mask.

    Attributes:
        starts: int64 [n].
        ends: int64 [n], one past the last pixel.
    """

    starts: np.ndarray
    ends: np.ndarray


def decompressed(text: str) -> np.ndarray:
    """Decodes the run lengths of a compressed mask: int64 [n]; raises ValueError.

    A number is written five bits a character, the lowest first; each but the first three is the difference
    to the number two positions before.
    """
    try:
        digits = np.frombuffer(text.encode("ascii"), np.uint8).astype(np.int64) - 48
    except UnicodeEncodeError:
        raise ValueError("the compressed mask has characters that are not ASCII") from None
    if not len(digits):
        return np.zeros(0, np.int64)
    if digits.min() < 0 or digits.max() > 63:
        raise ValueError("the compressed mask has characters other than '0' to 'o'")
    last = np.flatnonzero(digits & 32 == 0)
    if not len(last) or last[-1] != len(digits) - 1:
        raise ValueError("the compressed mask ends within a number")
    first = np.concatenate([[0], last[:-1] + 1])
    lengths = last - first + 1
    if lengths.max() > _MOST_DIGITS:
        raise ValueError("the compressed mask has a number of more than 60 bits")
    digit = np.arange(len(digits)) - np.repeat(first, lengths)
    numbers = np.add.reduceat((digits & 31) << 5 * digit, first)
    numbers -= np.where(digits[last] & 16, np.int64(1) << 5 * lengths, 0)
    for chain in (numbers[1::2], numbers[2::2]):
        np.cumsum(chain, out=chain)
    return numbers


def runs_of_counts(counts: np.ndarray, height: int, width: int) -> Runs:
    """Finds the set pixels of a mask, whose first run is of pixels that are not set; raises ValueError."""
    if len(counts) and counts.min() < 0:
        raise ValueError("the mask has a run of negative length")
    total = int(counts.sum())
    if total != height * width:
        raise ValueError(f"the mask's runs have {total} pixels together, but it is {height} x {width}")
    borders = np.cumsum(counts)
    return Runs(borders[0:-1:2], borders[1::2])


def runs_of_polygons(
    vertices: np.ndarray, sizes: np.ndarray, height: int, width: int
) -> tuple[Runs, np.ndarray]:
    """Finds the pixels inside of polygons.

    Args:
        vertices: float32 [V, 2] (x, y), of all polygons, one after another.
        sizes: int64 [P], how many of them each polygon has.
        height, width: of the picture.

    Returns: the runs of all polygons, and int64 [runs], which polygon each is of; raises ValueError.
    """
    polygon = np.repeat(np.arange(len(sizes)), sizes)
    points = np.trunc(np.clip(_FINE * vertices.astype(np.float64) + 0.5, -_LARGEST, _LARGEST)).astype(
        np.int64
    )
    following = np.arange(1, len(points) + 1)
    ends = np.cumsum(sizes)[sizes > 0]
    following[ends - 1] = ends - sizes[sizes > 0]
    edge, column, level = _crossings(points, points[following], width)
    row = np.ceil(np.clip((level + 0.5) / _FINE - 0.5, 0, height)).astype(np.int64)
    owner, position = polygon[edge], column * height + row
    # A closed line crosses each column an even number of times.
    order = np.lexsort((position, owner))
    return Runs(position[order[0::2]], position[order[1::2]]), owner[order[0::2]]


def _crossings(begin: np.ndarray, end: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finds where edges from `begin` to `end`, int64 [E, 2], cross: (edge, pixel column, row of the grid)."""
    low, high = np.minimum(begin[:, 0], end[:, 0]), np.maximum(begin[:, 0], end[:, 0])
    first = np.maximum((low - _MIDDLE + _FINE - 1) // _FINE, 0)
    last = np.minimum((high - _MIDDLE - 1) // _FINE, width - 1)
    counts = np.maximum(last - first + 1, 0)
    total = int(counts.sum())
    if total > _MOST_CROSSINGS:
        raise ValueError(
            f"the polygons cross {total} pixel columns, more than {_MOST_CROSSINGS} are not drawn"
        )
    edge = np.repeat(np.arange(len(counts)), counts)
    column = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]
    # Staircases are built from the end that is further left or, of steep edges, further up.
    size = np.abs(end - begin)
    steep = size[:, 0] < size[:, 1]
    turned = np.where(steep, begin[:, 1] > end[:, 1], begin[:, 0] > end[:, 0])[:, None]
    begin, end = np.where(turned, end, begin), np.where(turned, begin, end)
    x, y = begin[edge].T
    dx, dy = (end - begin)[edge].T
    before = _FINE * column + _MIDDLE
    level = np.empty(total, np.int64)
    flat = ~steep[edge]
    level[flat] = _level_of_flat(before[flat] - x[flat], y[flat], dy[flat] / dx[flat])
    steep = ~flat
    level[steep] = _level_of_steep(before[steep], x[steep], y[steep], dx[steep] / dy[steep])
    return edge, column, level


def _level_of_flat(step: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Returns the smaller row of two successive points of a flat staircase, number `step` and the next."""
    return np.minimum(np.trunc(y + slope * step + 0.5), np.trunc(y + slope * (step + 1) + 0.5)).astype(
        np.int64
    )


def _level_of_steep(before: np.ndarray, x: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Returns the row after which a steep staircase leaves column `before`; it has one point in each row."""

    def is_over(step: np.ndarray) -> np.ndarray:
        right = x + slope * step + 0.5 >= before + 1
        return np.where(slope > 0, right, ~right)

    step = np.ceil((before + 0.5 - x) / slope)
    # The division is not exact: the step may be next to it.
    step = np.where(is_over(step - 1), step - 1, np.where(is_over(step), step, step + 1))
    return (y + step - 1).astype(np.int64)


def painted(runs: Sequence[tuple[int, Runs]], height: int, width: int) -> np.ndarray:
    """Paints labels, int32 [height, width, 1]: the largest that covers a pixel, 0 elsewhere.

    Args:
        runs: (label, its pixels).
    """
    pixels = height * width
    borders = np.unique(np.concatenate([[0, pixels], *(part for _, both in runs for part in both)]))
    labels = _joined([np.full(len(both.starts), label, np.int64) for label, both in runs])
    begins = np.searchsorted(borders, _joined([both.starts for _, both in runs]))
    ends = np.searchsorted(borders, _joined([both.ends for _, both in runs]))
    values = _largest_over(begins, ends, labels, len(borders) - 1)
    # Small numbers are turned from columns to rows faster.
    small = values.astype(np.uint8) if 0 <= values.min(initial=0) <= values.max(initial=0) < 256 else values
    columns = np.repeat(small, np.diff(borders)).reshape(width, height)
    return np.ascontiguousarray(columns.T).astype(np.int32, copy=False)[..., None]


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _largest_over(begins: np.ndarray, ends: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Finds the largest value among the intervals over each position: int32 [count], 0 where no interval lies.

    An interval is covered by two of the largest power of two that fits into it, and the maximum of those of a size is
    handed down to those of half of it: so the time does not depend on how many values there are.
    """
    held = begins < ends
    begins, ends, values = begins[held], ends[held], values[held]
    levels = np.frexp(ends - begins)[1] - 1
    none = np.iinfo(np.int64).min
    largest: np.ndarray = np.full(count, none)
    for level in range(int(levels.max(initial=0)), -1, -1):
        (own,) = np.nonzero(levels == level)
        np.maximum.at(largest, begins[own], values[own])
        np.maximum.at(largest, ends[own] - (1 << level), values[own])
        if level:
            half = 1 << (level - 1)
            largest[half:] = np.maximum(largest[half:], largest[:-half])
    return np.where(largest == none, 0, largest).astype(np.int32)
