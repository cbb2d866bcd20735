"""One actor, the tasks of a pipeline, and the calls that they travel in."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from jdali._workers import GroupTask, MadeTask, WorkerDeath, pack_group
from jdali._workers.on_ray import ActorCall, ActorPlace

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
    """The call of an actor for some tasks."""
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
