"""Every compiled operator through `Pipeline.function`: the bits that the pipeline gives.

The rows are those of `test_every_operator`: samples of several sizes, arguments by sample, keys of samples.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from ops import sweep_cases
from support import sweep
from support.sweep import COUNT, SEED, Outputs, Row, Sources, order

import jdali
from jdali._operators.record import REGISTRY, CompiledOp
from jdali.engine.function import Padded, PipelineFunction
from jdali.graph import DataNode

pytestmark = pytest.mark.timeout(1200)

ROWS = [
    row
    for row in [
        *(row for rows in sweep_cases.COMPILED for row in rows),
        *sweep_cases.SLOWER,
        *sweep_cases.OTHERS,
    ]
    if isinstance(REGISTRY[row.op], CompiledOp) and row.call is None and (row.inputs or row.fed)
]
NO_INPUTS = {"zeros", "ones", "constant"}  # nothing that a function would be of
QUICK = (
    "squeeze",
    "brightness_contrast",
    "random.uniform",
    "reductions.mean",
    "warp_affine",
    "cat",
)
rows = pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=str(row), marks=() if str(row) in QUICK else pytest.mark.exhaustive)
        for row in ROWS
    ],
)


def test_every_compiled_operator_is_here():
    compiled = {name for name, op in REGISTRY.items() if isinstance(op, CompiledOp)}
    left_out = NO_INPUTS | {row.op for row in sweep_cases.OTHERS} | set(sweep_cases.NO_ROW)
    assert compiled - {row.op for row in ROWS} <= left_out


def pipeline_of(row: Row) -> tuple[jdali.Pipeline, tuple[DataNode, ...]]:
    """A pipeline of one row, and its sources."""
    pipe = jdali.Pipeline(batch_size=COUNT, num_threads=1, seed=SEED)
    sources = Sources(COUNT)
    with pipe:
        inputs, fed = sources.operands(row)
        pipe.set_outputs(*sweep.apply(row, inputs, fed))
    return pipe, (*inputs, *fed.values())


def function_of(row: Row) -> PipelineFunction:
    """The function of a pipeline of one row, from its sources on."""
    pipe, sources = pipeline_of(row)
    return pipe.function(sources)


@functools.cache
def operands(row: Row) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The samples of the first epoch, padded with what must not show, and their sizes."""
    arrays, extents = [], []
    for samples in [*row.inputs, *row.fed.values()]:
        chosen = [np.asarray(samples[i]) for i in order(0)]
        sizes = np.array([one.shape for one in chosen], np.int32).reshape(COUNT, chosen[0].ndim)
        padded = np.full((COUNT, *sizes.max(axis=0)), 7, chosen[0].dtype)
        for i, one in enumerate(chosen):
            padded[(i, *map(slice, one.shape))] = one
        arrays.append(padded)
        extents.append(sizes)
    return arrays, extents


def samples_of(returned: Any) -> list[Outputs]:
    """The outputs of each sample, without padding."""
    outputs: list[Padded] = [returned] if isinstance(returned, Padded) else list(returned)
    cut = [
        [
            np.asarray(value)[tuple(map(slice, size))]
            for value, size in zip(*map(np.asarray, one), strict=True)
        ]
        for one in outputs
    ]
    return [list(one) for one in zip(*cut, strict=True)]


def check(row: Row, how: str, got: list[Outputs], allowed: float) -> None:
    (want,), _ = sweep.run([row], COUNT)
    for position, outputs in enumerate(got):
        found = sweep.largest_difference(outputs, want[0, position], f"{row}, {how}, sample {position}")
        assert found <= allowed, f"{row}, {how}, sample {position}: differs by {found:.3g}"


@pytest.mark.cases(3)
@rows
def test_a_batch_has_the_bits_of_the_pipeline(row: Row):
    function = function_of(row)
    arrays, extents = operands(row)
    sizes = extents[0] if len(extents) == 1 else extents
    got = function(*arrays, extents=sizes, index=np.arange(COUNT))
    check(row, "a batch", samples_of(got), sweep_cases.allowed_difference(row))


@pytest.mark.cases(2)
@rows
def test_inside_of_a_program(row: Row):
    function = function_of(row)
    arrays, extents = operands(row)
    sizes = extents[0] if len(extents) == 1 else extents
    with jax.enable_x64(True):
        plan = function.plan(*arrays, extents=sizes, index=np.arange(COUNT))
        program = jax.jit(
            jax.vmap(lambda values, plan, index: function.sample(*values, plan=plan, index=index)),
            compiler_options=function.compiler_options,
        )
        got = program(arrays, plan, np.arange(COUNT))
    check(row, "in vmap", samples_of(got), sweep_cases.allowed_difference(row))


@pytest.mark.cases(2)
@rows
def test_over_a_mesh(row: Row):
    """A batch sharded over Explicit axes, by itself and in a program, and a batch in `shard_map`."""
    function = function_of(row)
    arrays, extents = operands(row)
    mesh = jax.make_mesh((4,), ("batch",), axis_types=(AxisType.Explicit,), devices=jax.devices()[:4])
    over = PartitionSpec("batch")

    def call(arrays: Any, plan: Any, index: Any) -> Any:
        return function(*arrays, plan=plan, index=index)

    def program(call: Any) -> Any:
        return jax.jit(call, compiler_options=function.compiler_options)

    sizes, index = extents[0] if len(extents) == 1 else extents, np.arange(COUNT)
    with jax.enable_x64(True):
        plan = function.plan(*arrays, extents=sizes, index=index)
        placed = jax.device_put((arrays, plan, index), NamedSharding(mesh, over))
        ways = {
            "sharded": function(*placed[0], extents=sizes, index=index),
            "in jit": program(call)(*placed),
            "in vmap": program(
                jax.vmap(lambda values, plan, index: function.sample(*values, plan=plan, index=index))
            )(*placed),
        }
        if not any(node.whole_batch for node in function.planner.stage.nodes):
            ways["in shard_map"] = program(jax.shard_map(call, mesh=mesh, in_specs=over, out_specs=over))(
                *placed
            )
    for how, got in ways.items():
        check(row, how, samples_of(got), sweep_cases.allowed_difference(row))
