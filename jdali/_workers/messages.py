"""Messages between a `TaskPool` and its processes."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, TypeAlias

from jdali._workers.wire import PackedValue

SlabName: TypeAlias = "tuple[int, int]"
"""Number of the process that allocated a slab, and number of the slab in that process."""


@dataclasses.dataclass(frozen=True)
class StartOrder:
    """First message to a process; the descriptor of the memory of its arrays follows, if it has some.

    Attributes:
        number: of the process in its pool.
        start: a function without arguments that returns the function which makes tasks.
    """

    number: int
    start: PackedValue


class TaskOrder(NamedTuple):
    """A task to be made. Descriptors that follow: of the task's arrays, of the lent slab; each only if it is new.

    Attributes:
        number: of the task in its pool.
        task: the task.
        lent: the slab for the answer; None: the process allocates one if it needs it.
        lent_size: bytes of a lent slab that the process does not know yet, whose descriptor follows; 0: it knows it.
        forgotten: slabs that the process will not see again.
        room: bytes that a slab which the process allocates has at least.
    """

    number: int
    task: PackedValue
    lent: SlabName | None
    lent_size: int
    forgotten: tuple[SlabName, ...]
    room: int


@dataclasses.dataclass(frozen=True)
class ReadyAnswer:
    """A process is ready for tasks.

    Attributes:
        error: raised instead; the process ends then.
    """

    error: Exception | None = None


class TaskNote(NamedTuple):
    """The position that a task has reached, by what its maker says.

    Attributes:
        number: of the task.
        reached: the position.
    """

    number: int
    reached: int


class TaskAnswer(NamedTuple):
    """The answer to a `TaskOrder`; the descriptor of a new slab follows.

    Attributes:
        number: of the task.
        result: what the maker returned, or the exception that it raised.
        is_error: it is that exception.
        slab: with the arrays of the result; None: it has none.
        new_size: bytes of the slab, if the process has allocated it for this answer; else 0.
        seconds, cpu: time from the order to the answer, and processor time of the whole process meanwhile.
    """

    number: int
    result: PackedValue
    is_error: bool
    slab: SlabName | None
    new_size: int
    seconds: float
    cpu: float


Answer: TypeAlias = "ReadyAnswer | TaskNote | TaskAnswer"
"""A message from a process."""
