"""Runs the steps of a plan, in one loop that pipelines, functions, eager calls and debug mode share.

A pipeline calls `make` with its steps, timers and locks. An `Iteration` is a batch in progress, a `Result` a finished one.
`PreparedPlan` is for calls without a pipeline.

```
 samples of the branch ──none──▶ outputs without samples
          │
          ▼
 lease host memory ─▶ lock, for a brief step ─▶ timer ─▶ the step's runner ─▶ drop values after their last use
```
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import Drawn, PaddedBlock, Provenance, external
from jdali._errors import OperatorError, SkippedSample
from jdali._system.jax_modes import batch_modes
from jdali._threads import PhaseTimer
from jdali.engine.failure import NodeFailure
from jdali.engine.recovery import AttemptFailure, Blamed, blame
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.values import Values
from jdali.engine.task import BatchTask, EpochShare, SampleIds
from jdali.engine.workers import Pool, ThreadPolicy
from jdali.graph import WHOLE_BATCH, DataNode, Domain, ExecutionPlan, Node
from jdali.ops.flow._regroup import positions
from jdali.tensors import TensorList

_FREE = contextlib.nullcontext()


@dataclasses.dataclass(frozen=True, slots=True)
class PreparedStep:
    """Joins a step with its runner."""

    nodes: Sequence[Node]  # the nodes of the step, all in one branch
    run: Callable[[Values, SampleIds, Pool], None]  # `StepRunner.run`, or a function that does the same
    last_uses: Sequence[DataNode] = ()  # values that no later step reads
    timer: PhaseTimer | None = None
    policy: ThreadPolicy | None = None  # decides if the step runs in the calling thread alone; None: never
    number: int = 0
    # Runs even for a branch without samples, so that its outputs have types and layouts.
    runs_empty: bool = False
    # Held while the step runs; a lock if the step works on one batch at a time.
    alone: contextlib.AbstractContextManager[object] = _FREE


@batch_modes()
def make(
    steps: Iterable[PreparedStep],
    env: Values,
    parts: dict[Domain, SampleIds],
    pool: Pool,
    *,
    turn: Callable[[int], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
) -> None:
    """Runs steps in their order, and drops each value after its last use.

    Args:
        env: values that the steps read; outputs are added.
        parts: samples of the whole batch and of the branches known so far; `make` adds the other branches.
        turn: takes the number of a step; returns a context manager to run the step in. Entering it may wait.

    Raises:
        NodeFailure: an operator failed; the attribute `step` lists the nodes of its step.
        RuntimeError: the pool was interrupted.
    """
    for step in steps:
        with turn(step.number), step.alone:
            pool.refuse_if_interrupted()
            try:
                _run(step, env, parts, pool)
            except NodeFailure as failure:
                failure.step = step.nodes
                raise
        env.drop(step.last_uses)


def part_of(domain: Domain, parts: dict[Domain, SampleIds], env: Values) -> SampleIds:
    """Adds the samples of a branch, selected by its predicate, to `parts`; raises NodeFailure if that is not a scalar."""
    if domain not in parts:
        assert domain.parent is not None
        assert domain.predicate is not None
        parent = part_of(domain.parent, parts, env)
        if not len(parent):  # without samples, no predicate was computed
            return parent
        try:
            parts[domain] = parent.select(positions(env[domain.predicate], domain.branch))
        except Exception as error:
            raise NodeFailure(domain.predicate.source, {None: error}, where=domain.where) from error
    return parts[domain]


def _run(step: PreparedStep, env: Values, parts: dict[Domain, SampleIds], pool: Pool) -> None:
    """Runs a step on the samples of its branch. If the branch has none, makes outputs without samples."""
    with pool.slabs:
        part = part_of(step.nodes[0].domain, parts, env)
        if not (step.runs_empty or len(part)):
            for node in step.nodes:
                env.update((value, TensorList.from_samples([], "", value.device)) for value in node.outputs)
        elif step.timer is None:
            step.run(env, part, pool)
        else:
            _run_timed(step, step.timer, env, part, pool)


def _run_timed(step: PreparedStep, timer: PhaseTimer, env: Values, part: SampleIds, pool: Pool) -> None:
    policy = step.policy
    is_brief = policy is not None and policy.is_brief
    with pool.turns if is_brief else contextlib.nullcontext():
        if is_brief:
            pool.refuse_if_interrupted()  # the pool may be interrupted during the wait for the lock
            pool = pool.here()
        with timer.lap() as lap:
            step.run(env, part, pool)
    env.note_bytes()
    if policy is not None:
        policy.note_batch(len(part), lap.cpu, lap.busy)


def user_error(
    failure: NodeFailure, env: Values, parts: Mapping[Domain, SampleIds], *, where: str | None = None
) -> OperatorError:
    """Returns the user's error for a failure; it names the sample by its position in the batch."""
    sample = failure.sample
    position = None if sample is None else int(parts[failure.node.domain].position[sample])
    return failure.user_error(position, env.made_of, where=where)


