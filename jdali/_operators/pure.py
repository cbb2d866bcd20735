"""Runs an operator on one sample inside the user's own programs: the functions of `jdali.ops`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec
from jdali._errors import TracedArgumentError
from jdali._numerics.mesh_axes import over_any_mesh
from jdali._numerics.rounding import narrowed
from jdali._operators import argument_rules
from jdali._operators.argument_rules import Traced
from jdali._operators.call import CallRequest, PlannedCall, plan_call, run_call, run_sample
from jdali._operators.layout import RankError, make_adapter
from jdali._operators.padded import Extent, extents_of, fitted, follow, out_shapes
from jdali._operators.random_key import no_key
from jdali._operators.record import Arg, ArgKind, DeviceBatchOp, DeviceOp, Operator
from jdali._system.devices import is_local, to_host
from jdali._system.jax_modes import usual_modes

T = TypeVar("T")
Sizes: TypeAlias = "Sequence[np.ndarray]"
_ONE_SAMPLE = "Functions of jdali.ops take one sample: map them over a batch with jax.vmap."


@usual_modes()
def pure_call(
    op: Operator,
    inputs: Sequence[object],
    args: Mapping[str, object],
    *,
    key: object = None,
    layout: object = "",
    extent: object = None,
    out_shape: object = None,
) -> Any:
    """Runs an operator on one sample, or on a batch if the operator mixes samples.

    It works under `jit`, `vmap`, `grad` and `shard_map`. `setup` runs during tracing, because shapes are static. The
    arguments that `setup` needs must be concrete.

    Args:
        layout: layout of a sample, one for all inputs or a sequence with one for each input.
        extent: true sizes of padded inputs, see `jdali.ops`; the same for all samples of a batch.
        out_shape: padded shapes of the outputs of a sample, see `jdali.ops`.

    Returns: the output, or a tuple of outputs; with `extent`, the pair (result, true size).

    Raises:
        TracedArgumentError: an argument or `extent` is a tracer, but its value must be known.
        ValueError: the inputs seem to be a batch, or the call is wrong in another way.
    """
    if op.random and not layout:
        _refuse_shared_draws(op, inputs)
    plan = functools.partial(_planned, op, key=key, layout=layout, extent=extent, out_shape=out_shape)
    return (plan(inputs, args) if op.mixes_samples({}) else _with_advice(op, plan, inputs, args))()


def _planned(
    op: Operator, inputs: Sequence[object], args: Mapping[str, object], *,
    key: object, layout: object, extent: object, out_shape: object,
) -> Callable[[], Any]:  # fmt: skip
    """Plans the call; returns a function that runs it."""
    call = _PureCall.of(op, inputs, args, key, layout, extent, batch=op.mixes_samples({}))
    extents = call.extents
    known = [one.known for one in extents if one.known is not None]
    if len(known) == len(extents):
        planned = call.plan(known)
        sizes = [o.extents[0] for o in planned.outputs]
        true_sizes: list[Any] = [jnp.asarray(size, jnp.int32) for size in sizes]
        least = [tuple(size.tolist()) for size in sizes]
    else:
        planned, true_sizes, least = follow(call.op, extents, call.plan)
    shapes = out_shapes(op, least, out_shape)

    def run() -> Any:
        results = call.run(planned, true_sizes, shapes)
        single = len(results) == 1
        outputs = results[0] if single else results
        if extent is None:
            return outputs
        return outputs, true_sizes[0] if single else tuple(true_sizes)

    return run


def graph_call(
    op: Operator, inputs: Sequence[tuple[object, str]], args: Mapping[str, object], key: Array | None
) -> list[tuple[Array, str]]:
    """Runs one operator of a graph on one sample, with the types and layouts of a pipeline."""
    layouts = [layout for _, layout in inputs]
    call = _PureCall.of(op, [array for array, _ in inputs], args, key, layouts, None, floats=False)
    planned = call.plan([np.array(a.shape, np.int64) for a in call.arrays])
    shapes = [tuple(o.extents[0].tolist()) for o in planned.outputs]
    sizes = [jnp.asarray(shape, jnp.int32) for shape in shapes]
    results = call.run(planned, sizes, shapes)
    return [(result, output.layout) for result, output in zip(results, planned.outputs, strict=True)]


@dataclasses.dataclass(frozen=True)
class _PureCall:
    """A call whose inputs are converted, but which is not planned yet.

    Attributes:
        known: the inputs before their conversion to JAX. `setup` can read the values of inputs that are not tracers.
        tracers: arguments that are tracers.
        rows: number of samples, if the inputs are a batch; None if they are one sample.
    """

    op: Operator
    known: Sequence[Any]
    arrays: Sequence[Array]
    layouts: Sequence[str]
    args: Mapping[str, Any]
    tracers: Mapping[str, Array]
    key: Any
    extents: Sequence[Extent]
    rows: int | None = None

    @classmethod
    def of(
        cls, op: Operator, inputs: Sequence[Any], args: Mapping[str, Any], key: Any, layout: Any, extent: Any,
        *, floats: bool = True, batch: bool = False,
    ) -> _PureCall:  # fmt: skip
        """Converts a call.

        Args:
            floats: True: a float input keeps its type, see `keeps_floats`.
            batch: True: the inputs are a batch.
        """
        if op.random and key is None:
            raise no_key(op, "the call has none")
        args = {k: v for k, v in args.items() if v is not None}
        tracers = _traced_arguments(op, args)
        known = [_as_input(i) for i in inputs]
        arrays = [jnp.asarray(i) for i in known]
        rows = _rows(op, arrays) if batch else None
        samples = [a.shape[1:] if batch else a.shape for a in arrays]
        layouts = _layouts_of(op, [len(shape) for shape in samples], layout)
        extents = extents_of(op, samples, extent)
        keeps = floats and keeps_floats(op) and "dtype" not in args
        if keeps and jnp.issubdtype(arrays[0].dtype, jnp.floating):
            op = _of_one_type(op)
        return cls(op, known, arrays, layouts, args, tracers, key, extents, rows)

    def plan(self, sizes: Sizes) -> PlannedCall:
        op, count = self.op, 1 if self.rows is None else self.rows
        specs = [
            BatchSpec(np.tile(np.asarray(size, np.int64), (count, 1)), a.dtype, name)
            for size, a, name in zip(sizes, self.arrays, self.layouts, strict=True)
        ]
        keys: Any = None
        if op.random:
            traced = isinstance(self.key, jax.core.Tracer)
            keys = Traced(op.name, "key") if traced else _KeyHolder(self.key)
        shapes = {n: np.tile(np.array(v.shape, np.int64), (count, 1)) for n, v in self.tracers.items()}
        constants = {
            op.input(i).name: value[tuple(map(slice, extent.known))]
            for i, (value, extent) in enumerate(zip(self.known, self.extents, strict=True))
            if is_local(value) and extent.known is not None and self.rows is None
        }
        request = CallRequest(
            op, specs, self.args, batch_size=count, keys=keys, input_values=_input_values(op, self.known),
            traced=shapes, constants=constants,
        )  # fmt: skip
        planned = plan_call(request)
        static = tuple((name, _narrowed(value)) for name, value in planned.call.static)
        return dataclasses.replace(planned, call=dataclasses.replace(planned.call, static=static))

    def run(
        self, planned: PlannedCall, out_extents: Sequence[Array], shapes: Sequence[tuple[int, ...]]
    ) -> tuple[Array, ...]:
        """Runs the call; returns outputs padded to `shapes`."""
        padded = dict(planned.call.argument_shapes)
        traced = {n: argument_rules.fitted(value, padded[n], 0) for n, value in self.tracers.items()}
        if self.rows is None:
            traced |= {name: value[0] for name, value in planned.traced.items()}

        def run(arrays: Any, ins: Any, values: Any, outs: Any, key: Any) -> tuple[Array, ...]:
            if self.rows is not None:
                ins, values, outs = jax.tree.map(
                    lambda v: jnp.broadcast_to(v, (self.rows, *jnp.shape(v))), (ins, values, outs)
                )
                values |= {name: jnp.asarray(value) for name, value in planned.traced.items()}
                keys = jax.random.split(key, self.rows)
                return run_call(planned.call, arrays, ins, values, outs, shapes, keys)
            if not isinstance(self.op, DeviceBatchOp) and planned.call.frames is None:
                return run_sample(planned.call, arrays, ins, values, outs, shapes, key)
            arrays, ins, values, outs = jax.tree.map(
                lambda v: jnp.asarray(v)[None], (arrays, ins, values, outs)
            )
            one_key = None if key is None else key[None]
            results = run_call(planned.call, arrays, ins, values, outs, shapes, one_key)
            return tuple(result[0] for result in results)

        extents = [one.array for one in self.extents]
        results = over_any_mesh(run)(list(self.arrays), extents, traced, list(out_extents), self.key)
        rows = () if self.rows is None else (self.rows,)
        return tuple(fitted(result, (*rows, *shape)) for result, shape in zip(results, shapes, strict=True))


def _narrowed(value: Any) -> Any:
    """Returns an element type as JAX uses it; returns other values as they are."""
    return narrowed(types.to_dtype(value)) if isinstance(value, (np.dtype, types.DALIDataType)) else value


def _rows(op: Operator, arrays: Sequence[Array]) -> int:
    """Returns the number of samples, if the inputs are a batch."""
    rows = {a.shape[0] if a.ndim else None for a in arrays}
    count = rows.pop()
    if rows or not count:
        shapes = " and ".join(str(a.shape) for a in arrays)
        raise ValueError(
            f"{op.name}: mixes the samples of a batch: its inputs need a leading axis, equally long and not empty, got "
            f"{shapes}"
        )
    return count


def keeps_floats(op: Operator) -> bool:
    """Returns True if calls without `dtype` keep the type of a float input, in place of the operator's default, uint8.

    Results rounded to uint8 would silently have derivatives of 0.
    """
    dtype = op.public_args.get("dtype")
    return bool(op.inputs) and dtype is not None and dtype.default is types.UINT8


@functools.cache
def _of_one_type(op: Operator) -> Operator:
    """Returns a copy of the operator whose default is `dtype=None`, which means the type of the input."""
    dtype = dataclasses.replace(op.args["dtype"], default=None)
    return dataclasses.replace(op, args={**op.args, "dtype": dtype})


def _traced_arguments(op: Operator, args: Mapping[str, object]) -> dict[str, Array]:
    """Returns the arguments that are tracers, or lists with tracers in them."""
    passed = {
        name: value
        for name, value in args.items()
        if name in op.args and (isinstance(value, jax.core.Tracer) or _holds_tracer(value))
    }
    static = [name for name in passed if op.args[name].kind is ArgKind.STATIC]
    if static:
        raise TracedArgumentError(f"{op.name}: {', '.join(static)} must be static under jit")
    return {name: _as_argument(op.args[name], value) for name, value in passed.items()}


def _input_values(op: Operator, inputs: Sequence[object]) -> dict[str, Any]:
    """Collects the values of the inputs that act as arguments of `setup`."""
    values: dict[str, Any] = {}
    for i, value in enumerate(inputs):
        if op.input(i).argument:
            name, is_tracer = op.input(i).name, isinstance(value, jax.core.Tracer)
            values[name] = Traced(op.name, name) if is_tracer else to_host(value)[None]
    return values


@dataclasses.dataclass(frozen=True)
class _KeyHolder:
    """Implements `SampleKeys.map` for the single key of a pure function."""

    key: Array

    def map(self, function: Any, *arrays: np.ndarray) -> Any:
        with jax.ensure_compile_time_eval():  # inside jit, even concrete values would become tracers
            out = function(self.key, *(a[0] for a in arrays))
            return jax.tree.map(lambda v: to_host(v)[None], out)


def _holds_tracer(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, jax.core.Tracer) for v in value)


def _as_input(value: object) -> Array | np.ndarray:
    """Converts an input to an array; Python numbers and lists get the types of DALI's constants."""
    if isinstance(value, (Array, np.ndarray, np.generic)):
        return value if isinstance(value, Array) else np.asarray(value)
    return jnp.asarray(value) if _holds_tracer(value) else types.constant_array(value)


