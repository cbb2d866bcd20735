"""Telling the operating system which parts of local files will be read next."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence

# Bytes requested beyond the furthest piece read: between once and twice as many.
_AHEAD = 8 << 20
# What one call asks for: Linux takes no more of a call than it reads ahead by itself, 128 KiB if not told otherwise.
_CALL = 128 << 10
# Bytes requested at once where reading begins.
_MOST = 256 << 20


class Advice:
    """Asks the system to read files ahead, where pieces are read back and forth within a moving window.

    The disk then sees reading from front to end. Asking for what is in the cache already costs 10 us a megabyte.

    Args:
        sizes: of the files, bytes; they count as one row.
        ask: has `count` bytes of a file read from `offset` on, as `posix_fadvise` does: (file, offset, count).
    """

    def __init__(self, sizes: Sequence[int], ask: Callable[[int, int, int], None]):
        self._starts = list(itertools.accumulate(sizes, initial=0))
        self._ask = ask
        self._asked = 0  # up to this byte of the row

    def reads(self, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Announces reads between two positions, each a file and an offset in it."""
        begin, end = (self._starts[file] + offset for file, offset in (first, last))
        asked = self._asked
        if not begin <= asked <= end + 2 * _AHEAD:  # another part of the files
            asked = begin
        if asked >= min(end + _AHEAD, self._starts[-1]):
            return
        target = min(end + 2 * _AHEAD, self._starts[-1])
        self._asked = target
        at = max(asked, target - _MOST)
        while at < target:
            file = bisect.bisect_right(self._starts, at) - 1
            stop = min(at + _CALL, target, self._starts[file + 1])
            self._ask(file, at - self._starts[file], stop - at)
            at = stop
