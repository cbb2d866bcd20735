"""Drawn tasks that are not begun yet."""

from __future__ import annotations

import collections
from collections.abc import Callable

from jdali._errors import contained
from jdali.engine.tasks.batch_task import BatchTask


class DrawFailed(Exception):
    """Goes the way of a batch in place of an error that `DrawErrors` keeps."""


class DrawErrors(collections.deque[Exception]):
    """Errors raised in place of batches that were drawn and not taken, oldest first.

    An error holds the frames of the thread that drew, and these the pipeline: it belongs to the pipeline's owner, not to the
    threads, or a pipeline that was dropped with an error in it would live on with them.
    """


class DrawnAhead:
    """Drawn in one thread, made in others: both in the same order."""

    def __init__(self) -> None:
        self._waiting: collections.deque[BatchTask | Exception] = collections.deque()

    def add(self, draw: Callable[[], BatchTask], errors: DrawErrors) -> None:
        """Draws one more; an error is kept, so that it is raised in its turn."""
        try:
            self._waiting.append(draw())
        except StopIteration as end:
            self._waiting.append(StopIteration(*end.args))
        except BaseException as error:
            errors.append(contained(error))
            self._waiting.append(DrawFailed())

    def next(self) -> BatchTask:
        """The oldest, or raises what stands in place of it."""
        outcome = self._waiting.popleft()
        if isinstance(outcome, BatchTask):
            return outcome
        try:
            raise outcome
        finally:
            del outcome  # or it would hold this frame, and this frame it

    def clear(self) -> None:
        """Throws away what waits."""
        self._waiting.clear()
