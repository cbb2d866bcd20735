"""Finds the sample that ends the workers which work on it, and describes its failure.

```
 a worker crashed, or two were killed ──▶ one worker makes sample after sample, and notes each ──died at one──▶ it, or,
                                                        │                                       if killed, once more alone
                                                        └── made all of them ──▶ none
```

A sample that is found is bad like any other. None is found if workers died for another reason: then the batch is made once
more, as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jdali._errors import OperatorError, SampleError
from jdali._workers import TaskKilledError, note_reached
from jdali.engine.executors.sent_result import drawn_from
from jdali.engine.recovery.blame import AttemptFailure, Blamed
from jdali.engine.task import BatchTask

OPERATOR = "worker process"
"""Stands for the operator in errors of samples that killed a worker: which one it was is not known."""

Kills = Callable[[BatchTask], TaskKilledError | None]


def killing_sample(task: BatchTask, kills: Kills) -> tuple[int, TaskKilledError] | None:
    """Finds the position of a sample that ends a worker by itself, and the deaths; None: there is none.

    Args:
        task: that ended workers.
        kills: has one worker call `make_each` of a task; returns its death, if it dies.
    """
    error = kills(task) if len(task) else None
    position = None if error is None else error.deaths[-1].reached
    if error is None or position is None:
        return None
    # A crash is proof, as the sample was alone; a worker may have been killed by chance.
    if not error.deaths[-1].is_crash:
        error = kills(task.keeping(np.array([position])))
    return None if error is None else (position, error)


def make_each(task: BatchTask, makers: Sequence[Callable[[BatchTask], object]]) -> None:
    """Makes each sample of a task as a batch of its own, and notes its position first.

    Args:
        task: that ended workers.
        makers: of the parts of a batch, the cheaper ones first; all samples go through one before the next.
    """
    for make in makers:
        for position in range(len(task)):
            note_reached(position)
            make(task.keeping(np.array([position])))


def crash_failure(
    task: BatchTask, position: int, error: TaskKilledError, sources: Mapping[str, object]
) -> AttemptFailure:
    """Describes the failure of a batch with a sample that kills workers.

    Args:
        task: of the batch.
        position: of the sample.
        error: with the deaths.
        sources: of the pipeline, by name.
    """
    cause = SampleError(f"{error.deaths[-1]} while it worked on this sample", sample=position)
    blamed = Blamed(cause)
    for name in (*task.refs, *task.data):
        blamed.come_from(drawn_from(sources, name, task), position)

    def user_error() -> OperatorError:
        files = ", ".join(blamed.files)
        return OperatorError(str(cause), operator=OPERATOR, sample=position, source=files)

    return AttemptFailure(OPERATOR, cause, user_error, {position: blamed})


def batch_failure(error: TaskKilledError) -> AttemptFailure:
    """Describes the failure of a batch that kills workers though none of its samples does so by itself."""

    def user_error() -> OperatorError:
        return OperatorError(
            f"{error}, working on one batch; none of its samples does that alone", operator=OPERATOR
        )

    return AttemptFailure(OPERATOR, error, user_error, {})
