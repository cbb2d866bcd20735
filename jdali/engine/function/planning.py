"""Planning a call of a function: `setup` of all of its operators, on the host, in numbers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import BatchSpec
from jdali._errors import OperatorError, SampleError, TracedArgumentError
from jdali._numerics.exact import MINUS_ZERO
from jdali._numerics.flat_program import FlatProgram, StepValue
from jdali._numerics.rounding import needs_x64, x64_context
from jdali._operators import argument_rules
from jdali._operators.call import PlannedCall, plan_call
from jdali._system.devices import host_device, to_host
from jdali.engine.function.draw import Draw
from jdali.engine.function.part import Part
from jdali.engine.function.running import FunctionForm, compiled, computation
from jdali.engine.shapes.cost import values_of
from jdali.engine.shapes.stage_shapes import StageShapes
from jdali.engine.steps.packing import Packing
from jdali.engine.steps.program import PlannedStage, ProgramForm, random_nodes, split_shapes
from jdali.engine.steps.stage_calls import prepared_args
from jdali.engine.steps.values import argument_values, input_values
from jdali.graph import WHOLE_BATCH, DataNode, Node, is_choice, request_of
from jdali.tensors import RowSlice, TensorList


@dataclasses.dataclass(frozen=True)
class FunctionInputs:
    """Inputs of a call of a function.

    Attributes:
        arrays: of each value of the start [N, ...], perhaps traced.
        specs: true sizes, types and layouts of them.
    """

    arrays: Sequence[Any]
    specs: Sequence[BatchSpec]

    @property
    def count(self) -> int:
        """Number of samples."""
        return self.specs[0].batch_size


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["packed", "apart", "given"], meta_fields=["form", "shapes"]
)
@dataclasses.dataclass(frozen=True)
class FunctionPlan:
    """All that a call computes on the host, of the sizes of the samples and of the values that decide sizes.

    It is a pytree, so a compiled function takes it as an argument. It can be mapped over samples by `jax.vmap`.

    Attributes:
        packed, apart: sizes, and values by sample, [N, ...].
        given: values that come in besides the start, [N, ...].
        form: key of the program.
        shapes: of the arrays that it was made for, of one sample.
    """

    packed: Any
    apart: list[Any]
    given: list[Any]
    form: FunctionForm
    shapes: tuple[tuple[int, ...], ...] = ()

    def __repr__(self) -> str:
        return f"<jdali plan of {len(self.packed)} samples>"


class Planner:
    """Plans the calls of a part of a graph.

    Attributes:
        part: of the graph.
        stage: the same as one stage.
    """

    def __init__(self, part: Part):
        self.part, self.stage = part, part.stage()
        self._args = {node: prepared_args(node) for node in self.stage.nodes}
        self._shapes = StageShapes(self.stage, host_device().platform, self._args, most=None)
        self._makers: dict[DataNode, Planner] = {}
        self.programs = functools.lru_cache(maxsize=64)(functools.partial(compiled, self.stage))
        self.reads = functools.lru_cache(maxsize=64)(self._reads)

    def plan(self, inputs: FunctionInputs, draw: Draw, *, ragged: bool = False) -> FunctionPlan:
        """Plans a call.

        Args:
            inputs: of the call.
            draw: of random values.
            ragged: sizes of samples are no part of the program's key, though they may be equal.

        Raises:
            TracedArgumentError: a `setup` needs values that are traced.
            OperatorError: an operator refuses its inputs.
        """
        calls, specs, given = self._calls(inputs, draw)
        values = values_of(self.stage)
        shapes = self._padded([specs[v] for v in values], ragged=ragged)
        return self._planned(calls, specs, given, shapes, ragged=ragged)

    def plan_in_true_shapes(self, inputs: FunctionInputs, draw: Draw) -> FunctionPlan:
        """As `plan` of samples whose sizes may differ, but without padding."""
        calls, specs, given = self._calls(inputs, draw)
        shapes = tuple(_largest(specs[v]) for v in values_of(self.stage))
        return self._planned(calls, specs, given, shapes, ragged=True)

    def _planned(
        self, calls: Sequence[PlannedCall], specs: Mapping[DataNode, BatchSpec], given: list[object],
        shapes: tuple[tuple[int, ...], ...], *, ragged: bool,
    ) -> FunctionPlan:  # fmt: skip
        values = values_of(self.stage)
        arrays = [specs[v].extents.astype(np.int32) for v in values]
        arrays += [np.asarray(call.traced[name]) for call in calls for name in sorted(call.traced)]
        x64 = any(needs_x64(specs[v].dtype) for v in values) or any(a.dtype.itemsize > 4 for a in arrays)
        stage = PlannedStage(
            tuple(calls), [], tuple(specs[v] for v in self.stage.inputs), arrays, Packing(arrays), x64
        )
        numbers = {id(v): i for i, v in enumerate(values)}
        outputs = tuple(numbers[id(v)] for v in self.stage.outputs)
        sizes = tuple(
            _largest(specs[v]) if specs[v].is_uniform and not ragged else None for v in self.stage.outputs
        )
        layouts = tuple(specs[v].layout for v in self.stage.outputs)
        dtypes = tuple(specs[v].dtype for v in values)
        packed, apart = stage.packing.pack(arrays, len(arrays[0]) if arrays else 0)
        return FunctionPlan(
            packed,
            apart,
            given,
            FunctionForm(
                ProgramForm.of(stage, shapes), dtypes, len(self.stage.inputs), outputs, sizes, layouts, ragged
            ),
        )

    def _calls(
        self, inputs: FunctionInputs, draw: Draw
    ) -> tuple[list[PlannedCall], dict[DataNode, BatchSpec], list[Any]]:
        """Plans the operators; returns the specs of all values, and the arrays that come in besides the start."""
        specs = dict(zip(self.part.start, inputs.specs, strict=True))
        batches = _HostValues(self, inputs, draw)
        calls = []
        for node in self.stage.nodes:
            with _Naming(node, self.part):
                call = self._plan_node(node, specs, batches, draw)
            calls.append(call)
            specs.update(zip(node.outputs, call.outputs, strict=True))
        given = []
        for value in self.stage.inputs[len(self.part.start) :]:
            batch = batches[value]
            specs[value] = batch.spec
            given.append(to_host(batch.padded()[0]))
        return calls, specs, given

    def _plan_node(
        self, node: Node, specs: dict[DataNode, BatchSpec], batches: _HostValues, draw: Draw
    ) -> PlannedCall:
        op, values = node.op, {}
        needed = {id(v) for v in node.needs_values()}
        for name, value in node.arg_inputs.items():
            if id(value) in needed or batches.has(value):
                values[name] = argument_values(batches[value], op, name)
                specs[value] = batches[value].spec
            else:
                argument_rules.check_dtype(op.name, op.args[name], specs[value].dtype)
        for i, given in enumerate(node.inputs):
            if not isinstance(given, DataNode):
                continue
            if id(given) in needed:
                values[op.input(i).name] = input_values(batches[given], op, op.input(i).name)
            if given not in specs:
                specs[given] = batches[given].spec
        make_request = functools.partial(
            request_of, node, batches.count, args=self._args[node], specs=specs,
            keys=draw.keys(node) if op.random else None,  # type: ignore[arg-type]  # `Traced` refuses in its place
        )  # fmt: skip
        try:
            planned = plan_call(make_request(values=values))
        except TracedArgumentError as asking:
            # The branches of a conditional differ in size: only then must it be known which one a sample takes.
            if not is_choice(node):
                raise
            try:
                values["selector"] = input_values(batches[node.data_inputs[0]], op, "selector")
            except TracedArgumentError as error:
                raise TracedArgumentError(f"{asking}: {error}") from error
            planned = plan_call(make_request(values=values))
        # Of one program for all batches: a function has no memory of those before, and an export serves sizes unseen.
        return planned.raised({name: value.most for name, value in planned.rising.items()})

    def _padded(self, specs: Sequence[BatchSpec], *, ragged: bool) -> tuple[tuple[int, ...], ...]:
        """Padded shapes of the values: those of the engine, so that few programs serve; of dense arrays true sizes."""
        if not ragged and all(spec.is_uniform for spec in specs):
            return tuple(_largest(spec) for spec in specs)
        groups = self._shapes.group(specs, [None] * len(specs), together=True)
        found = split_shapes(groups[0].shape, PlannedStage((), [], tuple(specs), [], Packing([]), False))
        return tuple(found)

    @functools.cached_property
    def draws_on_host(self) -> bool:
        """True if plans depend on random values, which then decide sizes, or what `setup` of an operator works out."""
        if any(node.op.random and node.op.setup_sees("keys") for node in self.stage.nodes):
            return True
        outside = {id(v) for v in (*self.part.start, *self.part.fixed)}
        choices = [node.data_inputs[0] for node in self.stage.nodes if is_choice(node)]
        makers = [self.maker(v) for v in (*self.part.known, *choices) if id(v) not in outside]
        return any(random_nodes(maker.stage) or maker.draws_on_host for maker in makers)

    def maker(self, value: DataNode) -> Planner:
        """Returns what plans the making of one value."""
        if value not in self._makers:
            self._makers[value] = Planner(self.part.making(value))
        return self._makers[value]

    # --- running now -------------------------------------------------------------------------
    def run(self, plan: FunctionPlan, inputs: FunctionInputs, draw: Draw, platform: str) -> Any:
        """Runs a plan now, by a program of its own: (outputs, their sizes)."""
        program = self.programs(plan.form, platform)
        arrays = [*inputs.arrays, *plan.given]
        return program(arrays, plan.packed, plan.apart, draw.identity(), draw.seeds(random_nodes(self.stage)))

    def _reads(self, form: FunctionForm) -> list[bool]:
        """Tells for each value of the start whether the program reads its elements, or only sizes."""
        spec: Any = jax.ShapeDtypeStruct
        shapes = form.program.shapes[: form.inputs]
        arrays = [
            spec((1, *shape), dtype) for shape, dtype in zip(shapes, form.values[: form.inputs], strict=True)
        ]
        small = [spec((1, *shape), dtype) for dtype, shape in form.program.small]
        seeds = spec((len(random_nodes(self.stage)), 3), np.uint32)
        run = computation(self.stage, form, "cpu")
        with x64_context(True):
            closed = jax.make_jaxpr(run)(arrays, small, spec((3, 1), np.uint32), seeds, MINUS_ZERO)
        flat = FlatProgram(closed, "cpu")
        read = {o.number for o in flat.results if isinstance(o, StepValue)}
        for level in flat.levels():
            for step in (*level.others, *level.draws):
                read |= {o.number for o in step.operands if isinstance(o, StepValue)}
        return [number in read for number in range(len(self.part.start))]


class _HostValues:
    """Values of a call that are needed on the host."""

    def __init__(self, planner: Planner, inputs: FunctionInputs, draw: Draw):
        self._planner, self._inputs, self._draw = planner, inputs, draw
        self._found: dict[DataNode, TensorList] = {}
        self._start = {id(v): i for i, v in enumerate(planner.part.start)}
        self._known = {id(v) for v in planner.part.known}
        self.count = inputs.count

    def has(self, value: DataNode) -> bool:
        """True if the value is one that is known on the host in any case."""
        return id(value) in self._known or value in self._planner.part.fixed

    def __getitem__(self, value: DataNode) -> TensorList:
        if value not in self._found:
            self._found[value] = self._find(value)
        return self._found[value]

    def _find(self, value: DataNode) -> TensorList:
        fixed = self._planner.part.fixed
        if value in fixed:
            return TensorList.from_dense(np.broadcast_to(fixed[value], (self.count, *fixed[value].shape)))
        if id(value) in self._start:
            number = self._start[id(value)]
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
                f"the random values of {names} are not known, for the key or index is traced"
            )
        # In the engine's padded shapes: few programs serve all sizes.
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
            padded = np.zeros((), array.dtype)
            arrays.append(
                _fitted(to_host(array), shape) if read else np.broadcast_to(padded, (self.count, *shape))
            )
        inputs = FunctionInputs(arrays, inputs.specs)
        with jax.default_device(host_device()), jax.ensure_compile_time_eval():
            (array,), (sizes,) = maker.run(plan, inputs, draw, "cpu")
        return _batch(to_host(array), BatchSpec(to_host(sizes), array.dtype, plan.form.layouts[0]))


def _fitted(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array [N, ...] cut and filled up to samples of a shape."""
    if array.shape[1:] == shape:
        return array
    result = np.zeros((len(array), *shape), array.dtype)
    window = (slice(None), *(slice(0, n) for n in map(min, array.shape[1:], shape)))
    result[window] = array[window]
    return result


