"""Runs an operator, or a function of pipeline nodes, on the user's values; every function of `jdali.dynamic` calls this."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np

from jdali._errors import TracedArgumentError
from jdali._numerics.rounding import np_round_half_away
from jdali._operators.argument_rules import converted, one_for_all, sample_shape
from jdali._operators.record import REGISTRY, Arg, ArgKind, Operator
from jdali._system.devices import HostArray, is_local, to_host
from jdali._system.jax_internals import computed_now
from jdali.dynamic._context import EvalContext, EvalMode
from jdali.dynamic._data import NO_VALUES, device_of, is_plain, to_array
from jdali.dynamic._device import Device
from jdali.dynamic._device import device as to_device
from jdali.dynamic._dtype import DType
from jdali.dynamic._dtype import dtype as to_dtype
from jdali.dynamic._rng import RNG, draw_of
from jdali.dynamic._value import EagerValue, wrap
from jdali.engine import eager
from jdali.graph import Expression, add_operators
from jdali.ops.tensor._subscript import NAME as SUBSCRIPT
from jdali.ops.tensor._subscript import not_a_scalar, parse_index
from jdali.tensors import TensorList

if TYPE_CHECKING:
    from jdali.dynamic._batch import Batch
    from jdali.dynamic._tensor import Tensor

Result: TypeAlias = "Tensor | Batch"
_NO_DRAW = eager.RandomDraw(0, 0)
_NUMBERS = (bool, int, float)


def invoke(
    op: Operator,
    inputs: Sequence[object],
    args: Mapping[str, object],
    *,
    batch_size: int | None = None,
    device: object = None,
    rng: RNG | None = None,
    key: object = None,
) -> Any:
    """Runs an operator.

    Args:
        op: record of the operator.
        inputs: tensors, batches, or data for a tensor.
        args: arguments by name. A per-sample argument is one value for all samples, or a batch of values.
        batch_size: size of the resulting batch if neither inputs nor arguments are batches.
        device: device to run on; None: the device of the inputs.
        rng: generator of a random operator; None: the thread's default generator.
        key: JAX key to draw from, in place of `rng`.

    Returns: a `Batch` if an input or an argument is a batch or `batch_size` is given, else a `Tensor`; a tuple of these for
        several outputs.
    """
    if any(isinstance(value, jax.core.Tracer) for value in (*inputs, *args.values())):
        raise TracedArgumentError(f"{op.name}: {NO_VALUES}: use the pure function jdali.ops.{op.name} there")
    counted = _counted(op, inputs)
    values = [
        value if isinstance(value, EagerValue) else operand(value, f"{op.name}: input {op.input(i).name!r}")
        for i, value in enumerate(counted)
    ]
    static, per_sample = _arguments(op, args)
    size = batch_size_of(op.name, [*values, *per_sample.values()], batch_size)
    placement, result_device = _placement(op, values, device)
    count = 1 if size is None else size
    batches = [repeated(value, count) for value in values]
    arguments = {name: _argument_batch(op, name, value, count) for name, value in per_sample.items()}
    draw = draw_of(op.name, rng, key) if op.random else _NO_DRAW
    with computed_now():
        results = eager.run_operator(
            op, batches, arguments, static, batch_size=count, placement=placement, draw=draw,
            pool=EvalContext.current().thread_pool.pool, constants=_constants(op, counted),
        )  # fmt: skip
    wait_if_asked(results)
    outputs = tuple(wrap(result, result_device, is_batch=size is not None) for result in results)
    return outputs[0] if len(outputs) == 1 else outputs


def run_as_graph(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object], key: object = None
) -> Any:
    """Traces a function of pipeline nodes as a graph, and runs the graph on tensors and batches.

    One draw, from the key or from the thread's default generator, determines all random values of a call. The values of
    sample i do not depend on the batch size.

    Args:
        function: takes and returns nodes, in any structure of containers.
        args: tensors and batches in place of nodes; other arguments are constants.
        kwargs: keyword arguments, handled like `args`.
        key: JAX key; None: the default generator.

    Returns: the function's result with a `Batch` in place of each node, or a `Tensor` if no argument is a batch.
    """
    call, values = eager.CallKey.of(function, args, kwargs, EagerValue)
    name = getattr(function, "__name__", "function")
    size = batch_size_of(name, values, None)
    count = 1 if size is None else size
    batches = [repeated(value, count) for value in values]
    inputs = tuple(
        eager.InputKind(v.device.device_type, b.spec.layout, b.spec.ndim)
        for v, b in zip(values, batches, strict=True)
    )
    gpu = next((v.device for v in values if v.device.device_type == "gpu"), None) or Device("gpu")
    graph = eager.graph_of(eager.GraphKey(call, inputs, eager.room_for(count), gpu.jax_device))
    results = graph.run(batches, count, draw_of(name, None, key), EvalContext.current().thread_pool.pool)

    def wrapped(leaf: object) -> object:
        if not isinstance(leaf, TensorList):
            return leaf
        wait_if_asked([leaf])
        return wrap(leaf, Device.CPU if leaf.device == "cpu" else gpu, is_batch=size is not None)

    return jax.tree_util.tree_map(wrapped, results, is_leaf=lambda leaf: isinstance(leaf, TensorList))


def wait_if_asked(results: Iterable[TensorList]) -> None:
    """Waits for results if the current `EvalMode` requires it."""
    mode = EvalMode.current()
    for result in results:
        if mode is EvalMode.sync_full or (mode is EvalMode.sync_cpu and result.device == "cpu"):
            eager.wait(result)


def expression(name: str, *operands: object) -> Any:
    """Computes the arithmetic expression `math.<name>` of tensors, batches, arrays and numbers."""
    for one in operands:
        if isinstance(one, (str, bytes)):
            raise TypeError(f"math.{name}: {one!r:.60} is neither a number nor a tensor")
        if type(one) is int and not -(2**31) <= one < 2**31:
            raise OverflowError(f"math.{name}: Integer {one} is out of range for int32.")
    return invoke(REGISTRY[f"math.{name}"], operands, {})


class Arithmetic(Expression[object, "Result"]):
    """Base class with arithmetic, comparison and bitwise operators, as DALI defines them.

    They run immediately. The result is a batch if an operand is a batch.
    """

    __array_priority__ = 1000  # so that `numpy_array + tensor` calls the tensor's method
    __hash__ = None  # type: ignore[assignment]  # `==` compares the elements


add_operators(Arithmetic, expression)


def operand(data: object, what: str) -> EagerValue:
    """Converts data of an input to a tensor; errors begin with `what`."""
    array = to_array(data, what)
    device = device_of(array)
    samples = TensorList.from_samples([array], "", device.device_type)
    return wrap(samples, device, is_batch=False)


def _counted(op: Operator, inputs: Sequence[object]) -> list[Any]:
    """Drops trailing optional inputs that are None; raises an error if any other input is None."""
    counted = op.counted(inputs)
    for i, value in enumerate(counted):
        if value is None:
            raise TypeError(f"{op.name}: input {op.input(i).name!r} is None")
    return counted


def _constants(op: Operator, inputs: Sequence[object]) -> dict[str, Any]:
    """Returns {name: array} for plain host inputs (no tensors or batches); {} unless `setup` takes `constants`."""
    if "constants" not in (op.setup_parameters or ()):
        return {}
    plain = {
        op.input(i).name: to_array(v, op.name) for i, v in enumerate(inputs) if not isinstance(v, EagerValue)
    }
    return {name: array for name, array in plain.items() if is_local(array)}


def _arguments(
    op: Operator, args: Mapping[str, object]
) -> tuple[dict[str, Any], dict[str, EagerValue | HostArray]]:
    """Converts the arguments of a call.

    Returns: static arguments as plain values; then per-sample arguments, each as a tensor or a batch, or as one array for
        all samples.
    """
    passed = {name: value for name, value in args.items() if value is not None}
    _check_names(op, tuple(passed))
    static: dict[str, Any] = {}
    per_sample: dict[str, EagerValue | HostArray] = {}
    for name, value in passed.items():
        arg = op.args[name]
        if arg.kind is ArgKind.STATIC:
            static[name] = converted(op.name, arg, value, functools.partial(_static, arg))
        elif isinstance(value, EagerValue):
            per_sample[name] = value
        else:
            per_sample[name] = one_for_all(op.name, arg, _array(op.name, arg, value))
    return static, per_sample


@functools.lru_cache(maxsize=4096)
def _check_names(op: Operator, names: tuple[str, ...]) -> None:
    """Raises TypeError for an unknown argument, or if a required argument is missing."""
    op.bind(dict.fromkeys(names, ...))


def _static(arg: Arg, value: object) -> object:
    return arg.convert(plain(arg, value))


def plain(arg: Arg, value: object) -> object:
    """Converts the values of dynamic mode in a static argument to plain ones.

    Names of element types mean what `jdali.dynamic.dtype` says: "u8" has 8 bits, while NumPy's "u8" has 8 bytes.
    """
    if isinstance(value, Device):
        return value.device_type
    if isinstance(value, EagerValue):
        if value.is_batch:
            raise TypeError("it cannot differ by sample")
        array = value._samples().to_samples()[0]
        return array.item() if array.ndim == 0 else array.tolist()
    if isinstance(value, (list, tuple)) and (
        arg.is_dtype or any(isinstance(v, (DType, EagerValue)) for v in value)
    ):
        return [plain(arg, v) for v in value]
    if isinstance(value, DType) or (arg.is_dtype and not isinstance(value, int)):
        return to_dtype(value).dtype
    return value


def _array(name: str, arg: Arg, value: object) -> HostArray:
    """Converts an argument to a host array; plain numbers get the argument's element type."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, EagerValue) for v in value):
        if any(isinstance(v, EagerValue) and v.is_batch for v in value):
            raise TypeError(
                f"{name}: argument {arg.name!r} is a list with a batch in it; give one batch: jdali.dynamic.stack(*{arg.name})"
            )
        value = np.stack([np.asarray(v) for v in value])
    if arg.element_type is not None and (type(value) in _NUMBERS or is_plain(value) or _has_text(value)):
        return converted(name, arg, value)
    return to_host(to_array(value, f"{name}: argument {arg.name!r}"))


