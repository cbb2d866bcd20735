"""Bounds of the batches that are made ahead."""

from __future__ import annotations


class Room:
    """Bounds the batches made ahead, by number and bytes; for one thread at a time.

    Args:
        depth: batches that may wait, at least; one more is made meanwhile.
        most_bytes: of those that wait and those under way, together; one batch is made whatever it takes.
        is_strict: as long as nothing is known of the size of batches, one is under way; else as many as `depth` says.

    Attributes:
        depth: batches that may wait now.
        largest: bytes that a batch took at most while it was made, of those made so far.
    """

    def __init__(self, depth: int, most_bytes: int, *, is_strict: bool):
        self.depth = self._least = depth
        self.most_bytes = most_bytes
        self._is_strict = is_strict
        self.largest = 0

    def fit(self, in_flight: int) -> None:
        """Has room for as many batches as are in flight."""
        self.depth = max(self._least, in_flight)

    def note(self, size: int) -> None:
        """A batch took this many bytes while it was made."""
        self.largest = max(self.largest, size)

    def allows(self, under_way: int, waiting: int, waiting_bytes: int, spare: int = 0) -> bool:
        """True if one more batch may be begun; `spare`: so many more than `depth` may wait."""
        if not under_way + waiting:
            return True
        if under_way + waiting > self.depth + spare:
            return False
        if not self.largest:
            return not self._is_strict
        return waiting_bytes + (under_way + 1) * self.largest <= self.most_bytes
