"""Finds the sample that kills the workers which work on it, by halving the batch.

```
 task killed two workers ──▶ first half kills? ──yes──▶ go on with the first half ──┐
                              ▲        └────────no───▶ go on with the second half ──┤
                              └──────────────── several samples are left ───────────┤
                                                                                    └─ one is left ──▶ kills? ──▶ it, or none
```

A sample that is found is bad like any other. None is found if workers died for another reason: then the batch is made once
more, as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from jdali._errors import OperatorError, SampleError
from jdali._workers import TaskKilledError
from jdali.engine.recovery.batch_result import AttemptFailure
from jdali.engine.recovery.blame import Blamed
from jdali.engine.recovery.sent_result import drawn_from
from jdali.engine.tasks.batch_task import BatchTask

OPERATOR = "worker process"
"""Stands for the operator in errors of samples that killed a worker: which one it was is not known."""

Kills = Callable[[BatchTask], TaskKilledError | None]


def killing_sample(task: BatchTask, kills: Kills) -> tuple[int, TaskKilledError] | None:
    """The position of a sample that kills a worker by itself, and the deaths; None: there is none.

    Args:
        task: that killed workers.
        kills: tries a task in one worker.
    """
    rows = np.arange(len(task))
    while len(rows) > 1:
        first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        # A worker takes a second to start: the second half is not tried if the first one is good.
        rows = first if kills(task.keeping(first)) else second
    # Workers may have died by chance, or because of several samples together.
    error = kills(task.keeping(rows)) if len(rows) else None
    return None if error is None else (int(rows[0]), error)


def crash_failure(
    task: BatchTask, position: int, error: TaskKilledError, sources: Mapping[str, object]
) -> AttemptFailure:
    """The failure of a batch with a sample that kills workers.

    Args:
        task: of the batch.
        position: of the sample.
        error: with the deaths.
        sources: of the pipeline, by name.
    """
    drawn = [drawn_from(sources, name, task) for name in (*task.refs, *task.data)]
    cause = SampleError(f"{error.deaths[-1]} while it worked on this sample", sample=position)
    files = ", ".join(name for one in drawn if (name := one.name(int(one.index[position]))))

    def user_error() -> OperatorError:
        return OperatorError(str(cause), operator=OPERATOR, sample=position, source=files)

    return AttemptFailure(OPERATOR, cause, user_error, {position: Blamed(cause, drawn)})


def batch_failure(error: TaskKilledError) -> AttemptFailure:
    """The failure of a batch that kills workers though none of its samples does so by itself."""

    def user_error() -> OperatorError:
        return OperatorError(
            f"{error}, working on one batch; none of its samples does that alone", operator=OPERATOR
        )

    return AttemptFailure(OPERATOR, error, user_error, {})
