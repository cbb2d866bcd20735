"""Keeps batches in order at the steps that call user functions with side effects."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator


class Stopped(BaseException):
    """Raised by `InOrder.turn` in waiting threads when the window stops."""


class InOrder:
    """Lets batches enter each of `steps` in the order of their numbers 0, 1, ... No batch waits at other steps."""

    def __init__(self, steps: Iterable[int]):
        self._stopped = False
        self._changed = threading.Condition()
        self._next = dict.fromkeys(steps, 0)
        # Batches that left a step early.
        self._left: dict[int, set[int]] = {step: set() for step in self._next}

    def turn(self, number: int, step: int) -> contextlib.AbstractContextManager[None]:
        """Returns a context manager that waits for a batch's turn at a step; entering it raises `Stopped` after `stop`.

        A second attempt at the batch does not wait.
        """
        return self._turn(number, step) if step in self._next else contextlib.nullcontext()

    @contextlib.contextmanager
    def _turn(self, number: int, step: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._next[step] >= number or self._stopped)
            if self._stopped:
                raise Stopped
        try:
            yield
        finally:
            self._leave(number, step)

    def leave(self, number: int) -> None:
        """Marks a batch as done with all steps, so that later batches do not wait for it."""
        for step in self._next:
            self._leave(number, step)

    def _leave(self, number: int, step: int) -> None:
        with self._changed:
            left = self._left[step]
            if number >= self._next[step]:
                left.add(number)
            while self._next[step] in left:
                left.remove(self._next[step])
                self._next[step] += 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Raises `Stopped` in all threads that wait for a turn, now or later."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Starts again with batch 0; no batch may be in a step during the call."""
        self._stopped = False
        for step, left in self._left.items():
            self._next[step] = 0
            left.clear()
