"""Runs the first steps of batches in workers, and finds samples that kill workers.

A search begins if a batch crashes a worker, or if two workers are killed while they make the batch. Another worker then
makes the samples one by one, and notes the position of each sample before it makes the sample:

* If this worker crashes, the sample noted last is at fault.
* If it is killed, perhaps from outside, a further worker makes the sample noted last. If that worker dies, too, the
  sample is at fault.

A sample at fault is treated like any bad sample. If no sample is at fault, the workers died for another reason, and the
whole batch is made again.
"""

from __future__ import annotations

import dataclasses
import functools
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jdali._batches import Drawn, Provenance, SentBatch, drawn_by, receive_batch, send_batch
from jdali._errors import OperatorError, SampleError
from jdali._sources import in_host_memory
from jdali._threads import PhaseTimer
from jdali._workers import BatchWorkers, MadeTask, TaskKilledError, note_reached, on_node, portable
from jdali.engine.recovery import AttemptFailure, Blamed
from jdali.engine.task import BatchTask
from jdali.graph import Border, DataNode, Node
from jdali.readers.shared_tables import Tables
from jdali.tensors import TensorList

StartWorkers: TypeAlias = "Callable[[Mapping[Node, Any], Tables], BatchWorkers]"
"""Starts workers for a pipeline, given the readers that this process has open, and their tables."""

# Maximum number of attempts at a whole batch, if workers die and no sample is to blame.
_MOST_TRIES = 3


@dataclasses.dataclass(frozen=True)
class SentTask:
    """Describes a task for a worker.

    In a search, the worker makes each sample alone and returns nothing. If the worker dies, the pool learns which sample it
    was making.
    """

    task: BatchTask
    seed: int  # sent with each task, because a restored state may change it
    is_search: bool = False


class Begun(NamedTuple):
    """Holds a task that was submitted to a worker."""

    sent: SentTask
    future: Future[MadeTask]
    start: float  # `time.perf_counter` when it was submitted


class MadeElsewhere:
    """Runs the first steps of batches in workers, up to the border of the plan."""

    def __init__(self, border: Border, workers: BatchWorkers, sources: Mapping[Node, Any]):
        self.border, self.workers = border, workers
        self._sources = {node.name: source for node, source in sources.items()}
        names = " + ".join(node.op.name for step in border.elsewhere.steps for node in step.nodes)
        self.timer = PhaseTimer("workers", names)  # from submission to result, and the workers' own time
        self._counting = threading.Lock()
        self.nbytes = 0  # received from workers so far

    @property
    def programs(self) -> int:
        """Number of programs that workers compiled so far, counted in each worker."""
        return self.timer.spent().programs

    def begin(self, task: BatchTask, seed: int, order: int) -> Begun:
        """Submits a task to a worker; `make` waits for it."""
        if task.data:
            data = {
                name: own._replace(outputs=tuple(map(in_host_memory, own.outputs)))
                for name, own in task.data.items()
            }
            task = dataclasses.replace(task, data=data)
        return self._submitted(SentTask(task, seed), order)

    def make(
        self, task: BatchTask, seed: int, order: int, begun: Begun | None = None
    ) -> dict[DataNode, TensorList] | AttemptFailure:
        """Waits for a worker's part of a batch; returns the values with which this process goes on, or the failure.

        Raises the error of the workers if they were closed or cannot be started.
        """
        try:
            return self._make(task, seed, order, begun or self.begin(task, seed, order))
        except OSError as error:  # the machine lacks something, such as a descriptor for the memory
            return AttemptFailure(OPERATOR, error, functools.partial(OperatorError.of, error, OPERATOR), {})

    def _make(
        self, task: BatchTask, seed: int, order: int, begun: Begun
    ) -> dict[DataNode, TensorList] | AttemptFailure:
        sent = begun.sent
        killed: TaskKilledError | None = None
        for attempt in range(_MOST_TRIES):
            try:
                return self._received(self._submitted(sent, order) if attempt else begun, task)
            except TaskKilledError as error:
                killed = error
            found = killing_sample(
                sent.task, lambda some: self._kills(SentTask(some, seed, is_search=True), order)
            )
            if found is not None:
                return crash_failure(task, *found, self._sources)
        assert killed is not None
        return batch_failure(killed)

    def _submitted(self, sent: SentTask, order: int) -> Begun:
        start = time.perf_counter()
        try:
            future = self.workers.submit(sent, order)
        except OSError as error:  # no descriptor for the arrays of the task
            future = Future()
            future.set_exception(error)
        return Begun(sent, future, start)

    def _received(self, begun: Begun, task: BatchTask) -> dict[DataNode, TensorList] | AttemptFailure:
        made = begun.future.result()
        answer: SentAnswer = made.result
        compiling = [("compiling", answer.compile_seconds)]
        self.timer.count(
            1, begun.start, time.perf_counter(), made.seconds, made.cpu, compiling, answer.programs
        )
        with self._counting:
            self.nbytes += made.nbytes
        if isinstance(answer.result, AttemptFailure):
            return answer.result
        values = receive_values(answer.result, task, self._sources)
        return dict(zip(self.border.elsewhere.outputs, values, strict=True))

    def _kills(self, task: SentTask, order: int) -> TaskKilledError | None:
        """Tries a task in one worker. Returns the death of the worker, or None if it survives."""
        try:
            self.workers.submit(task, order, patience=1).result()
        except TaskKilledError as error:
            return error
        return None


