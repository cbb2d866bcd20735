"""Runs work on the samples of a batch, in the calling thread or in a pool of threads; a policy chooses.

`Serving` marks threads that work for a pipeline, which must not ask it for a batch.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from jdali._batches import MOST_IDLE, SlabPool
from jdali._errors import contained
from jdali._threads import WorkerThreads, timed

A = TypeVar("A")
R = TypeVar("R")

# `shares` uses at most 1 + max(bytes // _SHARE_BYTES, samples // _SHARE_SAMPLES) threads.
_SHARE_BYTES, _SHARE_SAMPLES = 1 << 20, 64
# Samples per call in the calling thread, see `groups_here`.
_TOGETHER = 64
# A task costs some 20 us, so a task has several cheap samples. Each thread gets several tasks, to balance the load.
_TASKS_A_THREAD = 8


class ThreadPolicy:
    """Decides for one step, batch by batch, which threads work on the samples. Results do not depend on the choice.

    ```
    decides                                                  measures
    is_brief    if the calling thread makes the whole        processor time and wall time (note_batch)
                batch, one batch at a time
    work_here   how many samples the calling thread makes    the time of a sample in this thread, and in the pool
                before the pool makes the rest               (note_pool)
    ```
    `samples_a_task` and `shares` choose the size of the pool's tasks by the number and bytes of the samples.

    Brief work: a sample that takes some microseconds makes a few short calls that release the GIL. With several threads, each
    finds the GIL taken when its call ends, and waking up takes longer than the call. Two threads that decode pictures of 8×8
    pixels take 1.8 times the processor time of one, and no less wall time. With pictures of 64×64 pixels it is 1.05 times,
    and two threads are worth it.

    Cheap samples: threads that release the GIL many times a millisecond mostly wait for each other, too. For plain WAV files,
    two threads took three times as long as one. This depends on the function and the machine, so now and then the
    policy tries both the calling thread alone and the pool, and uses the faster one.

    Readers themselves divide their work into tasks (`Reader.tasks`), depending on where their records are.

    Args:
        tries_here: True if samples may be cheap; False sends all samples to the pool.
        may_be_brief: True if a sample may take only microseconds. Must be False where user functions run, because
            they may wait for each other.

    Attributes:
        is_brief: True if one thread works on the next batch.
    """

    # A brief sample takes at most BRIEF_SECONDS of processor time. Its wall time is at most BRIEF_WAITING times as
    # long; with more, it waits for a disk or a server, and threads are faster. Once work is brief, both limits are
    # multiplied by BRIEF_SLACK.
    BRIEF_SECONDS, BRIEF_WAITING, BRIEF_SLACK = 30e-6, 4.0, 1.5

    # Limits of a sample's time in the calling thread. Below TRIVIAL_SECONDS the pool is not tried. Above CHEAP_SECONDS
    # samples go to the pool while the pool's time is unknown. Above EXPENSIVE_SECONDS they always go to the pool.
    TRIVIAL_SECONDS = 40e-6
    CHEAP_SECONDS = 150e-6
    EXPENSIVE_SECONDS = 1e-3
    # A batch may take this many seconds more in the calling thread than these limits allow for its samples.
    TOLERANCE_SECONDS = 450e-6
    # After at most this many batches, the policy tries the other way (calling thread or pool) again, because samples differ.
    # The first tries come sooner, because a first call may include some set-up.
    MOST_PATIENCE = 64
    # With fewer samples, the speed of the pool cannot be measured.
    _FEW = 4

    def __init__(self, *, tries_here: bool = True, may_be_brief: bool = False):
        self.tries_here, self.may_be_brief = tries_here, may_be_brief
        self.is_brief = False
        self._pool_seconds: float | None = None
        self._patience = 1
        self._batches_to_pool = 0
        self._batches_here = 0

    def note_batch(self, samples: int, cpu: float, busy: float) -> None:
        """Records a batch of `samples` samples: processor time and wall time, in seconds, of all threads together."""
        if self.may_be_brief:
            slack = self.BRIEF_SLACK if self.is_brief else 1.0
            is_short = cpu <= slack * self.BRIEF_SECONDS * samples
            self.is_brief = is_short and busy <= slack * self.BRIEF_WAITING * cpu

    def work_here(self, function: Callable[[int], object], samples: Sequence[int]) -> int:
        """Calls function(0), function(1), ... as long as that pays; returns the number of calls.

        Call i works on `samples[i]` samples.
        """
        if not self.tries_here:
            return 0
        if self._batches_to_pool:
            self._batches_to_pool -= 1
            return 0
        start = time.perf_counter()
        known = self._pool_seconds
        limit = self.CHEAP_SECONDS if known is None else min(known, self.EXPENSIVE_SECONDS)
        allowed, used = self.TOLERANCE_SECONDS, 0.0
        for i, count in enumerate(samples):
            function(i)
            allowed += count * max(limit, self.TRIVIAL_SECONDS)
            used = time.perf_counter() - start
            if used > allowed:
                self._batches_here = 0
                self._batches_to_pool = self._patience
                self._patience = min(2 * self._patience, self.MOST_PATIENCE)
                return i + 1
        self._stay(used / max(sum(samples), 1))
        return len(samples)

    def _stay(self, seconds: float) -> None:
        """Records a batch that the calling thread made alone; it took `seconds` per sample."""
        self._batches_here += 1
        if self._batches_here == 1:
            self._patience = 1
        if seconds > self.TRIVIAL_SECONDS and self._batches_here >= 2 * self._patience:
            self._batches_to_pool = 1
            self._patience = min(2 * self._patience, self.MOST_PATIENCE)

    def note_pool(self, seconds: float, samples: int) -> None:
        if samples < self._FEW:
            return
        latest = seconds / samples
        known = self._pool_seconds
        self._pool_seconds = latest if known is None else (known + latest) / 2


def groups_here(count: int) -> list[slice]:
    """Divides samples into calls for `work_here`. The first sample is a call of its own, because it may wait for a disk."""
    bounds = [0, *range(1, count, _TOGETHER), count]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def samples_a_task(count: int, threads: int) -> int:
    """Returns how many of `count` samples share a task, if each sample is a separate call."""
    return max(1, count // (_TASKS_A_THREAD * threads))


def shares(count: int, nbytes: int, threads: int) -> list[slice]:
    """Divides `count` samples of `nbytes` bytes among the threads. If there is only one share, the calling thread takes it."""
    tasks = min(threads, 1 + max(nbytes // _SHARE_BYTES, count // _SHARE_SAMPLES))
    step = max(-(-count // tasks), 1)
    return [slice(at, min(at + step, count)) for at in range(0, count, step)]


class Serving:
    """Marks the threads that work for a pipeline. They must not ask it for a batch, because they would wait for themselves.

    A thread is marked inside `with serving:`. Threads of the pool enter it when they start.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def __enter__(self) -> None:
        self._local.depth = getattr(self._local, "depth", 0) + 1

    def __exit__(self, *_: object) -> None:
        self._local.depth -= 1

    def refuse_here(self) -> None:
        """Raises RuntimeError in a thread that works for the pipeline."""
        if getattr(self._local, "depth", 0):
            raise RuntimeError(
                "Pipeline.run: a function that runs in a pipeline asked the same pipeline, or an iterator of it, for a "
                "batch, and would wait for itself forever: what the function needs must be an input of it, or come from "
                "another pipeline"
            )


