"""Makes a batch operator by operator and keeps the value after each one.

Each operator is a step of its own, with its number and seed in the pipeline, so random values are the pipeline's.
Programs never fuse products into sums, so the other values are the pipeline's too, bit by bit.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jdali.engine.engine import Engine
from jdali.engine.failure import NodeFailure
from jdali.engine.iteration import Iteration
from jdali.engine.make import make
from jdali.engine.sample_ids import SampleIds
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.engine.task import BatchTask
from jdali.graph import DataNode, Domain, ExecutionPlan, Node, Stage, last_uses, step_of
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Trace:
    """Values of one batch after each operator, up to the first failure.

    Attributes:
        values: by the output of a node.
        parts: samples of each branch.
        failure: the user's error; None: all operators ran.
        failed: the operator that failed.
    """

    values: Values
    parts: dict[Domain, SampleIds]
    failure: Exception | None = None
    failed: Node | None = None

    def value(self, value: DataNode, position: int) -> np.ndarray | None:
        """Returns a sample of a value, by its position in the batch; None: not computed, or in another branch."""
        batch: TensorList | None = self.values.get(value)
        part = self.parts.get(value.source.domain)
        if batch is None or part is None:
            return None
        rows = np.flatnonzero(part.position == position)
        return batch.store.host_sample(int(rows[0])) if len(rows) and len(batch) > rows[0] else None


class StepwiseEngine(Engine):
    """Makes batches of another engine's tasks, operator by operator.

    Args:
        engine: of the pipeline. Its readers are shared; its position, times and programs stay unchanged.
        most: largest batch size.
    """

    def __init__(self, engine: Engine, *, most: int):
        options = dataclasses.replace(
            engine.options, batch_size=most, most_idle=0, seed=engine.seed, on_error="mask", max_compiles=None
        )
        super().__init__(_stepwise(engine.plan), options, sources=engine.sources)
        # Both engines share the user's functions: none runs for both at the same time. Readers may.
        theirs = {step.nodes[0]: lock for step, lock in zip(engine.here.steps, engine._alone, strict=True)}
        self._alone = [
            own if isinstance(step, Stage) or step.node.is_source else theirs.get(step.node, own)
            for step, own in zip(self.plan.steps, self._alone, strict=True)
        ]

    @property
    def nodes(self) -> list[Node]:
        """The operators, in the order in which they run."""
        return [node for step in self.plan.steps for node in step.nodes]

    def trace(self, task: BatchTask) -> Trace:
        """Makes the batch of a task; keeps the value after each operator."""
        iteration = Iteration.of(task, self.sources)
        context = StepContext(self.pool, task)
        steps = [dataclasses.replace(step, last_uses=()) for step in self._prepared]
        try:
            make(steps, iteration.env, iteration.parts, context, enter=lambda step: self._alone[step.number])
        except NodeFailure as failure:
            return Trace(iteration.env, iteration.parts, iteration.user_error(failure), failure.step[0])
        return Trace(iteration.env, iteration.parts)

    def interrupt(self) -> None:
        """Interrupts its threads; the sources belong to the pipeline."""
        self._closed = True
        self.pool.interrupt()

    def close(self) -> None:
        """Ends its threads."""
        self.interrupt()
        self.pool.close()


def _stepwise(plan: ExecutionPlan) -> ExecutionPlan:
    """Returns the plan with a step for each operator."""
    nodes = sorted((node for step in plan.steps for node in step.nodes), key=lambda node: node.id)
    steps = [step_of(node) for node in nodes]
    numbered = [
        dataclasses.replace(step, index=number) if isinstance(step, Stage) else step
        for number, step in enumerate(steps)
    ]
    return ExecutionPlan(tuple(numbered), plan.outputs, plan.sources, last_uses(numbered, plan.outputs))
