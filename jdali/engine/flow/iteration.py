"""A batch while it is made: drawn (`BatchInFlight`), in work (`Iteration`), ready (`Result`)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jdali._batches import Drawn, Provenance, external
from jdali._errors import OperatorError
from jdali.engine.failure import NodeFailure
from jdali.engine.recovery.batch_result import AttemptFailure
from jdali.engine.recovery.blame import Blamed, blame
from jdali.engine.recovery.memo import Memo
from jdali.engine.shapes.levels import BatchLevels
from jdali.engine.steps.values import Values
from jdali.engine.tasks.batch_task import BatchTask
from jdali.engine.tasks.feed import DrawnTask
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.graph import WHOLE_BATCH, Domain, Node
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one iteration.

    Attributes:
        outputs: a batch for each output of the pipeline.
        ids: identity of the samples.
        mask: bool [N], False where a sample could not be read and another one replaces it.
        padded: bool [N], True where the reader repeated a sample to fill up the epoch.
        state: of the sources, to go on after this batch.
        errors: how many samples were left out so far, of the feed that it was drawn from.
        nbytes: of the outputs.
        most_bytes: of all values that were there at the same time while it was made.
        nothing: what to raise where a batch is wanted, of one whose samples all failed and cannot be replaced: it
            has no outputs then.
        finished: what `Finishing` added to it.
    """

    outputs: tuple[TensorList, ...]
    ids: SampleIds
    mask: np.ndarray
    padded: np.ndarray
    state: dict[str, Any]
    errors: int
    nbytes: int
    most_bytes: int
    nothing: OperatorError | None = None
    finished: object = None


class BatchInFlight(NamedTuple):
    """A batch that was drawn and is not settled.

    Attributes:
        drawn: its task, with what drawing knows besides.
        levels: of padded shapes, for this batch.
    """

    drawn: DrawnTask
    levels: BatchLevels

    @property
    def task(self) -> BatchTask:
        """Says what to make."""
        return self.drawn.task


@dataclasses.dataclass
class Iteration:
    """The working set of one attempt at a batch.

    Attributes:
        task: of the batch.
        levels: of padded shapes, for this batch.
        parts: of its samples those of each branch.
        env: what is computed so far.
        memo: what was read and made, reused if some of the samples are replaced.
        most_bytes: of all values that were there at the same time so far.
    """

    task: BatchTask
    levels: BatchLevels
    parts: dict[Domain, SampleIds]
    env: Values
    memo: Memo | None = None
    most_bytes: int = 0

    @classmethod
    def of(
        cls, task: BatchTask, sources: Mapping[Node, Any], levels: BatchLevels, memo: Memo | None = None
    ) -> Iteration:
        """One in which nothing is computed yet.

        Args:
            task: of the batch.
            sources: of the pipeline.
            levels: of padded shapes, for this batch.
            memo: of an earlier attempt at the same batch.
        """
        env = Values()
        for node, source in sources.items():
            if node.name in task.data:
                env.drawn[node] = external(len(task), node.name)
            elif node.name in task.refs:
                drawn = Drawn(source.source, task.refs[node.name].indices, node.name)
                env.drawn[node] = Provenance.of(drawn)
        return cls(task, levels, {WHOLE_BATCH: task.ids}, env, memo)

    def user_error(self, failure: NodeFailure) -> OperatorError:
        """Makes the user's error: it names the sample and the line of the pipeline."""
        position = None if failure.sample is None else next(iter(self.blamed(failure)))
        return failure.user_error(position, self.env.made_of)

    def failed(self, failure: NodeFailure) -> AttemptFailure:
        """Returns what recovery must know of a failure."""
        blamed = self.blamed(failure) if failure.is_of_samples else {}
        user_error = functools.partial(self.user_error, failure)
        return AttemptFailure(failure.node.op.name, failure.first, user_error, blamed)

    def blamed(self, failure: NodeFailure) -> dict[int, Blamed]:
        """The samples that made an operator fail, by their position in what was drawn."""
        node = failure.node
        return blame(failure, self.parts.get(node.domain, self.task.ids), self.env.made_of(node))
