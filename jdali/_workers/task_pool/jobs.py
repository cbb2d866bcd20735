"""Tasks on their way through a pool: what is sent, what comes of it, and what is counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from jdali._workers.memory import Memory, allocate
from jdali._workers.task_pool.process import WorkerDeath
from jdali._workers.task_pool.shared_slabs import SharedSlab
from jdali._workers.task_pool.wire import PackedValue, write


class TaskKilledError(RuntimeError):
    """A task crashed the process that ran it, or several were killed that did.

    Attributes:
        deaths: of these processes.
    """

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
    """Result or exception of a maker, as it came from the process.

    Attributes:
        packed: the value, or the exception.
        memory: uint8, with its arrays; None: it has none.
        is_error: it is the exception.
    """

    packed: PackedValue
    memory: np.ndarray[Any, Any] | None
    is_error: bool


@dataclasses.dataclass(eq=False)
class PoolJob:
    """A task that was submitted.

    Attributes:
        number: of the task.
        order: lower ones go first.
        content: the task.
        patience: processes that may be killed while they make it, before it is given up.
        future: of the result.
        deaths: of the processes that it ran in.
        slab: lent for the answer.
    """

    number: int
    order: int
    content: PackedMemory
    patience: int
    future: Future[MadeTask] = dataclasses.field(default_factory=Future)
    deaths: list[WorkerDeath] = dataclasses.field(default_factory=list)
    slab: SharedSlab | None = None

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
    """A task that was made.

    Attributes:
        result: what the maker returned.
        seconds, cpu: time that the process took for it, and its processor time.
        nbytes: of the arrays in the result.
    """

    result: Any
    seconds: float
    cpu: float
    nbytes: int


@dataclasses.dataclass(frozen=True)
class PoolCounts:
    """Counters of a pool, since it was started.

    Attributes:
        processes: that take tasks now.
        pids: of all processes that there are.
        made: tasks.
        deaths: of processes that nobody had ended.
        leased, idle: bytes of shared memory, see `SharedSlabs.usage`.
    """

    processes: int
    pids: tuple[int, ...]
    made: int
    deaths: int
    leased: int
    idle: int
