"""Defines a pipeline's view of an actor, and the pipeline's tasks, calls and answers."""

from __future__ import annotations

import collections
import dataclasses
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import ray

from jdali._workers import GroupTask, MadeTask, TaskOutcome, WorkerDeath, pack_group, unpack
from jdali._workers.on_ray import ActorAnswer, ActorCall, ActorPlace

# Seconds until the dispatcher calls a dead actor again; each attempt doubles the time.
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0


@dataclasses.dataclass(eq=False)
class RayJob:
    """Holds a submitted task.

    Attributes:
        order: priority; lower values go first.
        patience: the task fails when this many workers were killed while running it.
        deaths: the deaths of actors, or of their processes, while they ran the task.
        goes_alone: True if the task is sent in a call of its own, because a worker died while it ran.
    """

    number: int
    task: GroupTask
    order: int
    patience: int
    future: Future[MadeTask] = dataclasses.field(default_factory=Future)
    deaths: list[WorkerDeath] = dataclasses.field(default_factory=list)
    goes_alone: bool = False

    def __lt__(self, other: RayJob) -> bool:
        return (self.order, self.number) < (other.order, other.number)

    @property
    def is_given_up(self) -> bool:
        """Returns True if the task fails for good: a worker crashed on it, or `patience` workers were killed."""
        return len(self.deaths) >= self.patience or any(death.is_crash for death in self.deaths)

    def note_death(self, death: WorkerDeath) -> None:
        """Records a worker's death during the task; isolates the task, so that no other task is blamed next time."""
        self.deaths.append(death)
        self.goes_alone = True


def call_of(jobs: Sequence[RayJob]) -> ActorCall:
    packed, arrays = pack_group([job.task for job in jobs])
    return ActorCall(packed, arrays, jobs[0].order, len(jobs) > 1)


@dataclasses.dataclass(eq=False)
class ActorSlot:
    """One pipeline's view of an actor of a set.

    Attributes:
        index: index of the actor in its set.
        handle: handle of the actor.
        place: process and node of the actor; None while the actor is not ready.
        jobs: tasks sent to the actor, the oldest first.
        calls: number of calls in flight.
        turns: number of calls so far. Among actors with equally many tasks, the one with the fewest calls gets the next task.
        blamed: the oldest task of the actor when the actor last died.
        is_absent: True while the actor waits for the next attempt to start it; `due` is the time of this attempt.
        is_warm: True if the actor's current process has run a task, so that its programs are compiled.
        is_leaving: True if the actor gets no more tasks.
        is_gone: True if the actor is dead and cannot be restarted.
        failed_starts: number of consecutive starts that failed before the actor was ready.
        seen_deaths: last reported number of deaths of the actor's processes.
    """

    index: int
    handle: Any = None
    place: ActorPlace | None = None
    jobs: list[RayJob] = dataclasses.field(default_factory=list)
    calls: int = 0
    turns: int = 0
    blamed: RayJob | None = None
    is_absent: bool = True
    due: float = 0.0
    is_warm: bool = False
    is_leaving: bool = False
    is_gone: bool = False
    failed_starts: int = 0
    seen_deaths: int = 0
    _wait: float = _FIRST_WAIT

    @property
    def is_cold(self) -> bool:
        """Returns True if the actor is ready and idle, but has run no task yet."""
        return self.place is not None and not (self.is_warm or self.is_leaving or self.calls)

    def wait(self) -> None:
        """Schedules the next attempt to start the actor, with exponential backoff."""
        self.is_absent, self.due = True, time.monotonic() + self._wait
        self._wait = min(2 * self._wait, _LONGEST_WAIT)

    def note_ready(self, place: ActorPlace) -> None:
        self.place, self.is_warm, self.failed_starts, self.seen_deaths = place, False, 0, 0
        self._wait = _FIRST_WAIT


def lease(answer: ActorAnswer, reference: ray.ObjectRef[object], returned: collections.deque[int]) -> int:
    """Keeps the results of an answer in the object store until the last array that views them is freed.

    Returns: the size of the results, bytes. When the last array is freed, this size is appended to `returned`.
    """
    if answer.memory is None:
        return 0
    nbytes = answer.memory.nbytes
    weakref.finalize(answer.memory, _end_lease, returned, nbytes, reference).atexit = False
    return nbytes


def _end_lease(returned: collections.deque[int], nbytes: int, reference: ray.ObjectRef[object]) -> None:
    """Records the end of a lease; until then, `reference` keeps the results in the object store."""
    returned.append(nbytes)


def start_error(place: ActorPlace, error: Exception) -> Exception:
    """Builds the error, with the node's name, for a pipeline that cannot start in an actor."""
    failed = RuntimeError(f"Ray worker on node {place.node}: {error}")
    failed.__cause__ = error
    return failed


def resolve(jobs: Sequence[RayJob], answer: ActorAnswer) -> tuple[TaskOutcome, ...]:
    """Sets the results or exceptions of a call's tasks; arrays in results are views of the object store.

    Returns: the outcome of each task; empty if the answer cannot be unpacked, in which case all tasks fail.
    """
    outcomes = _unpacked(answer)
    if isinstance(outcomes, Exception):
        for job in jobs:
            job.future.set_exception(outcomes)
        return ()
    for job, outcome in zip(jobs, outcomes, strict=True):
        _resolve_one(job.future, outcome)
    return outcomes


def _unpacked(answer: ActorAnswer) -> tuple[TaskOutcome, ...] | Exception:
    assert answer.packed is not None
    try:
        outcomes: tuple[TaskOutcome, ...] | Exception = unpack(answer.packed, answer.memory)
    except Exception as error:
        return error
    return outcomes


def _resolve_one(future: Future[MadeTask], outcome: TaskOutcome) -> None:
    try:
        result = outcome.value()
    except Exception as error:
        future.set_exception(error)
        return
    if outcome.is_error:
        future.set_exception(result)
    else:
        future.set_result(MadeTask(result, outcome.seconds, outcome.cpu, outcome.nbytes))
