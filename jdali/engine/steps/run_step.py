"""Runs one step of a batch: the only way to do so, for pipelines, debug mode and dynamic mode.

```
 samples of the branch ──none──▶ outputs without samples
          │
          ▼
 slabs of the pool ─▶ turn of brief work ─▶ lap of the timer ─▶ the step's runner
```
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeAlias

from jdali._system.jax_modes import usual_modes
from jdali._threads import PhaseTimer
from jdali.engine.steps.branch_samples import leave_empty, part_of
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.workers.thread_policy import ThreadPolicy
from jdali.graph import Domain, Node

RunSamples: TypeAlias = Callable[[Values, SampleIds, StepContext], None]


@usual_modes()
def run_step(
    nodes: Sequence[Node],
    run: RunSamples,
    env: Values,
    parts: dict[Domain, SampleIds],
    context: StepContext,
    *,
    timer: PhaseTimer | None = None,
    policy: ThreadPolicy | None = None,
    runs_empty: bool = False,
) -> None:
    """Runs a step on the samples of its branch; if there are none, its outputs have no samples either.

    Args:
        nodes: of the step; all are in one branch.
        run: `StepRunner.run`, or a function that does the same.
        env: values of the batch so far; the outputs are added.
        parts: samples of the branches known so far, see `part_of`.
        context: pool and task.
        timer: counts the time; None: it is not measured.
        policy: learns from that time, and decides if the step runs in this thread alone; None: it never does.
        runs_empty: run on no samples too, so that outputs have their types and layouts.

    Raises:
        NodeFailure: an operator failed, or a value cannot be the condition of the branch.
        RuntimeError: the pool was interrupted.
    """
    with context.pool.slabs:
        part = part_of(nodes[0].domain, parts, env)
        if not (runs_empty or len(part)):
            leave_empty(nodes, env)
        elif timer is None:
            run(env, part, context)
        else:
            _run_timed(run, env, part, context, timer, policy)


def _run_timed(
    run: RunSamples,
    env: Values,
    part: SampleIds,
    context: StepContext,
    timer: PhaseTimer,
    policy: ThreadPolicy | None,
) -> None:
    pool = context.pool
    is_brief = policy is not None and policy.is_brief
    with pool.turns if is_brief else contextlib.nullcontext():
        if is_brief:
            pool.refuse_if_interrupted()  # while it waited for its turn
            context = dataclasses.replace(context, pool=pool.here())
        with timer.lap() as lap:
            run(env, part, context)
    if policy is not None:
        policy.note_batch(len(part), lap.cpu, lap.busy)
