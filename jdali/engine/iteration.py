"""A batch while it is made (`Iteration`), and when it is ready (`Result`)."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jdali._batches import Drawn, PaddedBlock, Provenance, external
from jdali._errors import OperatorError, SkippedSample
from jdali.engine.failure import NodeFailure
from jdali.engine.recovery.blame import AttemptFailure, Blamed, blame
from jdali.engine.sample_ids import SampleIds
from jdali.engine.steps.values import Values
from jdali.engine.task import BatchTask, EpochShare
from jdali.graph import WHOLE_BATCH, Domain, Node
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Result:
    """A batch that is ready.

    Attributes:
        outputs: a batch for each output of the pipeline.
        ids: identity of the samples.
        mask: bool [N], False where a sample failed and another one stands in for it.
        padded: bool [N], True where the reader repeated a sample to fill up the epoch.
        state: of the sources, to go on after this batch.
        skipped: the samples that failed.
        nbytes: of the outputs.
        most_bytes: of all values that were there at the same time while it was made.
        nothing: the error to raise where samples are wanted: all failed, and nothing stands in for them. There are no
            outputs then.
        share: of the task.
        finished: what the iterator that follows the pipeline made of the batch.
    """

    outputs: tuple[TensorList, ...]
    ids: SampleIds
    mask: np.ndarray
    padded: np.ndarray
    state: dict[str, Any]
    skipped: tuple[SkippedSample, ...]
    nbytes: int
    most_bytes: int
    nothing: OperatorError | None = None
    share: EpochShare | None = None
    finished: object = None

    def wait(self) -> None:
        """Waits until the arrays are computed; an error in them is their consumer's."""
        for output in self.outputs:
            for block in output.store.blocks:
                if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
                    with contextlib.suppress(Exception):
                        block.array.block_until_ready()


@dataclasses.dataclass
class Iteration:
    """The working set of one attempt at a batch.

    Attributes:
        task: of the batch.
        parts: of its samples those of each branch.
        env: what is computed so far.
        most_bytes: of all values that were there at the same time so far.
    """

    task: BatchTask
    parts: dict[Domain, SampleIds]
    env: Values
    most_bytes: int = 0

    @classmethod
    def of(cls, task: BatchTask, sources: Mapping[Node, Any]) -> Iteration:
        """Begins an attempt: nothing is computed yet.

        Args:
            task: of the batch.
            sources: of the pipeline.
        """
        env = Values()
        for node, source in sources.items():
            if node.name in task.data:
                env.drawn[node] = external(len(task), node.name)
            elif node.name in task.refs:
                drawn = Drawn(source.source, task.refs[node.name].indices, node.name)
                env.drawn[node] = Provenance.of(drawn)
        return cls(task, {WHOLE_BATCH: task.ids}, env)

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
        """Returns the samples that made an operator fail, by their position in what was drawn."""
        node = failure.node
        return blame(failure, self.parts.get(node.domain, self.task.ids), self.env.made_of(node))
