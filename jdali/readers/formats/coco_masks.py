"""Converts COCO masks to runs of pixels, and paints pictures of labels.

The pixels of a mask are numbered column by column, each column from top to bottom. A run is a half-open interval of
these numbers.

Polygons are rasterised as in COCO's own tools. Vertices are rounded to a grid five times as fine as the pixels, and
each edge becomes the staircase of grid points nearest to its line. A pixel column has five grid columns. A crossing
is a row, rounded up to a whole pixel, where a staircase steps from the third to the fourth grid column. In each
column, the mask is set between the first and the second crossing, the third and the fourth, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_FINE = 5  # grid points per pixel
_MIDDLE = 2  # crossings lie after this grid column of a pixel, counted from 0
_LARGEST = float(1 << 40)  # coordinates are clipped to this value, which is far outside of any picture
_MOST_CROSSINGS = 1 << 24
_MOST_DIGITS = 12  # maximum number of digits of a compressed number; 32 bits need 7


class Runs(NamedTuple):
    """Runs of pixels of a mask.

    Attributes:
        starts: int64 [n], the first pixel of each run.
        ends: int64 [n], one past the last pixel of each run.
    """

    starts: np.ndarray
    ends: np.ndarray


def decompressed(text: str) -> np.ndarray:
    """Decodes a compressed mask to run lengths, int64 [n]; raises ValueError if the mask is damaged.

    Each character holds five bits of a number, the lowest bits first. Each number from the fourth on is stored as its
    difference from the number two positions before.
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
    """Converts run lengths to the runs of set pixels; raises ValueError if the lengths do not fit the mask.

    `counts[0::2]` are the lengths of unset runs, `counts[1::2]` of set runs.
    """
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
    """Finds the pixels inside polygons.

    Args:
        vertices: float32 [V, 2] (x, y), vertices of all polygons, one polygon after another.
        sizes: int64 [P], number of vertices of each polygon.

    Returns: the runs of all polygons, and the polygon of each run, int64 [runs].

    Raises:
        ValueError: the polygons have too many crossings.
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
    # A closed line crosses each column an even number of times, so its crossings form pairs.
    order = np.lexsort((position, owner))
    return Runs(position[order[0::2]], position[order[1::2]]), owner[order[0::2]]


def _crossings(begin: np.ndarray, end: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finds the crossings of edges from `begin` to `end`, int64 [E, 2]; returns their edges, pixel columns and grid rows."""
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
    # Staircases are drawn from the left end of flat edges, and from the upper end of steep edges.
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
    """Returns min(row of point `step`, row of point `step` + 1) in a flat staircase."""
    return np.minimum(np.trunc(y + slope * step + 0.5), np.trunc(y + slope * (step + 1) + 0.5)).astype(
        np.int64
    )


def _level_of_steep(before: np.ndarray, x: np.ndarray, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Returns the row after which a steep staircase, with one point in each row, leaves column `before`."""

    def is_over(step: np.ndarray) -> np.ndarray:
        right = x + slope * step + 0.5 >= before + 1
        return np.where(slope > 0, right, ~right)

    step = np.ceil((before + 0.5 - x) / slope)
    # Division rounds, so the true step may be one less or one more.
    step = np.where(is_over(step - 1), step - 1, np.where(is_over(step), step, step + 1))
    return (y + step - 1).astype(np.int64)


def painted(runs: Sequence[tuple[int, Runs]], height: int, width: int) -> np.ndarray:
    """Returns the largest label that covers each pixel, int32 [height, width, 1]; 0 if no label covers it.

    `runs` are pairs (label, pixels of an object with this label).
    """
    pixels = height * width
    borders = np.unique(np.concatenate([[0, pixels], *(part for _, both in runs for part in both)]))
    labels = _joined([np.full(len(both.starts), label, np.int64) for label, both in runs])
    begins = np.searchsorted(borders, _joined([both.starts for _, both in runs]))
    ends = np.searchsorted(borders, _joined([both.ends for _, both in runs]))
    values = _largest_over(begins, ends, labels, len(borders) - 1)
    # If labels fit into bytes, transposing bytes is faster.
    small = values.astype(np.uint8) if 0 <= values.min(initial=0) <= values.max(initial=0) < 256 else values
    columns = np.repeat(small, np.diff(borders)).reshape(width, height)
    return np.ascontiguousarray(columns.T).astype(np.int32, copy=False)[..., None]


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _largest_over(begins: np.ndarray, ends: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Returns, for each position, the largest value of an interval that contains it, int32 [count]; 0 if none does.

    Each interval is the union of two intervals of length 2^k, for the largest k that fits. From the largest k down,
    each maximum is passed on to both halves of its interval. So n intervals take O((n + count) · log(count)) steps.
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
