"""The task of a batch in debug mode."""

from __future__ import annotations

import dataclasses
from typing import Any

from jdali.engine.tasks.batch_task import BatchTask
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True, eq=False)
class ComputedTask(BatchTask):
    """A task of debug mode, whose batch was computed while it was drawn.

    Attributes:
        outputs: a batch for each output of the pipeline.
    """

    outputs: tuple[TensorList, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a task of debug mode holds its batch: no other process can make it")
