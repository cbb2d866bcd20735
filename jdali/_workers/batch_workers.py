"""BatchWorkers that make batches elsewhere: one protocol for processes on this machine and for those of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeAlias, runtime_checkable

from jdali._workers.jobs import MadeTask, WorkerCounts

StartMaking: TypeAlias = "Callable[[], Callable[[Any], Any]]"
"""Starts a pipeline in a worker, once: the returned function makes tasks, one at a time. It can be pickled by value."""


class BatchWorkers(Protocol):
    """Makes tasks elsewhere, in any order; any thread may use it."""

    title: str
    """Name for the user: "workers"."""

    count: int
    """Number of workers that there should be."""

    @property
    def in_flight(self) -> int:
        """Tasks that should be submitted at the same time, so that all workers are busy; it may change."""

    def start(self, start: StartMaking) -> None:
        """Starts the workers; called once.

        Raises:
            Exception: what is to be sent cannot be pickled.
        """

    def submit(self, task: object, order: int = 0, *, patience: int = 2) -> Future[MadeTask]:
        """Has a task made.

        The future raises what the maker raised; `TaskKilledError` if a worker crashed that made the task, or several were
        killed that did; and `PoolClosedError` after `close`.

        Args:
            task: can be pickled.
            order: lower ones go first.
            patience: workers that may be killed while they make it, before it is given up.
        """

    def resize(self, count: int) -> None:
        """Starts workers, or lets some end when they have made the tasks that they have."""

    def counts(self) -> WorkerCounts:
        """Returns the counters."""

    def interrupt(self) -> None:
        """Begins to close, without waiting."""

    def close(self) -> None:
        """Ends the workers and waits for them; tasks that are not made raise. Harmless twice."""


@runtime_checkable
class WorkerSet(Protocol):
    """Workers that a user describes in place of a number of processes."""

    count: int
    """Number of workers that a pipeline asks for."""

    threads: int
    """Threads of each, for a pipeline that does not say a number."""

    def connect(self) -> BatchWorkers:
        """Returns workers for one pipeline, which are not started yet."""
