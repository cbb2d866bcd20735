"""The compiled programs of a stage: the function that is compiled, for how many samples, and their number."""

from __future__ import annotations

import dataclasses
import math
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import jax
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import CompileLimitError
from jdali._numerics.exact import exact
from jdali._numerics.random import sample_key
from jdali._operators.argument_rules import extent_name
from jdali._operators.call import Call, PlannedCall, run_call
from jdali._operators.record import CompiledOp, Operator
from jdali._system.jax_internals import ONE_THREAD, SAME_LOOPS, WIDE_VECTORS, known_options
from jdali.engine.failure import failing_as
from jdali.engine.shapes.buckets import Group
from jdali.engine.shapes.cost import SECONDS_A_CALL, TRUE_SHARE, StageCost, elements
from jdali.engine.steps.packing import Packing
from jdali.graph import DataNode, Node, Stage

# Bytes of inputs and outputs, padded, that one call of a program works on. On the CPU a chunk should stay in
# the caches; an accelerator wants enough work per launch.
CHUNK_BYTES = {"cpu": 4 << 20, "gpu": 128 << 20}
# On the CPU more, for a call costs some 0.3 ms, as long as there are several calls a batch for the threads.
# How many threads there are makes no difference: another program may round in another way.
_ROOMY_CHUNK_BYTES = 24 << 20
_CALLS = 8

# Bytes of a batch's calls that may be queued at the same time, on a CPU. If these are fewer calls than the second
# number, none is queued: two workers that wait for each other's calls are slower than those that wait for their own.
QUEUED_BYTES, FEWEST_QUEUED = 48 << 20, 4

# The calls of a batch run side by side in the pool's threads already: if XLA split their loops, transforms and matrix
# products over threads of its own too, those would mostly wait for each other (6 % of the time of speech).
# Nor is it worth the while for a program on so few bytes.
SMALL_BYTES = 256 << 10


class Compiled:
    """A function of `jax.jit`, which several programs may share, and the lock under which it is first called."""

    __slots__ = ("__weakref__", "_function", "lock")

    def __init__(self, function: Any):
        self._function, self.lock = function, threading.Lock()

    def __call__(self, *operands: Any) -> Any:
        return self._function(*operands)


@dataclasses.dataclass
class Program:
    """One compiled program of a stage."""

    function: Any  # of jax.jit
    batch: int
    shape: tuple[tuple[int, ...], ...]
    seconds: float = 0.0
    calls: int = 0
    samples: int = 0
    padded_seconds: float = 0.0
    needed_seconds: float = 0.0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    nbytes: int = 0  # of inputs and outputs of a call, padded

    def count(self, samples: int, padded_seconds: float, needed_seconds: float) -> None:
        """Notes samples that it works on, and what they cost by the model."""
        self.samples += samples
        self.padded_seconds += padded_seconds
        self.needed_seconds += needed_seconds


class Compiler:
    """Counts the programs of a pipeline and holds the limit on them. Stages that are alike share theirs."""

    def __init__(self, limit: int | None = None):
        self.limit = limit
        self.count = 0
        self._lock = threading.Lock()
        self._functions: weakref.WeakValueDictionary[Hashable, Compiled] = weakref.WeakValueDictionary()

    def function(self, stage: Stage, shapes: Any, key: Hashable, make: Callable[[], Any]) -> Compiled:
        """Returns the function cached for the key, if still in use, or makes it.

        Args:
            stage: that asks.
            shapes: for the message if there are too many.
            key: all that the function depends on.
            make: makes a function of jax.jit.
        """
        with self._lock:
            found = self._functions.get(key)
            if found is None:
                self._count(stage, shapes)
                found = self._functions[key] = Compiled(make())
            return found

    def admit(self, stage: Stage, shapes: object) -> None:
        """Counts one more program; raises if that is too many."""
        with self._lock:
            self._count(stage, shapes)

    def _count(self, stage: Stage, shapes: object) -> None:
        if self.limit is not None and self.count >= self.limit:
            names = ", ".join(n.op.name for n in stage.nodes)
            raise CompileLimitError(
                f"the pipeline would compile program number {self.count + 1}, but max_compiles is "
                f"{self.limit}: stage {stage.index} ({names}) met the padded shapes {shapes}"
            )
        self.count += 1


