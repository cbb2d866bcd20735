"""A queue from threads that make results to threads that take them."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")

# How often a thread that waits asks whether it should stop: the garbage collector, which may stop it, takes no
# lock and so wakes nobody.
_POLL_SECONDS = 0.1


class Handover(Generic[_T]):
    """A queue in which waiting for an item and taking it are two steps.

    So what a thread notes when it takes an item can be one step with the taking, under a lock that nobody
    holds while there is nothing to take.

    Args:
        room: items that may wait.
    """

    def __init__(self, room: int):
        self._room = room
        self._items: collections.deque[_T] = collections.deque()
        self._changed = threading.Condition()

    def put(self, item: _T, stopped: Callable[[], bool]) -> bool:
        """Adds an item as soon as there is room; False if `stopped` said so before."""
        with self._changed:
            while not stopped():
                if len(self._items) < self._room:
                    self._items.append(item)
                    self._changed.notify_all()
                    return True
                self._changed.wait(_POLL_SECONDS)
        return False

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Returns when there is an item, or when `stopped` says so."""
        with self._changed:
            while not (self._items or stopped()):
                self._changed.wait(_POLL_SECONDS)

    def take(self) -> _T | None:
        """The oldest item; None: there is none."""
        with self._changed:
            item = self._items.popleft() if self._items else None
            self._changed.notify_all()
            return item

    def clear(self) -> None:
        """Lets go of the items."""
        with self._changed:
            self._items.clear()
            self._changed.notify_all()

    def wake(self) -> None:
        """Has everybody who waits ask whether to stop."""
        with self._changed:
            self._changed.notify_all()
