"""Arguments and results of calls of a `PipelineActor`."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np

from jdali._workers.task_pool.process import WorkerDeath
from jdali._workers.task_pool.wire import PackedValue

Bytes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"


@dataclasses.dataclass(frozen=True, eq=False)
class ActorStart:
    """The definition of a pipeline, in the object store.

    Attributes:
        version: of jdali, where the pipeline was defined.
        start: see `StartMaking`.
        memory: with its arrays.
    """

    version: str
    start: PackedValue
    memory: Bytes


@dataclasses.dataclass(frozen=True, eq=False)
class ActorTask:
    """A task of one client.

    Attributes:
        packed: the task.
        arrays: of the task.
        order: among the client's; lower ones go first.
        patience: workers that may be killed while they make it, before it is given up.
    """

    packed: PackedValue
    arrays: tuple[Bytes, ...]
    order: int
    patience: int


@dataclasses.dataclass(frozen=True)
class ActorPlace:
    """Place of an actor, and why it can make no tasks.

    Attributes:
        node: for messages.
        node_id: of Ray.
        pid: of the actor.
        error: raised by the start of the pipeline there.
    """

    node: str
    node_id: str
    pid: int
    error: Exception | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class ActorAnswer:
    """A task that was made, or why there is no result.

    Attributes:
        packed: the result, or the exception of the maker; None: there is neither.
        memory: with its arrays; None: it has none.
        is_error: it is the exception.
        is_unknown: the client has not joined, or was idle for so long that it has to join again.
        seconds, cpu: see `MadeTask`.
        killed: deaths of the processes that the task killed.
        error: no task of this client can be made there.
        deaths: of the actor's processes for this client, since it was started.
    """

    packed: PackedValue | None = None
    memory: Bytes | None = None
    is_error: bool = False
    is_unknown: bool = False
    seconds: float = 0.0
    cpu: float = 0.0
    killed: tuple[WorkerDeath, ...] = ()
    error: Exception | None = None
    deaths: int = 0