def _as_argument(arg: Arg, value: object) -> Array:
    """Casts a traced value to the element type of its argument."""
    array = jnp.asarray(value)
    dtype = arg.element_type
    return array if dtype is None else array.astype(dtype)


def _with_advice(op: Operator, plan: Callable[..., T], inputs: Sequence[Any], args: Mapping[str, Any]) -> T:
    """Returns `plan(inputs, args)`; adds a hint about `jax.vmap` to an error if the arrays are a batch.

    A `RankError` always gets the hint. Any other error gets it only if all arrays, or all inputs, have the same number
    of rows, and the call succeeds for one row of each.
    """
    try:
        return plan(inputs, args)
    except RankError as error:
        raise RankError(f"{error}. {_ONE_SAMPLE}") from None
    except (TypeError, ValueError) as error:
        count = None if _ONE_SAMPLE in str(error) else _count_of_rows(op, plan, inputs, args)
        if count is not None:
            error.add_note(
                f"{op.name}: the call is right for each of the {count} rows of its arrays. {_ONE_SAMPLE}"
            )
        raise


def _count_of_rows(
    op: Operator, plan: Callable[..., object], inputs: Sequence[Any], args: Mapping[str, Any]
) -> int | None:
    """Returns the number of samples if the arrays of a failed call are a batch, else None."""
    arrays = {
        name: value
        for name, value in args.items()
        if name in op.args
        and op.args[name].kind is not ArgKind.STATIC
        and isinstance(value, (Array, np.ndarray))
    }
    for batched in (arrays, {}):  # the second attempt is for a batch of inputs with arguments for one sample
        rows = {np.shape(value)[:1] for value in (*inputs, *batched.values())} - {()}
        if len(rows) == 1 and _is_right(plan, inputs, args, batched):
            return int(rows.pop()[0])
    return None


