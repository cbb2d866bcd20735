"""Host steps whose samples may be made late: when the stage that reads them copies them to its arrays."""

from __future__ import annotations

import dataclasses

from jdali._operators.record import HostBatchOp
from jdali.graph.plan import ExecutionPlan, HostStep, Stage, dependencies


def with_late_steps(plan: ExecutionPlan) -> ExecutionPlan:
    """Marks the steps whose samples may be made late, so that those of a batch never lie in memory all at once.

    Those are of operators that know the sizes of their output by a probe, and whose output only one stage of the same
    branch reads, as data: nobody else asks for a sample, and `setup` does with its size.
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
    return not any(value in {*n.needs_values(), *n.arg_inputs.values()} for n in stage.nodes)
