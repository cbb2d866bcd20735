"""The first batches of each epoch: an epoch that is shorter than the data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class FirstBatches(Iterator[T], Generic[T]):
    """Goes through the first batches of an epoch, then ends it; see `DataIterator.take`.

    Threads that share it take turns: each batch goes to one of them, the end to all.

    Args:
        count: batches of an epoch, at most.
        begin: begins the next epoch, if so many batches of this one were given, or all.
        take: gives the next batch, if fewer than so many of the epoch were given; else ends the epoch and raises
            StopIteration.
        length: gives how many batches a loop has that begins now.
    """

    def __init__(
        self,
        count: int,
        begin: Callable[[int], object],
        take: Callable[[int], T],
        length: Callable[[int], int],
    ):
        self._count, self._begin, self._take, self._length = count, begin, take, length
        self._begun = self._ended = False
        self._batches = 0  # of this loop
        self._turn = threading.RLock()

    def __iter__(self) -> FirstBatches[T]:
        return self

    def __next__(self) -> T:
        with self._turn:
            if self._ended:
                raise StopIteration
            if not self._begun:
                self._begin(self._count)
                self._begun, self._batches = True, self._length(self._count)
            try:
                return self._take(self._count)
            except StopIteration:
                self._ended = True
                raise

    def __len__(self) -> int:
        """Batches of this loop: of the epoch, without those that were given before; if the source does not end earlier."""
        return self._batches if self._begun else self._length(self._count)