class SentAnswer(NamedTuple):
    """Answers a `SentTask`."""

    result: tuple[SentBatch, ...] | AttemptFailure  # the values at the border, or the failure
    programs: int = 0  # number of programs that the worker compiled for the task
    compile_seconds: float = 0.0


def send_values(values: Iterable[TensorList]) -> tuple[SentBatch, ...]:
    send = functools.cache(Provenance.send)  # most values share a provenance, which is sent once
    return tuple(send_batch(value, send) for value in values)


def send_failure(failure: AttemptFailure) -> AttemptFailure:
    """Returns a copy of a failure; the copy can be pickled."""
    cause = portable(failure.cause)  # before `user_error()`: the cause determines the type of the error
    blamed = {
        position: dataclasses.replace(why, error=_plain(why.error))
        for position, why in failure.blamed.items()
    }
    shown = _plain(failure.user_error())
    if where := on_node():  # perhaps only this node cannot read a file
        shown.add_note(f"in a worker process{where}")
    user_error = functools.partial(pickle.loads, pickle.dumps(shown))
    return AttemptFailure(failure.operator, cause, user_error, blamed, failure.node)


def _plain(error: Exception) -> Exception:
    """Returns the exception as `portable` does, but without the note that has the traceback."""
    notes = list(getattr(error, "__notes__", ()))
    sent = portable(error)
    sent.__notes__ = notes
    return sent


def receive_values(
    sent: Sequence[SentBatch], task: BatchTask, sources: Mapping[str, object]
) -> list[TensorList]:
    receive = drawn_by(functools.cache(lambda name: drawn_from(sources, name, task)))
    return [receive_batch(batch, receive) for batch in sent]


def drawn_from(sources: Mapping[str, Any], name: str, task: BatchTask) -> Drawn:
    if name in task.refs:
        return Drawn(sources[name].source, task.refs[name].indices, name)
    return Drawn(lambda index: "", np.arange(len(task)), name)


OPERATOR = "worker process"
"""Name that errors show in place of the operator if a sample killed a worker: the operator is then unknown."""

Kills = Callable[[BatchTask], TaskKilledError | None]


def killing_sample(task: BatchTask, kills: Kills) -> tuple[int, TaskKilledError] | None:
    """Finds a sample that kills a worker even if it is made alone. Returns its position and the error, or None."""
    error = kills(task) if len(task) else None
    position = None if error is None else error.deaths[-1].reached
    if error is None or position is None:
        return None
    # The sample was alone, so a crash proves that it is at fault. A kill may have come from outside, so try again.
    if not error.deaths[-1].is_crash:
        error = kills(task.keeping(np.array([position])))
    return None if error is None else (position, error)


def make_each(task: BatchTask, makers: Sequence[Callable[[BatchTask], object]]) -> None:
    """Makes each sample of a task as a separate batch. Notes the position of a sample before the sample is made.

    Each maker makes all samples before the next maker starts, so cheaper makers should come first.
    """
    for make in makers:
        for position in range(len(task)):
            note_reached(position)
            make(task.keeping(np.array([position])))


def crash_failure(
    task: BatchTask, position: int, error: TaskKilledError, sources: Mapping[str, object]
) -> AttemptFailure:
    """Describes the failure of a batch whose sample at `position` kills workers."""
    cause = SampleError(f"{error.deaths[-1]} while it worked on this sample", sample=position)
    blamed = Blamed(cause)
    for name in (*task.refs, *task.data):
        blamed.add_origin(drawn_from(sources, name, task), position)

    def user_error() -> OperatorError:
        files = ", ".join(blamed.files)
        return OperatorError(str(cause), operator=OPERATOR, sample=position, source=files)

    return AttemptFailure(OPERATOR, cause, user_error, {position: blamed})


def batch_failure(error: TaskKilledError) -> AttemptFailure:
    """Describes the failure of a batch that kills workers, although none of its samples does so alone."""

    def user_error() -> OperatorError:
        return OperatorError(
            f"{error}, working on one batch; none of its samples does that alone", operator=OPERATOR
        )

    return AttemptFailure(OPERATOR, error, user_error, {})
