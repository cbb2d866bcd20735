"""Base of the runners of a step: one type for each kind of operator, see `adapters`."""

from __future__ import annotations

import abc

from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.engine.workers.pool import Pool
from jdali.engine.workers.thread_policy import ThreadPolicy


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
    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        """Adds the outputs for the samples `ids` to `env`; raises NodeFailure with all samples that failed."""

    def set_seed(self, seed: int, stream: int | None = None) -> None:  # noqa: B027  most draw nothing
        """Gives the pipeline's seed to random operators without one of their own; with a stream, both to all."""
