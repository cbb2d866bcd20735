"""Chooses the runner of a step by the kind of its operator; no other module of the engine depends on the kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jdali._operators.record import HostBatchOp, HostOp, IndexOp, ReaderOp
from jdali._sources import SourceFeed
from jdali.engine.steps.host_batch_op import HostBatchOpRunner
from jdali.engine.steps.host_op import HostOpRunner, IndexOpRunner
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.reader_op import ReaderRunner, SourceRunner
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import StepRunner
from jdali.graph import HostStep, Node, Stage


def runner_of(
    step: HostStep | Stage, *, seed: int, device: jax.Device, max_batch: int, budget: ProgramBudget,
    exact_shapes: bool = False, shares_rows: bool = True, source: Any = None, scaled_for: Sequence[Node] = (),
) -> StepRunner:  # fmt: skip
    """Makes the runner of a step.

    Args:
        shares_rows: if True, small batches of different sizes share programs, whose rows are then partly unused.
        scaled_for: for a decoder, see `HostBatchOpRunner`.
    """
    if isinstance(step, Stage):
        return StageRunner(
            step, seed=seed, max_batch=max_batch, device=device, budget=budget, exact_shapes=exact_shapes,
            shares_rows=shares_rows,
        )  # fmt: skip
    node, op = step.node, step.node.op
    match op:
        case HostOp():
            return HostOpRunner(node, op, seed=seed)
        case HostBatchOp():
            return HostBatchOpRunner(
                node, op, seed=seed, device=device, scaled_for=scaled_for, may_be_late=step.may_be_late
            )
        case IndexOp():
            return IndexOpRunner(node, op)
        case ReaderOp():
            if isinstance(source, SourceFeed):
                return SourceRunner(node)
            return ReaderRunner(node, op, source)
    raise TypeError(f"{op.name}: the engine cannot run a {type(op).__name__}")
