"""One actor, the tasks of a pipeline, the calls that they travel in, and their answers."""

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

# Until an actor that died is asked again, seconds: twice as long each time.
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0


@dataclasses.dataclass(eq=False)
class RayJob:
    """A task that was submitted.

    Attributes:
        number: of the task.
        task: for an actor.
        order: lower ones go first.
        patience: workers that may be killed while they make it, before it is given up.
        future: of the result.
        deaths: of the actors, and of their processes, that it ran in.
        goes_alone: it is the only task of its call: a worker died that had it.
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
        """True if no other worker should try it: one crashed, or as many were killed as there is patience for."""
        return len(self.deaths) >= self.patience or any(death.is_crash for death in self.deaths)

    def note_death(self, death: WorkerDeath) -> None:
        """Notes that a worker died while it made the task, so that no other task is blamed for the next one."""
        self.deaths.append(death)
        self.goes_alone = True


def call_of(jobs: Sequence[RayJob]) -> ActorCall:
    """Makes the call of an actor for some tasks."""
    packed, arrays = pack_group([job.task for job in jobs])
    return ActorCall(packed, arrays, jobs[0].order, len(jobs) > 1)


@dataclasses.dataclass(eq=False)
class ActorSlot:
    """An actor of a set, as one pipeline sees it.

    Attributes:
        index: of the actor in its set.
        handle: of the actor.
        place: where it is ready; None: it is not.
        jobs: that it has, the oldest first.
        calls: that these are in.
        turns: calls so far: of actors with equally many tasks the one with fewer is next, or the first would make all.
        blamed: the oldest one when it died last.
        is_absent: nothing is under way that would make it ready; `due` says when to try.
        is_warm: its process, which is another one after a death, has made a task, so programs are compiled.
        is_leaving: it gets no more tasks.
        is_gone: it died for good, and may not be started again.
        failed_starts: times in a row that it was dead for good before it was ready.
        seen_deaths: of its processes, as told last.
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
        """True if it is ready, has made nothing yet and has nothing to do."""
        return self.place is not None and not (self.is_warm or self.is_leaving or self.calls)

    def wait(self) -> None:
        """Has it asked again a little later."""
        self.is_absent, self.due = True, time.monotonic() + self._wait
        self._wait = min(2 * self._wait, _LONGEST_WAIT)

    def note_ready(self, place: ActorPlace) -> None:
        """Notes that it takes tasks, in a process of its own that has seen no death."""
        self.place, self.is_warm, self.failed_starts, self.seen_deaths = place, False, 0, 0
        self._wait = _FIRST_WAIT


def lease(answer: ActorAnswer, reference: ray.ObjectRef[object], returned: collections.deque[int]) -> int:
    """Keeps results in the object store until the last array over them is gone; returns their bytes.

    Args:
        answer: with the results.
        reference: to it.
        returned: gets the bytes then.
    """
    if answer.memory is None:
        return 0
    nbytes = answer.memory.nbytes
    weakref.finalize(answer.memory, _end_lease, returned, nbytes, reference).atexit = False
    return nbytes


def _end_lease(returned: collections.deque[int], nbytes: int, reference: ray.ObjectRef[object]) -> None:
    """Notes the end of a lease; the reference has kept the results in the object store until now."""
    returned.append(nbytes)


def start_error(place: ActorPlace, error: Exception) -> Exception:
    """Makes the error of a pipeline that cannot be started by an actor; it names the node."""
    failed = RuntimeError(f"Ray worker on node {place.node}: {error}")
    failed.__cause__ = error
    return failed


def resolve(jobs: Sequence[RayJob], answer: ActorAnswer) -> tuple[TaskOutcome, ...]:
    """Gives the tasks of a call their results, whose arrays are views of the object store, or their exceptions.

    Returns: what came of each; empty: there is one exception in place of all results.
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