@dataclasses.dataclass(frozen=True)
class PlannedStage:
    """A stage planned for one batch."""

    calls: tuple[PlannedCall, ...]
    groups: list[Group]
    inputs: tuple[BatchSpec, ...]
    arrays: list[np.ndarray]  # all small per-sample arrays, in the order of the packing
    packing: Packing
    x64: bool


def split_shapes(flat: tuple[int, ...], planned: PlannedStage) -> tuple[tuple[int, ...], ...]:
    shapes, start = [], 0
    for spec in [*planned.inputs, *(o for c in planned.calls for o in c.outputs)]:
        shapes.append(flat[start : start + spec.ndim])
        start += spec.ndim
    return tuple(shapes)


def form_of(stage: Stage) -> Hashable:
    """Describes the stage's operators and their connections, without arguments; equal for stages that are
    alike.
    """
    numbers: dict[DataNode, tuple[int, int]] = {value: (-1, i) for i, value in enumerate(stage.inputs)}
    for number, node in enumerate(stage.nodes):
        numbers |= {value: (number, i) for i, value in enumerate(node.outputs)}

    def form(value: Any) -> Hashable:
        if isinstance(value, DataNode):
            return numbers.get(value)  # None: an argument that `setup` hands over
        return str(value.dtype), value.shape, value.tobytes()

    nodes = tuple(
        (node.op, tuple(map(form, node.inputs)), tuple((k, form(v)) for k, v in node.arg_inputs.items()))
        for node in stage.nodes
    )
    return nodes, tuple(form(value) for value in stage.outputs)


def random_nodes(stage: Stage) -> list[Node]:
    """The random operators of a stage, in the order of the rows of its seeds."""
    return [node for node in stage.nodes if node.op.random]


def compiler_options(
    platform: str, operators: Iterable[Operator] = (), *, one_thread: bool = False
) -> dict[str, Any] | None:
    """Options of XLA for programs of these operators; None: those of JAX."""
    if platform != "cpu":
        return None
    wide_vectors = any(isinstance(op, CompiledOp) and op.wide_vectors for op in operators)
    wanted = (ONE_THREAD if one_thread else {}) | (WIDE_VECTORS if wide_vectors else {}) | SAME_LOOPS
    return known_options(wanted) or None


def padded_bytes(planned: PlannedStage, shapes: tuple[tuple[int, ...], ...]) -> int:
    """Bytes of all values of the stage for one sample, padded."""
    specs = [*planned.inputs, *(o for c in planned.calls for o in c.outputs)]
    return sum(math.prod(shape) * s.dtype.itemsize for shape, s in zip(shapes, specs, strict=True))


def expected_samples(stage: Stage, max_batch: int) -> int:
    """Estimates the samples of a call: a branch works on a part of the batch, and in two calls if it gets
    more.
    """
    return math.ceil(stage.domain.share_of_batch * max_batch)


