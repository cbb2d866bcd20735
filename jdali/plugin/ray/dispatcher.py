"""Sends the tasks of a pipeline to actors, and handles deaths of actors."""

from __future__ import annotations

import collections
import contextlib
import heapq
import itertools
import os
import queue
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np
import ray
from ray.exceptions import ActorDiedError, RayError, RayTaskError

import jdali
from jdali._workers import (
    SMALL_OF_TASK,
    GroupTask,
    MadeTask,
    PoolClosedError,
    StartGroups,
    StartMaking,
    TaskKilledError,
    WorkerCounts,
    WorkerDeath,
    pack,
    pack_by_value,
)
from jdali._workers.on_ray import ActorAnswer, ActorPlace, ActorStart
from jdali.graph import reduced_operator
from jdali.plugin.ray.actor_slot import ActorSlot, RayJob, call_of, lease, resolve, start_error
from jdali.plugin.ray.call_size import CallSize

# Maximum number of calls in flight to an actor: the call that the actor runs, and the next call.
_CALLS_EACH = 2
# If no worker is ready, the pipeline fails once a worker's start has failed this many times in a row.
_MOST_FAILED_STARTS = 5
_LOOK_SECONDS = 1.0  # seconds between checks whether Ray was shut down
_CLOSE_SECONDS = 1.5  # seconds that actors have to end their processes


class Actors(Protocol):
    """The interface through which a dispatcher reaches the actors of a set of workers; see `RayWorkers`."""

    count: int
    max_restarts: int

    def initialize(self) -> None: ...
    def actor(self, index: int) -> Any: ...
    def forget(self, index: int, handle: object) -> None: ...


