"""Carries out the steps of a plan: the one loop, for pipelines, functions, eager calls and debug mode."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Sequence

from jdali._threads import PhaseTimer
from jdali.engine.failure import NodeFailure
from jdali.engine.steps.run_step import RunSamples, run_step
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.workers.thread_policy import ThreadPolicy
from jdali.graph import DataNode, Domain, Node


@dataclasses.dataclass(frozen=True, slots=True)
class PreparedStep:
    """A step with its runner.

    Attributes:
        nodes: of the step; all are in one branch.
        run: `StepRunner.run`, or a function that does the same.
        last_uses: values that no later step reads.
        timer: counts the time; None: it is not measured.
        policy: learns from that time, and decides if the step runs in this thread alone; None: it never does.
        number: of the step in its plan.
    """

    nodes: Sequence[Node]
    run: RunSamples
    last_uses: Sequence[DataNode] = ()
    timer: PhaseTimer | None = None
    policy: ThreadPolicy | None = None
    number: int = 0


def _at_once(step: PreparedStep) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


def make(
    steps: Iterable[PreparedStep],
    env: Values,
    parts: dict[Domain, SampleIds],
    context: StepContext,
    *,
    enter: Callable[[PreparedStep], contextlib.AbstractContextManager[object]] = _at_once,
    runs_empty: bool = False,
) -> None:
    """Runs steps in their order, and drops each value after its last use.

    Args:
        steps: of a plan, or one operator.
        env: values that the steps read; outputs are added.
        parts: samples of the branches known so far; those of the whole batch are there.
        context: pool and task.
        enter: returns what to hold while a step runs; it may wait.
        runs_empty: also run steps whose branch has no samples, so that outputs have their types and layouts.

    Raises:
        NodeFailure: an operator failed; its `step` says in which step.
        RuntimeError: the pool was interrupted.
    """
    for step in steps:
        with enter(step):
            try:
                run_step(
                    step.nodes, step.run, env, parts, context,
                    timer=step.timer, policy=step.policy, runs_empty=runs_empty,
                )  # fmt: skip
            except NodeFailure as failure:
                failure.step = step.nodes
                raise
        env.drop(step.last_uses)
