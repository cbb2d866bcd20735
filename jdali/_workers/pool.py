"""Runs the processes of a pool, and the thread that hands tasks to them."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import heapq
import itertools
import logging
import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from jdali._workers.jobs import (
    MadeTask,
    PackedMemory,
    PackedResult,
    PoolClosedError,
    PoolJob,
    TaskKilledError,
    WorkerCounts,
    WorkerDeath,
)
from jdali._workers.memory import SharedSlab, SharedSlabs
from jdali._workers.messages import Answer, ReadyAnswer, TaskAnswer, TaskNote, TaskOrder, take_descriptor
from jdali._workers.process import FreshProcesses, TaskProcess
from jdali._workers.wire import unpack

log = logging.getLogger("jdali")

# Number of tasks of a process: the running one, and one that it can start right afterwards.
_TASKS_EACH = 2
# The pool fails if no process is ready, and this many in a row have died before they were ready. `_MOST_KILLED_STARTS`
# is the limit for deaths by SIGKILL. It comes from outside (a person, the OOM killer), so a later process may succeed.
_MOST_FAILED_STARTS = 3
_MOST_KILLED_STARTS = 20
_CLOSED = "the pipeline's worker processes were closed"
_LOOK_SECONDS = 1.0  # between checks for dead processes; a child of a dead process may keep the channel open
# A process with work is given up if all checks during this time find it stopped (SIGSTOP). Checks are counted, not
# seconds, because the clock also runs while this process itself is stopped.
_STOPPED_SECONDS = 60.0


class TaskPool:
    """Runs tasks in processes; any thread may use the pool.

    The pool's thread starts processes, receives results, hands out waiting tasks, and replaces processes that die. The
    thread references no objects of the caller except tasks. If a process can take a task, the caller's thread sends it.

    Args:
        start: starts a process. If None, processes are not replaced, and tasks may have side effects. Then each task is sent
            only once, to a process without another task, and all waiting tasks fail after the first death of a process.
        most_idle: maximum bytes of unused shared memory that are kept for later results.
        keeps_packed: if True, results and exceptions are not unpacked, and each task returns a `PackedResult`.
        timeout: seconds that a task may take, only without `start`; None for no limit.
    """

    def __init__(
        self, count: int, start: FreshProcesses | None, *, processes: Sequence[TaskProcess] = (),
        most_idle: int = 1 << 29, keeps_packed: bool = False, timeout: float | None = None,
    ):  # fmt: skip
        self._count, self._start, self._timeout = count, start, timeout
        self._look = _LOOK_SECONDS if timeout is None else min(_LOOK_SECONDS, timeout)
        self._resolve = _keep_packed if keeps_packed else _resolve
        self._owner = os.getpid()
        # The pool's thread holds the lock, except while it waits, reads or resolves a future.
        self._lock = threading.RLock()
        self._waiting: list[PoolJob] = []  # a heap
        self._error: Exception | None = None  # raised by all tasks from now on
        self._closed = False
        self._numbers = itertools.count()
        self._due: collections.deque[Callable[[], None]] = collections.deque()  # futures to be resolved
        self._processes = list(processes)
        self._process_numbers = itertools.count()
        self._jobs: dict[int, PoolJob] = {}  # tasks in processes
        self._slabs = SharedSlabs(most_idle)
        self._failed_starts = self._killed_starts = 0
        self._made = self._deaths = 0
        self._looked = 0.0  # time of the last check of the processes
        self._wake_up, self._woken = socket.socketpair()
        self._wake_up.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._woken, selectors.EVENT_READ)
        for process in processes:
            self._selector.register(process.channel, selectors.EVENT_READ, process)
        self.thread = threading.Thread(target=self._run, name="jdali-task-pool", daemon=True)
        self.thread.start()

    # --- for callers ------------------------------------------------------------------------
    def submit(
        self, task: PackedMemory, order: int = 0, *, patience: int = 2, samples: int = 0, room: int = 0
    ) -> Future[MadeTask]:
        """Submits a task.

        The future raises the task's exception, `TaskKilledError`, `PoolClosedError`, or the reason why no process can
        be started or a process has died.

        Args:
            patience: number of killed processes after which the task is given up; one crash is enough. With 0, the task is
                given up when its process dies, even if the task has not started.
            samples: maximum number of samples in the result.
            room: minimum bytes of newly allocated memory for the result.
        """
        job = PoolJob(next(self._numbers), order, task, patience, samples=samples, room=room)
        with self._lock:
            error = self._error or (PoolClosedError(_CLOSED) if self._closed else None)
            if error is None:
                heapq.heappush(self._waiting, job)
                self._hand_out_now()
            else:
                self._fail(job, copy.copy(error))
        self._resolve_due()
        return job.future

    def resize(self, count: int) -> None:
        with self._lock:
            self._count = count
        self._wake()

    def counts(self) -> WorkerCounts:
        with self._lock:
            ready = sum(process.is_ready and process.rehearsal is None for process in self._processes)
            return WorkerCounts(ready, self._made, self._deaths, *self._slabs.usage())

    def pids(self) -> list[int]:
        """Returns the identifiers of the processes, in the order in which they were started."""
        with self._lock:
            return [process.pid for process in self._processes]

    @property
    def has_failed(self) -> bool:
        """True if the pool runs no more tasks; every task then raises the reason."""
        return self._error is not None

    def slab_sizes(self) -> list[tuple[int, int]]:
        """Returns, for each slab, the size in bytes and the maximum number of samples that were in it so far."""
        with self._lock:
            return self._slabs.sizes()

    def close(self, seconds: float | None = None) -> None:
        """Ends the processes and the thread, and waits for them; unfinished tasks fail. A second call does nothing.

        `seconds` limits the wait: a finalizer may run in a thread that holds a lock which the processes' end needs.
        """
        self.interrupt()
        if self._owner == os.getpid() and threading.current_thread() is not self.thread:
            self.thread.join(seconds)

    def interrupt(self) -> None:
        """Starts to close, without waiting or taking a lock, so that a finalizer may call it."""
        if self._owner != os.getpid():
            return  # a copy of the pool, in a forked process
        self._closed = True  # tasks submitted later fail when the thread ends
        self._wake()

    def _wake(self) -> None:
        # A full socket wakes the thread anyway; if the socket is closed, the thread has ended.
        with contextlib.suppress(OSError):
            self._wake_up.send(b"!")

    # --- the thread -------------------------------------------------------------------------
    def _run(self) -> None:
        # Block SIGINT. Processes inherit the block, so Ctrl-C cannot end a new process before it ignores the signal.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            while not self._closed:
                with self._lock:
                    self._start_missing()
                    self._hand_out()
                    self._rehearse()
                self._receive()
                self._resolve_due()
            self._end(PoolClosedError(_CLOSED))
        except BaseException as error:
            self._end(_broken(error))
            raise

    def _end(self, error: Exception) -> None:
        self._closed = True
        with self._lock:
            processes, self._processes = self._processes, []
            for process in processes:
                process.kill()
            self._fail_all(error)
            self._slabs.close()
        self._resolve_due()
        for process in processes:
            process.close()
        self._selector.close()
        if self._start is not None:
            self._start.close()
        self._wake_up.close()
        self._woken.close()

    def _fail_all(self, error: Exception) -> None:
        self._error = self._error or error
        jobs = [*self._jobs.values(), *self._waiting]
        self._jobs, self._waiting = {}, []
        for process in self._processes:  # which are ended without waiting for what they still make
            process.tasks, process.rehearsal = [], None
        for job in jobs:
            self._fail(
                job, copy.copy(error)
            )  # each job gets a copy, because raising an exception adds frames to it

    def _fail(self, job: PoolJob, error: Exception) -> None:
        job.content.close()
        self._due.append(functools.partial(job.future.set_exception, error))

    def _resolve_due(self) -> None:
        """Resolves futures without the lock, because their callbacks may take other locks."""
        while self._due:
            with contextlib.suppress(IndexError):  # another thread was faster
                self._due.popleft()()

    # --- processes --------------------------------------------------------------------------
    def _start_missing(self) -> None:
        count = 0 if self._error is not None else self._count
        staying = [process for process in self._processes if not process.is_leaving]
        for process in staying[count:]:
            process.is_leaving = True
        for _ in range(count - len(staying)):
            assert self._start is not None  # without `_start`, the first death sets `_error`
            process = self._start(next(self._process_numbers))
            self._processes.append(process)
            self._selector.register(process.channel, selectors.EVENT_READ, process)
        for process in [p for p in self._processes if p.is_leaving and not p.tasks]:
            self._end_process(process)

    def _end_process(self, process: TaskProcess) -> None:
        self._forget(process)
        process.kill()
        process.close()

    def _forget(self, process: TaskProcess) -> None:
        self._processes.remove(process)
        self._selector.unregister(process.channel)

    def _note_death(self, process: TaskProcess) -> None:
        """Submits a dead process's tasks again, except tasks that are given up. Without `start`, its tasks fail."""
        self._forget(process)
        death = process.death()
        process.close()
        self._deaths += not process.is_leaving or bool(process.tasks)
        if self._start is None:
            self._lose(process, _lost(death))
            return
        if not process.is_ready:
            self._note_failed_start(death)
            return
        for position, number in enumerate(process.tasks):
            if number == process.rehearsal:
                continue
            job = self._jobs.pop(number)
            if job.slab is not None:
                # The dead process no longer writes to the slab.
                self._slabs.take_back(job.slab)
                job.slab = None
            if position == 0:
                job.deaths.append(death)
            if job.is_given_up:
                self._fail(job, TaskKilledError(job.deaths))
            else:
                heapq.heappush(self._waiting, job)

    def _lose(self, process: TaskProcess, error: Exception) -> None:
        """Fails the tasks of a process that is not replaced, and all waiting tasks. Other processes finish their tasks."""
        self._error = self._error or error
        jobs, self._waiting = [*(self._jobs.pop(number) for number in process.tasks), *self._waiting], []
        for job in jobs:
            self._fail(job, copy.copy(self._error))

    def _note_failed_start(self, death: WorkerDeath) -> None:
        if death.exit_code == -signal.SIGKILL:
            self._killed_starts += 1
        else:
            self._failed_starts += 1
        hopeless = self._failed_starts >= _MOST_FAILED_STARTS or self._killed_starts >= _MOST_KILLED_STARTS
        if hopeless and not any(p.is_ready for p in self._processes):
            self._fail_all(RuntimeError(f"worker processes cannot be started: {death} before it was ready"))

    # --- tasks ------------------------------------------------------------------------------
    def _hand_out_now(self) -> None:
        """Hands out tasks in a caller's thread, because waking the pool's thread takes longer."""
        try:
            self._hand_out()
        except Exception as error:
            self._fail_all(_broken(error))
            self.interrupt()

    def _hand_out(self) -> None:
        while self._waiting and (process := self._process_for(self._waiting[0])) is not None:
            self._send(heapq.heappop(self._waiting), process)

    def _process_for(self, job: PoolJob) -> TaskProcess | None:
        """Chooses the process with the fewest tasks that may take another task; None if there is none."""
        # A task that may kill its process is the only task of this process, so that no other task is blamed.
        suspects = {n for n, job in self._jobs.items() if job.is_suspect}
        ready = [p for p in self._processes if p.is_ready and not p.is_leaving]
        ready = [p for p in ready if p.is_warm] or ready
        most = 1 if self._start is None or job.is_suspect else _TASKS_EACH
        free = [p for p in ready if not suspects.intersection(p.tasks) and len(p.tasks) < most]
        return min(free, key=lambda process: len(process.tasks), default=None)

    def _rehearse(self) -> None:
        """Sends each new process a copy of another process's task, and drops the result.

        The first task of a process takes seconds, because the process compiles its programs. Thanks to the copy, no
        batch waits for this.
        """
        cold = [p for p in self._processes if p.is_ready and not p.is_warm and not p.tasks]
        if not cold or not any(p.is_warm for p in self._processes):
            return
        job = next((job for job in self._jobs.values() if not job.is_suspect), None)
        if job is None:
            return
        for process in cold:
            process.rehearsal = next(self._numbers)
            process.tasks.append(process.rehearsal)
            order = TaskOrder(process.rehearsal, job.content.packed, None, 0, (), 0)
            process.send(order, job.content.descriptors())

    def _drop_rehearsal(self, process: TaskProcess, answer: TaskAnswer, descriptors: list[int]) -> None:
        process.rehearsal, process.is_warm = None, True
        process.tasks.remove(answer.number)
        if answer.new_size:
            with contextlib.suppress(OSError):  # nobody waits for the result
                self._slabs.take_back(self._adopted(process, answer, descriptors))

    def _send(self, job: PoolJob, process: TaskProcess) -> None:
        slab = job.slab = self._slabs.lend(process.known)
        descriptors, new_size = job.content.descriptors(), 0
        if slab is not None and slab.name not in process.known:
            descriptors.append(slab.memory.descriptor)
            new_size = slab.size
        alive = self._slabs.alive()
        forgotten = tuple(name for name in process.known if name not in alive)
        process.known.difference_update(forgotten)
        self._jobs[job.number] = job
        process.tasks.append(job.number)
        name = None if slab is None else slab.name
        order = TaskOrder(job.number, job.content.packed, name, new_size, forgotten, job.room)
        process.looks = 0
        process.send(order, descriptors)

    def _receive(self) -> None:
        """Waits for answers and handles them; checks the processes now and then."""
        for ready, _ in self._selector.select(self._look):
            if ready.data is None:
                self._woken.recv(1 << 12)
            elif ready.data in self._processes:
                self._receive_from(ready.data)
        if (now := time.monotonic()) - self._looked >= self._look:
            self._looked = now
            for process in list(self._processes):
                self._look_at(process)
                if process.has_ended:
                    self._drain(process)

    def _look_at(self, process: TaskProcess) -> None:
        """Ends a process that is needed but has been stopped (SIGSTOP) for long, or that exceeds the timeout."""
        is_waited_for = process.tasks or not process.is_ready
        process.stopped = process.stopped + 1 if is_waited_for and process.is_stopped else 0
        process.looks = process.looks + 1 if process.tasks or (self._waiting and not process.is_ready) else 0
        stopped, pid = process.stopped * self._look, process.pid
        if stopped >= _STOPPED_SECONDS and self._start is not None:
            log.warning(
                "worker process %s has been stopped (SIGSTOP) for %g s: it is ended, and another one makes its batches",
                pid, stopped,
            )  # fmt: skip
            process.stopped = 0
            process.kill()
        elif stopped >= _STOPPED_SECONDS:
            self._give_up(
                process,
                f"has been stopped (SIGSTOP) for {stopped:g} s; kill -CONT {pid} would have had it go on",
            )
        elif self._timeout is not None and (process.looks - 1) * self._look >= self._timeout:
            what = "is stopped (SIGSTOP)" if stopped else "runs the callback, or waits in it"
            self._give_up(
                process,
                f"has not answered a call for {self._timeout:g} s, which is py_timeout of the pipeline; it {what}",
            )

    def _give_up(self, process: TaskProcess, reason: str) -> None:
        with self._lock:
            self._end_process(process)
            self._lose(process, RuntimeError(f"worker process {process.pid} {reason}"))

    def _drain(self, process: TaskProcess) -> None:
        """Receives the last answers of a process that has ended."""
        while process in self._processes and process.channel.has_message():
            self._receive_from(process)
        if process in self._processes:
            with self._lock:
                self._note_death(process)

    def _receive_from(self, process: TaskProcess) -> None:
        try:
            answer, descriptors = process.channel.receive()
        except (EOFError, OSError):
            with self._lock:
                self._note_death(process)
            return
        with self._lock:
            self._note(process, answer, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)

    def _note(self, process: TaskProcess, answer: Answer, descriptors: list[int]) -> None:
        if isinstance(answer, ReadyAnswer):
            if answer.error is not None:
                self._end_process(process)
                self._fail_all(answer.error)
            process.is_ready, self._failed_starts, self._killed_starts = True, 0, 0
            process.is_warm = self._start is None
        elif isinstance(answer, TaskNote):
            process.reached = answer.reached
        elif answer.number == process.rehearsal:
            self._drop_rehearsal(process, answer, descriptors)
        elif answer.number in self._jobs:  # else it has failed with all others
            self._take(process, answer, descriptors)

    def _take(self, process: TaskProcess, answer: TaskAnswer, descriptors: list[int]) -> None:
        # The job stays in `_jobs` until it is done, because these are what fails if this thread does.
        job = self._jobs[answer.number]
        process.tasks.remove(answer.number)
        process.is_warm, process.reached, process.looks = True, None, 0
        # After an error, the process has not kept a slab that was new to it.
        if job.slab is not None and not answer.is_error:
            process.known.add(job.slab.name)
        slab: SharedSlab | None = None
        try:
            if answer.new_size:
                slab = self._adopted(process, answer, descriptors)
            elif answer.slab is not None:
                slab = job.slab
            whole = None if slab is None else self._slabs.lease(slab, answer.result.size, job.samples)
            done = functools.partial(self._resolve, job.future, answer, whole)
        except OSError as error:
            done = functools.partial(job.future.set_exception, error)
        if job.slab is not None and job.slab is not slab:
            self._slabs.take_back(job.slab)
        job.content.close()
        self._made += 1
        self._due.append(done)
        del self._jobs[answer.number]

    def _adopted(self, process: TaskProcess, answer: TaskAnswer, descriptors: list[int]) -> SharedSlab:
        """Takes over the slab that a process has allocated for an answer. Raises OSError if no descriptor is free."""
        assert answer.slab is not None
        # Even if this fails, because the next task tells the process to forget known slabs that the pool has not.
        process.known.add(answer.slab)
        return self._slabs.adopt(answer.slab, take_descriptor(descriptors), answer.new_size)


def _lost(death: WorkerDeath) -> RuntimeError:
    how, _, _ = str(death).partition(" (")
    return RuntimeError(
        f"{how}, though the pipeline still needs it. If it has not begun at all, the script that starts it lacks its "
        "\"if __name__ == '__main__':\""
    )


def _broken(error: BaseException) -> RuntimeError:
    return RuntimeError(f"worker processes: {type(error).__name__}: {error}")


def _resolve(future: Future[MadeTask], answer: TaskAnswer, memory: object) -> None:
    try:
        result = unpack(answer.result, memory)
    except Exception as error:
        future.set_exception(error)
        return
    if answer.is_error:
        future.set_exception(result)
    else:
        future.set_result(MadeTask(result, answer.seconds, answer.cpu, answer.result.size))


def _keep_packed(future: Future[MadeTask], answer: TaskAnswer, memory: Any) -> None:
    result = PackedResult(answer.result, memory, answer.is_error)
    future.set_result(MadeTask(result, answer.seconds, answer.cpu, answer.result.size))