def is_known(array: object) -> bool:
    """True if an array has values: it is neither traced nor a shape only."""
    return not isinstance(array, (jax.core.Tracer, jax.ShapeDtypeStruct))


def _batch(array: np.ndarray, spec: BatchSpec) -> TensorList:
    whole = np.arange(len(array))
    return TensorList.from_parts([RowSlice(array, whole, whole)], spec)


def _largest(spec: BatchSpec) -> tuple[int, ...]:
    return tuple(spec.extents.max(axis=0, initial=0).tolist())


class _Naming:
    """Names the operator in what its planning raises."""

    def __init__(self, node: Node, part: Part):
        self._node, self._part = node, part

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception) or isinstance(error, OperatorError):
            return
        node = self._node
        if isinstance(error, TracedArgumentError):
            raise TracedArgumentError(
                f"{node.op.shown_name} {node.name!r} ({node.where}) decides sizes on the host: {error}. Plan the call "
                "outside of jit, vmap or grad, plan = f.plan(...), and give it as an argument, f(..., plan=plan); or close "
                "over values that are known"
            ) from error
        sample = error.sample if isinstance(error, SampleError) else None
        refused = OperatorError.of(error, node.op.shown_name, sample=sample, source="", where=node.where)
        if node.domain is not WHOLE_BATCH:
            refused.add_note(
                f"{node.name!r} is in a branch of the conditional at {node.domain.where}: a function computes every branch for "
                "all samples, so operators in it must take them all"
            )
        raise refused from error
