"""The contract of an operator, checked in one module: every operator's test calls `check`.

For a batch of samples of different sizes it holds that
* the compiled batch of padded samples equals the reference (DALI, or values given by the test);
* the pure function of the smallest and of the largest sample equals the reference as well, and the compiled batch up to
  roundings (a compiler may fuse a product with a sum in the pure function, never in the engine's programs:
  `jdali._numerics.exact`). It is a program of its own: `make exhaustive` has both samples, a normal run one of them, in a
  sixteenth of the calls, and where the compiled batch equals the reference only up to roundings;
* `setup` and `run` agree on shape and dtype;
* the compiled batch has the same bits whatever lies in the padding and, unless the reference has them as well, with
  another padding and number of samples in the batch: a second program, in another sixteenth of the calls
  (`test_every_operator` has the others). Without a reference each call has the pure function or the second program;
* the accelerators' program, where it is another, gives on a CPU what the CPU's gives, up to the same roundings: the first
  of an operator's in a process (`make exhaustive` runs all of them);
* a second batch in the same padded shapes does not trace again.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._numerics.platform import forced, known_platform, tracing_for
from jdali._numerics.random import sample_key, seed_words
from jdali._operators.call import CallRequest, PerBatch, PlannedCall, plan_call, run_call
from jdali._operators.pure import pure_call
from jdali._operators.record import DeviceBatchOp, Operator
from jdali.engine.steps.program import compiler_options
from support import oracle
from support.some import DRAW

PAD = 5
FURTHER = 30  # more elements of padding in the second program
# Operators whose program for accelerators was run; with types and arguments, those that were looked at.
_ACCELERATED: set[object] = set()


def check(
    op: Operator,
    inputs: Sequence[Sequence[np.ndarray]],
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    layout: str | Sequence[str] = "",
    expected: Sequence[Sequence[np.ndarray]] | None = None,
    oracle_args: Mapping[str, Any] | None = None,
    atol: float = 0,
    compiled_atol: float | None = None,
    bits_atol: float = 0,
    x64: bool = False,
    pad: int = PAD,
) -> list[list[np.ndarray]]:
    """Checks `op` on one batch; see the module's docstring. Returns jdali's results.

    Args:
        op: the operator.
        inputs: for each positional input the samples of the batch.
        args: arguments with one value for all samples.
        per_sample: arguments with a value a sample.
        layout: of all inputs, or one for each.
        expected: for each output the samples; None: what the real DALI gives (test is skipped
            where it is not installed). Never take these from jdali.
        oracle_args: arguments for DALI where they differ from `args`.
        atol: largest allowed difference from the reference; 0 where it can be 0. Give a reason.
        compiled_atol: largest allowed difference between the padded, compiled batch and the pure
            function; None: for integers 0 if `atol` is 0 and else 1, for floats 1e-5 of the largest
            value (XLA may fuse multiply and add in the pure function).
        bits_atol: largest allowed difference between two paddings; only for an operator whose docstring
            says that it cannot have the same bits, and by how much they differ.
        x64: run with 64-bit types enabled (inputs, outputs or intermediate values need them).
        pad: how many elements of padding to add after each axis.
    """
    args, per_sample = dict(args or {}), dict(per_sample or {})
    if expected is None:
        expected = oracle.run(
            op.name, inputs, args if oracle_args is None else oracle_args, per_sample,
            layout=layout, outputs=op.num_outputs(args),
        )  # fmt: skip
    with jax.enable_x64(x64):
        return _check_padded(
            op, inputs, args, per_sample, layout, expected, compiled_atol, pad, atol, bits_atol
        )


def check_random(
    op: Operator,
    inputs: Sequence[Sequence[np.ndarray]] = (),
    args: Mapping[str, Any] | None = None,
    per_sample: Mapping[str, Sequence[Any]] | None = None,
    *,
    batch_size: int = 3,
    layout: str | Sequence[str] = "",
    compiled_atol: float | None = None,
    x64: bool = False,
    pad: int = PAD,
    seed: int = 7,
) -> list[list[np.ndarray]]:
    """`check` for a random operator, without a reference: what it draws does not depend on padding.

    Args: see `check`, and
        batch_size: number of samples if there are no inputs; their keys are those of the samples
            0, 1, ... of a data set.

    Returns: jdali's results, for each output the samples.
    """
    args, per_sample = dict(args or {}), dict(per_sample or {})
    count = len(inputs[0]) if inputs else batch_size
    with jax.enable_x64(x64):
        keys = sample_keys(count, seed)
        return _check_padded(op, inputs, args, per_sample, layout, None, compiled_atol, pad, 0, 0, keys)


def sample_keys(count: int, seed: int = 7, stream: int = 1, epoch: int = 0) -> Array:
    """Typed keys [count] of the samples 0, 1, ... of a data set."""
    words, index = seed_words(seed), jnp.arange(count, dtype=jnp.uint32)
    return jax.vmap(lambda i: sample_key(words, np.uint32(stream), np.uint32(epoch), i))(index)


def compare(got: Any, want: Any, atol: float, what: str) -> None:
    """Shape, dtype and largest difference."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    if got.size and atol == 0:
        np.testing.assert_array_equal(got, want, err_msg=what)
    elif got.size:
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=0, atol=atol, err_msg=what
        )


