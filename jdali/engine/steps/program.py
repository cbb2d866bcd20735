"""Makes the programs of a stage: builds their functions, chooses their rows, and limits their number."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import CompileLimitError, contained
from jdali._numerics.exact import exact
from jdali._numerics.random import sample_key
from jdali._numerics.rounding import needs_x64
from jdali._operators.argument_rules import extent_name
from jdali._operators.call import Call, PlannedCall, run_call
from jdali._operators.record import CompiledOp, Operator
from jdali._system.jax_internals import OLDER_LOOPS, ONE_THREAD, WIDE_VECTORS, known_options
from jdali._threads import inner
from jdali.engine.failure import OperatorFailure
from jdali.engine.shapes.buckets import Group
from jdali.engine.shapes.cost import SECONDS_A_CALL, SHORTEST_CALL, TRUE_SHARE, StageCost, elements
from jdali.engine.steps.outline import STAGE, OperatorOutline, Packing, Slot, StageOutline
from jdali.engine.steps.program_table import PROGRAMS, Compiled, ProgramTable
from jdali.graph import Node, Stage

# Maximum padded bytes of all values in a call. On a CPU they should fit in the caches; an accelerator needs enough work
# per launch.
CHUNK_BYTES = {"cpu": 4 << 20, "gpu": 128 << 20}
# Each call on a CPU has an overhead of some 0.3 ms. So a call may have up to this many bytes, as long as a batch has at
# least `_CALLS` calls for the threads. `_CALLS` does not depend on the number of threads, because calls of another size
# may round differently.
_ROOMY_CHUNK_BYTES = 24 << 20
_CALLS = 8

# Maximum bytes of all calls of a batch that are queued at the same time on a CPU. If fewer than `FEWEST_QUEUED` calls
# fit, none is queued: each thread waits for its own call, which is faster than waiting for calls of other threads.
QUEUED_BYTES, FEWEST_QUEUED = 48 << 20, 4

# XLA runs a program in one thread if its values have at most this many bytes, or if its calls run side by side in the
# pool's threads. Several XLA threads would mostly wait for each other: a speech pipeline takes 6 % less time with one.
SMALL_BYTES = 256 << 10

# In pipelines with batches of at most `FEW_SAMPLES`, all batch sizes share programs: only the shape decides how many
# rows a call has. If samples take little time, the rows together take about as long as the overhead of a call,
# `SHORTEST_CALL`. So unused rows make a call take at most about twice as long.
FEW_SAMPLES = 8
# Half of `SHORTEST_CALL`, because the host prepares a call while the accelerator runs the previous call. For 128
# pictures of 300 to 640 pixels a side, in 10 calls, padding and unused rows add 45 % to the pixels (with 0.3 ms: 55 %).
_SHORTEST_DEVICE_CALL = 0.15e-3


@dataclasses.dataclass
class Program:
    """Represents one compiled program of a stage."""

    function: Compiled
    batch: int
    shape: tuple[tuple[int, ...], ...]
    seconds: float = 0.0
    calls: int = 0
    samples: int = 0
    padded_seconds: float = 0.0
    needed_seconds: float = 0.0
    nbytes: int = 0  # padded bytes of all values in a call

    def first_call(self, where: Hashable, *operands: Any) -> Any:
        """Makes the first call, and records its time; other users of the function wait until it is compiled."""
        function = self.function
        with function.lock, inner("computing" if where in function.compiled_for else "compiling"):
            start = time.perf_counter()
            result = function(*operands)
            function.compiled_for.add(where)
            self.seconds = self.seconds or time.perf_counter() - start
        return result

    def count(self, samples: int, padded_seconds: float, needed_seconds: float) -> None:
        self.samples += samples
        self.padded_seconds += padded_seconds
        self.needed_seconds += needed_seconds


class ProgramBudget:
    """Counts the programs of a pipeline, and limits their number. All pipelines share a table of compiled functions.

    Programs count even if another pipeline has compiled them, so the limit does not depend on other pipelines.
    """

    def __init__(self, limit: int | None = None, table: ProgramTable = PROGRAMS):
        self.limit, self._table = limit, table
        self.count = 0  # number of programs so far; equal stages share programs
        self._lock = threading.Lock()
        self._own: weakref.WeakSet[Compiled] = weakref.WeakSet()

    def function(self, stage: Stage, shapes: object, key: Hashable, make: Callable[[], Any]) -> Compiled:
        """Returns the function of a key, which contains everything that it depends on. Counts new functions.

        Raises CompileLimitError if a new function would exceed the limit.
        """
        found = self._table.get(key, make)
        with self._lock:
            if found not in self._own:
                self._count(stage, shapes)
                self._own.add(found)
        return found

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
    """Holds a stage that is planned for one batch."""

    calls: tuple[PlannedCall, ...]
    inputs: tuple[BatchSpec, ...]
    arrays: list[np.ndarray]  # small per-sample arrays, in the order of `packing`: all sizes, then arguments
    packing: Packing
    x64: bool
    groups: Sequence[Group] = ()

    @classmethod
    def of(cls, calls: Sequence[PlannedCall], inputs: Sequence[BatchSpec]) -> PlannedStage:
        """Collects the arguments of a stage's program, before samples are grouped."""
        values = [*inputs, *(o for c in calls for o in c.outputs)]
        arrays = [s.extents.astype(np.int32) for s in values]
        arrays += [np.asarray(array) for c in calls for _, array in sorted(c.traced.items())]
        x64 = any(needs_x64(s.dtype) for s in values) or any(a.dtype.itemsize > 4 for a in arrays)
        return cls(tuple(calls), tuple(inputs), arrays, Packing(arrays), x64)

    @property
    def values(self) -> list[BatchSpec]:
        """The specs of all values: inputs, then outputs of the operators."""
        return [*self.inputs, *(o for c in self.calls for o in c.outputs)]


