"""Plans a call of a function: runs the `setup` of all operators on the host, as for a stage."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import BatchSpec, PaddedBlock, Store
from jdali._errors import OperatorError, TracedArgumentError
from jdali._numerics.flat_program import FlatProgram, StepValue
from jdali._numerics.rounding import x64_context
from jdali._operators.call import PlannedCall
from jdali._system.devices import host_device, to_host
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.function.draw import Draw
from jdali.engine.function.part import Part
from jdali.engine.function.running import FunctionForm, compiled, computation, operand_specs
from jdali.engine.shapes.cost import values_of
from jdali.engine.shapes.stage_shapes import StageShapes
from jdali.engine.steps.plan_cache import Dependencies
from jdali.engine.steps.program import PlannedStage, ProgramForm, random_nodes, split_shapes
from jdali.engine.steps.stage_calls import StageCalls
from jdali.engine.steps.values import Values, input_values
from jdali.graph import WHOLE_BATCH, DataNode, Node, is_choice
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class FunctionInputs:
    """Inputs of a call of a function: arrays [N, ...], perhaps traced, with true sizes, types and layouts."""

    arrays: Sequence[Any]
    specs: Sequence[BatchSpec]

    @property
    def count(self) -> int:
        return self.specs[0].batch_size


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["packed", "apart", "given"], meta_fields=["form", "shapes"]
)
@dataclasses.dataclass(frozen=True)
class FunctionPlan:
    """Holds all that a call computes on the host, from the sizes of samples and from values that decide sizes.

    It is a pytree: compiled functions take it as an argument, and `jax.vmap` maps it over samples.

    Attributes:
        given: inputs [N, ...] of the stage that are not values of the start.
        shapes: for each value of the start, the shape of one sample in the array that the plan is for.
    """

    packed: Any
    apart: list[Any]
    given: list[Any]
    form: FunctionForm
    shapes: tuple[tuple[int, ...], ...] = ()

    def __repr__(self) -> str:
        return f"<jdali plan of {len(self.packed)} samples>"


class Planner:
    """Plans the calls of a part of a graph."""

    def __init__(self, part: Part):
        self.part, self.stage = part, part.stage()
        # One program must serve all sizes, because functions do not remember earlier batches, and exports get sizes not seen
        # before.
        self._calls = StageCalls(self.stage, 0, remembers=False)
        self._dependencies = Dependencies(self.stage)
        self._shapes = StageShapes(self.stage, host_device().platform, self._calls.arguments, most=None)
        self._makers: dict[DataNode, Planner] = {}
        self.programs = functools.lru_cache(maxsize=64)(functools.partial(compiled, self.stage))
        self.reads = functools.lru_cache(maxsize=64)(self._reads)

    def plan(
        self, inputs: FunctionInputs, draw: Draw, *, ragged: bool = False, pads: bool = True
    ) -> FunctionPlan:
        """Plans a call.

        Args:
            ragged: if True, the program does not depend on the sizes of samples, even if all sizes are equal.
            pads: if True, pads ragged samples to one of few shapes; if False, to the largest sample.
        """
        env = _HostValues(self, inputs, draw)
        specs = dict(zip(self.part.start, inputs.specs, strict=True))
        others = self.stage.inputs[len(self.part.start) :]
        try:
            given = dict(self._dependencies.given(env))
            for value in others:
                # Name the first operator that takes the value; if there is none, the operator that makes it.
                users = (node for node in self.stage.nodes if value in set(node.data_inputs))
                with failing_as([next(users, value.source)]):
                    specs[value] = env[value].spec
            specs |= {value: batch.spec for value, batch in env.items() if value not in specs}
            calls = self._plan_calls(specs, env, given, draw)
        except NodeFailure as failure:
            if isinstance(failure.first, OperatorError):  # raised by planning a value that an operator needs
                raise failure.first from failure.first.__cause__
            raise _refusal(failure) from failure.first
        stage = PlannedStage.of(calls, [specs[v] for v in self.stage.inputs])
        arrays = [to_host(env[value].padded()[0]) for value in others]
        return self._planned(stage, arrays, ragged=ragged, pads=pads)

    def _plan_calls(
        self,
        specs: dict[DataNode, BatchSpec],
        env: _HostValues,
        given: dict[tuple[Node, str], Any],
        draw: Draw,
    ) -> list[PlannedCall]:
        """Plans the operators. If the branches of a conditional differ in size, the value that selects a branch must be known."""
        while True:
            try:
                return self._calls.plan(specs, env, env.count, given, draw.keys)
            except NodeFailure as failure:
                node, asking = failure.node, failure.first
                selector = node, "selector"
                if not isinstance(asking, TracedArgumentError) or not is_choice(node) or selector in given:
                    raise
                with failing_as([node]):
                    try:
                        given[selector] = input_values(env[node.data_inputs[0]], node.op, "selector")
                    except TracedArgumentError as error:
                        raise TracedArgumentError(f"{asking}: {error}") from error

    def _planned(self, stage: PlannedStage, given: list[Any], *, ragged: bool, pads: bool) -> FunctionPlan:
        values = stage.values
        numbers = {v: i for i, v in enumerate(values_of(self.stage))}
        outputs = tuple(numbers[v] for v in self.stage.outputs)
        returned = [values[number] for number in outputs]
        form = FunctionForm(
            ProgramForm.of(stage, self._padded(stage, ragged=ragged, pads=pads)),
            tuple(spec.dtype for spec in values), len(self.stage.inputs), outputs,
            tuple(_largest(spec) if spec.is_uniform and not ragged else None for spec in returned),
            tuple(spec.layout for spec in returned), ragged,
        )  # fmt: skip
        packed, apart = stage.packing.pack(stage.arrays, len(stage.arrays[0]) if stage.arrays else 0)
        return FunctionPlan(packed, apart, given, form)

    def _padded(self, stage: PlannedStage, *, ragged: bool, pads: bool) -> tuple[tuple[int, ...], ...]:
        """Pads the shapes of the values as a stage does, so that few programs are compiled; dense arrays keep their sizes."""
        specs = stage.values
        if not pads or (not ragged and all(spec.is_uniform for spec in specs)):
            return tuple(map(_largest, specs))
        groups = self._shapes.group(specs, [None] * len(specs), together=True)
        return split_shapes(groups[0].shape, stage)

    @functools.cached_property
    def draws_on_host(self) -> bool:
        """True if plans depend on random values, because a `setup` uses them, for example to decide sizes."""
        if any(node.op.random and node.op.setup_sees("keys") for node in self.stage.nodes):
            return True
        outside = {*self.part.start, *self.part.fixed}
        choices = [node.data_inputs[0] for node in self.stage.nodes if is_choice(node)]
        makers = [self.maker(v) for v in (*self.part.known, *choices) if v not in outside]
        return any(random_nodes(maker.stage) or maker.draws_on_host for maker in makers)

    def maker(self, value: DataNode) -> Planner:
        """Returns the planner of the operators that make one value."""
        if value not in self._makers:
            self._makers[value] = Planner(self.part.making(value))
        return self._makers[value]

    def run(self, plan: FunctionPlan, inputs: FunctionInputs, draw: Draw, platform: str) -> Any:
        """Runs a plan immediately, as a separate program; returns the outputs and their sizes."""
        program = self.programs(plan.form, platform)
        arrays = [*inputs.arrays, *plan.given]
        return program(arrays, plan.packed, plan.apart, draw.identity(), draw.seeds(random_nodes(self.stage)))

    def _reads(self, form: FunctionForm) -> list[bool]:
        """Returns a flag for each value of the start: True if the program reads its elements, not only its sizes."""
        with x64_context(True):
            closed = jax.make_jaxpr(computation(self.stage, form, "cpu"))(*operand_specs(self.stage, form, 1))
        flat = FlatProgram(closed, "cpu")
        read = {o.number for o in flat.results if isinstance(o, StepValue)}
        for level in flat.levels:
            for step in (*level.others, *level.draws):
                read |= {o.number for o in step.operands if isinstance(o, StepValue)}
        return [number in read for number in range(len(self.part.start))]


class _HostValues(Values):
    """Holds the values of a call that the host needs; each is computed on first use."""

    def __init__(self, planner: Planner, inputs: FunctionInputs, draw: Draw):
        super().__init__()
        self._planner, self._inputs, self._draw = planner, inputs, draw
        self._start = {v: i for i, v in enumerate(planner.part.start)}
        self.count = inputs.count

    def __missing__(self, value: DataNode) -> TensorList:
        found = self[value] = self._find(value)
        return found

    def _find(self, value: DataNode) -> TensorList:
        fixed = self._planner.part.fixed
        if value in fixed:
            return TensorList.from_dense(np.broadcast_to(fixed[value], (self.count, *fixed[value].shape)))
        if value in self._start:
            number = self._start[value]
            array = self._inputs.arrays[number]
            if not is_known(array):
                raise TracedArgumentError(f"the values of {value.name!r} are not known")
            return _batch(to_host(array), self._inputs.specs[number])
        return self._make(self._planner.maker(value), value)

    def _make(self, maker: Planner, value: DataNode) -> TensorList:
        draw, inputs = self._draw, self._inputs
        if not draw.is_known and random_nodes(maker.stage):
            names = ", ".join(repr(node.name) for node in random_nodes(maker.stage))
            raise TracedArgumentError(
                f"the random values of {names} are not known, because the key or index is traced"
            )
        # With `ragged`, a program does not depend on the sizes, so few programs are compiled.
        plan = maker.plan(inputs, draw, ragged=True)
        shapes = plan.form.program.shapes
        arrays = []
        for start, array, shape, read in zip(
            maker.part.start, inputs.arrays, shapes, maker.reads(plan.form), strict=False
        ):
            if read and not is_known(array):
                raise TracedArgumentError(
                    f"{value.name!r} is computed from {start.name!r}, whose values are not known"
                )
            unread = np.broadcast_to(np.zeros((), array.dtype), (self.count, *shape))
            arrays.append(_fitted(to_host(array), shape) if read else unread)
        inputs = FunctionInputs(arrays, inputs.specs)
        with jax.default_device(host_device()), jax.ensure_compile_time_eval():
            (array,), (sizes,) = maker.run(plan, inputs, draw, "cpu")
        return _batch(to_host(array), BatchSpec(to_host(sizes), array.dtype, plan.form.layouts[0]))


def _fitted(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Cuts and pads an array [N, ...] to samples of a shape."""
    if array.shape[1:] == shape:
        return array
    result = np.zeros((len(array), *shape), array.dtype)
    window = (slice(None), *(slice(0, n) for n in map(min, array.shape[1:], shape)))
    result[window] = array[window]
    return result


def is_known(array: object) -> bool:
    """Returns True if an array has values, and is neither traced nor just a shape."""
    return not isinstance(array, (jax.core.Tracer, jax.ShapeDtypeStruct))


def _batch(array: np.ndarray, spec: BatchSpec) -> TensorList:
    return TensorList.from_store(Store.of_block(PaddedBlock(array), spec))


def _largest(spec: BatchSpec) -> tuple[int, ...]:
    return tuple(spec.extents.max(axis=0, initial=0).tolist())


def _refusal(failure: NodeFailure) -> Exception:
    """Returns the user's error for an operator that cannot be planned."""
    node, error = failure.node, failure.first
    if isinstance(error, TracedArgumentError):
        return TracedArgumentError(
            f"{node.op.shown_name} {node.name!r} ({node.where}) decides sizes on the host: {error}. Plan the call "
            "outside of jit, vmap or grad, plan = f.plan(...), and give it as an argument, f(..., plan=plan); or close "
            "over values that are known"
        )
    refused = failure.user_error(failure.sample)
    if node.domain is not WHOLE_BATCH:
        refused.add_note(
            f"{node.name!r} is in a branch of the conditional at {node.domain.where}: a function computes every branch for "
            "all samples, so operators in it must take them all"
        )
    return refused