class PreparedPlan:
    """Joins a plan with its runners, for calls without a pipeline; the caller supplies the values of the sources."""

    def __init__(
        self, plan: ExecutionPlan, devices: Mapping[str, jax.Device], *, max_batch: int, budget: ProgramBudget,
        seed: int = 0, shares_rows: bool = True, takes_turns: bool = True, runs_empty: bool = False,
    ):  # fmt: skip
        """Makes the runners, and compiles nothing.

        Args:
            plan: the plan to run, except the steps of sources.
            shares_rows: see `runner_of`.
            takes_turns: if True, calls from several threads wait for each other.
            runs_empty: if True, steps run even without samples.
        """
        steps = zip(plan.steps, plan.last_uses, strict=True)
        used = [(step, last_uses) for step, last_uses in steps if not step.nodes[0].is_source]
        self._runners = [
            runner_of(
                step, seed=seed, device=devices[step.device], max_batch=max_batch, budget=budget,
                shares_rows=shares_rows,
            )
            for step, _ in used
        ]  # fmt: skip
        self._steps = [
            PreparedStep(step.nodes, runner.run, last_uses, runs_empty=runs_empty)
            for (step, last_uses), runner in zip(used, self._runners, strict=True)
        ]
        self._turn = threading.Lock() if takes_turns else contextlib.nullcontext()
        self._seed: tuple[int, int | None] = seed, None

    def make(
        self, env: Values, parts: dict[Domain, SampleIds], pool: Pool, *, seed: int | None = None,
        stream: int | None = None,
    ) -> None:  # fmt: skip
        """Runs all steps on a batch; raises NodeFailure if an operator fails, see `user_error`.

        For `seed` and `stream`, see `StepRunner.set_seed`; None keeps the seed.
        """
        with self._turn:
            if seed is not None and (seed, stream) != self._seed:
                for runner in self._runners:
                    runner.set_seed(seed, stream)
                self._seed = seed, stream
            make(self._steps, env, parts, pool)


@dataclasses.dataclass(frozen=True)
class Result:
    """Holds a finished batch."""

    outputs: tuple[TensorList, ...]
    ids: SampleIds
    mask: np.ndarray  # bool [N], False where a stand-in replaced a failed sample
    padded: np.ndarray  # bool [N], True where the reader repeated a sample to fill up the epoch
    state: dict[str, Any]  # of the sources after this batch
    skipped: tuple[SkippedSample, ...]  # the samples that failed
    nbytes: int
    most_bytes: int  # maximum bytes of all values that existed at the same time while the batch was made
    nothing: OperatorError | None = None  # why there are no outputs: all samples failed and have no stand-ins
    share: EpochShare | None = None
    finished: object = None  # result of `Follower.finish`, if an iterator follows the pipeline

    def wait(self) -> None:
        """Waits until the arrays are computed. Errors are raised where an array is read, not here."""
        for output in self.outputs:
            for block in output.store.blocks:
                if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
                    with contextlib.suppress(Exception):
                        block.array.block_until_ready()


@dataclasses.dataclass
class Iteration:
    """Holds one attempt at a batch: its task, the samples of each branch, and the values computed so far."""

    task: BatchTask
    parts: dict[Domain, SampleIds]
    env: Values

    @classmethod
    def of(cls, task: BatchTask, sources: Mapping[Node, Any]) -> Iteration:
        """Starts an attempt, before anything is computed."""
        env = Values()
        env.task = task
        for node, source in sources.items():
            if node.name in task.data:
                env.drawn[node] = external(len(task), node.name)
            elif node.name in task.refs:
                drawn = Drawn(source.source, task.refs[node.name].indices, node.name)
                env.drawn[node] = Provenance.of(drawn)
        return cls(task, {WHOLE_BATCH: task.ids}, env)

    def user_error(self, failure: NodeFailure) -> OperatorError:
        position = None if failure.sample is None else next(iter(self.blamed(failure)))
        return failure.user_error(position, self.env.made_of)

    def failed(self, failure: NodeFailure) -> AttemptFailure:
        blamed = self.blamed(failure) if failure.is_of_samples else {}
        user_error = functools.partial(self.user_error, failure)
        return AttemptFailure(failure.node.op.name, failure.first, user_error, blamed, failure.node.name)

    def blamed(self, failure: NodeFailure) -> dict[int, Blamed]:
        node = failure.node
        return blame(failure, self.parts.get(node.domain, self.task.ids), self.env.made_of(node))
