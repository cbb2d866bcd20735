"""Gates keep batches in order while several of them go through the steps of a plan."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from types import TracebackType


class Stopped(BaseException):
    """Everything was told to end: there is nothing to wait for any more."""


class Gate:
    """A step that batches go through in their order.

    Args:
        at_once: how many batches may be in the step at the same time.
        stopped: returns True if threads that wait should give up; `wake` has them ask.
    """

    def __init__(self, at_once: int, stopped: Callable[[], bool]):
        self._at_once, self._stopped = at_once, stopped
        self._next = self._inside = 0
        self._changed = threading.Condition()

    def enter(self, number: int) -> None:
        """Waits until it is the turn of the batch of this number: they count from 0.

        Raises:
            Stopped: `stopped` said so before.
        """
        with self._changed:
            while self._next != number or self._inside >= self._at_once:
                if self._stopped():
                    raise Stopped
                self._changed.wait()
            self._next += 1
            self._inside += 1
            if self._inside < self._at_once:
                self._changed.notify_all()

    def leave(self) -> None:
        """Makes room for the next batch."""
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def wake(self) -> None:
        """Has all threads that wait ask whether to stop."""
        with self._changed:
            self._changed.notify_all()


class Way:
    """The way of one batch through all gates: none is left out, or the batches behind it would wait for ever.

    Args:
        gates: in the order in which they are gone through.
        number: of the batch.
    """

    def __init__(self, gates: Sequence[Gate], number: int):
        self._gates, self.number, self._passed = gates, number, 0

    def turn(self, index: int) -> contextlib.AbstractContextManager[None]:
        """To be in while the batch is in the step behind the gate at `index`; an earlier attempt may have gone through it."""
        if index < self._passed:
            return contextlib.nullcontext()
        for gate in self._gates[self._passed : index]:  # steps that an error left out
            gate.enter(self.number)
            gate.leave()
        self._passed = index + 1
        return _Turn(self._gates[index], self.number)


class _Turn(contextlib.AbstractContextManager[None]):
    __slots__ = ("_gate", "_number")

    def __init__(self, gate: Gate, number: int):
        self._gate, self._number = gate, number

    def __enter__(self) -> None:
        self._gate.enter(self._number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._gate.leave()
