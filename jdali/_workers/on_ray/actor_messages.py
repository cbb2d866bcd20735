"""Arguments and results of calls of a `PipelineActor`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jdali._workers.jobs import WorkerDeath
from jdali._workers.wire import PackedValue

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


class ActorCall(NamedTuple):
    """Tasks of one client, which are made in one go.

    Attributes:
        packed: a `TaskGroup`.
        arrays: of it.
        order: of the first task among the client's; lower ones go first.
        has_log: the first array is its log.
    """

    packed: PackedValue
    arrays: tuple[Bytes, ...]
    order: int
    has_log: bool


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
    """The tasks of a call were made, or why there are no results.

    Attributes:
        packed: a `TaskOutcome` for each, or an exception in place of all; None: there is neither.
        memory: with its arrays; None: it has none.
        is_error: it is the exception.
        is_unknown: the client has not joined, or was idle for so long that it has to join again.
        death: of the process, before all tasks were made; None: it made the call, or died with another one.
        position: of the task that ran then.
        error: no task of this client can be made there.
        deaths: of the actor's processes for this client, since it was started.
    """

    packed: PackedValue | None = None
    memory: Bytes | None = None
    is_error: bool = False
    is_unknown: bool = False
    death: WorkerDeath | None = None
    position: int = 0
    error: Exception | None = None
    deaths: int = 0
