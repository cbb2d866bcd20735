"""Counters of the time of each phase of a pipeline, under the same names in JAX's profiler.

A part is entered once a batch, and once for each task of a thread pool; that costs some microseconds.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from time import perf_counter, thread_time
from typing import Any

from jax.profiler import TraceAnnotation

from jdali._threads.worker_threads import A, R, WorkerThreads


@dataclasses.dataclass
class Spent:
    """Time that a phase has taken.

    Attributes:
        count: how often it ran.
        tasks: in how many pieces the work was done.
        seconds: from its beginning to its end, where batches overlap from the end of the one before.
        busy: of all threads that worked on it.
        cpu: of `busy`, what these threads computed themselves: they wait for storage, for other Python
            threads and for compiled programs in the rest of it.
        inner: seconds of all threads by what they did, as far as that has a name.
    """

    count: int = 0
    tasks: int = 0
    seconds: float = 0.0
    busy: float = 0.0
    cpu: float = 0.0
    inner: Counter[str] = dataclasses.field(default_factory=Counter)

    def __add__(self, other: Spent) -> Spent:
        return self._with(other, 1)

    def __sub__(self, other: Spent) -> Spent:
        return self._with(other, -1)

    def _with(self, other: Spent, sign: int) -> Spent:
        inner = Counter(self.inner)
        for name, seconds in other.inner.items():
            inner[name] += sign * seconds
        return Spent(
            self.count + sign * other.count,
            self.tasks + sign * other.tasks,
            self.seconds + sign * other.seconds,
            self.busy + sign * other.busy,
            self.cpu + sign * other.cpu,
            inner,
        )


class PhaseTimer:
    """A part of the work on a batch.

    Args:
        kind: "source", "samples" (of a source), "workers", "reading", "host", "arguments", "stage", "device" or "batch".
        name: of its operators.
        work: what their records say of it, see `Operator.work`.
    """

    def __init__(self, kind: str, name: str, work: str = ""):
        self.kind, self.name, self.work = kind, name, work
        self.label = f"jdali {kind}: {name}"  # in a trace
        self._spent = Spent()
        self._ended = 0.0  # the latest end of a batch
        self._lock = threading.Lock()

    def lap(self) -> Lap:
        """Measures what is done inside, for a batch."""
        return Lap(self)

    def spent(self) -> Spent:
        """Returns a copy of the time spent so far."""
        with self._lock:
            return self._spent + Spent()

    def count(
        self, tasks: int, start: float, end: float, busy: float, cpu: float,
        inner: Sequence[tuple[str, float]],
    ) -> None:  # fmt: skip
        """Adds one batch, from `start` to `end`; see `Spent`."""
        with self._lock:
            spent = self._spent
            spent.count += 1
            spent.tasks += tasks
            if end > self._ended:
                spent.seconds += end - max(start, self._ended)
                self._ended = end
            spent.busy += busy
            spent.cpu += cpu
            for name, took in inner:
                spent.inner[name] += took  # type: ignore[assignment]


class Lap:
    """One batch's way through a part; a context manager for one thread, which may hand tasks to a pool.

    Attributes:
        busy, cpu: when it is over, see `Spent`.
    """

    __slots__ = ("_annotation", "_began", "_inner", "_outer", "_part", "_start", "_tasks", "busy", "cpu")

    def __init__(self, part: PhaseTimer):
        self._part, self.busy, self.cpu = part, 0.0, 0.0
        self._tasks: list[tuple[float, float]] = []
        self._inner: list[tuple[str, float]] = []

    def __enter__(self) -> Lap:
        self._outer, _HERE.lap = _HERE.lap, self
        self._annotation = TraceAnnotation(self._part.label) if TraceAnnotation.is_enabled() else None
        if self._annotation is not None:
            self._annotation.__enter__()
        self._began, self._start = thread_time(), perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        end, cpu = perf_counter(), thread_time() - self._began
        if self._annotation is not None:
            self._annotation.__exit__(None, None, None)
        _HERE.lap, busy = self._outer, end - self._start
        # A thread that has handed out tasks mostly waits for them, but may have done something itself.
        if self._tasks:
            busy = cpu + sum(wall for wall, _ in self._tasks)
            cpu += sum(own for _, own in self._tasks)
        self.busy, self.cpu = busy, cpu
        self._part.count(len(self._tasks) or 1, self._start, end, busy, cpu, self._inner)

    def task(self, function: Callable[..., object]) -> Callable[..., Any]:
        """Wraps a function for a thread of a pool."""

        def timed(*args: object, **kwargs: object) -> object:
            _HERE.lap = self
            cpu, start = thread_time(), perf_counter()
            try:
                with TraceAnnotation(self._part.label):
                    return function(*args, **kwargs)
            finally:
                self._tasks.append((perf_counter() - start, thread_time() - cpu))
                _HERE.lap = None

        return timed

    def note(self, name: str, seconds: float) -> None:
        self._inner.append((name, seconds))


class _Here(threading.local):
    lap: Lap | None = None  # the one that this thread works for


_HERE = _Here()


class inner:
    """Gives a name to what a thread does in `with inner(name):` as a part of its lap."""

    __slots__ = ("_annotation", "_lap", "_name", "_start")

    def __init__(self, name: str):
        self._name = name

    def __enter__(self) -> None:
        self._lap = _HERE.lap
        self._annotation = TraceAnnotation(f"jdali {self._name}") if TraceAnnotation.is_enabled() else None
        if self._annotation is not None:
            self._annotation.__enter__()
        if self._lap is not None:
            self._start = perf_counter()

    def __exit__(self, *exception: object) -> None:
        if self._lap is not None:
            self._lap.note(self._name, perf_counter() - self._start)
        if self._annotation is not None:
            self._annotation.__exit__(None, None, None)


class TimedPool(WorkerThreads):
    """Threads whose tasks count for the lap that hands them out."""

    def submit_at(
        self, order: int, function: Callable[..., object], /, *args: object, **kwargs: object
    ) -> Future[Any]:
        return super().submit_at(order, _timed(function), *args, **kwargs)

    def run_all_at(self, order: int, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        return super().run_all_at(order, _timed(function), arguments)


def _timed(function: Callable[..., R]) -> Callable[..., R]:
    lap = _HERE.lap
    return function if lap is None else lap.task(function)


@dataclasses.dataclass(frozen=True)
class Times:
    """Time that a pipeline has spent so far.

    Attributes:
        lanes: parts that work on one batch at a time, together; several lanes are gone through at the same time.
        programs: compiled.
        threads: of the pool.
        shrinks: JPEGs are decoded at their full size although `scaled_decoding` could shrink them.
        ahead: batches are made before they are asked for.
        workers: processes that make batches.
        deaths: of workers that ended unexpectedly.
        nbytes: that came from workers.
    """

    lanes: list[list[tuple[PhaseTimer, Spent]]]
    programs: int
    threads: int
    shrinks: bool
    ahead: bool
    workers: int = 0
    deaths: int = 0
    nbytes: int = 0
