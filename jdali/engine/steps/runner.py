"""Defines the base class of the runners of steps. Each kind of operator has a runner, see `adapters`."""

from __future__ import annotations

import abc

from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool, ThreadPolicy


class StepRunner(abc.ABC):
    """Runs one step, batch by batch."""

    shown: str  # text of the step in `plan()`
    # Maximum number of batches in the step at the same time. Two for a step that works on single samples, so that the pool is
    # not idle during the slowest sample of a batch.
    at_once: int = 1
    policy: ThreadPolicy | None = None  # None if the step has no work for threads

    @abc.abstractmethod
    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        """Runs the step on the samples `ids`, and adds the outputs to `env`; raises NodeFailure with all failed samples."""

    def set_seed(self, seed: int, stream: int | None = None) -> None:  # noqa: B027  most draw nothing
        """Sets the seed of operators that were given none. With `stream`, sets seed and stream of all operators."""
