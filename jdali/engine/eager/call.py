"""Runs one operator, or a traced function of operators, immediately and without a pipeline, for dynamic mode.

A call of an operator is a plan with one step, and uses the same runners as a pipeline. Plans are cached by `RunnerKey`.
Per-sample arguments are values of the batch and never compiled in, so a call with new values compiles nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jdali._batches import Drawn, PaddedBlock, Provenance, Store, gather
from jdali._operators.record import Operator
from jdali._system.devices import host_device
from jdali.engine.cursor import open_reader
from jdali.engine.eager.traced import ObjectCache, TracedFunction
from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedPlan, user_error
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.reader_op import policy_of, read
from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool
from jdali.graph import WHOLE_BATCH, Domain, ExecutionPlan, Graph, HostStep, Stage, is_compiled, make_plan
from jdali.tensors import TensorList

KEPT_RUNNERS, KEPT_GRAPHS = 1024, 256  # maximum numbers; the least recently used is dropped first
_MASK32, _MASK64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF

BUDGET = ProgramBudget()


def compiled_programs() -> int:
    """Counts the programs that all calls together have compiled so far."""
    return BUDGET.count


class Placement(NamedTuple):
    """Names the device of an operator, by DALI's name ("cpu", "gpu" or "mixed") and as JAX's device."""

    name: str
    device: jax.Device


class RunnerKey(NamedTuple):
    """Identifies a runner by everything except the values, sizes and types of the data."""

    op: Operator
    placement: Placement
    inputs: tuple[tuple[str, int], ...]  # layout and number of axes of each input
    per_sample: tuple[str, ...]  # names of the per-sample arguments given
    static: tuple[tuple[str, Any], ...]
    room: int  # rows of the program, at least the batch size; see `room_for`


class RandomDraw(NamedTuple):
    """Identifies the random numbers of a call by a seed and the number of earlier calls that used this seed."""

    seed: int
    number: int


class _Runner:
    """Holds the plan of one operator. Calls from several threads take turns if the runner has a state."""

    def __init__(self, key: RunnerKey):
        graph = Graph()
        device = "cpu" if key.placement.name == "cpu" else "gpu"
        self.inputs = [graph.add_batch(None, device) for _ in key.inputs]
        self.arguments = {name: graph.add_batch(None, device) for name in key.per_sample}
        self.node = graph.add(
            key.op, self.inputs, dict(key.static) | self.arguments, device=key.placement.name, where="a call"
        )
        is_stage = is_compiled(self.node)
        step = (
            Stage(0, 0, device, WHOLE_BATCH, (self.node,), tuple(self.inputs), self.node.outputs)
            if is_stage
            else HostStep(self.node, 0)
        )
        self._random = key.op.random
        # A host operator that draws nothing has no state, so its calls need not take turns.
        self._plan = PreparedPlan(
            ExecutionPlan((step,), self.node.outputs, (), ((),)), {device: key.placement.device},
            max_batch=key.room, budget=BUDGET, takes_turns=is_stage or key.op.random, runs_empty=True,
            shares_rows=key.room > 1,  # for one sample, unused rows would only make the call slower
        )  # fmt: skip

    def run(self, env: Values, ids: SampleIds, draw: RandomDraw, pool: Pool) -> None:
        parts = {WHOLE_BATCH: ids}
        try:
            seed, stream = (draw.seed, draw.number >> 32) if self._random else (None, None)
            self._plan.make(env, parts, pool, seed=seed, stream=stream)
        except NodeFailure as failure:
            raise user_error(failure, env, parts, where="") from failure.first


_kept_runner = ObjectCache(_Runner, KEPT_RUNNERS)


def run_operator(
    op: Operator,
    inputs: Sequence[TensorList],
    per_sample: Mapping[str, TensorList | np.ndarray],
    static: Mapping[str, object],
    *,
    batch_size: int,
    placement: Placement,
    draw: RandomDraw,
    pool: Pool,
    constants: Mapping[str, object],
) -> tuple[TensorList, ...]:
    """Runs an operator on a batch. A compiled operator may still be computing when this returns.

    Args:
        per_sample: per-sample arguments by name: batches, or arrays [N, ...].
        draw: identifies the random numbers of a random operator. The numbers of sample i do not depend on the batch size.
        constants: inputs that are one array for all samples, by name; `setup` may read them.
    """
    if placement.name == "cpu":
        inputs = [value.to_device("cpu") for value in inputs]
    kinds = tuple([(v.spec.layout, v.spec.ndim) for v in inputs])
    static_args = tuple(sorted(static.items())) if static else ()
    key = RunnerKey(op, placement, kinds, tuple(sorted(per_sample)), static_args, room_for(batch_size))
    runner = _kept_runner(key)
    env = Values(zip(runner.inputs, inputs, strict=True))
    for name, value in per_sample.items():
        if isinstance(value, TensorList):
            env[runner.arguments[name]] = value
        elif is_compiled(runner.node):
            env.arrays[runner.arguments[name]] = value
        else:
            env[runner.arguments[name]] = TensorList.from_dense(value)
    env.constants |= constants
    ids = call_ids(batch_size, draw.number) if op.random else _no_ids(batch_size)
    runner.run(env, ids, draw, pool)
    return tuple(env[value] for value in runner.node.outputs)


def call_ids(count: int, number: int) -> SampleIds:
    """Returns the sample identities of call `number`; the index of a sample is its position in the batch."""
    return SampleIds(np.full(count, number & _MASK32, np.uint32), np.arange(count), np.arange(count))


# For operators that draw nothing: 2 of the 20 us of a small call.
_no_ids = functools.lru_cache(maxsize=64)(functools.partial(call_ids, number=0))


@functools.lru_cache(maxsize=1024)
def room_for(batch_size: int) -> int:
    """Rounds a batch size up to 1, 2, 3, 4, 6, 8, 12, 16, 24, ..., so that few programs serve all sizes.

    Less than a third of a program's rows is unused.
    """
    power = 1
    while power < batch_size:
        if power * 3 // 2 >= batch_size and power > 1:
            return power * 3 // 2
        power *= 2
    return power


class InputKind(NamedTuple):
    """Identifies an input by its device ("cpu" or "gpu"), layout and number of axes."""

    device: str
    layout: str
    ndim: int


class GraphKey(NamedTuple):
    """Identifies a graph by everything except the samples."""

    define: Callable[..., Any]
    inputs: tuple[InputKind, ...]
    room: int  # rows of a program
    accelerator: jax.Device


class EagerGraph:
    """Holds a function traced as a graph, with its plan. Calls from several threads take turns."""

    def __init__(self, key: GraphKey):
        self._function = TracedFunction(key.define, [kind.device for kind in key.inputs])
        devices = {"cpu": host_device(), "gpu": key.accelerator}
        plan = make_plan(
            self._function.graph.nodes, self._function.outputs, one_device=devices["cpu"] == devices["gpu"]
        )
        self._plan = PreparedPlan(plan, devices, max_batch=key.room, budget=BUDGET, shares_rows=key.room > 1)

    def run(self, batches: Sequence[TensorList], count: int, draw: RandomDraw, pool: Pool) -> Any:
        """Returns the function's result, with a `TensorList` for each node. Devices may still be computing."""
        ids = call_ids(count, draw.number)
        env = Values(zip(self._function.inputs, batches, strict=True))
        parts: dict[Domain, SampleIds] = {WHOLE_BATCH: ids}
        # A sample's identity has room for the lower 32 bits of `draw.number`, so the upper bits go into the seed.
        seed = (draw.seed + (draw.number >> 32)) & _MASK64
        try:
            self._plan.make(env, parts, pool, seed=seed)
        except NodeFailure as failure:
            raise user_error(failure, env, parts) from failure.first
        return self._function.result([env[value] for value in self._function.outputs])


