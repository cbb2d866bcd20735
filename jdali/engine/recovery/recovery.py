"""Recovery: a loop around `make` that turns samples that fail into other tasks.

```
 drawn ──make──▶ made ──▶ due? ──yes──▶ failed? ──no──▶ good         the batch is delivered
                  ▲         │             │
                  │         no            yes ──▶ raised             the error is of the code, or `on_error` is "raise",
                  │         ▼             ▼                          or no sample can be read
                  └─make─ corrected    replaced? ──nothing is left──▶ lost     a batch without samples, left out;
                  ▲                       │                                    raised after many of them
                  └─────────make──────────┘
```

A batch is drawn, and may be made, before those in front of it are settled. If one of these took samples that it was
drawn with, others are due, and it is corrected. So no batch waits unless a sample fails, and the batches depend on the
data alone. Each replacement puts samples in a position that were not tried there, of which there is an end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NoReturn

from jdali._errors import OperatorError, SkippedSample
from jdali.engine.recovery.batch_result import AttemptFailure, BatchResult
from jdali.engine.recovery.blame import to_be_listed
from jdali.engine.recovery.memo import Memo
from jdali.engine.recovery.refill import MOST_TRIED, StandIns
from jdali.engine.recovery.replacements import Replacements
from jdali.engine.tasks.batch_task import BatchTask
from jdali.engine.tasks.feed import DrawnTask, Feed

Make = Callable[[BatchTask, Memo | None], BatchResult]


@dataclasses.dataclass(frozen=True, eq=False)
class Settled:
    """A batch that is good or lost.

    Attributes:
        result: of its last attempt.
        state: of the sources, to go on after this batch.
        lost: what to raise where a batch is wanted, of one whose samples all failed and cannot be replaced; None: it
            is good.
    """

    result: BatchResult
    state: dict[str, Any]
    lost: OperatorError | None = None


class Recovery:
    """Settles the batches of a feed, one after another, in the order in which they were drawn.

    Args:
        feed: that they are drawn from.
        on_error: "raise", "skip" or "mask", see `Pipeline`.

    Attributes:
        feed: as given.
        errors: the samples that were left out.
    """

    def __init__(self, feed: Feed, on_error: str):
        self.feed, self._on_error = feed, on_error
        self.errors: list[SkippedSample] = []
        self._candidates = StandIns()
        self._lost = 0  # samples that failed since the last batch that could be made, or error that said so

    def twin(self) -> Recovery:
        """The same for a twin of the feed, whose batches are others.

        Raises:
            RuntimeError: an external source cannot be asked again.
        """
        twin = Recovery(self.feed.twin(), self._on_error)
        twin._candidates = self._candidates.twin()
        return twin

    def settle(self, drawn: DrawnTask, result: BatchResult, make: Make) -> Settled:
        """Finishes a batch once all before it are settled.

        Args:
            drawn: the batch.
            result: of its task.
            make: makes the batch of another task, with what the last attempt remembers.

        Raises:
            OperatorError: an operator failed (and `on_error` does not say to go on).
        """
        replacements = Replacements(drawn.positions)
        task, changed = self._due(drawn)
        try:
            while True:
                if changed:
                    result = self._again(task, changed, result.memo, make)
                if result.failure is None:
                    return self._good(drawn, result)
                if self._on_error == "raise" or not result.failure.blamed:
                    _raise(result.failure)
                task, changed = self._replaced(result.task, result.failure, replacements)
                if not len(task):
                    return self._nothing(drawn, result, result.failure, task)
        finally:
            del result  # the traceback of a failure in it holds this frame

    def _due(self, drawn: DrawnTask) -> tuple[BatchTask, set[int]]:
        """Returns the task with the samples that it must have, and the positions in which it was drawn with others."""
        due = self.feed.leads.settle(drawn.positions)
        changed = drawn.task.positions_unlike(due)
        return drawn.task.reading(due) if changed else drawn.task, changed

    @staticmethod
    def _again(task: BatchTask, changed: set[int], memo: Memo | None, make: Make) -> BatchResult:
        """Makes the batch with other samples in some positions."""
        if memo is not None:
            memo.forget(changed)
        return make(task, memo)

    def _replaced(
        self, task: BatchTask, failure: AttemptFailure, replacements: Replacements
    ) -> tuple[BatchTask, set[int]]:
        """Returns the task with other samples in the positions of those that failed, and these positions."""
        blamed = replacements.with_their_copies(failure.blamed)
        self.errors += to_be_listed(task, failure.operator, blamed)
        try:
            return replacements.replace(task, blamed, self.feed.leads, self._candidates, self._on_error)
        except LookupError:
            _raise(failure)

    def _good(self, drawn: DrawnTask, result: BatchResult) -> Settled:
        if self._on_error != "raise":
            self.feed.leads.note_good(result.task.refs)
            self._lost = 0
        return Settled(result, self.feed.state_after(drawn))

    def _nothing(
        self, drawn: DrawnTask, result: BatchResult, failure: AttemptFailure, task: BatchTask
    ) -> Settled:
        """Settles a batch whose samples all failed, where there is nothing to refill it from."""
        self._lost += len(result.task)
        if self._lost >= MOST_TRIED:
            self._lost = 0
            _raise(failure)
        empty = dataclasses.replace(result, task=task, failure=None)
        return Settled(empty, self.feed.state_after(drawn), failure.user_error())


def _raise(failure: AttemptFailure) -> NoReturn:
    raise failure.user_error() from failure.cause
