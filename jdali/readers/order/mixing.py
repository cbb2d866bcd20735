"""A long sequence in order except for positions near each other, as if it went through a buffer of some items."""

from __future__ import annotations

import functools

import numpy as np

from jdali.readers.order.indices import GOLDEN, IndexSequence, finalized_all, key_state, permutation

# A buffer of more items counts as one of this many, unless all items fit into it: that bounds the memory.
_LARGEST_FILL = 1 << 20
# At least this many positions are looked up at a time.
_AT_ONCE = 4096
# Bits of the random part of a key that is less than 1; fewer where the buffer is large.
_FRACTION = 32
_WORD = 64


def mixed(size: int, fill: int, *key: int) -> IndexSequence:
    """Mixes 0, ..., size - 1 as a buffer of `fill` items could, in a way that follows from `key` alone.

    A buffer that is filled with 0, 1, 2, ... as far as the next item requires never holds more than `fill`. Item i is at a
    position p with

        i - fill < p < i + reach(fill),        fill ≤ reach(fill) < 2 · fill,

    and items that come soon after one another are among some `reach(fill)` that follow each other. All are
    shuffled freely if they fit into the buffer.

    How: item i has a random moment, i + d with 0 ≤ d < reach, and items come in the order of their moments. At
    the moment t all items up to t - reach have come and none after t has: so the moment of the item at position p is
    at least p and less than p + reach, and sorting the items from p - reach to p + reach by their moments finds it.

    With d drawn freely the buffer would hold reach / 2 items on average, but might have to hold all of reach. So the
    d of a row of m items lie one in each of m strata of a width w, in random order; reach = m · w. Let t be the
    moment of the next item, and y = t - a for a row that begins at a ≤ t. If an item of the row in the
    stratum s is still to come, then a + (m - 1) + w · (s + 1) > t, and s ≥ floor((y - m + 1) / w): at most
    m - floor((y - m + 1) / w) of the row are in the buffer, and never more than m. The y of the rows are m apart, the
    lowest is below m; summed up that is at most ((m + 1) · w + 3 · m - 1) / 2. For some m the largest w is taken
    with which this is at most `fill`, then the m with the longest reach. With m = 1 simply w = fill.

    Args:
        size: number of items.
        fill: of the buffer, from 1 on; more than 2^20 counts as 2^20, if that is less than `size`.
        key: two numbers of 64 bits.
    """
    if fill >= size:
        return permutation(size, *key)
    if fill == 1:
        return IndexSequence(size, lambda positions: positions)
    return IndexSequence(size, _Mixer(size, *_strata(fill), *key))


def reach(fill: int) -> int:
    """Returns how far an item may lie behind its place, see `mixed`."""
    row, width = _strata(fill)
    return row * width


def _strata(fill: int) -> tuple[int, int]:
    """Returns the number and width of strata."""
    fill = min(fill, _LARGEST_FILL)
    choices = [(1, fill), *((m, (2 * fill - 3 * m + 1) // (m + 1)) for m in (2, 4, 8, 16, 32))]
    return max(choices, key=lambda choice: choice[0] * choice[1])


class _Mixer:
    """See `mixed`.

    Args:
        size: number of items.
        row, width: number of the strata, and how wide they are.
        key: numbers of 64 bits.
    """

    def __init__(self, size: int, row: int, width: int, *key: int):
        self._size, self._row, self._width = size, row, width
        self._reach = row * width
        self._step = max(_AT_ONCE, self._reach)
        self._state = key_state(*key)
        # Of the items of a window, and of their moments: both counted from where it begins.
        most = self._step + 2 * self._reach + 2 * row
        self._index_bits = most.bit_length()
        self._fraction = min(_WORD - self._index_bits - (most + self._reach).bit_length(), _FRACTION)
        # Two: a reader that is ahead may be in the next part of the sequence already.
        self._part = functools.lru_cache(maxsize=2)(self._sorted)

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        parts = positions // self._step
        found = np.empty(len(positions), np.int64)
        for part in np.unique(parts).tolist():
            mine = parts == part
            found[mine] = self._part(part)[positions[mine] - part * self._step]
        return found

    def _sorted(self, part: int) -> np.ndarray:
        """Returns the items at the positions from part · step on: int64 [n]."""
        start = part * self._step
        stop = min(start + self._step, self._size)
        # Whole rows; a moment from `start` on is only reached by items after start - reach.
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
        """Computes the moments of the items from `first` on, uint64 [rows, row]: whole, fraction, and the item in the
        low bits.

        The lowest decide among items of one moment: the first comes first.
        """
        words = np.arange(first, first + rows * self._row, dtype=np.uint64)
        words *= np.uint64(GOLDEN)
        words += np.uint64(self._state)
        words = finalized_all(words)
        strata = np.arange(self._row, dtype=np.uint64)
        low = np.uint64(max(self._row - 1, 0))
        # Which item of a row lies in which stratum: the one whose word is the s-th, except for its lowest bits.
        ranked = (words.reshape(rows, self._row) & ~low) | strata
        ranked.sort(axis=1)
        index = (ranked & low) + np.arange(0, rows * self._row, self._row, dtype=np.uint64)[:, None]
        # Within a stratum: by 32 bits that the ranking does not look at before all others.
        jitter = finalized_all(ranked ^ np.uint64(self._state)) >> np.uint64(32)
        jitter *= np.uint64(self._width)
        jitter >>= np.uint64(32 - self._fraction)
        whole = index + strata * np.uint64(self._width)
        moments = (whole << np.uint64(self._fraction)) + jitter
        return (moments << np.uint64(self._index_bits)) | index