def split_shapes(flat: tuple[int, ...], planned: PlannedStage) -> tuple[tuple[int, ...], ...]:
    ends = itertools.accumulate((spec.ndim for spec in planned.values), initial=0)
    return tuple(flat[begin:end] for begin, end in itertools.pairwise(ends))


def random_nodes(stage: Stage) -> list[Node]:
    """Lists the random operators of a stage; the array of its seeds has a row for each, in this order."""
    return [node for node in stage.nodes if node.op.random]


def compiler_options(
    platform: str, operators: Iterable[Operator] = (), *, one_thread: bool = False
) -> dict[str, Any] | None:
    """Chooses XLA's options for programs of these operators; None for JAX's defaults."""
    if platform != "cpu":
        return None
    wide_vectors = any(isinstance(op, CompiledOp) and op.wide_vectors for op in operators)
    wanted = (*OLDER_LOOPS, *(ONE_THREAD if one_thread else ()), *(WIDE_VECTORS if wide_vectors else ()))
    return known_options(wanted) or None


def padded_bytes(planned: PlannedStage, shapes: tuple[tuple[int, ...], ...]) -> int:
    return sum(math.prod(shape) * s.dtype.itemsize for shape, s in zip(shapes, planned.values, strict=True))


def samples_a_call(
    planned: PlannedStage, shapes: tuple[tuple[int, ...], ...], cost: StageCost, *, platform: str,
    max_batch: int, met: int,
) -> int:  # fmt: skip
    """Chooses the number of samples in a call. It is fixed for a padded shape, so that a new batch size compiles nothing.

    The first batch with this shape had `met` samples of it. On an accelerator unused rows cost time, so a call has at most
    `met` rows, or more if needed to take `_SHORTEST_DEVICE_CALL`.
    """
    size = max(padded_bytes(planned, shapes), 1)
    kind = "cpu" if platform == "cpu" else "gpu"
    fitting = max(1, CHUNK_BYTES[kind] // size)
    if kind == "cpu":
        fitting = max(fitting, min(_ROOMY_CHUNK_BYTES // size, max_batch // _CALLS))
        fitting = max(1, min(fitting, int(SECONDS_A_CALL / _seconds_a_sample(shapes, cost))))
    else:
        fitting = min(fitting, max(1, met, int(_SHORTEST_DEVICE_CALL / _seconds_a_sample(shapes, cost))))
    if fitting >= max_batch:
        return max_batch
    return int(1 << (int(fitting).bit_length() - 1))


def few_samples_a_call(shapes: tuple[tuple[int, ...], ...], cost: StageCost) -> int:
    """Chooses 1, 2, 4 or 8 samples in a call on a CPU, for batches of at most `FEW_SAMPLES`, by the shape alone."""
    wanted = SHORTEST_CALL / _seconds_a_sample(shapes, cost)
    return next((rows for rows in (1, 2, 4) if rows >= wanted), FEW_SAMPLES)


def _seconds_a_sample(shapes: tuple[tuple[int, ...], ...], cost: StageCost) -> float:
    # Where the time depends on true sizes, assume that a sample fills the usual share of the shape.
    counts = elements([np.array([shape], np.int64) for shape in shapes])
    return float(cost.seconds(counts * TRUE_SHARE, counts)[0])


@dataclasses.dataclass(frozen=True)
class ProgramForm:
    """Identifies the program of a stage by all that it depends on, except for the number of samples."""

    calls: tuple[Call, ...]
    traced: tuple[tuple[str, ...], ...]  # sorted names of the per-sample values of each call
    # Padded shape of each value of the stage: its inputs, then the outputs of its operators.
    shapes: tuple[tuple[int, ...], ...]
    small: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]
    x64: bool

    @classmethod
    def of(cls, planned: PlannedStage, shapes: tuple[tuple[int, ...], ...]) -> ProgramForm:
        calls = tuple(c.call for c in planned.calls)
        traced = tuple(tuple(sorted(c.traced)) for c in planned.calls)
        return cls(calls, traced, shapes, planned.packing.key, planned.x64)

    def packing(self) -> Packing:
        return Packing([np.empty((0, *shape), dtype) for dtype, shape in self.small])


def stage_compute(outline: StageOutline, form: ProgramForm) -> Callable[..., list[Array]]:
    """Makes the pure function of a stage: (arrays, small, identity, seeds) -> outputs.

    Only the arguments of this function differ by batch. The compiler may fuse its products with sums; `stage_function`
    prevents that. `small` holds the sizes of the inputs, the sizes of the operators' outputs, and `form.traced`.

    Raises, while it is traced:
        OperatorFailure: an operator failed.
    """
    random = outline.random

    def compute(arrays: Any, small_arrays: Any, identity: Any, seeds: Any) -> list[Array]:
        small = iter(small_arrays)
        inputs = [Slot(STAGE, i) for i in range(outline.inputs)]
        values: dict[Slot, Array] = dict(zip(inputs, arrays, strict=True))
        extents = {slot: next(small) for slot in inputs}
        out_extents = [[next(small) for _ in range(operator.outputs)] for operator in outline.operators]
        traced = [{name: next(small) for name in group} for group in form.traced]
        out_shapes = iter(form.shapes[outline.inputs :])
        keys_of: dict[int, Array] = {}
        if random:  # the keys of all operators at once: one by one they would take most of the compile time
            keys_of |= zip(random, sample_key(seeds[:, None, :2], seeds[:, 2:], *identity), strict=True)
        for i, (operator, call) in enumerate(zip(outline.operators, form.calls, strict=True)):
            shapes_here = [next(out_shapes) for _ in range(operator.outputs)]
            ins, ext = _operands(operator, values, extents, identity.shape[1])
            args = traced[i] | _traced_args(operator, values, extents, traced[i], call)
            try:
                results = run_call(call, ins, ext, args, out_extents[i], shapes_here, keys_of.get(i))
            except BaseException as error:
                cause = contained(error)
                raise OperatorFailure(i, cause) from cause
            for output, (result, extent) in enumerate(zip(results, out_extents[i], strict=True)):
                values[Slot(i, output)], extents[Slot(i, output)] = result, extent
        return [values[slot] for slot in outline.outputs]

    return compute


def stage_function(outline: StageOutline, form: ProgramForm, platform: str) -> Callable[..., Any]:
    """Makes the function of a stage that the engine compiles.

    It takes (arrays, packed, apart, identity, seeds, -0). `Packing.pack` makes `packed` and `apart`; `exact` needs -0.
    """
    compute, packing = stage_compute(outline, form), form.packing()

    def packed_compute(arrays: Any, packed: Any, apart: Any, identity: Any, seeds: Any) -> list[Array]:
        return compute(arrays, packing.unpack(packed, apart), identity, seeds)

    def function(*operands: Any) -> Any:
        *given, minus_zero = operands
        return exact(packed_compute, minus_zero, platform)(*given)

    return function


def _operands(
    operator: OperatorOutline, values: Mapping[Slot, Array], extents: Mapping[Slot, Array], batch: int
) -> tuple[list[Array], list[Array]]:
    ins, ext = [], []
    for source in operator.inputs:
        if isinstance(source, Slot):
            ins.append(values[source])
            ext.append(extents[source])
        else:
            value = source.value
            ins.append(jax.numpy.broadcast_to(value, (batch, *value.shape)))
            ext.append(jax.numpy.broadcast_to(np.array(value.shape, np.int32), (batch, value.ndim)))
    return ins, ext


def _traced_args(
    operator: OperatorOutline, values: Mapping[Slot, Array], extents: Mapping[Slot, Array],
    done: Mapping[str, Array], call: Call,
) -> dict[str, Array]:  # fmt: skip
    """Collects the arguments that the program computes or reads as inputs, converted to the declared element types."""
    result = {}
    known = {name for name, _ in (*call.static, *call.constants)} | set(done)
    shapes, declared = dict(call.argument_shapes), operator.op.args
    for name, slot in operator.arguments:
        if name not in known and slot is not None:
            dtype = declared[name].convert(0).dtype
            array = values[slot]
            result[name] = array if dtype.kind == "O" else array.astype(dtype)
            if None in shapes.get(name, ()) and extent_name(name) in declared:
                result[extent_name(name)] = extents[slot]
    return result
