"""Runs a stage: runs `setup` on the host, groups the samples by padded shape, and runs one program for each shape."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import jax
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, PaddedBlock, Store, gather
from jdali._numerics.exact import MINUS_ZERO
from jdali._numerics.platform import platform_of
from jdali._numerics.rounding import x64_context
from jdali._system.devices import host_device
from jdali._threads import NATIVE, inner
from jdali.engine.failure import failing_as
from jdali.engine.shapes.buckets import Group
from jdali.engine.shapes.stage_shapes import MOST_SHAPES, StageShapes, held_shapes
from jdali.engine.steps.outline import StageOutline
from jdali.engine.steps.plan_cache import (
    ArgumentValues,
    Dependencies,
    Job,
    PlanCache,
    StagePlan,
    VaryingArgument,
)
from jdali.engine.steps.program import (
    FEW_SAMPLES,
    FEWEST_QUEUED,
    QUEUED_BYTES,
    SMALL_BYTES,
    PlannedStage,
    Program,
    ProgramBudget,
    ProgramForm,
    compiler_options,
    few_samples_a_call,
    padded_bytes,
    random_nodes,
    samples_a_call,
    split_shapes,
    stage_function,
)
from jdali.engine.steps.program_table import Compiled
from jdali.engine.steps.stage_calls import StageCalls
from jdali.engine.steps.values import StepRunner, Values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool
from jdali.graph import DataNode, Stage, compiled, is_compiled
from jdali.tensors import RowSlice, TensorList


class SeveralDevices(Protocol):
    """Runs a stage on several devices at once, see `sharded.Spread`."""

    def run(
        self, runner: StageRunner, planned: PlannedStage, env: Values, ids: SampleIds, pool: Pool
    ) -> Sequence[Array]: ...


def run_with_late(inputs: Sequence[DataNode], env: Values, run: Callable[[], None]) -> None:
    """Calls `run`, which runs a stage and makes its late inputs. If one fails, makes all its samples and runs again."""
    try:
        run()
        return
    except Exception:  # of any type: an error in a late sample looks like a failure of this stage
        failed = [value for value in inputs if value in env.late and env.late[value].failed]
        if not failed:
            raise
    for value in failed:
        env.late.pop(value).all()
    run()


class StageRunner(StepRunner):
    """Compiles and runs one stage; used by one thread at a time."""

    shown = "is compiled"

    def __init__(
        self, stage: Stage, *, seed: int, max_batch: int, device: jax.Device, budget: ProgramBudget,
        exact_shapes: bool = False, shares_rows: bool = True,
    ):  # fmt: skip
        self.stage = stage
        self._exact_shapes = exact_shapes
        self.programs: dict[Any, Program] = {}
        self._rows: dict[Any, int] = {}  # rows of a call in each padded shape
        self._max_batch = max_batch
        self._expected = math.ceil(stage.domain.share_of_batch * max_batch)  # samples in this branch
        self.device, self._platform = device, platform_of(device)
        self._are_few = shares_rows and max_batch <= FEW_SAMPLES and self._platform == "cpu"
        self._budget = budget
        self.calls = StageCalls(stage, seed)
        self._plans = PlanCache(max_batch)
        self._spread: SeveralDevices | None = None
        self._whole_batch = any(node.whole_batch for node in stage.nodes)
        self.mixes_samples = any(node.mixes_samples for node in stage.nodes)
        # If time depends on true sizes, an unused row of size 0 takes no time.
        free = self._platform == "cpu" and any(compiled(node).free_padding == "all" for node in stage.nodes)
        self._clears_rows = self.mixes_samples or free
        # A branch with few samples is worth fewer programs.
        most = math.ceil(MOST_SHAPES * stage.domain.share_of_batch)
        self.shapes = StageShapes(
            stage, self._platform, self.calls.arguments,
            most=None if exact_shapes else most, few=self._are_few and not exact_shapes,
        )  # fmt: skip
        self._dependencies = Dependencies(stage)
        self._random = bool(random_nodes(stage))
        self._inputs = [(v, is_compiled(v.source)) for v in stage.inputs]
        self._outline = StageOutline.of(stage)

    def set_seed(self, seed: int, stream: int | None = None) -> None:
        self.calls.set_seed(seed, stream)

    def spread_over(self, spread: SeveralDevices | None) -> None:
        """Lets the stage run on several devices; call it before the first run."""
        self._spread = spread
        self._plans.clear()

    @property
    def where(self) -> str:
        return str(self.device if self._spread is None else self._spread)

    def function(
        self, form: ProgramForm, rest: Hashable, platform: str, make: Callable[[Callable[..., Any]], Any]
    ) -> Compiled:
        """Returns the stage's compiled function for a form. `rest` must have everything else that `make` depends on."""
        outline = self._outline
        return self._budget.function(
            self.stage, form.shapes, (outline, form, platform, rest),
            lambda: make(stage_function(outline, form, platform)),
        )  # fmt: skip

    def _plan(self, env: Values, ids: SampleIds, given: ArgumentValues) -> StagePlan:
        held = [held_shapes(env[v]) if made else None for v, made in self._inputs]
        key = self._dependencies.key(env, len(ids), given)
        if key is not None and any(h is not None for h in held):
            key = (key, *(None if h is None else h.tobytes() for h in held))
        plan = None if key is None else self._plans.get((self.shapes.level, key))
        if plan is None or not self.shapes.count(plan.stage.groups):
            plan = self._new_plan(env, ids, given, held)
            if key is not None:
                self._plans.keep((self.shapes.level, key), plan)
        return plan

    def _new_plan(
        self, env: Values, ids: SampleIds, given: ArgumentValues, held: Sequence[np.ndarray | None]
    ) -> StagePlan:
        specs = self._dependencies.specs(env)
        keys = functools.partial(self.calls.keys, ids)
        calls = self.calls.plan(specs, env, len(ids), given, keys)
        stage = PlannedStage.of(calls, [specs[v] for v in self.stage.inputs])
        traced = [
            (node, name, name in planned.unseen)
            for node, planned in zip(self.stage.nodes, calls, strict=True)
            for name in sorted(planned.traced)
        ]
        varying = []
        for position, (node, name, unseen) in enumerate(traced, len(stage.arrays) - len(traced)):
            if unseen and (node, name) in given:
                array = stage.arrays[position]
                varying.append(VaryingArgument((node, name), position, array.dtype, array.shape))
        stage = dataclasses.replace(stage, groups=self._group(stage, held))
        return StagePlan(stage, tuple(varying), *stage.packing.pack(stage.arrays, len(ids)))

    def _group(self, planned: PlannedStage, held: Sequence[np.ndarray | None]) -> list[Group]:
        # Only samples of one shape are spread over devices, and channels are not padded.
        spread = self._spread is not None and all(_agree_in_channels(v) for v in planned.values)
        together = spread or self._whole_batch

        def rows(group: Group) -> int:
            return self._rows_a_call(planned, split_shapes(group.shape, planned), len(group.samples))

        fills = self._platform != "cpu" and not together
        return self.shapes.group(planned.values, held, together=together, rows=rows if fills else None)

    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        run_with_late(self.stage.inputs, env, lambda: self._run(env, ids, pool))

    def _run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        with inner("setup"):
            given = self._dependencies.given(env)
            plan = self._plan(env, ids, given)
            packed, apart = plan.pack(given)
        if self._spread is not None and len(ids) <= self._max_batch and len(plan.stage.groups) == 1:
            planned = plan.stage_with(given)
            arrays = self._spread.run(self, planned, env, ids, pool)
            self._collect(env, plan, [np.arange(len(ids))], [arrays])
            return
        if plan.jobs is None:
            plan.jobs = self._jobs(plan.stage, len(ids))
        for job in plan.jobs:
            job.program.count(len(job.samples), job.seconds, job.needed)

        jobs, x64 = plan.jobs, plan.stage.x64
        results: list[Any] = [None] * len(jobs)
        parallel, queued = len(jobs) > 1, self._queued_calls(jobs)

        def call(number: int) -> None:
            with NATIVE, failing_as(self.stage.nodes):
                results[number] = self._call(jobs[number], x64, env, ids, packed, apart)
                if parallel and number >= queued:
                    jax.block_until_ready(results[number - queued])

        if parallel:
            pool.run_all(call, range(len(jobs)))
        elif jobs:
            call(0)
        self._collect(env, plan, [job.samples for job in jobs], results)

    def _queued_calls(self, jobs: Sequence[Job]) -> int:
        """Returns how many calls of a batch may be queued in XLA; if 0, each thread waits for its own call.

        Even on a CPU, XLA computes calls in its own threads, which often wait for a free core. It is faster to queue
        calls than to wait for each. But queued calls take memory, so large calls are not queued.
        """
        if self._platform != "cpu":
            return len(jobs)
        most = QUEUED_BYTES // max([1, *(job.program.nbytes for job in jobs)])
        return most if most >= FEWEST_QUEUED else 0

    def _jobs(self, planned: PlannedStage, count: int) -> list[Job]:
        jobs = []
        for group in planned.groups:
            shapes = split_shapes(group.shape, planned)
            program = self._program(planned, shapes, len(group.samples))
            for start in range(0, len(group.samples), program.batch):
                samples = group.samples[start : start + program.batch]
                # Unused rows that are not cleared repeat a cheap sample, whose values are valid.
                rows = np.concatenate([samples, np.full(program.batch - len(samples), group.cheapest)])
                whole = len(rows) == count and bool((rows == np.arange(count)).all())
                share = len(samples) / len(group.samples)
                jobs.append(
                    Job(
                        program, samples, None if whole else rows, shapes, self._clears_rows,
                        share * group.seconds, share * group.needed,
                    )
                )  # fmt: skip
        return jobs

    def _collect(self, env: Values, plan: StagePlan, samples: Sequence[np.ndarray], results: Any) -> None:
        """Adds the outputs. `results[j]` has an array for each output, whose first rows are the samples `samples[j]`."""
        if plan.outputs is None:
            # Stores that locate the samples in the results, but do not reference the arrays.
            specs = {
                v: s for node, c in zip(self.stage.nodes, plan.stage.calls, strict=True)
                for v, s in zip(node.outputs, c.outputs, strict=True)
            }  # fmt: skip
            plan.outputs = []
            for o, value in enumerate(self.stage.outputs):
                parts = [
                    RowSlice(result[o], np.arange(len(mine)), mine)
                    for mine, result in zip(samples, results, strict=True)
                ]
                plan.outputs.append(Store.of_parts(parts, specs[value]).with_blocks(()))
        for o, (value, rows) in enumerate(zip(self.stage.outputs, plan.outputs, strict=True)):
            blocks = tuple([PaddedBlock(result[o]) for result in results])
            made_of = env.made_of(value.source)
            env[value] = TensorList.from_store(rows.with_blocks(blocks), value.device, made_of)

    def _call(
        self, job: Job, x64: bool, env: Values, ids: SampleIds, packed: np.ndarray, apart: list[np.ndarray]
    ) -> Any:
        program = job.program
        target = None if self.device == host_device() else self.device
        with inner("staging"):
            arrays = [
                gather(env[v].store, job.samples, shape, target, count=program.batch)
                for v, shape in zip(self.stage.inputs, job.shapes[: len(self.stage.inputs)], strict=True)
            ]
        identity = np.zeros((3, program.batch), np.uint32)  # of the samples, if an operator is random
        if self._random:
            identity = (ids if job.rows is None else ids.select(job.rows)).words()
        with x64_context(x64), jax.default_device(self.device):
            program.calls += 1
            taken = job.take(packed), [job.take(a) for a in apart]
            operands = (arrays, *taken, identity, self.calls.seed_array, MINUS_ZERO)
            if program.seconds:
                return program.function(*operands)
            return program.first_call(self.device, *operands)

    def _rows_a_call(self, planned: PlannedStage, shapes: tuple[tuple[int, ...], ...], samples: int) -> int:
        if self.mixes_samples:
            return max(self._max_batch, len(planned.arrays[0]))
        if self._exact_shapes:
            return 1
        if self._are_few:
            return few_samples_a_call(shapes, self.shapes.cost)
        key = shapes, tuple(v.dtype for v in planned.values)
        if key not in self._rows:
            self._rows[key] = samples_a_call(
                planned, shapes, self.shapes.cost, platform=self._platform, max_batch=self._expected, met=samples,
            )  # fmt: skip
        return self._rows[key]

    def _program(self, planned: PlannedStage, shapes: tuple[tuple[int, ...], ...], samples: int) -> Program:
        batch = self._rows_a_call(planned, shapes, samples)
        form, dtypes = ProgramForm.of(planned, shapes), tuple(s.dtype for s in planned.inputs)
        key = form, dtypes, batch
        program = self.programs.get(key)
        if program is None:
            nbytes = batch * padded_bytes(planned, shapes)
            small = nbytes <= SMALL_BYTES
            one_thread = small or (batch < self._max_batch and not self._are_few)
            operators = (node.op for node in self.stage.nodes)
            options = compiler_options(self._platform, operators, one_thread=one_thread)
            make = functools.partial(jax.jit, compiler_options=options)
            function = self.function(form, (dtypes, batch, one_thread), self._platform, make)
            program = self.programs[key] = Program(function, batch, shapes, nbytes=nbytes)
        return program


def _agree_in_channels(value: BatchSpec) -> bool:
    axes = [a for a, letter in enumerate(value.layout) if letter == "C"]
    return bool((value.extents[:, axes] == value.extents[:1, axes]).all())
