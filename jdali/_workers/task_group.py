"""Groups tasks for a process, so that they share one message, one answer, and one memory for all results.

```
 pack_group: tasks, each pickled ──▶ make_group, in the process ──▶ TaskOutcome of each: a result or its own exception
                  log  ◀── which task starts ──┘
```

So small tasks share the cost of a message. The log is in memory that outlives the process, so if the process dies, the task
that ran is known. The workers on Ray (`on_ray`) use this module as well. It is not in their package, because processes that
make batches do not import Ray.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jdali._workers.batch_workers import StartMaking
from jdali._workers.serve import answer_memory, answering_in, portable
from jdali._workers.wire import ALIGNMENT, PackedValue, address, pack

_Array: TypeAlias = "np.ndarray[Any, Any]"


class GroupTask(NamedTuple):
    """Holds a task of a group, pickled without its arrays, and the arrays."""

    head: bytes
    arrays: tuple[_Array, ...]


class TaskGroup(NamedTuple):
    """Tasks for one process."""

    log: _Array  # int64 [1], number of the task started last, from 1; empty if there is only one task
    tasks: tuple[GroupTask, ...]


class TaskOutcome(NamedTuple):
    """Holds the result of one task, or its exception, pickled without its arrays, and the arrays."""

    head: bytes
    arrays: tuple[_Array, ...]
    is_error: bool
    seconds: float
    cpu: float

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    def value(self) -> Any:
        """Unpacks the result, or the exception; its arrays are views of `arrays`."""
        return pickle.loads(self.head, buffers=self.arrays)


def pack_group(tasks: Sequence[GroupTask]) -> tuple[PackedValue, tuple[_Array, ...]]:
    """Packs tasks for one process; returns the group without its arrays, and the arrays.

    If there are several tasks, the first array is the log.
    """
    group = TaskGroup(np.zeros(1 if len(tasks) > 1 else 0, np.int64), tuple(tasks))
    packed, buffers = pack(group, small=1)
    return packed, tuple(np.frombuffer(buffer, np.uint8) for buffer in buffers)


class StartGroups:
    """Starts a pipeline in a process, which then runs groups of tasks."""

    def __init__(self, start: StartMaking):
        self._start = start

    def __call__(self) -> Callable[[TaskGroup], tuple[TaskOutcome, ...]]:
        return functools.partial(make_group, self._start())


def make_group(make: Callable[[Any], Any], group: TaskGroup) -> tuple[TaskOutcome, ...]:
    """Runs the tasks of a group, one after the other. All results share the memory of the answer."""
    if len(group.tasks) == 1:  # a single task uses the notes and the answer's memory directly
        return (_outcome(make, group.tasks[0]),)
    memory, outcomes = _Memory(answer_memory()), []
    for number, task in enumerate(group.tasks, 1):
        group.log[0] = number
        with memory.answering():
            outcome = _outcome(make, task)
        memory.keep(outcome.arrays)
        outcomes.append(outcome)
    return tuple(outcomes)


def _outcome(make: Callable[[Any], Any], task: GroupTask) -> TaskOutcome:
    start, cpu = time.perf_counter(), time.process_time()
    is_error = False
    try:
        packed, buffers = pack(make(pickle.loads(task.head, buffers=task.arrays)))
    except Exception as error:
        is_error = True
        packed, buffers = pack(portable(error))
    arrays = tuple(np.frombuffer(buffer, np.uint8) for buffer in buffers)
    return TaskOutcome(packed.head, arrays, is_error, time.perf_counter() - start, time.process_time() - cpu)


class _Memory:
    """Memory of an answer, which several results share."""

    def __init__(self, whole: Any):
        self._free = None if whole is None else np.frombuffer(whole, np.uint8)

    def answering(self) -> contextlib.AbstractContextManager[None]:
        """Provides the free memory for the next result; drops the task's notes, because the log takes their place."""
        free: Any = self._free  # NumPy's types do not declare it as a buffer
        return answering_in(None if free is None else memoryview(free), lambda _: None)

    def keep(self, arrays: Sequence[_Array]) -> None:
        """Reserves the memory from its start to the end of the last array in it."""
        if self._free is None:
            return
        begin, size = address(self._free), len(self._free)
        ends = [address(array) - begin + array.nbytes for array in arrays]
        used = max((end for end in ends if 0 < end <= size), default=0)
        self._free = self._free[-(-used // ALIGNMENT) * ALIGNMENT :]