def same_bits(got: Any, want: Any, what: str) -> None:
    """Equal to the last bit; any NaN is a NaN."""
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), f"{what}: {got.shape} {got.dtype}"
    if got.dtype.kind == "f":
        got, want = (np.where(np.isnan(v), np.nan, v).astype(v.dtype) for v in (got, want))
    if got.tobytes() != want.tobytes():
        if got.dtype.kind == "f":
            different = got.view(f"u{got.itemsize}") != want.view(f"u{want.itemsize}")
        else:
            different = got != want
        index = tuple(int(n) for n in np.argwhere(different)[0])
        raise AssertionError(
            f"{what}: {int(different.sum())} of {got.size} elements differ, the first at {index}: "
            f"{got[index]!r} and {want[index]!r}"
        )


def _layouts(layout: str | Sequence[str], count: int) -> list[str]:
    return [layout] * count if isinstance(layout, str) else list(layout)


# Programs run once here.
_AT_ONCE = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def pure(
    op: Operator,
    inputs: Sequence[Any],
    args: Mapping[str, Any] | None = None,
    *,
    layout: str | Sequence[str] = "",
    key: Array | None = None,
) -> Any:
    """One sample through the pure function, in one program: its many steps would be compiled one by one.

    Args:
        op: the operator.
        inputs: arrays of one sample each.
        args: arguments, all of them known.
        layout: of all inputs, or one for each.
        key: of a random operator.

    Returns: the output, or a tuple of outputs.
    """
    traced = [not op.input(i).argument for i in range(len(inputs))]
    arrays = [value for value, of_program in zip(inputs, traced, strict=True) if of_program]

    def program(arrays: list[Any], key: Array | None) -> Any:
        rest = iter(arrays)
        values = [next(rest) if t else value for value, t in zip(inputs, traced, strict=True)]
        return pure_call(op, values, args or {}, layout=layout, key=key)

    platform = jax.default_backend()
    with tracing_for(platform):
        closed, shape = jax.make_jaxpr(program, return_shape=True)(arrays, key)

    # As in a call step by step, no product is fused with a sum, and no constant is known to the compiler.
    def stepwise(minus_zero: Array, constants: list[Any], operands: list[Any]) -> Any:
        return exact(functools.partial(jax.core.eval_jaxpr, closed.jaxpr), minus_zero, platform)(
            constants, *operands
        )

    run = jax.jit(stepwise, compiler_options=_AT_ONCE | (compiler_options(platform) or {}))
    results = run(MINUS_ZERO, closed.consts, jax.tree.leaves((arrays, key)))
    return jax.tree.unflatten(jax.tree.structure(shape), results)


