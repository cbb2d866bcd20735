"""Plans and runs one call of an operator; the only module that calls both `setup` and `run`.

`plan_call` runs on the host: it takes a `CallRequest`, fills in defaults, adapts layouts and runs `setup`. It returns a
`Call` (hashable, all that a compiled program depends on), the specs of the outputs, and the per-sample values to trace.
`run_call` is pure and runs inside a compiled program, on a batch of padded samples. The engine, dynamic mode and the pure
functions of `jdali.ops` (`_operators/pure.py`) use these two functions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, Rising
from jdali._errors import SampleError, check_samples
from jdali._numerics.random import SampleKeys
from jdali._operators import argument_rules, frames
from jdali._operators.argument_rules import Traced
from jdali._operators.layout import Adapter, RankError, make_adapter
from jdali._operators.record import ArgKind, CompiledOp, DeviceBatchOp, DeviceOp, Operator
from jdali._operators.scaled import Scaled

_LONGEST = 2**31 - 1  # sizes and positions are int32 in compiled programs


class Constant:
    """Wraps the value of a per-sample argument that never changes. The value is compiled into the program."""

    __slots__ = ("_key", "value")

    def __init__(self, value: object):
        self.value = np.asarray(value)
        self._key = (self.value.tobytes(), self.value.shape, self.value.dtype.str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Constant({self.value.tolist()})"


class Converted(NamedTuple):
    """Wraps the value of a static argument that is already converted, so that further plans do not convert it again."""

    value: Any


@dataclasses.dataclass(frozen=True)
class Call:
    """Everything that the compiled program of one operator call depends on, except for padded shapes."""

    op: Operator
    adapters: tuple[Adapter, ...]
    out_layouts: tuple[str, ...]  # layouts in which `run` returns its outputs
    static: tuple[tuple[str, Any], ...]
    constants: tuple[tuple[str, Constant | None], ...]
    # For each argument whose values the caller passes to `run_call`: the shape in `run`. None: the axis stays padded.
    argument_shapes: tuple[tuple[str, argument_rules.Shape], ...] = ()
    # Not None if the call runs frame by frame, see `frames.py`. All other fields then describe single frames.
    frames: frames.FrameAxes | None = None


@dataclasses.dataclass(frozen=True)
class PlannedCall:
    """A `Call` and its plan for one batch.

    Attributes:
        traced: per-sample values, [N, ...].
        unseen: names of arguments in `traced` that `setup` did not get. Their values do not affect the rest of the plan.
    """

    call: Call
    outputs: tuple[BatchSpec, ...]
    traced: dict[str, np.ndarray]
    unseen: tuple[str, ...] = ()

    @property
    def rising(self) -> dict[str, Rising]:
        return {name: value for name, value in self.call.static if isinstance(value, Rising)}

    def raised(self, values: Mapping[str, int]) -> PlannedCall:
        """Returns the plan, with each `Rising` value increased to its entry in `values` if the entry is larger."""
        static = tuple(
            (name, value._replace(value=max(value.value, values[name])) if name in values else value)
            for name, value in self.call.static
        )
        if static == self.call.static:
            return self
        return dataclasses.replace(self, call=dataclasses.replace(self.call, static=static))


@dataclasses.dataclass(frozen=True, eq=False)
class PerBatch:
    """Wraps the values of a per-sample argument: an array [N, ...], or an array for each sample as [N] objects."""

    values: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class CallRequest:
    """The inputs and arguments of one call on a batch, as far as they are known before the call runs.

    Attributes:
        args: arguments that the user gave. Each is a plain value, which is converted, or a `Converted`, `Constant` or
            `PerBatch`.
        input_values: values [N, ...] of inputs that act as arguments, by name.
        traced: shapes of the arguments whose values the caller passes to `run_call`, int [N, ndim].
        constants: inputs that are the same array for all samples, by name.
        scaled: sizes at which the pictures of the first input were decoded; None: full size.
        by_frame: arguments that have a leading axis of frames.
    """

    op: Operator
    specs: Sequence[BatchSpec]
    args: Mapping[str, Any]
    _: dataclasses.KW_ONLY
    batch_size: int
    keys: SampleKeys | None = None
    input_values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    traced: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    constants: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    scaled: Scaled | None = None
    by_frame: Collection[str] = ()


def plan_call(request: CallRequest) -> PlannedCall:
    """Plans one call on a batch.

    Raises:
        SampleError: a sample has a wrong shape or a wrong number of frames, or `setup` does not accept it.
    """
    op, found = request.op, None
    if request.by_frame or (isinstance(op, DeviceOp) and op.takes_frames != "first"):
        shapes = {
            n: request.traced[n] if n in request.traced else argument_rules.extents_of(request.args[n].values)
            for n in op.args if n in request.by_frame
        }  # fmt: skip
        found = frames.frames_of(op, request.specs, shapes)
    try:
        return (
            _plan_whole(request, {"scaled": request.scaled})
            if found is None
            else _plan_frames(request, found)
        )
    except RankError as error:
        if any(spec.ndim == 1 and spec.dtype == np.uint8 for spec in request.specs):
            raise RankError(
                f"{error}. If these are encoded files, decode them first: fn.decoders.image"
            ) from None
        raise


def _plan_frames(request: CallRequest, found: frames.Frames) -> PlannedCall:
    op = request.op
    given = {
        n: PerBatch(found.values(n, v.values)) for n, v in request.args.items() if isinstance(v, PerBatch)
    }
    specs = [found.spec(spec, axis) for spec, axis in zip(request.specs, found.axes, strict=True)]
    single = {op.input(i).name for i, axis in enumerate(found.axes) if axis is None}
    values = {n: np.asarray(v)[found.sample] for n, v in request.input_values.items() if n in single}
    of_frames = CallRequest(
        op, specs, {**request.args, **given}, batch_size=len(found.sample), input_values=values,
        traced={n: found.extents(n, v) for n, v in request.traced.items()},
        constants={n: v for n, v in request.constants.items() if n in single},
    )  # fmt: skip
    try:
        planned = _plan_whole(of_frames, {"frames": found.counts})
    except SampleError as error:
        if error.sample is None:
            raise
        raise found.blamed(error, error.sample) from error
    traced = {n: found.padded(np.asarray(v)) for n, v in planned.traced.items()}
    held = [n for n in request.traced if n in found.lengths and n not in traced]
    axes = found.axes_of(specs, planned.outputs, held, traced)
    outputs = [found.gathered(o, axis) for o, axis in zip(planned.outputs, axes.outputs, strict=True)]
    traced |= {frames.length_name(n): found.lengths[n].astype(np.int32) for n in held}
    return PlannedCall(dataclasses.replace(planned.call, frames=axes), tuple(outputs), traced)


def _plan_whole(request: CallRequest, for_setup: Mapping[str, object]) -> PlannedCall:
    """Plans a call whose arguments do not differ by frame; `for_setup` has further arguments of `setup`."""
    op, specs = request.op, request.specs
    named = {k: v for k, v in request.args.items() if k not in request.traced}
    bound = op.bind(named | dict.fromkeys(request.traced, ...), private=True)
    layouts, sequence = (op.layouts, op.sequence) if isinstance(op, DeviceOp) else ((), False)
    adapters: tuple[Adapter, ...] = ()
    core_specs = specs
    if isinstance(op, CompiledOp):
        adapters = tuple(
            make_adapter(op.name, () if op.input(i).argument else layouts, sequence, s.layout, s.ndim)
            for i, s in enumerate(specs)
        )
        core_specs = [a.spec_to_core(s) for a, s in zip(adapters, specs, strict=True)]
    args = _BoundArguments.of(request, bound)
    available = {
        "keys": request.keys, "batch_size": request.batch_size, "constants": request.constants,
        **for_setup, **args.seen_by_setup,
    }  # fmt: skip
    plan = _run_setup(op, core_specs, available, request.input_values, specs)
    passed_by_value = list(args.traced)
    args.replace(plan)
    args.drop(op.only_for_setup)
    traced = _without_objects(op, args.traced) if isinstance(op, CompiledOp) else args.traced
    main = adapters[0] if adapters else None
    outputs = tuple(
        main.spec_from_core(o, specs[0]) if main is not None and layouts else o for o in plan.outputs
    )
    for output in outputs:
        if (output.extents > _LONGEST).any():
            check_samples(
                (output.extents > _LONGEST).any(axis=1),
                lambda i, sizes=output.extents: (
                    f"{op.name}: an output of shape {sizes[i].tolist()} is too large: no axis may be longer than {_LONGEST}"
                ),
            )
    call = Call(
        op, adapters, tuple(o.layout for o in plan.outputs), tuple(sorted(args.static.items())),
        tuple(sorted(args.constants.items())), tuple(sorted(args.shapes.items())),
    )  # fmt: skip
    unseen = [n for n in passed_by_value if n not in plan.params and not op.setup_sees(n)]
    return PlannedCall(call, outputs, traced, tuple(unseen))


@dataclasses.dataclass
class _BoundArguments:
    """The converted arguments of a call, with defaults, grouped by the way in which `run` gets them.

    Attributes:
        static: static arguments, which are compile keys.
        constants: per-sample arguments with one value for all samples, compiled in; None if the argument has no value.
        shapes: shapes of the arguments whose values the caller passes to `run_call`.
        seen_by_setup: all arguments, as `setup` gets them.
    """

    static: dict[str, Any] = dataclasses.field(default_factory=dict)
    constants: dict[str, Constant | None] = dataclasses.field(default_factory=dict)
    traced: dict[str, Any] = dataclasses.field(default_factory=dict)
    shapes: dict[str, argument_rules.Shape] = dataclasses.field(default_factory=dict)
    seen_by_setup: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, request: CallRequest, bound: Mapping[str, Any]) -> _BoundArguments:
        """Converts and groups the arguments of a request; `bound` has the arguments, with defaults."""
        op, held, made = request.op, request.traced, cls()
        for name, arg in op.args.items():
            if arg.kind is ArgKind.STATIC:
                value = bound[name]
                known = isinstance(value, Converted)
                value = value.value if known else argument_rules.converted(op.name, arg, value)
                made.static[name] = made.seen_by_setup[name] = value
            elif name in held:
                shape = made.shapes[name] = argument_rules.sample_shape(op.name, arg, held[name])
                made.seen_by_setup[name] = Traced(op.name, name, held[name] if shape else held[name][:, :0])
            else:
                made._add_value(op, name, bound[name], request.batch_size)
        return made

    def _add_value(self, op: Operator, name: str, value: object, batch_size: int) -> None:
        arg = op.args[name]
        if isinstance(value, PerBatch):
            values = argument_rules.batch(op.name, arg, value.values, batch_size)
            self.traced[name] = self.seen_by_setup[name] = values
        elif value is None:
            self.constants[name] = self.seen_by_setup[name] = None
        else:
            if not isinstance(value, Constant):
                value = Constant(argument_rules.constant(op.name, arg, value))
            self.constants[name] = value
            self.seen_by_setup[name] = np.broadcast_to(value.value, (batch_size, *value.value.shape))

    def replace(self, plan: Plan) -> None:
        """Replaces the user's arguments by the results of `setup`."""
        for name in (*plan.params, *plan.static):
            self.constants.pop(name, None)
            self.static.pop(name, None)
            self.shapes.pop(name, None)
        self.traced |= plan.params
        self.static |= plan.static

    def drop(self, names: Iterable[str]) -> None:
        """Removes arguments by name. Arguments whose values the caller passes to `run_call` stay."""
        for name in names:
            for group in (self.static, self.constants, self.traced):
                group.pop(name, None)


