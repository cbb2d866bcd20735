"""The result of a task: a batch, or what made it fail."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from jdali._errors import OperatorError
from jdali.engine.recovery.blame import Blamed
from jdali.engine.task import BatchTask
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True, eq=False)
class AttemptFailure:
    """Failure of the operator at which a batch came to a stop.

    Attributes:
        operator: its name.
        cause: the first exception.
        user_error: makes the error for the user, to be raised from `cause`. It is not kept, for its traceback holds the
            frames that hold this failure.
        blamed: by position the samples that failed; empty if the error is of the code and not of samples.
    """

    operator: str
    cause: Exception
    user_error: Callable[[], OperatorError]
    blamed: Mapping[int, Blamed]


@dataclasses.dataclass(frozen=True, eq=False)
class BatchResult:
    """Result of one attempt at a batch.

    Attributes:
        task: that was carried out.
        outputs: a batch for each output of the pipeline; empty after a failure. They know their provenance.
        most_bytes: of all values that were there at the same time while it was made.
        failure: why there are no outputs; None: there are.
    """

    task: BatchTask
    outputs: tuple[TensorList, ...]
    most_bytes: int = 0
    failure: AttemptFailure | None = None
