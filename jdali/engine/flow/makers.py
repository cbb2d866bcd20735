"""The threads that make batches, several of them at the same time, each going through the steps in its turn."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable

import jax

from jdali._batches import PaddedBlock
from jdali._threads import NATIVE
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.finishing import Finishing
from jdali.engine.flow.gate import Gate, Stopped, Way
from jdali.engine.flow.iteration import Result
from jdali.engine.flow.loose_thread import loose_thread
from jdali.engine.flow.ready_queue import ReadyQueue
from jdali.engine.tasks.batch_task import BatchTask

# Batches that are on their way through the steps at the same time: one is read, one decoded, one in its stages.
# A fourth one would help finish them, but costs small batches a tenth of their time or more: threads wake each other.
IN_FLIGHT = 3


def in_flight(engine: Engine) -> int:
    """Number of batches of an engine that are made at the same time."""
    return IN_FLIGHT if engine.elsewhere is None else engine.elsewhere.in_flight


class Makers:
    """Threads that make the batches of an engine, in order.

    While there is nothing to make they hold nothing of the engine, see `loose_thread`.

    Args:
        engine: to run.
        made: where batches go.
        draw: draws the next task; called by one thread at a time.
        may_draw: whether the sources have something to give.
        stopped: whether to end.
        finish: the last step of a batch, in order.
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
        self._finish = finish
        self._may_draw, self._draws = may_draw, False
        # The gates: of each step, and of what is done at the end. A batch is drawn before the next one is begun.
        self._gates = [Gate(n, stopped) for n in [*engine.at_once, 1]]

    def threads(self, there: int = 0) -> list[threading.Thread]:
        """Threads that are not started yet, as many as are missing beside those that there are."""
        changed = self._made.changed
        return [
            loose_thread(self, changed, Makers._next_task, "jdali-executor")
            for _ in range(in_flight(self._engine) - there)
        ]

    def wake(self) -> None:
        """Has the threads that wait for their turn ask whether to end."""
        for gate in self._gates:
            gate.wake()

    def _next_task(self) -> Callable[[], None] | None:
        if self._stopped():
            raise Stopped
        if self._draws or not self._may_draw() or (number := self._made.begin()) is None:
            return None
        self._draws = True
        return functools.partial(self._make, number)

    def _make(self, number: int) -> None:
        """Makes a batch and hands it over, or what was raised in place of it."""
        way = Way(self._gates, number)
        outcome = self._through_the_steps(way)
        try:
            with way.turn(len(self._gates) - 1):
                if isinstance(outcome, Result):
                    outcome = self._finish(number, outcome)
                self._made.put(outcome)
            if isinstance(outcome, Result):
                # A batch is under way until the device has computed it.
                with self._engine.timing.device.lap(), NATIVE:
                    _wait(outcome)
        finally:
            del outcome  # an exception holds this frame: no cycle

    def _through_the_steps(self, way: Way) -> Result | BaseException:
        try:
            try:
                task = self._draw()
            finally:
                self._drawn()
            return self._engine.make(task, turn=way.turn, order=way.number)
        except Stopped:
            raise
        except BaseException as error:
            return error

    def _drawn(self) -> None:
        """The next batch may be begun."""
        with self._made.changed:
            self._draws = False
            self._made.changed.notify_makers()


def _wait(result: Result) -> None:
    """Waits until the arrays of a result are computed; an error in them is its consumer's."""
    for output in result.outputs:
        for block in output.store.blocks:
            if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
                with contextlib.suppress(Exception):
                    block.array.block_until_ready()
