"""Worker threads and their memory, and whether work is better done in them or in the thread that has it."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from jdali._batches.slabs import MOST_IDLE, SlabPool
from jdali.engine.failure import NodeFailure
from jdali.engine.workers.serving import Serving
from jdali.engine.workers.threads import Here, TaskExecutor, Turn
from jdali.engine.workers.timing import TimedPool
from jdali.graph.node import Node


class Pool:
    """Worker threads that work on the samples of a batch, a few in each task.

    Attributes:
        threads: how many there are.
        executor: runs single tasks in them.
        is_here: it is the thread that gives it something to do, see `here`.
        slabs: what they lease memory from; others who work for the same batches do so in `with pool.slabs:`.
        serving: which threads work for the owner of the pool: its own, and those that say so.
    """

    def __init__(self, threads: int, most_idle: int = MOST_IDLE):
        self.threads = threads
        self.slabs = SlabPool(most_idle)
        self.serving = Serving()
        self._workers = TimedPool(
            threads, "jdali-worker", _both(self.slabs.__enter__, self.serving.__enter__)
        )
        self.executor: TaskExecutor = self._workers
        self.is_here = False
        self._interrupted = threading.Event()

    def at(self, order: int) -> Pool:
        """The same threads, for a batch whose tasks go before those of a higher order."""
        turn = copy.copy(self)
        turn.executor = Turn(self._workers, order)
        return turn

    def here(self) -> Pool:
        """None of the threads: what is given to it is done at once, by the thread that gives it."""
        alone = copy.copy(self)
        alone.threads, alone.executor, alone.is_here = 1, Here(), True
        return alone

    def map(
        self, node: Node, function: Callable[[int], Any], count: int, cost: Cost | None = None,
        *, in_order: bool = False,
    ) -> list[Any]:  # fmt: skip
        """`attempt` on samples of an operator.

        Raises:
            NodeFailure: with all samples that failed.
        """
        results, failures = self.attempt(function, count, cost, in_order=in_order)
        if failures:
            # No cycles: errors hold the frames of `attempt`, and a failure this one.
            failed, errors = list(failures), list(failures.values())
            results, failures = [], {}
            try:
                raise NodeFailure(node, dict(zip(failed, errors, strict=True))) from errors[0]
            finally:
                del errors
        return results

    def attempt(
        self, function: Callable[[int], Any], count: int, cost: Cost | None = None, *, in_order: bool = False
    ) -> tuple[list[Any], dict[int, Exception]]:
        """function(0), ..., function(count - 1), in parallel: their results, and what those raised that failed.

        Args:
            function: work on one sample.
            count: number of samples.
            cost: what earlier calls have cost, here and in the pool.
            in_order: call one after another, here.

        Returns: the results, None for those that failed; and the errors, in order.
        """
        results: list[Any] = [None] * count
        failures: dict[int, Exception] = {}
        cost = None if self.is_here else cost  # there is nothing to decide
        # A task costs some 20 us: cheap samples share one, and enough tasks stay to even out.
        step = max(1, count // (8 * self.threads))

        def attempt_one(i: int) -> None:
            try:
                results[i] = function(i)
            except Exception as error:
                failures[i] = error

        def work(start: int) -> None:
            for i in range(start, min(start + step, count)):
                attempt_one(i)

        if in_order:
            for i in range(count):
                if self._interrupted.is_set():
                    raise RuntimeError("the pipeline is closed")
                attempt_one(i)
            done, cost = count, None
        else:
            done = cost.work_here(attempt_one, [1] * count) if cost is not None else 0
        start = time.perf_counter()
        self.executor.run_all(work, range(done, count, step))
        if cost is not None:
            cost.note_pool(time.perf_counter() - start, count - done)
        # No cycles: the frames of `attempt_one`, which the errors hold, have the first of these dictionaries only.
        return results, {i: failures.pop(i) for i in sorted(failures)}

    def interrupt(self) -> None:
        """Begins no more tasks: what waits for them fails."""
        self._interrupted.set()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)
        self.slabs.close()


def _both(first: Callable[[], object], second: Callable[[], object]) -> Callable[[], None]:
    def call() -> None:
        first()
        second()

    return call


class Cost:
    """Measures if the calls of a function run faster one after another in this thread or in the pool.

    Threads that let go of the interpreter many times a millisecond mostly wait for each other: two of them
    took three times as long as one for plain WAV files. How that is depends on the function and the machine,
    so both are tried now and then, and what took less time is done.
    """

    # Seconds for a sample. Less than the first is not worth a try of the pool. As long as the pool's time is
    # not known, calls that take more than the second are for the pool, and those of more than the third ever.
    TRIVIAL_SECONDS = 40e-6
    CHEAP_SECONDS = 150e-6
    EXPENSIVE_SECONDS = 1e-3
    # What all calls of a batch together may take longer, for once.
    TOLERANCE_SECONDS = 450e-6
    # After at most this many batches the other way is tried again, for samples differ. At first sooner: the
    # first call may have something to set up.
    MOST_PATIENCE = 64
    # Fewer samples say nothing of the pool.
    _FEW = 4

    def __init__(self) -> None:
        self._pool_seconds: float | None = None
        self._patience = 1
        self._batches_to_pool = 0
        self._batches_here = 0

    def work_here(self, function: Callable[[int], Any], samples: Sequence[int]) -> int:
        """Calls function(0), function(1), ... for as long as that is the better way; how many were called.

        Args:
            function: to call, once for each of `samples`.
            samples: on how many samples each call works.
        """
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
        """A batch was worked on here, in so much time a sample."""
        self._batches_here += 1
        if self._batches_here == 1:
            self._patience = 1
        if seconds > self.TRIVIAL_SECONDS and self._batches_here >= 2 * self._patience:
            self._batches_to_pool = 1
            self._patience = min(2 * self._patience, self.MOST_PATIENCE)

    def note_pool(self, seconds: float, samples: int) -> None:
        """Records how long this many samples took in the pool."""
        if samples < self._FEW:
            return
        latest = seconds / samples
        known = self._pool_seconds
        self._pool_seconds = latest if known is None else (known + latest) / 2