def _pure(
    op: Operator, inputs: Any, args: Any, per_sample: Any, layout: Any, keys: Array | None, rows: Sequence[int]
) -> dict[int, tuple[np.ndarray, ...]]:  # fmt: skip
    """Outputs of the pure function for these samples."""
    alone = {}
    for i in sorted(set(rows)):
        result = pure(
            op, [s[i] for s in inputs], args | {k: v[i] for k, v in per_sample.items()},
            layout=_layouts(layout, len(inputs)), key=None if keys is None else keys[i],
        )  # fmt: skip
        alone[i] = tuple(np.asarray(v) for v in (result if isinstance(result, tuple) else (result,)))
    return alone


def _drawn(ways: int, op: Operator, *call: Any) -> int | None:
    """One of some ways to check a call, which follows from the call; None in `make exhaustive`, which takes all of them."""
    if DRAW == "all" or known_platform():
        return None
    return zlib.crc32(f"{op.name} {call}{DRAW}".encode()) % ways


def _check_padded(
    op: Operator, inputs: Any, args: Any, per_sample: Any, layout: Any,
    expected: Sequence[Sequence[np.ndarray]] | None,
    compiled_atol: float | None, pad: int, atol: float, bits_atol: float, keys: Array | None = None,
) -> list[list[np.ndarray]]:  # fmt: skip
    """Compares the padded batch with what samples are alone and with the reference; for each output the samples."""
    lengths = [len(s) for s in (*inputs, *per_sample.values(), *(expected or ()))]
    count = len(keys) if keys is not None else lengths[0] if lengths else 1
    layouts = _layouts(layout, len(inputs))
    specs = [BatchSpec.of(s, name) for s, name in zip(inputs, layouts, strict=True)]
    batch_args = args | {k: PerBatch(np.stack([np.asarray(x) for x in v])) for k, v in per_sample.items()}
    values = {
        op.input(i).name: np.stack([np.asarray(x) for x in s])
        for i, s in enumerate(inputs) if op.input(i).argument
    }  # fmt: skip
    planned = plan_call(CallRequest(op, specs, batch_args, batch_size=count, input_values=values))
    found, wanted = len(planned.outputs), len(expected or planned.outputs)
    assert found == wanted, f"{op.name}: {found} outputs, expected {wanted}"
    batch = _PaddedBatch(op, inputs, specs, planned, keys, count)
    programs = (batch.run(samples, padding) for samples, padding in _programs(op, count, pad))
    first = next(programs)
    accelerator = batch.run_for_accelerators(pad)

    # What equals the reference to the bit need not be compared with itself: one program is enough.
    sizes = [sum(np.size(s[i]) for s in inputs) for i in range(count)]
    rows = [min(range(count), key=sizes.__getitem__), max(reversed(range(count)), key=sizes.__getitem__)]
    # 0, 1: a sample's pure function; 2, 3: the second program; more: neither.
    way = _drawn(4 if expected is None else 32, op, args, sizes)
    others = list(programs) if way in (None, 2, 3) and not _all_equal(first, expected) else []
    alone: dict[int, tuple[np.ndarray, ...]] = {}
    if way is None:
        alone = _pure(op, inputs, args, per_sample, layout, keys, rows)
    elif way < 2 or (expected is not None and not _all_near(first, expected, atol)):
        alone = _pure(op, inputs, args, per_sample, layout, keys, [rows[way % 2]])
    for i, outputs in alone.items():
        for o, want in enumerate(expected or ()):
            compare(outputs[o], want[i], atol, f"{op.name}: output {o}, sample {i}, pure function")
        for value, spec in zip(outputs, planned.outputs, strict=True):
            assert value.shape == tuple(spec.extents[i]), "setup and run disagree on the shape"
            assert value.dtype == spec.dtype, "setup and run disagree on the dtype"
    for o, i in np.ndindex(len(planned.outputs), count):
        got, what = first[o][i], f"{op.name}: output {o}, sample {i}, padded"
        for other in others:
            if bits_atol:
                compare(other[o][i], got, bits_atol, f"{what} in another way")
            else:
                same_bits(other[o][i], got, f"{what} and batched in another way")
        if accelerator:
            allowed = bits_atol + _rounding(got, compiled_atol, atol)
            compare(accelerator[o][i], got, allowed, f"{what} by the program for accelerators")
        if i in alone:
            compare(
                got,
                alone[i][o],
                _rounding(alone[i][o], compiled_atol, atol),
                f"{what} against the pure function",
            )
        elif expected is not None:
            want = np.asarray(expected[o][i])
            compare(got, want, atol + _rounding(want, compiled_atol, atol), f"{what} against the reference")
    return [
        [alone[i][o] if i in alone else value for i, value in enumerate(row)] for o, row in enumerate(first)
    ]


