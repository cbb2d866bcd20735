"""Caches pieces of data that are likely to be needed again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

from jdali._storage import BadRecord
from jdali.storage import options as storage_options

_T = TypeVar("_T")


class KeptPieces(Generic[_T]):
    """Caches pieces by key; one thread reads a piece while others wait for it.

    Evicts the least recently used pieces while the cache exceeds `bytes_ahead` of `jdali.storage`.

    Args:
        least: number of pieces to keep even if they exceed this limit.
        size_of: returns the size of a piece, bytes.
    """

    def __init__(self, least: int, size_of: Callable[[_T], int]):
        self._least, self._size_of = least, size_of
        self._most_bytes = storage_options().bytes_ahead
        self._kept: OrderedDict[Hashable, Future[_T]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}  # bytes of each piece that has been read
        self._held = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, read: Callable[[], _T]) -> _T:
        """Returns a piece from the cache, or reads it with `read`; also caches a `BadRecord` that `read` raises."""
        with self._lock:
            known = self._kept.get(key)
            future: Future[_T] = known or Future()
            self._kept[key] = future
            self._kept.move_to_end(key)
        if known is not None:
            return known.result()
        size = 0
        try:
            piece = read()
            size = self._size_of(piece)
            future.set_result(piece)
        except BadRecord as error:
            # The frames of a traceback would keep the data in memory.
            future.set_exception(error.with_traceback(None))
        except BaseException as error:
            with self._lock:
                self._kept.pop(key, None)  # the next call may succeed
            future.set_exception(error)
        with self._lock:
            if key in self._kept:
                self._sizes[key] = size
                self._held += size
            self._drop()
        return future.result()

    def _drop(self) -> None:
        """Evicts pieces; the caller holds the lock."""
        spare = len(self._kept) - self._least
        dropped: list[Hashable] = []
        for key in self._kept:
            if len(dropped) >= spare or self._held <= self._most_bytes:
                break
            if (size := self._sizes.get(key)) is not None:  # None while a thread reads the piece
                self._held -= size
                dropped.append(key)
        for key in dropped:
            del self._kept[key], self._sizes[key]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._sizes.clear()
            self._held = 0