def samples_a_call(
    planned: PlannedStage,
    shapes: tuple[tuple[int, ...], ...],
    cost: StageCost,
    *,
    platform: str,
    max_batch: int,
) -> int:
    """Samples per call: fixed for a padded shape, so that no batch size compiles anew."""
    size = max(padded_bytes(planned, shapes), 1)
    kind = "cpu" if platform == "cpu" else "gpu"
    fitting = max(1, CHUNK_BYTES[kind] // size)
    if kind == "cpu":
        fitting = max(fitting, min(_ROOMY_CHUNK_BYTES // size, max_batch // _CALLS))
        # Samples of one shape are few where sizes differ: rows that none of them fills cost time, too.
        counts = elements([np.array([shape], np.int64) for shape in shapes])
        seconds = float(cost.seconds(counts * TRUE_SHARE, counts)[0])
        fitting = max(1, min(fitting, int(SECONDS_A_CALL / seconds)))
    if fitting >= max_batch:
        return max_batch
    return int(1 << (int(fitting).bit_length() - 1))


@dataclasses.dataclass(frozen=True)
class ProgramForm:
    """Key of the program of a stage: all that it depends on, but for the number of samples.

    Attributes:
        calls: of the stage's operators, in order.
        traced: of each call the names of its values by sample, sorted.
        shapes: padded shape of each value of the stage: its inputs, then what its operators make.
        small: element type and shape of each of the small arrays, see `Packing`.
        x64: it needs 64-bit types.
    """

    calls: tuple[Call, ...]
    traced: tuple[tuple[str, ...], ...]
    shapes: tuple[tuple[int, ...], ...]
    small: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]
    x64: bool

    @classmethod
    def of(cls, planned: PlannedStage, shapes: tuple[tuple[int, ...], ...]) -> ProgramForm:
        """Derives the key of a planned stage in these shapes."""
        calls = tuple(c.call for c in planned.calls)
        traced = tuple(tuple(sorted(c.traced)) for c in planned.calls)
        return cls(calls, traced, shapes, planned.packing.key, planned.x64)

    def packing(self) -> Packing:
        """Returns the order of the small arrays."""
        return Packing([np.empty((0, *shape), dtype) for dtype, shape in self.small])


def stage_compute(stage: Stage, form: ProgramForm) -> Callable[..., list[Array]]:
    """The pure function of a stage: (arrays, small, identity, seeds) -> outputs.

    It closes over nothing that differs by batch, and products are rounded as the compiler likes: see `stage_function`.
    Of `small`, sizes come first, of the inputs and then of what the operators make; after them `form.traced`.
    """
    random = random_nodes(stage)

    def compute(arrays: Any, small_arrays: Any, identity: Any, seeds: Any) -> list[Array]:
        small = iter(small_arrays)
        values: dict[DataNode, Array] = dict(zip(stage.inputs, arrays, strict=True))
        extents = {v: next(small) for v in stage.inputs}
        out_extents = [[next(small) for _ in node.outputs] for node in stage.nodes]
        traced = [{name: next(small) for name in group} for group in form.traced]
        out_shapes = iter(form.shapes[len(stage.inputs) :])
        keys_of: dict[Node, Array] = {}
        if random:  # the keys of all operators in one go: one by one they would take most of the compile time
            keys_of |= zip(random, sample_key(seeds[:, None, :2], seeds[:, 2:], *identity), strict=True)
        for i, (node, call) in enumerate(zip(stage.nodes, form.calls, strict=True)):
            shapes_here = [next(out_shapes) for _ in node.outputs]
            ins, ext = _operands(node, values, extents, identity.shape[1])
            args = traced[i] | _traced_args(node, values, extents, traced[i], call)
            with failing_as([node]):
                results = run_call(call, ins, ext, args, out_extents[i], shapes_here, keys_of.get(node))
            for value, result, extent in zip(node.outputs, results, out_extents[i], strict=True):
                values[value], extents[value] = result, extent
        return [values[v] for v in stage.outputs]

    return compute


def stage_function(stage: Stage, form: ProgramForm, platform: str) -> Callable[..., Any]:
    """The function of a stage that the engine compiles.

    It takes (arrays, packed, apart, identity, seeds, -0): the small arrays packed, and the operand of `exact`.
    """
    compute, packing = stage_compute(stage, form), form.packing()

    def packed_compute(arrays: Any, packed: Any, apart: Any, identity: Any, seeds: Any) -> list[Array]:
        return compute(arrays, packing.unpack(packed, apart), identity, seeds)

    def function(*operands: Any) -> Any:
        *given, minus_zero = operands
        return exact(packed_compute, minus_zero, platform)(*given)

    return function


def _operands(
    node: Node, values: Mapping[DataNode, Array], extents: Mapping[DataNode, Array], batch: int
) -> tuple[list[Array], list[Array]]:
    ins, ext = [], []
    for value in node.inputs:
        if isinstance(value, DataNode):
            ins.append(values[value])
            ext.append(extents[value])
        else:
            ins.append(jax.numpy.broadcast_to(value, (batch, *value.shape)))
            size = np.broadcast_to(np.array(value.shape, np.int32), (batch, value.ndim))
            ext.append(jax.numpy.asarray(size))
    return ins, ext


def _traced_args(
    node: Node, values: Mapping[DataNode, Array], extents: Mapping[DataNode, Array],
    done: Mapping[str, Array], call: Call,
) -> dict[str, Array]:  # fmt: skip
    """Arguments that are values of this or an earlier stage, in the element type of the argument."""
    result = {}
    known = {name for name, _ in (*call.static, *call.constants)} | set(done)
    shapes = dict(call.argument_shapes)
    for name, value in node.arg_inputs.items():
        if name not in known:
            dtype = node.op.args[name].convert(0).dtype
            array = values[value]
            result[name] = array if dtype.kind == "O" else array.astype(dtype)
            if None in shapes.get(name, ()) and extent_name(name) in node.op.args:
                result[extent_name(name)] = extents[value]
    return result