class Pool:
    """Worker threads that work on the samples of a batch; a task is a few samples.

    Other threads that work for the same batches enter `with pool.slabs:`, from which the threads lease memory, and
    `with pool.serving:`.
    """

    def __init__(self, threads: int, most_idle: int = MOST_IDLE):
        slabs, serving = SlabPool(most_idle), Serving()

        def enter() -> None:  # references no pool: the threads end when the pool is freed
            slabs.__enter__()
            serving.__enter__()

        self.threads, self.slabs, self.serving = threads, slabs, serving
        self._workers = WorkerThreads(threads, "jdali-worker", enter)
        self._order = 0
        self.is_here = False  # True if the calling thread does all work, see `here`
        self.turns = threading.Lock()  # for brief work, one thread at a time, see `ThreadPolicy`
        self._interrupted = threading.Event()

    def at(self, order: int) -> Pool:
        """Returns a copy of this pool for one batch. Waiting tasks with a lower `order` run first."""
        turn = self._copy()
        turn._order = order
        return turn

    def here(self) -> Pool:
        alone = self._copy()
        alone.threads, alone.is_here = 1, True
        return alone

    def _copy(self) -> Pool:
        other = object.__new__(Pool)
        other.__dict__.update(self.__dict__)  # `copy.copy` takes 7 us
        return other

    def run_all(self, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        """Calls function(argument) for each argument, see `WorkerThreads.run_all`."""
        if self.is_here:
            return [function(argument) for argument in arguments]
        return self._workers.run_all(timed(function), arguments, self._order)

    def attempt(
        self, function: Callable[[int], object], count: int, policy: ThreadPolicy | None = None,
        *, in_order: bool = False,
    ) -> tuple[list[Any], dict[int, Exception]]:  # fmt: skip
        """Runs function(0), ..., function(count - 1) in parallel.

        Args:
            policy: decides how many calls this thread makes; None if it makes none.
            in_order: if True, this thread makes all calls, one after the other.

        Returns: the results, with None for calls that failed, and the errors by number of the call, ascending.
        """
        results: list[Any] = [None] * count
        failures: dict[int, Exception] = {}
        policy = None if self.is_here else policy  # there is nothing to decide
        step = samples_a_task(count, self.threads)

        def attempt_one(i: int) -> None:
            try:
                results[i] = function(i)
            except BaseException as error:
                failures[i] = contained(error)

        def work(start: int) -> None:
            for i in range(start, min(start + step, count)):
                attempt_one(i)

        if in_order:
            for i in range(count):
                self.refuse_if_interrupted()
                attempt_one(i)
            done, policy = count, None
        else:
            done = policy.work_here(attempt_one, [1] * count) if policy is not None else 0
        start = time.perf_counter()
        self.run_all(work, range(done, count, step))
        if policy is not None:
            policy.note_pool(time.perf_counter() - start, count - done)
        # Move the errors to a new dictionary, because they reference frames of `attempt_one`, which reference `failures`.
        return results, {i: failures.pop(i) for i in sorted(failures)}

    def interrupt(self) -> None:
        """Starts no more tasks; every thread that waits for a task gets an error."""
        self._interrupted.set()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def refuse_if_interrupted(self) -> None:
        """Raises RuntimeError after `interrupt`."""
        if self._interrupted.is_set():
            raise RuntimeError("the pipeline is closed")

    def close(self) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)
        self.slabs.close()