def _has_text(value: object) -> bool:
    """Returns True for text, and for (nested) lists that hold text."""
    return isinstance(value, (str, bytes)) or (
        isinstance(value, (list, tuple)) and any(map(_has_text, value))
    )


def _argument_batch(
    op: Operator, name: str, value: EagerValue | HostArray, count: int
) -> TensorList | HostArray:
    """Converts a per-sample argument to `count` values of its element type."""
    arg = op.args[name]
    if not isinstance(value, EagerValue):
        value = _in_element_type(arg, value)
        return value[None] if count == 1 else np.broadcast_to(value, (count, *value.shape))
    values = repeated(value, count)
    if arg.is_by_frame(values.spec.layout):
        samples = [_in_element_type(arg, one) for one in values.to_samples()]
        return TensorList.from_samples(samples, values.spec.layout)
    sample_shape(op.name, arg, values.spec.extents)
    if values.is_dense_tensor():
        return _in_element_type(arg, values.as_numpy())
    return TensorList.from_samples([_in_element_type(arg, one) for one in values.to_samples()])


def _in_element_type(arg: Arg, array: HostArray) -> HostArray:
    """Converts values to an argument's element type. For integers, 0.5 is rounded to 1 and -0.5 to -1, as in DALI."""
    target = arg.element_type
    if target is None or array.dtype == target:
        return array
    if array.dtype.kind == "f" and np.dtype(target).kind in "iu":
        array = np_round_half_away(array)
    return array.astype(target)


