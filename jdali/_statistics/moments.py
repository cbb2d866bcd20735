"""Computes mean and standard deviation of values that arrive in parts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

_Array = np.ndarray


class Moments:
    """Computes count, mean and standard deviation by channel, over arrays that are added one by one.

    Integers are summed exactly, as Python integers. For floats, the mean and the sum of squared deviations of each
    array are computed in float64. They are then combined by the method of Chan, Golub and LeVeque, so that a large mean
    loses no digits. NaN and infinity are counted and left out.
    """

    def __init__(self, channels: int):
        self.not_finite = 0
        self._ints: list[tuple[int, int, int]] = [(0, 0, 0)] * channels  # each: count, sum, sum of squares
        self._floats: list[tuple[int, float, float]] = [
            (0, 0.0, 0.0)
        ] * channels  # each: count, mean, sum of squared deviations
        self._low, self._high = math.inf, -math.inf

    def add(self, values: _Array) -> None:
        """Adds numbers [..., channels] of any element type."""
        flat = values.reshape(-1, values.shape[-1])
        if not flat.size:
            return
        if values.dtype.kind in "bui":
            self._add_integers(flat)
        else:
            self._add_floats(flat)

    def _add_integers(self, flat: _Array) -> None:
        sums, squares = zip(*map(_sums, flat.T), strict=True)
        self._ints = [
            (count + len(flat), total + s, square + q)
            for (count, total, square), s, q in zip(self._ints, sums, squares, strict=True)
        ]
        self._low, self._high = min(self._low, flat.min()), max(self._high, flat.max())

    def _add_floats(self, flat: _Array) -> None:
        for channel in range(flat.shape[1]):
            column = flat[:, channel].astype(np.float64)
            finite = column[np.isfinite(column)]
            self.not_finite += len(column) - len(finite)
            if len(finite):
                mean = float(finite.mean())
                distance = finite - mean
                part = len(finite), mean, float(distance @ distance)
                self._floats[channel] = _combined(self._floats[channel], part)
                self._low, self._high = min(self._low, finite.min()), max(self._high, finite.max())

    @property
    def count(self) -> int:
        return self._ints[0][0] + self._floats[0][0]

    @property
    def mean(self) -> tuple[float, ...]:
        """Returns the mean by channel; nan for a channel without values."""
        return tuple(
            float(Fraction(i[1], i[0])) if i[0] else f[1] if f[0] else math.nan
            for i, f in zip(self._ints, self._floats, strict=True)
        )

    @property
    def std(self) -> tuple[float, ...]:
        """Returns the standard deviation by channel, as NumPy's `std` with `ddof=0`; nan for a channel without values."""
        return tuple(map(_deviation, self._ints, self._floats))

    @property
    def range(self) -> tuple[float, float]:
        """Returns the smallest and the largest value; nan if there are none."""
        return (float(self._low), float(self._high)) if self.count else (math.nan, math.nan)


def _sums(column: _Array) -> tuple[int, int]:
    if column.dtype.itemsize > 2:
        wide = column.astype(object)
        return int(wide.sum()), int((wide * wide).sum())
    low = int(column.min())
    counts = np.bincount(column.astype(np.int64) - low if low < 0 else column)
    values = np.arange(len(counts), dtype=np.int64) + min(low, 0)
    return int(counts @ values), int(counts @ (values * values))


def _combined(one: tuple[int, float, float], other: tuple[int, float, float]) -> tuple[int, float, float]:
    count = one[0] + other[0]
    apart = other[1] - one[1]
    mean = one[1] + apart * (other[0] / count)
    return count, mean, one[2] + other[2] + apart * apart * (one[0] * (other[0] / count))


def _deviation(ints: tuple[int, int, int], floats: tuple[int, float, float]) -> float:
    count, total, squares = ints
    if count:
        return math.sqrt(Fraction(count * squares - total * total, count * count))
    return math.sqrt(floats[2] / floats[0]) if floats[0] else math.nan
