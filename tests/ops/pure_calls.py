"""Calls of the pure functions of `jdali.ops` on the examples of `pure_cases`, plain and in compiled programs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from ops.pure_cases import COUNT, DRAWN, GROUPS, Case
from support.contract import sample_keys

import jdali.ops
from jdali._operators.record import REGISTRY, CompiledOp
from jdali._system.jax_internals import OLDER_LOOPS, known_options

DEVICES = 8
OPERATORS = {
    op.name: op for op in REGISTRY.values() if isinstance(op, CompiledOp) and not op.name.startswith("_")
}


def public(name: str) -> Callable[..., Any]:
    found: Any = jdali.ops
    return functools.reduce(getattr, name.split("."), found)


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """What a transformation maps over; one sample, or several stacked."""

    key: Any
    inputs: list[Any]
    traced: dict[str, Any]


jax.tree_util.register_dataclass(Sample, ["key", "inputs", "traced"], [])


def samples(case: Case, count: int) -> Sample:
    """The case's samples, again and again, each with a key of its own."""
    which = np.arange(count) % COUNT
    arguments = {
        name: np.asarray(values, REGISTRY[case.op].args[name].convert(values[0]).dtype)[which]
        for name, values in case.traced.items()
    }
    return Sample(_keys(count), [np.asarray(i)[which] for i in case.inputs], arguments)


@functools.cache
def _keys(count: int) -> Any:
    with jax.ensure_compile_time_eval():  # kept, so no part of a program that is being traced
        return sample_keys(count)


def one(stacked: Sample, index: int) -> Sample:
    return jax.tree.map(lambda leaf: leaf[index], stacked)


def layout_of(case: Case) -> dict[str, Any]:
    """The layout of the inputs; some operators have an argument of that name, of the output."""
    return {} if "layout" in REGISTRY[case.op].args else {"layout": case.layout}


def call(case: Case, sample: Sample) -> tuple[Any, ...]:
    key = (sample.key,) if REGISTRY[case.op].random else ()
    out = public(case.op)(*key, *sample.inputs, **case.args, **sample.traced, **layout_of(case))
    return out if isinstance(out, tuple) else (out,)


# Programs run once here, so how fast they are made counts. Users' programs have XLA's newer loops.
jit = functools.partial(
    jax.jit,
    compiler_options={
        "xla_backend_optimization_level": 0,
        **dict.fromkeys(known_options(OLDER_LOOPS), True),
    },
)


@functools.cache
def compiled(case: Case) -> Callable[[Sample], tuple[Any, ...]]:
    return jit(functools.partial(call, case))


def mapped(case: Case) -> Callable[[Sample], tuple[Any, ...]]:
    return jax.vmap(functools.partial(call, case))


def sharded(case: Case) -> Callable[[Sample], tuple[Any, ...]]:
    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("batch",))
    spec = PartitionSpec("batch")
    return jax.shard_map(mapped(case), mesh=mesh, in_specs=spec, out_specs=spec)


def over_devices(axis_type: AxisType) -> NamedSharding:
    """A sharding of the batch over all devices."""
    mesh = jax.make_mesh((DEVICES,), ("batch",), axis_types=(axis_type,))
    return NamedSharding(mesh, PartitionSpec("batch"))


def batch_of(
    case: Case, transform: Callable[[Case], Any], among: Sequence[Case] = tuple(DRAWN),
    axis_type: AxisType | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """`transform(case)` of the samples of a batch, compiled together with other cases `among` those named.

    With `axis_type`, the batch is sharded over a mesh of such an axis.
    """
    group = next((tuple(c for c in group if c in among) for group in GROUPS if case in group), ())
    try:
        return together(group if case in group else (case,), transform, axis_type)[case]
    except Exception:  # perhaps another case's fault
        return together((case,), transform, axis_type)[case]


@functools.cache
def together(
    group: tuple[Case, ...], transform: Callable[[Case], Any], axis_type: AxisType | None
) -> dict[Case, Any]:
    functions = [transform(case) for case in group]
    every = [samples(case, DEVICES) for case in group]
    if axis_type is not None:
        every = jax.device_put(every, over_devices(axis_type))
    results = jit(lambda every: [f(s) for f, s in zip(functions, every, strict=True)])(every)
    return dict(zip(group, results, strict=True))


@functools.cache
def eager(case: Case) -> list[tuple[Any, ...]]:
    """The plain calls for the first COUNT samples."""
    stacked = samples(case, DEVICES)
    return [call(case, one(stacked, i)) for i in range(COUNT)]


def compare(case: Case, got: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        g, w = np.asarray(g), np.asarray(w)
        if w.dtype.kind == "f":
            # One program may fuse or reorder what another does step by step: some ulps of the largest value.
            scale = float(np.abs(w.astype(np.float64)).max(initial=1))
            np.testing.assert_allclose(g, w, rtol=0, atol=1e-5 * scale)
        else:
            np.testing.assert_allclose(g.astype(np.int64), w.astype(np.int64), rtol=0, atol=case.atol)
