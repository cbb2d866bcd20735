"""Measures the time of each phase of a pipeline; JAX's profiler shows the phases under the same names.

A phase is entered once per batch, and once per task of a thread pool. Each entry costs some microseconds.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter, thread_time

from jax.profiler import TraceAnnotation

from jdali._threads.worker_threads import A, R


@dataclasses.dataclass
class Spent:
    """Holds the time that a phase has taken, in seconds."""

    count: int = 0  # number of batches
    tasks: int = 0  # number of tasks that the work was divided into
    seconds: float = 0.0  # wall time; time in which batches overlap is counted once
    busy: float = 0.0  # time of all threads that worked on the phase
    # Processor time of these threads; in the rest of `busy`, they waited for storage, other threads or programs.
    cpu: float = 0.0
    # Time of all threads in each part of the phase, by name; see the class `inner`.
    inner: Counter[str] = dataclasses.field(default_factory=Counter)
    programs: int = 0  # number of programs compiled in `inner["compiling"]`

    def __add__(self, other: Spent) -> Spent:
        return self._with(other, 1)

    def __sub__(self, other: Spent) -> Spent:
        return self._with(other, -1)

    def _with(self, other: Spent, sign: int) -> Spent:
        inner = Counter(self.inner)
        for name, seconds in other.inner.items():
            inner[name] += sign * seconds
        names = [field.name for field in dataclasses.fields(self) if field.name != "inner"]
        sums = {name: getattr(self, name) + sign * getattr(other, name) for name in names}
        return Spent(**sums, inner=inner)


class PhaseTimer:
    """Measures one phase of the work on batches.

    Args:
        kind: "source", "samples" (of an external source), "workers", "reading", "host", "arguments", "stage", "device"
            or "batch".
        name: names of its operators, or a description of the phase.
        work: kind of work, see `Operator.work`.
    """

    def __init__(self, kind: str, name: str, work: str = ""):
        self.kind, self.name, self.work = kind, name, work
        self.label = f"jdali {kind}: {name}"  # name in a trace
        self._spent = Spent()
        self._ended = 0.0  # the latest end of a batch
        self._lock = threading.Lock()

    def lap(self) -> Lap:
        return Lap(self)

    def spent(self) -> Spent:
        """Returns a copy of the time spent so far."""
        with self._lock:
            return self._spent + Spent()

    def count(
        self, tasks: int, start: float, end: float, busy: float, cpu: float,
        inner: Sequence[tuple[str, float]], programs: int = 0,
    ) -> None:  # fmt: skip
        """Adds the times of one batch, which took from `start` to `end`; see `Spent`."""
        with self._lock:
            spent = self._spent
            spent.count += 1
            spent.tasks += tasks
            if end > self._ended:
                spent.seconds += end - max(start, self._ended)
                self._ended = end
            spent.busy += busy
            spent.cpu += cpu
            spent.programs += programs
            for name, took in inner:
                spent.inner[name] += took  # type: ignore[assignment]


class Lap:
    """Measures one batch in a phase. It is a context manager for one thread, which may submit tasks to a pool."""

    __slots__ = ("_annotation", "_began", "_inner", "_outer", "_start", "_tasks", "_timer", "busy", "cpu")

    def __init__(self, timer: PhaseTimer):
        self._timer = timer
        self.busy = self.cpu = 0.0  # set at the exit, see `Spent`
        self._tasks: list[tuple[float, float]] = []
        self._inner: list[tuple[str, float]] = []

    def __enter__(self) -> Lap:
        self._outer, _HERE.lap = _HERE.lap, self
        self._annotation = TraceAnnotation(self._timer.label) if TraceAnnotation.is_enabled() else None
        if self._annotation is not None:
            self._annotation.__enter__()
        self._began, self._start = thread_time(), perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        end, cpu = perf_counter(), thread_time() - self._began
        if self._annotation is not None:
            self._annotation.__exit__(None, None, None)
        _HERE.lap, busy = self._outer, end - self._start
        # If the thread submitted tasks, it mostly waits for them. So only its processor time counts as busy.
        if self._tasks:
            busy = cpu + sum(wall for wall, _ in self._tasks)
            cpu += sum(own for _, own in self._tasks)
        self.busy, self.cpu = busy, cpu
        programs = sum(name == "compiling" for name, _ in self._inner)
        self._timer.count(len(self._tasks) or 1, self._start, end, busy, cpu, self._inner, programs)

    def task(self, function: Callable[[A], R]) -> Callable[[A], R]:
        """Wraps a function that a pool will run, so that its time counts for this lap."""

        def call(argument: A) -> R:
            _HERE.lap = self
            cpu, start = thread_time(), perf_counter()
            try:
                with TraceAnnotation(self._timer.label):
                    return function(argument)
            finally:
                self._tasks.append((perf_counter() - start, thread_time() - cpu))
                _HERE.lap = None

        return call

    def note(self, name: str, seconds: float) -> None:
        self._inner.append((name, seconds))


class _Here(threading.local):
    lap: Lap | None = None  # lap for which this thread works


_HERE = _Here()


class inner:
    """Measures a named part of the phase that this thread works on: `with inner(name):`."""

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


def timed(function: Callable[[A], R]) -> Callable[[A], R]:
    """Wraps a function for a pool, so that its time counts for the `Lap` that this thread works for, if any."""
    lap = _HERE.lap
    return function if lap is None else lap.task(function)


@dataclasses.dataclass(frozen=True)
class Times:
    """Holds the time that a pipeline has spent so far."""

    # The phases of one lane run one after another; several lanes run at the same time.
    lanes: list[list[tuple[PhaseTimer, Spent]]]
    programs: int  # number of programs compiled in these phases
    threads: int  # number of threads in the pool
    shrinks: bool  # True if JPEGs could be decoded at a smaller size, but `scaled_decoding` is off
    ahead: bool  # True if batches are made before the user asks for them
    workers: int = 0  # number of worker processes
    deaths: int = 0  # number of workers that ended unexpectedly
    nbytes: int = 0  # bytes that came from workers
