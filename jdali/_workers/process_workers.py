"""Workers that are processes on this machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from jdali._workers.batch_workers import StartMaking
from jdali._workers.jobs import MadeTask, PackedMemory, WorkerCounts
from jdali._workers.pool import TaskPool
from jdali._workers.process import FreshProcesses
from jdali._workers.sending import pack_by_value
from jdali._workers.wire import SMALL_OF_TASK, pack

# Workers never touch an accelerator: the process that they work for has its memory.
_ENVIRONMENT = {"JAX_PLATFORMS": "cpu"}


class ProcessWorkers:
    """Processes that are started without the user's main module, see `TaskPool`.

    Args:
        count: how many.
        most_idle: bytes of shared memory that are kept for later results.
        reduce: for `pickle`: sends objects by name that the pipeline knows by name, see `pack_by_value`.

    Attributes:
        count: how many there should be.
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
        """See `BatchWorkers.in_flight`: two for each worker, and one that is settled."""
        return 2 * self.count + 1

    def start(self, start: StartMaking) -> None:
        """See `BatchWorkers.start`."""
        processes = FreshProcesses(pack_by_value(start, self._reduce), _ENVIRONMENT)
        self._pool = TaskPool(self.count, processes, most_idle=self._most_idle)

    def submit(self, task: object, order: int = 0, *, patience: int = 2) -> Future[MadeTask]:
        """See `BatchWorkers.submit`."""
        return self._started.submit(
            PackedMemory.of(*pack(task, small=SMALL_OF_TASK)), order, patience=patience
        )

    def resize(self, count: int) -> None:
        """See `BatchWorkers.resize`."""
        self.count = count
        self._started.resize(count)

    def pids(self) -> list[int]:
        """Identifiers of the processes."""
        return self._started.pids()

    def counts(self) -> WorkerCounts:
        """See `BatchWorkers.counts`."""
        return self._started.counts()

    def interrupt(self) -> None:
        """See `BatchWorkers.interrupt`."""
        if self._pool is not None:
            self._pool.interrupt()

    def close(self) -> None:
        """See `BatchWorkers.close`."""
        if self._pool is not None:
            self._pool.close()
