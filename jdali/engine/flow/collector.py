"""One thread that has workers make batches, several ahead, and hands them over in order.

Where workers run all steps, and no draw waits for a source, little is left to do for a batch: cheaper in one thread than in
several that wake each other (`makers`).
"""

from __future__ import annotations

import collections
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple

from jdali.engine.flow.executor import Engine
from jdali.engine.flow.finishing import Finishing
from jdali.engine.flow.gate import Stopped
from jdali.engine.flow.iteration import Result
from jdali.engine.flow.loose_thread import Changes, loose_thread
from jdali.engine.flow.made_elsewhere import Begun
from jdali.engine.flow.makers import in_flight
from jdali.engine.flow.ready_queue import ReadyQueue
from jdali.engine.tasks.batch_task import BatchTask


class _UnderWay(NamedTuple):
    """A batch that workers make.

    Attributes:
        number: of the batch.
        task: of the batch.
        begun: of the workers.
    """

    number: int
    task: BatchTask
    begun: Begun


class Collector:
    """The thread that begins and finishes the batches of an engine whose workers run all steps.

    While there is nothing to do it holds nothing of the engine, see `loose_thread`.

    Args: see `Makers`.
    """

    def __init__(
        self,
        engine: Engine,
        made: ReadyQueue,
        draw: Callable[[], BatchTask],
        may_draw: Callable[[], bool],
        stopped: Callable[[], bool],
        finish: Finishing,
    ):
        self._engine, self._made, self._draw, self._stopped = engine, made, draw, stopped
        self._finish, self._may_draw = finish, may_draw
        # Or what was raised in place of a batch, before workers had it.
        self._under_way: collections.deque[_UnderWay | BaseException] = collections.deque()

    def threads(self, there: int = 0) -> list[threading.Thread]:
        """The thread, not started yet; none if it is there."""
        return (
            [] if there else [loose_thread(self, self._made.changed, Collector._next_task, "jdali-executor")]
        )

    def wake(self) -> None:
        """Nothing to do: the thread waits for changes of the queue alone, whose owner wakes it."""

    def _next_task(self) -> Callable[[], None] | None:
        if self._stopped():
            if not self._under_way:
                raise Stopped
            return self._drop_oldest
        if self._under_way and _is_done(self._under_way[0]):
            return self._hand_over_oldest
        if len(self._under_way) >= in_flight(self._engine) or not self._may_draw():
            return None
        return None if (number := self._made.begin()) is None else functools.partial(self._begin, number)

    def _begin(self, number: int) -> None:
        try:
            task = self._draw()
            begun = self._engine.begin(task, number)
        except BaseException as error:
            self._under_way.append(error)
            return
        self._under_way.append(_UnderWay(number, task, begun))
        begun.future.add_done_callback(functools.partial(_tell, self._made.changed))

    def _hand_over_oldest(self) -> None:
        under_way = self._under_way.popleft()
        outcome = self._outcome(under_way) if isinstance(under_way, _UnderWay) else under_way
        try:
            self._made.put(outcome)
        finally:
            del outcome, under_way  # an exception holds this frame: no cycle

    def _outcome(self, under_way: _UnderWay) -> Result | BaseException:
        number, task, begun = under_way
        try:
            return self._finish(number, self._engine.make(task, order=number, begun=begun))
        except BaseException as error:
            del begun, under_way  # the error holds this frame
            return error

    def _drop_oldest(self) -> None:
        """Waits for a batch that nobody will take: its task must not be in the way of those of other positions."""
        under_way = self._under_way.popleft()
        if isinstance(under_way, _UnderWay):
            under_way.begun.future.exception()


def _is_done(under_way: _UnderWay | BaseException) -> bool:
    return isinstance(under_way, BaseException) or under_way.begun.future.done()


def _tell(changed: Changes, _: Future[object]) -> None:
    with changed:
        changed.notify_makers()
