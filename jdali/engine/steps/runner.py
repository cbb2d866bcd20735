"""Base of the runners of a step: one type for each kind of operator, see `adapters`."""

from __future__ import annotations

import abc
import dataclasses

from jdali.engine.steps.values import Values
from jdali.engine.task import BatchTask, SampleIds
from jdali.engine.workers.pool import Pool
from jdali.engine.workers.thread_policy import ThreadPolicy


@dataclasses.dataclass(frozen=True)
class StepContext:
    """Context of a step besides the values of its batch.

    Attributes:
        pool: where samples are worked on.
        task: of the batch; None outside of a pipeline.
    """

    pool: Pool
    task: BatchTask | None = None


class StepRunner(abc.ABC):
    """Runs one step, batch by batch.

    Attributes:
        shown: what `plan()` says of it.
        at_once: batches that may be in it at the same time. Where samples are worked on one by one, those of the
            next batch wait behind those of the last, so that its slowest sample does not keep the pool idle.
        policy: decides which threads work on its samples; None: it has nothing for threads to do.
    """

    shown: str
    at_once: int = 1
    policy: ThreadPolicy | None = None

    @abc.abstractmethod
    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
        """Adds the outputs to `env`.

        Args:
            env: values so far.
            ids: the samples of the step's part of the batch.
            context: what there is to work with.

        Raises:
            NodeFailure: with all samples that failed.
        """

    def set_pipeline_seed(self, seed: int) -> None:  # noqa: B027  most draw nothing
        """Gives the seed to all random operators that have none of their own; nothing is compiled anew."""

    def reseed(self, seed: int, stream: int) -> None:  # noqa: B027
        """Gives all random operators this seed and stream; nothing is compiled anew."""