class RayDispatcher:
    """Runs the tasks of one pipeline in the actors of a set; implements `BatchWorkers`.

    A thread owns the state; callers and Ray's threads send events to this thread. `count` is the number of actors.
    """

    title = "Ray workers"

    def __init__(self, actors: Actors):
        self.count, self._actors = actors.count, actors
        self._name = uuid.uuid4().hex  # id by which the actors know this dispatcher
        self._owner = os.getpid()
        self._lock = threading.Lock()  # guards the state that callers and the thread share
        self._waiting: list[RayJob] = []  # a heap, ordered by priority
        self._error: Exception | None = None  # if set, all current and later tasks fail with it
        self._closed = False
        self._numbers = itertools.count()
        self._events: queue.SimpleQueue[tuple[Callable[..., None], tuple[Any, ...]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        # Used only by the thread.
        self._slots: dict[int, ActorSlot] = {}
        self._start: list[ray.ObjectRef[ActorStart]] = []
        self._call_size = CallSize()
        self._made = self._deaths = self._leased = 0
        # A finalizer may end a lease at any time, so it takes no lock and only appends here.
        self._returned: collections.deque[int] = collections.deque()
        self._ended = 0  # bytes of ended leases, guarded by the lock

    def start(self, start: StartMaking) -> None:
        content = pack_by_value(StartGroups(start), reduced_operator)
        try:
            if content.memory is None:
                memory = np.empty(0, np.uint8)
            else:
                with content.memory.map() as mapped:
                    memory = np.frombuffer(bytes(mapped), np.uint8)
            definition = ActorStart(jdali.__version__, content.packed, memory)
        finally:
            content.close()
        self._actors.initialize()
        self._start.append(ray.put(definition))
        self._thread = threading.Thread(target=self._run, name="jdali-ray", daemon=True)
        self._thread.start()

    def submit(self, task: object, order: int = 0, *, patience: int = 2) -> Future[MadeTask]:
        packed, buffers = pack(task, small=SMALL_OF_TASK)
        arrays = tuple(np.array(np.frombuffer(buffer, np.uint8)) for buffer in buffers)
        task = GroupTask(packed.head, arrays)
        job = RayJob(next(self._numbers), task, order, patience, goes_alone=patience == 1)
        with self._lock:
            if self._closed:
                job.future.set_exception(PoolClosedError("the Ray workers were closed"))
            elif self._error is not None:
                job.future.set_exception(self._error)
            else:
                heapq.heappush(self._waiting, job)
        self._wake()
        return job.future

    def resize(self, count: int) -> None:
        self.count = count
        self._wake()

    @property
    def in_flight(self) -> int:
        return _CALLS_EACH * self.count * self._call_size.most + 1

    def counts(self) -> WorkerCounts:
        ready = [slot for slot in list(self._slots.values()) if slot.place is not None]
        nodes = {slot.place.node_id for slot in ready if slot.place is not None}
        with self._lock:
            while self._returned:
                self._ended += self._returned.popleft()
            leased = self._leased - self._ended
        return WorkerCounts(len(ready), self._made, self._deaths, leased, 0, len(nodes))

    def interrupt(self) -> None:
        if self._owner == os.getpid():  # not in a forked process
            self._closed = True
            self._wake()

    def close(self) -> None:
        self.interrupt()
        if self._thread is not None and self._owner == os.getpid():
            self._thread.join()

    def _wake(self) -> None:
        self._events.put((lambda: None, ()))

    def _run(self) -> None:
        try:
            while not self._closed:
                if not ray.is_initialized():
                    self._fail_all(RuntimeError("Ray was shut down while its workers made batches"))
                elif self._error is None:
                    self._join_missing()
                    self._hand_out()
                    self._rehearse()
                self._handle_events()
            self._end(PoolClosedError("the Ray workers were closed"))
        except BaseException as error:
            self._end(RuntimeError(f"Ray workers: {type(error).__name__}: {error}"))
            raise

    def _handle_events(self) -> None:
        now = time.monotonic()
        dues = [slot.due - now for slot in self._slots.values() if slot.is_absent and not slot.is_gone]
        with contextlib.suppress(queue.Empty):
            handle, arguments = self._events.get(timeout=max(min([_LOOK_SECONDS, *dues]), 0.0))
            while True:
                handle(*arguments)
                del arguments  # do not keep a result in memory while this thread waits
                handle, arguments = self._events.get_nowait()

    def _end(self, error: Exception) -> None:
        self._closed = True
        self._fail_all(error)
        if ray.is_initialized():
            # Ignores errors: an actor that cannot be reached has no process to end.
            with contextlib.suppress(RayError, ValueError):
                leaving = [
                    s.handle.leave.remote(self._name) for s in self._slots.values() if s.place is not None
                ]
                if leaving:
                    ray.wait(leaving, num_returns=len(leaving), timeout=_CLOSE_SECONDS, fetch_local=False)
        for slot in self._slots.values():
            slot.handle = None  # pending replies refer to the slot, and its handle would keep the actor alive
        self._slots = {}
        self._start.clear()

    def _fail_all(self, error: Exception) -> None:
        with self._lock:
            self._error = error
            jobs = [*(job for slot in self._slots.values() for job in slot.jobs), *self._waiting]
            self._waiting = []
        for slot in self._slots.values():
            slot.jobs = []
        for job in jobs:
            job.future.set_exception(error)

    def _join_missing(self) -> None:
        for index, slot in list(self._slots.items()):
            slot.is_leaving = index >= self.count
            if slot.is_leaving and not slot.jobs:
                if slot.place is not None:
                    slot.handle.leave.remote(self._name)
                slot.handle = None  # see `_end`
                del self._slots[index]
        for index in range(self.count):
            slot = self._slots.setdefault(index, ActorSlot(index))
            if slot.is_absent and not slot.is_gone and time.monotonic() >= slot.due:
                self._join(slot)

    def _join(self, slot: ActorSlot) -> None:
        slot.is_absent = False
        try:
            slot.handle = self._actors.actor(slot.index)
        except (RayError, ValueError) as error:  # the name may still belong to an actor that is ending
            self._note_failed_start(slot, error)
            return
        self._call(slot.handle.join.remote(self._name, self._start), self._joined, slot)

    def _joined(self, slot: ActorSlot, reply: Future[ActorPlace]) -> None:
        error = reply.exception()  # not raised, because a traceback would keep the handle and the actor alive
        if error is not None:
            self._note_failed_start(slot, error)
            return
        place = reply.result()
        if place.error is not None:
            self._fail_all(start_error(place, place.error))
            return
        slot.note_ready(place)

    def _note_failed_start(self, slot: ActorSlot, error: BaseException) -> None:
        """Schedules another attempt, since Ray may be restarting the actor; fails the pipeline if no actor can start."""
        slot.wait()
        if not isinstance(error, ActorDiedError):
            return
        self._actors.forget(slot.index, slot.handle)
        slot.failed_starts += 1
        slot.is_gone = self._actors.max_restarts != -1
        others = [other for other in self._slots.values() if other is not slot]
        if any(other.place is not None for other in others):
            return
        if slot.failed_starts >= _MOST_FAILED_STARTS or (
            slot.is_gone and all(other.is_gone for other in others)
        ):
            self._fail_all(RuntimeError(f"Ray workers cannot be started: {error}"))

    def _hand_out(self) -> None:
        while True:
            ready = [slot for slot in self._slots.values() if slot.place is not None and not slot.is_leaving]
            ready = [slot for slot in ready if slot.is_warm] or ready
            free = [slot for slot in ready if slot.calls < _CALLS_EACH]
            if not free:
                return
            slot = min(free, key=lambda slot: (len(slot.jobs), slot.turns))
            jobs = self._jobs_for(slot)
            if not jobs:
                return
            slot.jobs += jobs
            slot.calls, slot.turns = slot.calls + 1, slot.turns + 1
            self._call(
                slot.handle.make.remote(self._name, call_of(jobs)), self._answered, slot, jobs, slot.place
            )

    def _rehearse(self) -> None:
        """Sends each cold actor a copy of a warm actor's task, so that cold actors compile their programs; see `TaskPool`."""
        warm = [slot for slot in self._slots.values() if slot.is_warm and slot.place is not None]
        cold = [slot for slot in self._slots.values() if slot.is_cold]
        job = next((job for slot in warm for job in slot.jobs if not job.goes_alone), None)
        if job is None:
            return
        for slot in cold:
            slot.calls += 1
            reference = slot.handle.make.remote(self._name, call_of([job]))
            self._call(reference, self._rehearsed, slot, slot.place)

    def _rehearsed(self, slot: ActorSlot, place: ActorPlace, reply: Future[object]) -> None:
        slot.calls -= 1
        error = reply.exception()  # see `_joined`
        if slot.place is not place:
            return
        slot.is_warm = True
        if isinstance(error, RayError) and not isinstance(error, RayTaskError):
            self._note_loss(slot, [], place)

    def _jobs_for(self, slot: ActorSlot) -> list[RayJob]:
        """Takes the tasks of one call from the queue; returns [] if there are none, or too few for a busy actor."""
        with self._lock:
            if not self._waiting:
                return []
            # A call gets at most an even share of the current tasks.
            there = len(self._waiting) + sum(len(slot.jobs) for slot in self._slots.values())
            most = min(self._call_size.most, -(-there // (_CALLS_EACH * self.count)))
            if slot.jobs and len(self._waiting) < most and not self._waiting[0].goes_alone:
                return []
            jobs = [heapq.heappop(self._waiting)]
            while (
                self._waiting and len(jobs) < most and not (jobs[0].goes_alone or self._waiting[0].goes_alone)
            ):
                jobs.append(heapq.heappop(self._waiting))
            return jobs

    def _call(
        self, reference: ray.ObjectRef[object], handle: Callable[..., None], *arguments: object
    ) -> None:
        """Sends the thread an event when a call's reply arrives; the thread then calls `handle(*arguments, reply)`."""
        reference.future().add_done_callback(lambda reply: self._events.put((handle, (*arguments, reply))))

    def _answered(
        self, slot: ActorSlot, jobs: list[RayJob], place: ActorPlace, reply: Future[ActorAnswer]
    ) -> None:
        slot.calls -= 1
        if jobs[0] not in slot.jobs:
            return  # the tasks have failed already
        error = reply.exception()  # see `_joined`
        if isinstance(error, RayError) and not isinstance(error, RayTaskError):
            # The actor, its node, or the object store with the results was lost.
            self._note_loss(slot, jobs, place)
            return
        slot.jobs = [job for job in slot.jobs if job not in jobs]
        if error is None:
            self._settle(slot, jobs, place, reply)
            return
        for job in jobs:
            job.future.set_exception(
                RuntimeError(f"Ray worker {place.pid} on node {place.node} failed: {error}")
            )

    def _note_loss(self, slot: ActorSlot, jobs: list[RayJob], place: ActorPlace) -> None:
        """Submits the tasks of a lost call again; blames the actor's oldest task for the death."""
        if slot.place is place:  # the first call lost by this death
            slot.blamed = slot.jobs[0] if slot.jobs else None
            slot.place = None
            slot.wait()
            self._deaths += 1
        slot.jobs = [job for job in slot.jobs if job not in jobs]
        for job in jobs:
            job.goes_alone = True  # so that another death shows which task is to blame
            if job is slot.blamed:
                job.deaths.append(WorkerDeath(place.pid, None, place.node))
            self._submit_again(job)

    def _submit_again(self, job: RayJob) -> None:
        if job.is_given_up:
            job.future.set_exception(TaskKilledError(job.deaths))
            return
        with self._lock:
            heapq.heappush(self._waiting, job)

    def _settle(
        self, slot: ActorSlot, jobs: list[RayJob], place: ActorPlace, reply: Future[ActorAnswer]
    ) -> None:
        answer = reply.result()
        if answer.is_unknown:
            if slot.place is place:
                slot.place, slot.is_absent, slot.due = None, True, 0.0
            for job in jobs:
                self._submit_again(job)
            return
        if slot.place is place:
            slot.is_warm = answer.packed is not None
        self._deaths += answer.deaths - slot.seen_deaths
        slot.seen_deaths = answer.deaths
        if answer.error is not None:
            error = start_error(place, answer.error)
            for job in jobs:
                job.future.set_exception(error)
            self._fail_all(error)
        elif answer.packed is None:
            if answer.death is not None:
                jobs[answer.position].note_death(answer.death)
            for job in jobs:
                self._submit_again(job)
        else:
            self._leased += lease(answer, reply.object_ref, self._returned)  # type: ignore[attr-defined]  # Ray's
            for outcome in resolve(jobs, answer):
                self._made += 1
                self._call_size.note(outcome.seconds, outcome.cpu, outcome.nbytes, _CALLS_EACH * self.count)
