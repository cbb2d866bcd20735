"""Provides worker threads and their memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from jdali._batches import MOST_IDLE, SlabPool
from jdali._errors import contained
from jdali._threads import WorkerThreads, timed
from jdali.engine.workers.thread_policy import ThreadPolicy, samples_a_task

A = TypeVar("A")
R = TypeVar("R")


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
