"""Tasks on their way through a pool: what is sent, what comes of it, and what is counted."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from jdali._workers.memory import Memory, allocate
from jdali._workers.shared_slabs import SharedSlab
from jdali._workers.wire import PackedValue, write

# Signals that come from people, the OOM killer or a cluster; all others come from what the process does.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@dataclasses.dataclass(frozen=True)
class WorkerDeath:
    """The unexpected end of a process.

    Attributes:
        pid: of the process.
        exit_code: as of `subprocess`: -N if signal N killed it; None: it is not known.
        node: of a cluster that it ran on; "": this machine.
        reached: the last note of its task, see `note_reached`; None: there was none.
    """

    pid: int
    exit_code: int | None
    node: str = ""
    reached: int | None = None

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
    """A task crashed the process that ran it, or several were killed that did."""

    def __init__(self, deaths: Sequence[WorkerDeath]):
        super().__init__("; ".join(map(str, deaths)))
        self.deaths = tuple(deaths)


class PoolClosedError(RuntimeError):
    """The pool was closed before the task was made."""


@dataclasses.dataclass(eq=False)
class PackedMemory:
    """A packed value, with its arrays in memory of their own if it has some."""

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
    """Result or exception of a maker, as it came from the process."""

    packed: PackedValue
    memory: np.ndarray[Any, Any] | None
    is_error: bool


@dataclasses.dataclass(eq=False)
class PoolJob:
    """A task that was submitted."""

    number: int
    order: int  # lower ones go first
    content: PackedMemory
    patience: int  # processes that may be killed while they make it, before it is given up
    future: Future[MadeTask] = dataclasses.field(default_factory=Future)
    deaths: list[WorkerDeath] = dataclasses.field(default_factory=list)
    samples: int = 0  # that the answer has, at most
    room: int = 0  # bytes that new memory for the answer has at least
    slab: SharedSlab | None = None  # lent for the answer

    @property
    def is_suspect(self) -> bool:
        """True if it has killed a process, or the caller expects that it does."""
        return bool(self.deaths) or self.patience == 1

    @property
    def is_given_up(self) -> bool:
        """True if no other process should try it: one crashed, or as many were killed as there is patience for."""
        return len(self.deaths) >= self.patience or any(death.is_crash for death in self.deaths)

    def __lt__(self, other: PoolJob) -> bool:
        return (self.order, self.number) < (other.order, other.number)


class MadeTask(NamedTuple):
    """A task that was made."""

    result: Any
    seconds: float
    cpu: float  # seconds of the process's processor time
    nbytes: int  # of the arrays in the result


@dataclasses.dataclass(frozen=True)
class WorkerCounts:
    """Counters of workers since they were started.

    Attributes:
        ready: workers that are ready now.
        made: tasks.
        deaths: of workers that ended unexpectedly.
        leased, idle: bytes of shared memory in which results lie, and of that kept for later ones.
        nodes: machines that the ready ones are on.
    """

    ready: int
    made: int
    deaths: int
    leased: int
    idle: int
    nodes: int = 1