def _all_equal(got: Sequence[Sequence[np.ndarray]], want: Sequence[Sequence[np.ndarray]] | None) -> bool:
    return want is not None and all(
        np.array_equal(g, np.asarray(w), equal_nan=g.dtype.kind == "f")
        for gs, ws in zip(got, want, strict=True)
        for g, w in zip(gs, ws, strict=True)
    )


def _all_near(got: Sequence[Sequence[np.ndarray]], want: Sequence[Sequence[np.ndarray]], atol: float) -> bool:
    try:
        for gs, ws in zip(got, want, strict=True):
            for g, w in zip(gs, ws, strict=True):
                compare(g, w, atol, "")
    except AssertionError:
        return False
    return True


def _rounding(value: np.ndarray, compiled_atol: float | None, atol: float) -> float:
    """By how much the padded, compiled batch may miss the pure function."""
    if compiled_atol is not None:
        return compiled_atol
    if value.dtype.kind in "iub":
        return min(atol, 1)
    return 1e-5 * float(np.abs(value.astype(np.float64)).max(initial=1.0))


def _programs(op: Operator, count: int, pad: int) -> list[tuple[list[list[int]], int]]:
    """Batches and paddings of two programs, which must agree to the last bit."""
    every = list(range(count))
    apart = [every] if isinstance(op, DeviceBatchOp) else [[i] for i in every]
    return [([every], pad), (apart, pad and pad + FURTHER)]