graph_of = ObjectCache(EagerGraph, KEPT_GRAPHS)


class EagerReader:
    """Reads samples on request, without a pipeline."""

    def __init__(self, op: Operator, args: Mapping[str, Any], *, seed: int):
        graph = Graph()
        self.node = graph.add(op, (), args, device="cpu", where="a call")
        self._reader = open_reader(self.node, seed, where="")
        self._policy = policy_of(self._reader)

    def meta(self) -> dict[str, int]:
        return self._reader.meta()

    def get_state(self) -> dict[str, Any]:
        return self._reader.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        self._reader.set_state(state)

    def next(self, count: int, pool: Pool) -> tuple[TensorList, ...]:
        """Reads the next `count` samples, one batch for each output."""
        refs = self._reader.take(count)
        sources = Provenance.of(Drawn(self._reader.source, refs.indices))
        try:
            with pool.slabs:
                columns = read(self.node, self._reader, refs.wanted, pool, self._policy)
        except NodeFailure as failure:
            raise failure.user_error(failure.sample, lambda node: sources, where="") from failure.first
        return tuple(TensorList.from_store(column, "cpu", sources) for column in columns)


def move(batch: TensorList, device: jax.Device, pool: Pool) -> TensorList:
    """Transfers a batch to an accelerator now, rather than at its first use; copies on the host use memory of the pool."""
    store = batch.store
    with pool.slabs:
        placed = gather(store, None, store.padded_shape(), device)
    return TensorList.from_store(Store.of_block(PaddedBlock(placed), batch.spec), "gpu", batch.provenance)


def wait(batch: TensorList) -> None:
    """Waits until the values of a batch are computed."""
    for block in batch.store.blocks:
        if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
            block.array.block_until_ready()