def _is_right(
    plan: Callable[..., object], inputs: Sequence[Any], args: Mapping[str, Any], batched: Mapping[str, Any]
) -> bool:
    """Returns True if a call succeeds for the first row of the inputs and of the `batched` arguments."""

    def one_row() -> None:
        rows = [_first_row(i) for i in inputs]
        plan(rows, {**args, **{name: _first_row(value) for name, value in batched.items()}})

    try:
        jax.eval_shape(one_row)
    except Exception:  # the error has another cause
        return False
    return True


def _first_row(value: Any) -> Any:
    if not np.ndim(value):
        return value
    if isinstance(value, jax.core.Tracer):
        return value[0]
    with jax.ensure_compile_time_eval():  # inside jit, a concrete value would otherwise become a tracer
        return value[0]


def _layouts_of(op: Operator, ndims: Sequence[int], layout: str | Sequence[str]) -> list[str]:
    """Returns the layout of each input. If one layout is given for all, inputs that it does not fit get ""."""
    shared = isinstance(layout, str)
    layouts = [layout] * len(ndims) if isinstance(layout, str) else list(layout)
    fits = [not name or len(name) == ndim for name, ndim in zip(layouts, ndims, strict=True)]
    if ndims and not (any(fits) if shared else all(fits)):
        wrong = fits.index(False)
        name, ndim = layouts[wrong], ndims[wrong]
        advice = f". {_ONE_SAMPLE}" if ndim == len(name) + 1 else ""
        raise ValueError(
            f'{op.name}: the layout "{name}" names {len(name)} axes, the input has {ndim}{advice}'
        )
    return [name if fit else "" for name, fit in zip(layouts, fits, strict=True)]


def _refuse_shared_draws(op: Operator, inputs: Sequence[Any]) -> None:
    """Raises ValueError if an input without a layout may be a batch, because samples must not share random values."""
    if not isinstance(op, DeviceOp):
        return
    for i, value in enumerate(inputs):
        if not op.layouts or op.input(i).argument:
            continue
        ndim = np.ndim(value)
        if make_adapter(op.name, op.layouts, op.sequence, "", ndim).frames:
            frames = "F" + op.layouts[0]
            raise ValueError(
                f"{op.name}: an input of {ndim} axes without a layout may be a batch or a sequence, whose frames share what is "
                f'drawn: map the function over a batch with jax.vmap, with a key for each sample, or give layout="{frames}"'
            )
