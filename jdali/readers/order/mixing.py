"""Shuffles a long sequence locally, as a shuffle buffer does, but with random access and in constant memory."""

from __future__ import annotations

import functools

import numpy as np

from jdali.readers.order.indices import GOLDEN, IndexSequence, finalized_all, key_state, permutation

# Maximum size of a buffer, to limit memory, unless the buffer can hold all items.
_LARGEST_FILL = 1 << 20
# Minimum number of positions to compute at a time.
_AT_ONCE = 4096
# Number of bits for the fraction of a moment (see `mixed`); fewer for a large buffer.
_FRACTION = 32
_WORD = 64


def mixed(size: int, fill: int, *key: int) -> IndexSequence:
    """Shuffles 0, ..., size - 1 as a buffer of `fill` items could, in an order that depends only on `key`.

    A buffer of `fill` items suffices to produce this order: before each output, it receives 0, 1, 2, ... up to the next
    item of the order. The position p of item i satisfies

        i - fill < p < i + reach(fill),        fill ≤ reach(fill) < 2 · fill,

    so the next item always lies in a window of `reach(fill)` consecutive numbers that moves on with the position.
    If all items fit into the buffer, all orders are possible.

    Method: item i has a random moment i + d with 0 ≤ d < reach, and items are ordered by their moments. At moment t,
    all items up to t - reach have come, and no item after t has. So the moment of the item at position p is at least
    p and less than p + reach. To find this item, it suffices to sort the items from p - reach to p + reach by their
    moments.

    With independent d, the buffer would hold reach / 2 items on average, but reach items in the worst case. Therefore
    items form rows of m items. The d of a row lie in m strata of width w, one in each stratum, in random order, so
    reach = m · w. Let t be the moment of the next item, and y = t - a for a row that begins at a ≤ t. If an item of the
    row in stratum s is still to come, then a + (m - 1) + w · (s + 1) > t, hence s ≥ floor((y - m + 1) / w). So the
    buffer holds at most m - floor((y - m + 1) / w) items of the row, and never more than m. The y of successive rows
    differ by m, and the lowest y is below m. So the buffer holds at most ((m + 1) · w + 3 · m - 1) / 2 items. For each
    of several m, w is the largest width for which this bound is at most `fill`; the m with the longest reach is chosen.
    For m = 1, w = fill.

    Args:
        size: number of items.
        fill: size of the buffer, at least 1. A buffer that is smaller than `size` has at most 2^20 items.
        key: two 64-bit numbers.
    """
    if fill >= size:
        return permutation(size, *key)
    if fill == 1:
        return IndexSequence(size, lambda positions: positions)
    return IndexSequence(size, _Mixer(size, *_strata(fill), *key))


def reach(fill: int) -> int:
    """Returns the bound on the delay of an item, see `mixed`."""
    row, width = _strata(fill)
    return row * width


def _strata(fill: int) -> tuple[int, int]:
    """Returns the number and width of strata."""
    fill = min(fill, _LARGEST_FILL)
    choices = [(1, fill), *((m, (2 * fill - 3 * m + 1) // (m + 1)) for m in (2, 4, 8, 16, 32))]
    return max(choices, key=lambda choice: choice[0] * choice[1])


class _Mixer:
    """Implements `mixed`.

    `row` is the number of strata; `width` is their width.
    """

    def __init__(self, size: int, row: int, width: int, *key: int):
        self._size, self._row, self._width = size, row, width
        self._reach = row * width
        self._step = max(_AT_ONCE, self._reach)
        self._state = key_state(*key)
        # Items and moments are counted from the start of the sorted window.
        most = self._step + 2 * self._reach + 2 * row
        self._index_bits = most.bit_length()
        self._fraction = min(_WORD - self._index_bits - (most + self._reach).bit_length(), _FRACTION)
        # Caches two parts, because a reader that prefetches may already read the next one.
        self._part = functools.lru_cache(maxsize=2)(self._sorted)

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        parts = positions // self._step
        found = np.empty(len(positions), np.int64)
        for part in np.unique(parts).tolist():
            mine = parts == part
            found[mine] = self._part(part)[positions[mine] - part * self._step]
        return found

    def _sorted(self, part: int) -> np.ndarray:
        """Returns the items at positions from part · step on, int64 [n]."""
        start = part * self._step
        stop = min(start + self._step, self._size)
        # Begins at the start of a row. Items up to start - reach are left out, because their moments are before `start`.
        first = max(start - self._reach, 0) // self._row * self._row
        last = min(stop + self._reach, self._size)
        rows = -(-(last - first) // self._row)
        moments = self._moments(first, rows).reshape(-1)
        inside = (moments & self._low_bits) < self._size - first
        moments = moments[inside] if not inside.all() else moments
        moments.sort()
        chosen = moments[start - first : stop - first] & self._low_bits
        return chosen.astype(np.int64) + first

    @property
    def _low_bits(self) -> np.uint64:
        return np.uint64((1 << self._index_bits) - 1)

    def _moments(self, first: int, rows: int) -> np.ndarray:
        """Computes the moments of the items from `first` on, uint64 [rows, row].

        The bits of a number are, from high to low: integer part, fraction, and the item, which breaks ties.
        """
        words = np.arange(first, first + rows * self._row, dtype=np.uint64)
        words *= np.uint64(GOLDEN)
        words += np.uint64(self._state)
        words = finalized_all(words)
        strata = np.arange(self._row, dtype=np.uint64)
        low = np.uint64(max(self._row - 1, 0))
        # Stratum s gets the item with the s-th smallest random word; the low bits of a word hold its item.
        ranked = (words.reshape(rows, self._row) & ~low) | strata
        ranked.sort(axis=1)
        index = (ranked & low) + np.arange(0, rows * self._row, self._row, dtype=np.uint64)[:, None]
        # The position within a stratum comes from a second, independent hash.
        jitter = finalized_all(ranked ^ np.uint64(self._state)) >> np.uint64(32)
        jitter *= np.uint64(self._width)
        jitter >>= np.uint64(32 - self._fraction)
        whole = index + strata * np.uint64(self._width)
        moments = (whole << np.uint64(self._fraction)) + jitter
        return (moments << np.uint64(self._index_bits)) | index
