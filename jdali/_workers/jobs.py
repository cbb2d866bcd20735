"""Defines the tasks of a pool: what is sent, the results, and the counters."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from jdali._workers.memory import Memory, SharedSlab, allocate
from jdali._workers.wire import PackedValue, write

# Signals that people, the OOM killer or a cluster send. All other signals are caused by the process itself.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@dataclasses.dataclass(frozen=True)
class WorkerDeath:
    """Describes the unexpected end of a process."""

    pid: int
    exit_code: int | None  # as in `subprocess`, -N if signal N killed the process; None if unknown
    node: str = ""  # node of a cluster on which the process ran; "" for this machine
    reached: int | None = None  # last note of the task that it ran, see `note_reached`, if any

    @property
    def is_crash(self) -> bool:
        """True if the process ended itself; False if someone else may have ended it, or its machine is gone."""
        return self.exit_code is not None and -self.exit_code not in _FROM_OUTSIDE

    def __str__(self) -> str:
        process = f"worker process {self.pid}{self.node and f' on node {self.node}'}"
        if self.exit_code is None:
            return f"{process} died"
        if self.exit_code >= 0:
            return f"{process} ended with exit code {self.exit_code}"
        try:
            name = signal.Signals(-self.exit_code).name
        except ValueError:
            name = "unknown"
        return f"{process} was killed by signal {-self.exit_code} ({name})"


class TaskKilledError(RuntimeError):
    """Raised if a task crashed its process, or several processes were killed while they ran the task."""

    def __init__(self, deaths: Sequence[WorkerDeath]):
        super().__init__("; ".join(map(str, deaths)))
        self.deaths = tuple(deaths)


class PoolClosedError(RuntimeError):
    """Raised if the pool was closed before the task was finished."""


@dataclasses.dataclass(eq=False)
class PackedMemory:
    """Holds a packed value. If it has arrays, they are in separate memory."""

    packed: PackedValue
    memory: Memory | None

    @classmethod
    def of(cls, packed: PackedValue, buffers: Sequence[memoryview]) -> PackedMemory:
        if not packed.size:
            return cls(packed, None)
        memory = Memory(*allocate(packed.size))
        try:
            with memory.map() as mapped:
                write(packed, buffers, mapped)
        except BaseException:
            memory.close()
            raise
        return cls(packed, memory)

    def descriptors(self) -> list[int]:
        return [] if self.memory is None else [self.memory.descriptor]

    def close(self) -> None:
        if self.memory is not None:
            self.memory.close()


@dataclasses.dataclass(frozen=True, eq=False)
class PackedResult:
    """Holds the result or exception of a task, still packed as the process sent it."""

    packed: PackedValue
    memory: np.ndarray[Any, Any] | None
    is_error: bool


@dataclasses.dataclass(eq=False)
class PoolJob:
    """Holds a submitted task until it is finished."""

    number: int
    order: int  # tasks of lower order run first
    content: PackedMemory
    patience: int  # number of killed processes after which the task is given up
    future: Future[MadeTask] = dataclasses.field(default_factory=Future)
    deaths: list[WorkerDeath] = dataclasses.field(default_factory=list)
    samples: int = 0  # maximum number of samples in the result
    room: int = 0  # minimum bytes of new memory for the result
    slab: SharedSlab | None = None  # slab that is lent to the process for the result

    @property
    def is_suspect(self) -> bool:
        """True if a process died while it ran the task, or if the caller suspects the task (`patience` is 1)."""
        return bool(self.deaths) or self.patience == 1

    @property
    def is_given_up(self) -> bool:
        """True if the task is not tried again, because it crashed a process or `patience` processes were killed."""
        return len(self.deaths) >= self.patience or any(death.is_crash for death in self.deaths)

    def __lt__(self, other: PoolJob) -> bool:
        return (self.order, self.number) < (other.order, other.number)


class MadeTask(NamedTuple):
    """Holds the result of a task, and what it cost."""

    result: Any
    seconds: float
    cpu: float  # seconds of the process's processor time
    nbytes: int  # bytes of the arrays in the result


@dataclasses.dataclass(frozen=True)
class WorkerCounts:
    """Counters of workers since they were started."""

    ready: int  # workers that are ready now
    made: int  # finished tasks
    deaths: int  # workers that ended unexpectedly
    leased: int  # bytes of shared memory that results use
    idle: int  # bytes of shared memory that are kept for later results
    nodes: int = 1  # machines with ready workers