@dataclasses.dataclass(frozen=True)
class _PaddedBatch:
    """A batch that is padded and run by programs of its operator."""

    op: Operator
    inputs: Sequence[Sequence[np.ndarray]]
    specs: list[BatchSpec]
    planned: PlannedCall
    keys: Array | None
    count: int
    _made: dict[Any, tuple[Any, list[int]]] = dataclasses.field(default_factory=dict)

    def run(
        self, batches: list[list[int]], pad: int, options: Mapping[str, Any] | None = None
    ) -> list[list[np.ndarray]]:
        """Runs one program on batches of these samples; for each output the samples in order."""
        shapes = self._shapes(pad)
        compiled, traces = self._program(shapes, len(batches[0]), options)
        found: list[list[list[np.ndarray]]] = []
        for high in (False, True):
            outputs: list[list[np.ndarray]] = [[] for _ in shapes]
            for batch in batches:
                results = compiled(MINUS_ZERO, *self._operands(np.array(batch), pad, high))
                # By NumPy: JAX would compile a program for each way to cut an array.
                for o, result in enumerate(map(np.asarray, results)):
                    assert result.dtype == self.planned.outputs[o].dtype, (
                        "setup and run disagree on the dtype"
                    )
                    assert result.shape == (len(batch), *shapes[o]), (
                        f"output {o}: padded shape {result.shape}"
                    )
                    for row, i in enumerate(batch):
                        valid = tuple(map(slice, self.planned.outputs[o].extents[i]))
                        outputs[o].append(result[row][valid])
            found.append(outputs)
        assert len(traces) == 1, "traced again for a batch with the same padded shapes"
        for o, (low, high_fill) in enumerate(zip(*found, strict=True)):
            for i, (a, b) in enumerate(zip(low, high_fill, strict=True)):
                same_bits(b, a, f"{self.op.name}: output {o}, sample {i}, other values in the padding")
        return found[0]

    def run_for_accelerators(self, pad: int) -> list[list[np.ndarray]] | None:
        """Runs the whole batch by the program for accelerators; None if that is the CPU's, or the operator's was run."""
        call = self.planned.call
        dtypes = tuple(s.dtype for s in self.specs) if DRAW == "all" else ()
        kind = self.op.name, dtypes, tuple(name for name, _ in call.static)
        if _ACCELERATED & {kind, self.op.name} or jax.default_backend() != "cpu" or known_platform():
            return None
        _ACCELERATED.add(kind)
        every = list(range(self.count))
        text = self._text(every, pad)
        with forced("gpu"):
            if self._text(every, pad) == text:
                return None
            _ACCELERATED.add(self.op.name)
            return self.run([every], pad, _AT_ONCE)

    def _text(self, batch: list[int], pad: int) -> str:
        compiled, _ = self._program(self._shapes(pad), len(batch))
        return str(compiled.trace(MINUS_ZERO, *self._operands(np.array(batch), pad, high=False)).jaxpr)

    def _shapes(self, pad: int) -> list[tuple[int, ...]]:
        return [_padded_shape(spec, pad) for spec in self.planned.outputs]

    def _program(
        self, shapes: list[tuple[int, ...]], rows: int, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, list[int]]:
        """The function of JAX, and a list that gets longer each time it is traced; options of XLA, None: the engine's."""
        made = tuple(shapes), rows, options is None, known_platform()
        if made in self._made:
            return self._made[made]
        traces: list[int] = []

        def stage(arrays: Any, extents: Any, traced: Any, out_extents: Any, keys: Any) -> Any:
            traces.append(1)
            return run_call(self.planned.call, arrays, extents, traced, out_extents, shapes, keys)

        platform = jax.default_backend()
        compiled = jax.jit(
            lambda minus_zero, *operands: exact(stage, minus_zero, platform)(*operands),
            compiler_options=compiler_options(platform, [self.op]) if options is None else dict(options),
        )
        self._made[made] = compiled, traces
        return compiled, traces

    def _operands(self, rows: np.ndarray, pad: int, high: bool) -> tuple[Any, ...]:
        """Padded samples with their extents and arguments; `high`: with what is not 0 in the padding."""
        arrays = [
            _padded(s, 0 if self.op.input(i).argument else pad, high)[rows] for i, s in enumerate(self.inputs)
        ]
        return (
            arrays,
            [s.extents[rows].astype(np.int32) for s in self.specs],
            {name: v[rows] for name, v in self.planned.traced.items()},
            [s.extents[rows].astype(np.int32) for s in self.planned.outputs],
            None if self.keys is None else self.keys[rows],
        )


def _padded_shape(spec: BatchSpec, pad: int) -> tuple[int, ...]:
    """Channels are never padded by the engine, nor is an axis of size 1 in all samples."""
    largest = spec.extents.max(axis=0) if spec.batch_size else np.zeros(spec.ndim, np.int64)
    names = spec.layout or " " * spec.ndim
    return tuple(
        int(n)
        if names[a] == "C" or (spec.ndim == 3 and a == 2 and not spec.layout and n <= 4)
        else int(n) + pad
        for a, n in enumerate(largest)
    )


def _padded(samples: Sequence[np.ndarray], pad: int, high: bool) -> np.ndarray:
    shapes = np.array([np.shape(s) for s in samples])
    largest = shapes.max(axis=0)
    dtype = np.asarray(samples[0]).dtype
    fill: Any = 0
    if high:
        # Not a number: any product, sum or maximum that it is in shows.
        fill = np.nan if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max
    channels = [
        a for a in range(len(largest)) if a == len(largest) - 1 and largest[a] <= 4 and len(largest) > 2
    ]
    full = [int(n) if a in channels else int(n) + pad for a, n in enumerate(largest)]
    out = np.full((len(samples), *full), fill, dtype)
    for i, s in enumerate(samples):
        out[(i, *map(slice, np.shape(s)))] = s
    return out
