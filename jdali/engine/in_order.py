"""Keeps batches in order at the steps that call functions of the user's with side effects."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator


class Stopped(BaseException):
    """Everything was told to end: there is nothing to wait for any more."""


class InOrder:
    """Lets batches into some steps in the order of their numbers, which count from 0; into others at once."""

    def __init__(self, steps: Iterable[int]):
        self._stopped = False
        self._changed = threading.Condition()
        self._next = dict.fromkeys(steps, 0)
        self._left: dict[int, set[int]] = {step: set() for step in self._next}  # before their turn

    def turn(self, number: int, step: int) -> contextlib.AbstractContextManager[None]:
        """Returns what to be in while the batch is in the step. A later attempt at the batch waits for nobody.

        Raises:
            Stopped: on entering: `stop` was called.
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
        """Lets the batches behind this one into the steps that it does not reach."""
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
        """Has all threads give up that wait, or would."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Begins again at 0; no batch is in a step."""
        self._stopped = False
        for step, left in self._left.items():
            self._next[step] = 0
            left.clear()
