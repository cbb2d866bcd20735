"""Has workers make the first steps of batches, and deals with those that die."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeAlias

from jdali._sources import in_host_memory
from jdali._threads import PhaseTimer
from jdali._workers import BatchWorkers, MadeTask, TaskKilledError
from jdali.engine.executors.crash import batch_failure, crash_failure, killing_sample
from jdali.engine.executors.sent_result import SentResult, by_name, receive_values
from jdali.engine.options import EngineOptions
from jdali.engine.recovery.blame import AttemptFailure
from jdali.engine.task import BatchTask
from jdali.graph import Border, DataNode, ExecutionPlan, Node, cut
from jdali.readers.shared_tables import Tables
from jdali.tensors import TensorList

StartWorkers: TypeAlias = "Callable[[Mapping[Node, Any], Tables], BatchWorkers]"
"""Starts workers for a pipeline; it gets the readers that this process has open, and their tables."""

# Times that a batch is made anew as a whole, after workers died and no sample was to blame.
_MOST_TRIES = 3


@dataclasses.dataclass(frozen=True)
class SentTask:
    """A task for a worker, with what of the pipeline a state that is set may change.

    Attributes:
        task: to be made.
        seed: of the pipeline.
        is_search: there is no result; each sample is made alone, so that the death of the worker tells which one it was.
    """

    task: BatchTask
    seed: int
    is_search: bool = False


class Begun(NamedTuple):
    """A task that a worker makes.

    Attributes:
        sent: the task.
        future: of its result.
        start: when it was submitted, `time.perf_counter`.
    """

    sent: SentTask
    future: Future[MadeTask]
    start: float


class MadeElsewhere:
    """Makes what is in front of the border of a plan, in workers.

    Args:
        border: of the plan.
        workers: that were started.
        sources: of the pipeline.

    Attributes:
        border, workers: as given.
        timer: of the batches that workers make: the time of one that comes behind another, and what workers spend on it.
    """

    def __init__(self, border: Border, workers: BatchWorkers, sources: Mapping[Node, Any]):
        self.border, self.workers, self._sources = border, workers, by_name(sources)
        names = " + ".join(node.op.name for step in border.elsewhere.steps for node in step.nodes)
        self.timer = PhaseTimer("workers", names)
        self._counting = threading.Lock()
        self._nbytes = 0

    @classmethod
    def start(
        cls,
        plan: ExecutionPlan,
        options: EngineOptions,
        sources: Mapping[Node, object],
        start: Callable[[], BatchWorkers],
    ) -> MadeElsewhere | None:
        """Starts workers for the steps in front of the border; None: there are no such steps."""
        border = cut(plan, one_device=options.one_device)
        return cls(border, start(), sources) if border.elsewhere.steps else None

    @property
    def in_flight(self) -> int:
        """Batches that should be under way at the same time."""
        return self.workers.in_flight

    @property
    def nbytes(self) -> int:
        """Bytes that came from workers so far."""
        with self._counting:
            return self._nbytes

    def begin(self, task: BatchTask, seed: int, order: int) -> Begun:
        """Has a worker begin to make a task, for `make`.

        Args:
            task: to be made.
            seed: of the pipeline.
            order: of the task; lower ones go first.
        """
        sent = dataclasses.replace(task, data=_in_host_memory(task)) if task.data else task
        return self._submitted(SentTask(sent, seed), order)

    def make(
        self, task: BatchTask, seed: int, order: int, begun: Begun | None = None
    ) -> dict[DataNode, TensorList] | AttemptFailure:
        """Blocks until a worker has made a task.

        Args:
            task, seed, order: see `begin`.
            begun: what that has returned; None: it was not called.

        Returns: the values at the border, or why they could not be made.

        Raises:
            Exception: of no sample and no operator: the workers were closed, or cannot be started.
        """
        begun = begun or self.begin(task, seed, order)
        sent = begun.sent.task
        killed: TaskKilledError | None = None
        for attempt in range(_MOST_TRIES):
            try:
                return self._received(
                    self._made(begun if not attempt else self._submitted(begun.sent, order)), task
                )
            except TaskKilledError as error:
                killed = error
            found = killing_sample(
                sent, lambda some: self._kills(SentTask(some, seed, is_search=True), order)
            )
            if found is not None:
                return crash_failure(task, *found, self._sources)
        assert killed is not None
        return batch_failure(killed)

    def _submitted(self, sent: SentTask, order: int) -> Begun:
        start = time.perf_counter()
        return Begun(sent, self.workers.submit(sent, order), start)

    def _made(self, begun: Begun) -> SentResult:
        made = begun.future.result()
        self.timer.count(1, begun.start, time.perf_counter(), made.seconds, made.cpu, ())
        with self._counting:
            self._nbytes += made.nbytes
        result: SentResult = made.result
        return result

    def _received(self, result: SentResult, task: BatchTask) -> dict[DataNode, TensorList] | AttemptFailure:
        if isinstance(result, AttemptFailure):
            return result
        values = receive_values(result, task, self._sources)
        return dict(zip(self.border.elsewhere.outputs, values, strict=True))

    def _kills(self, task: SentTask, order: int) -> TaskKilledError | None:
        """Tries a task in one worker; returns its death, if it dies."""
        try:
            self.workers.submit(task, order, patience=1).result()
        except TaskKilledError as error:
            return error
        return None


def _in_host_memory(task: BatchTask) -> dict[str, Any]:
    """Returns the data of the external sources, without any that are on a device."""
    return {
        name: data._replace(outputs=tuple(map(in_host_memory, data.outputs)))
        for name, data in task.data.items()
    }
