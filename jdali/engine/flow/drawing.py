"""Draws batches from the sources: in the threads that make them, or ahead in the thread that takes a batch.

The latter is for functions of the user's. As in DALI, they see the thread, the random state and the debugger of the program.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable
from typing import Any

from jdali.engine.flow.drawn_ahead import DrawErrors, DrawFailed, DrawnAhead
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.ready_queue import ReadyQueue
from jdali.engine.tasks.batch_task import BatchTask


class When(enum.Enum):
    """Times at which batches are made."""

    AHEAD = "before they are asked for"
    AHEAD_BY_CALLS = "before they are asked for; the thread that takes a batch draws the data of a later one"
    BACKGROUND = "when they are scheduled, in threads; a batch that was not scheduled is made by the thread that takes it"
    INLINE = "when they are scheduled or asked for, in the thread that does so"


class Drawing:
    """Draws from the sources of an engine up to their end; by one thread at a time.

    Args:
        engine: whose sources these are.
        when: batches are made.
        errors: of draws; the pipeline's owner keeps them.
        before_draw: returns what to call before each draw, with `When.AHEAD_BY_CALLS`; it may raise StopIteration.

    Attributes:
        drained: a source is at its end: nothing is drawn before `go_on`.
    """

    def __init__(
        self,
        engine: Engine,
        when: When,
        errors: DrawErrors,
        before_draw: Callable[[], Callable[[], Any] | None],
    ):
        self._engine, self._before_draw = engine, before_draw
        self._errors = weakref.ref(errors)
        self._is_ahead = when is When.AHEAD
        self._waiting = DrawnAhead() if when is When.AHEAD_BY_CALLS else None
        self.drained = False
        self._resets = False  # the sources begin again with the next draw
        self._next: BatchTask | None = None  # drawn before

    @property
    def calls_user(self) -> bool:
        """True if the thread that takes a batch draws for a later one."""
        return self._waiting is not None

    def now(self) -> BatchTask:
        """Draws the next batch of the sources.

        Raises:
            StopIteration: a source is at its end.
        """
        if (batch := self._next) is not None:
            self._next = None
            return batch
        if self.drained:
            raise StopIteration
        try:
            if self._resets:
                self._resets = False
                self._engine.reset()
            return self._engine.draw()
        except StopIteration:
            self.drained = True
            raise

    def put_back(self, batch: BatchTask) -> None:
        """Gives a batch once more, which was not made because of an interrupt."""
        self._next = batch

    # --- for the threads that make batches --------------------------------------------------
    def next(self) -> BatchTask:
        """Returns the batch to make next: the oldest of those drawn ahead, or one drawn now."""
        return self.now() if self._waiting is None else self._waiting.next()

    def may_begin(self) -> bool:
        """True if a batch may be begun: of those made ahead none is after the end of a source."""
        return not (self._is_ahead and self.drained)

    # --- for the thread that takes batches --------------------------------------------------
    def fill(self, made: ReadyQueue, stopped: Callable[[], bool]) -> None:
        """Draws as many batches as may be there, the one that is asked for among them."""
        # The room is looked at once: how often the user is called does not depend on threads.
        for _ in range(made.room_to_ask()):
            if self.drained or stopped():
                break
            self.one_more(made)

    def one_more(self, made: ReadyQueue) -> None:
        """Draws one batch, and asks for it to be made."""
        errors = self._errors()
        assert self._waiting is not None
        assert errors is not None
        self._waiting.add(self._for_user, errors)
        made.ask()

    def _for_user(self) -> BatchTask:
        if not self.drained and (call := self._before_draw()) is not None:
            try:
                with self._engine.pool.serving:
                    call()
            except StopIteration:
                self.drained = True
                raise
        return self.now()

    def error_of(self, outcome: BaseException) -> BaseException:
        """Returns the error that an outcome stands for."""
        if isinstance(outcome, DrawFailed) and (errors := self._errors()):
            return errors.popleft()
        return outcome

    # --- other positions --------------------------------------------------------------------
    def go_on(self) -> None:
        """Lets the sources begin again after their end."""
        self.drained, self._resets = False, True

    def moved(self, *, ended: bool) -> None:
        """Notes that the sources were moved, to their end or elsewhere."""
        self.drained, self._resets = ended, False

    def clear(self) -> None:
        """Throws away what was drawn and not made."""
        self._next = None
        if self._waiting is not None:
            self._waiting.clear()
        if (errors := self._errors()) is not None:
            errors.clear()