def _without_objects(op: Operator, traced: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Pads values whose shapes differ by sample, and adds their true lengths."""
    result = dict(traced)
    for name, values in traced.items():
        if values.dtype == object:
            result[name] = argument_rules.padded(values)
            if argument_rules.extent_name(name) in op.args:
                result[argument_rules.extent_name(name)] = argument_rules.extents_of(values).astype(np.int32)
    return result


def _run_setup(
    op: Operator,
    specs: Sequence[BatchSpec],
    available: dict[str, object],
    input_values: Mapping[str, object],
    original: Sequence[BatchSpec],
) -> Plan:
    if op.setup is None:
        return Plan((specs[0],) * op.num_outputs(available) if specs else ())
    wanted = op.setup_parameters
    if "layout" in op.engine_parameters:
        layouts = tuple(s.layout for s in original)
        available["layout"] = layouts if op.max_inputs != 1 else layouts[0] if layouts else ""
    kwargs = {k: v for k, v in available.items() if wanted is None or k in wanted}
    positional = [
        input_values.get(op.input(i).name, spec) if op.input(i).argument else spec
        for i, spec in enumerate(specs)
    ]
    plan = op.setup(*positional, **kwargs)
    if isinstance(plan, Plan):
        return plan
    return Plan((plan,) if isinstance(plan, BatchSpec) else tuple(plan))


def run_call(
    call: Call,
    arrays: Sequence[Array],
    extents: Sequence[Array],
    traced: Mapping[str, Array],
    out_extents: Sequence[Array],
    out_shapes: Sequence[tuple[int, ...]],
    keys: Array | None = None,
) -> tuple[Array, ...]:
    """Runs a call on padded samples. It is pure, for use inside a compiled program.

    Arrays and outputs are [N, *padded], extents int32 [N, ndim]. Values in `traced` are [N, ...]; those whose names are in
    `call.argument_shapes` may be padded.
    """
    if call.frames is not None:
        single = functools.partial(run_call, dataclasses.replace(call, frames=None))
        return frames.run_frames(single, call.frames, arrays, extents, traced, out_extents, out_shapes)
    fitted = {
        n: argument_rules.fitted(traced[n], shape, 1) for n, shape in call.argument_shapes if n in traced
    }
    traced = {**traced, **fitted}

    def one(arrays: Any, extents: Any, traced: Any, out_extents: Any, key: Any) -> tuple[Array, ...]:
        return run_sample(call, arrays, extents, traced, out_extents, out_shapes, key)

    packed = (tuple(arrays), tuple(extents), dict(traced), tuple(out_extents), keys)
    results: tuple[Array, ...] = (
        one(*packed) if isinstance(call.op, DeviceBatchOp) else jax.vmap(one)(*packed)
    )
    return results


def run_sample(
    call: Call,
    arrays: Sequence[Array],
    extents: Sequence[Array],
    traced: Mapping[str, Array],
    out_extents: Sequence[Array],
    out_shapes: Sequence[tuple[int, ...]],
    key: Array | None = None,
) -> tuple[Array, ...]:
    """Runs a call on one sample, without the batch axis; see `run_call`."""
    op, adapters = call.op, call.adapters
    main = adapters[0] if adapters and isinstance(op, DeviceOp) and op.layouts else None
    kwargs: dict[str, Any] = dict.fromkeys(op.only_for_setup) | dict(call.static)
    kwargs |= {k: None if c is None else c.value for k, c in call.constants}
    if isinstance(op, DeviceBatchOp):
        kwargs |= {k: c.value[None] for k, c in call.constants if c is not None and c.value.ndim}
    kwargs |= traced
    single_in = op.max_inputs == 1
    if "extent" in op.engine_parameters:
        core = tuple(a.extent_to_core(e) for a, e in zip(adapters, extents, strict=True))
        kwargs["extent"] = core[0] if single_in and core else core
    pairs = list(zip(call.out_layouts, out_extents, out_shapes, strict=True))
    single_out = op.outputs == 1
    if "out_extent" in op.engine_parameters:
        outs = tuple(main.out_extent_to_core(e, layout) if main else e for layout, e, _ in pairs)
        kwargs["out_extent"] = outs[0] if single_out else outs
    if "out_shape" in op.engine_parameters:
        shapes = tuple(main.shape_to_core(s, layout) if main else s for layout, _, s in pairs)
        kwargs["out_shape"] = shapes[0] if single_out else shapes
    if "layout" in op.engine_parameters:
        layouts = tuple(a.layout for a in adapters)
        kwargs["layout"] = layouts if not single_in else layouts[0] if layouts else ""
    lead_in = [a.array_to_core(v) for a, v in zip(adapters, arrays, strict=True)]
    leads = [a.lead for a in adapters]

    def call_run(*values: Array) -> tuple[Array, ...]:
        result = op.run(key, *values, **kwargs) if op.random else op.run(*values, **kwargs)
        return result if isinstance(result, tuple) else (result,)

    mapped = call_run
    for level in range(max(leads, default=0), 0, -1):
        mapped = jax.vmap(mapped, in_axes=tuple(0 if lead >= level else None for lead in leads))
    results = mapped(*lead_in)
    if main is None:
        return tuple(results)
    return tuple(main.array_from_core(r, layout) for r, layout in zip(results, call.out_layouts, strict=True))