def batch_size_of(name: str, values: Sequence[object], batch_size: int | None) -> int | None:
    """Returns the batch size of a call: `batch_size`, or the size of the batches in `values`; None without either.

    Raises:
        ValueError: sizes differ or are negative.
    """
    sizes = [len(value._list) for value in values if isinstance(value, EagerValue) and value.is_batch]
    if batch_size is not None:
        sizes.append(int(batch_size))
    if len(set(sizes)) > 1:
        raise ValueError(
            f"{name}: Inconsistent batch size: {sizes[-1]} != {sizes[0]}: batches of different sizes {sizes}"
        )
    if sizes and sizes[0] < 0:
        raise ValueError(f"{name}: batch_size is {sizes[0]}")
    return sizes[0] if sizes else None


def repeated(value: EagerValue, count: int) -> TensorList:
    """Returns the samples of a batch; for a tensor, returns its sample `count` times."""
    if value.is_batch:
        return value._list
    samples = value._samples()
    return samples if count == 1 else samples.select(np.zeros(count, np.int64))


def _placement(op: Operator, values: Sequence[EagerValue], device: object) -> tuple[eager.Placement, Device]:
    """Chooses the device on which an operator runs, and the device of its results."""
    on_gpu = [value.device for value in values if value.device.device_type == "gpu"]
    if device == "mixed":
        device = "gpu"
    chosen = to_device(device)
    if chosen is None:
        chosen = on_gpu[0] if on_gpu else Device.CPU if values else Device.current()
    if chosen.device_type == "cpu":
        return eager.Placement("cpu", chosen.jax_device), chosen
    name = "mixed" if "mixed" in op.devices and "gpu" not in op.devices else "gpu"
    return eager.Placement(name, chosen.jax_device), chosen


@dataclasses.dataclass(frozen=True)
class Subscript:
    """Indexes a tensor, or each sample of a batch."""

    value: EagerValue

    def __getitem__(self, key: object) -> Any:
        args = parse_index(key, self.value.ndim)
        for index in args.values():
            if isinstance(index, jax.core.Tracer):
                raise TracedArgumentError(f"indexing: {NO_VALUES}: index jnp.asarray(data) there")
            if getattr(index, "ndim", 0):
                shape = index.shape  # a list of shapes if it is a batch
                raise not_a_scalar(shape[0] if shape and isinstance(shape, list) else shape)
        return invoke(REGISTRY[SUBSCRIPT], [self.value], args) if args else self.value
