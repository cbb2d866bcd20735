"""A batch operator by operator: the value after each, for looking at them.

Each operator is a step of its own, with the number and seed that it has in the pipeline. So it draws what it draws there,
and as programs never fuse products into sums, the values are those of the pipeline bit by bit.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jdali.engine.failure import NodeFailure
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.iteration import Iteration
from jdali.engine.make import make
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.engine.tasks.batch_task import BatchTask
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.graph import DataNode, Domain, ExecutionPlan, Node, Stage, last_uses, step_of
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class Trace:
    """Values of one batch after every operator, up to one that failed.

    Attributes:
        values: by the output of a node.
        parts: samples of each branch.
        failure: the error of the operator that failed, for the user; None: all ran.
        failed: that operator.
    """

    values: Values
    parts: dict[Domain, SampleIds]
    failure: Exception | None = None
    failed: Node | None = None

    def value(self, value: DataNode, position: int) -> np.ndarray | None:
        """A sample of a value, by its position in the batch; None: it is in another branch, or was not computed."""
        batch: TensorList | None = self.values.get(value)
        part = self.parts.get(value.source.domain)
        if batch is None or part is None:
            return None
        rows = np.flatnonzero(part.position == position)
        return batch.store.host_sample(int(rows[0])) if len(rows) and len(batch) > rows[0] else None


class StepwiseEngine(Engine):
    """Makes batches of another engine's tasks, operator by operator.

    Args:
        engine: of the pipeline; its readers are read, its position, times and programs stay as they are.
        most: samples of a batch.
    """

    def __init__(self, engine: Engine, *, most: int):
        options = dataclasses.replace(
            engine.options, batch_size=most, most_idle=0, seed=engine.seed, on_error="mask", max_compiles=None
        )
        super().__init__(_stepwise(engine.plan), options, sources=engine.sources)
        # Functions of the user's are the same objects: none runs for both engines at a time. Readers may.
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
        """Makes the batch of a task, and keeps the value after each operator."""
        iteration = Iteration.of(task, self.sources)
        context = StepContext(self.pool, task)
        steps = (
            dataclasses.replace(step, last_uses=())
            for step in map(self._prepared, range(len(self.plan.steps)))
        )
        try:
            make(steps, iteration.env, iteration.parts, context, enter=lambda step: self._alone[step.number])
        except NodeFailure as failure:
            return Trace(iteration.env, iteration.parts, iteration.user_error(failure), failure.step[0])
        return Trace(iteration.env, iteration.parts)

    def interrupt(self) -> None:
        """See `Engine.interrupt`; the sources belong to the pipeline."""
        self._closed = True
        self.pool.interrupt()

    def close(self) -> None:
        """Ends its threads."""
        self.interrupt()
        self.pool.close()


def _stepwise(plan: ExecutionPlan) -> ExecutionPlan:
    """The plan in which each operator is a step."""
    nodes = sorted((node for step in plan.steps for node in step.nodes), key=lambda node: node.id)
    steps = [step_of(node) for node in nodes]
    numbered = [
        dataclasses.replace(step, index=number) if isinstance(step, Stage) else step
        for number, step in enumerate(steps)
    ]
    return ExecutionPlan(tuple(numbered), plan.outputs, plan.sources, last_uses(numbered, plan.outputs))
