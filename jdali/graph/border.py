"""Cuts a plan at a border: workers run the steps before it, and the accelerator's process runs the steps after it."""

from __future__ import annotations

import dataclasses

from jdali._operators.record import HostBatchOp
from jdali.graph.node import DataNode, Node
from jdali.graph.plan import ExecutionPlan, HostStep, Stage, dependencies, last_uses


@dataclasses.dataclass(frozen=True)
class Border:
    """Divides a plan into two parts.

    Attributes:
        elsewhere: the steps for workers. Its outputs are the values that cross the border.
        here: the other steps, which read the values that cross the border, and make the outputs of the pipeline.
    """

    elsewhere: ExecutionPlan
    here: ExecutionPlan


def cut(plan: ExecutionPlan, *, one_device: bool) -> Border:
    """Divides the steps of a plan between workers and this process.

    Args:
        one_device: True if the accelerator is the CPU; then workers run all steps. Otherwise they run the steps on the CPU
            that need no values from the accelerator.
    """
    elsewhere: list[HostStep | Stage] = []
    here: list[HostStep | Stage] = []
    made: set[Node] = set()  # nodes that workers run
    for step in plan.steps:
        inputs = {v.source for node in step.nodes for v in dependencies(node)} - set(step.nodes)
        if one_device or (step.device == "cpu" and inputs <= made):
            made.update(step.nodes)
            elsewhere.append(step)
        else:
            here.append(step)
    read = [v for step in here for node in step.nodes for v in dependencies(node)]
    crossing: dict[DataNode, None] = {v: None for v in [*read, *plan.outputs] if v.source in made}
    return Border(
        ExecutionPlan(tuple(elsewhere), tuple(crossing), plan.sources, last_uses(elsewhere, tuple(crossing))),
        ExecutionPlan(tuple(here), plan.outputs, (), last_uses(here, plan.outputs, tuple(crossing))),
    )


def steps_before_programs(plan: ExecutionPlan) -> list[int]:
    """Lists the numbers of the steps that need no value of a compiled program."""
    found: list[int] = []
    made: set[Node] = set()
    for number, step in enumerate(plan.steps):
        if isinstance(step, HostStep) and {v.source for v in dependencies(step.node)} <= made:
            made.add(step.node)
            found.append(number)
    return found


def with_late_steps(plan: ExecutionPlan) -> ExecutionPlan:
    """Marks the steps whose samples may be made late, that is, when a stage reads them.

    A batch's samples are then never all in memory at the same time.

    A step qualifies if its operator finds the sizes of its only output with a probe, and only one stage reads the
    output. This stage must be in the same branch, read the output as data, and need only sizes in `setup`. It must not
    mix samples, because it would then read all samples in one call.
    """
    steps = tuple(
        dataclasses.replace(step, may_be_late=True)
        if isinstance(step, HostStep) and _may_be_late(step, plan)
        else step
        for step in plan.steps
    )
    return dataclasses.replace(plan, steps=steps)


def _may_be_late(step: HostStep, plan: ExecutionPlan) -> bool:
    node = step.node
    op = node.op
    if not isinstance(op, HostBatchOp) or op.probe is None or op.effects or node.mixes_samples:
        return False
    if len(node.outputs) != 1:
        return False
    value = node.outputs[0]
    users = [s for s in plan.steps if any(value in set(dependencies(n)) for n in s.nodes)]
    if len(users) != 1 or value in set(plan.outputs):
        return False
    stage = users[0]
    if not isinstance(stage, Stage) or stage.domain is not node.domain or value not in set(stage.inputs):
        return False
    return not any(
        n.mixes_samples or value in {*n.needs_values(), *n.arg_inputs.values()} for n in stage.nodes
    )
