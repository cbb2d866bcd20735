"""Implements the protocol `BatchWorkers` with local processes; `jdali.plugin.ray` implements it with Ray."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeAlias, runtime_checkable

from jdali._workers.by_value import pack_by_value
from jdali._workers.jobs import MadeTask, PackedMemory, WorkerCounts
from jdali._workers.pool import TaskPool
from jdali._workers.process import FreshProcesses
from jdali._workers.wire import SMALL_OF_TASK, pack

StartMaking: TypeAlias = "Callable[[], Callable[[Any], Any]]"
"""Starts a pipeline in a worker, once; the returned function runs tasks, one at a time. Can be pickled by value."""


class BatchWorkers(Protocol):
    """Runs tasks in other processes, in any order; any thread may use this object."""

    title: str
    """Name of the workers in messages, such as "Ray workers"."""

    count: int
    """Number of workers wanted."""

    @property
    def in_flight(self) -> int:
        """Number of tasks that should be in progress at the same time, so that all workers are busy; it may change."""

    def start(self, start: StartMaking) -> None:
        """Starts the workers; called once. Raises an exception if `start` cannot be pickled."""

    def submit(self, task: object, order: int = 0, *, patience: int = 2) -> Future[MadeTask]:
        """Submits a task.

        The future raises the task's exception, `TaskKilledError` if the task crashed a worker or several workers were
        killed while they ran it, or `PoolClosedError` after `close`.

        Args:
            task: an object that can be pickled.
            order: tasks of lower order go first.
            patience: number of killed workers after which the task is given up.
        """

    def resize(self, count: int) -> None:
        """Starts workers, or ends some once they have finished their tasks."""

    def counts(self) -> WorkerCounts:
        """Returns the counters."""

    def interrupt(self) -> None:
        """Starts to close, without waiting."""

    def close(self) -> None:
        """Ends the workers and waits for them; unfinished tasks fail. A second call does nothing."""


@runtime_checkable
class WorkerSet(Protocol):
    """Describes the workers of a pipeline. Users pass it in place of a number of processes."""

    count: int
    """Number of workers for a pipeline."""

    threads: int
    """Threads of each worker, if the pipeline does not set their number."""

    def connect(self) -> BatchWorkers:
        """Returns workers for one pipeline, not started yet."""


# Workers run JAX on the CPU, because the main process holds the accelerator's memory.
_ENVIRONMENT = {"JAX_PLATFORMS": "cpu"}


class ProcessWorkers:
    """Runs tasks in processes that do not import the user's main module, see `TaskPool`.

    Args:
        count: number of processes.
        most_idle: maximum bytes of unused shared memory that are kept for later results.
        reduce: reduces jdali's operators to their names for `pickle`; see `reduced` of `pack_by_value`.
    """

    title = "workers"

    def __init__(self, count: int, most_idle: int, reduce: Callable[[Any], Any]):
        self.count, self._most_idle, self._reduce = count, most_idle, reduce
        self._pool: TaskPool | None = None

    @property
    def _started(self) -> TaskPool:
        assert self._pool is not None
        return self._pool

    @property
    def in_flight(self) -> int:
        """Allows 2 · `count` + 1 tasks: two for each worker, and one with its result on the way; see `BatchWorkers`."""
        return 2 * self.count + 1

    def start(self, start: StartMaking) -> None:
        processes = FreshProcesses(pack_by_value(start, self._reduce), _ENVIRONMENT)
        self._pool = TaskPool(self.count, processes, most_idle=self._most_idle)

    def submit(self, task: object, order: int = 0, *, patience: int = 2) -> Future[MadeTask]:
        content = PackedMemory.of(*pack(task, small=SMALL_OF_TASK))
        return self._started.submit(content, order, patience=patience)

    def resize(self, count: int) -> None:
        self.count = count
        self._started.resize(count)

    def pids(self) -> list[int]:
        return self._started.pids()

    def counts(self) -> WorkerCounts:
        return self._started.counts()

    def interrupt(self) -> None:
        if self._pool is not None:
            self._pool.interrupt()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
