"""Every compiled operator compiles for an H100 on a machine without one: the pure function, and the engine's program."""

from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np
import pytest
from laws.test_every_function import ROWS
from laws.test_lowering import QUICK, each, plan_of
from ops.pure_calls import DEVICES, mapped, samples
from ops.pure_cases import CASES, Case
from support import h100
from support.sweep import Row

import jdali
from jdali.engine.function.export import lowered

pytestmark = [
    pytest.mark.skipif(not h100.is_installed(), reason=h100.MISSING),
    pytest.mark.timeout(900),
]

# Seconds of processors, which do not depend on how busy a machine is.
MOST_SECONDS = 20
# As few as show that the compiler is called as it should be: each takes seconds.
SOME = [*QUICK, "resize"]


@pytest.mark.parametrize("case", each(CASES, SOME))
def test_pure_function(case: Case):
    stacked = samples(case, DEVICES)
    words = jax.random.key_data(stacked.key)

    def call(inputs: Any, traced: Any, words: Any) -> Any:
        return mapped(case)(type(stacked)(jax.random.wrap_key_data(words), inputs, traced))

    h100.compiled(call, *jax.tree.map(shape_of, (stacked.inputs, stacked.traced, words)))


@pytest.mark.parametrize("row", each(ROWS, SOME))
def test_program_of_the_engine(row: Row):
    function, plan = plan_of(row)
    ((_, data),) = lowered(function.planner, plan.form, "cuda")
    exported = jax.export.deserialize(bytearray(data))
    # Of any number of samples, two.
    shapes = [
        jax.ShapeDtypeStruct([n if isinstance(n, int) else 2 for n in aval.shape], aval.dtype)
        for aval in exported.in_avals
    ]
    arguments, _ = jax.tree.unflatten(exported.in_tree, shapes)
    h100.compiled(exported.call, *arguments)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda x: jdali.ops.jpeg_compression_distortion(x, quality=50), (480, 640, 3)),
        (lambda x: jdali.ops.optical_flow(x), (2, 480, 640, 3)),
        (lambda x: jdali.ops.gaussian_blur(x, sigma=2.0), (480, 640, 3)),
        (lambda x: jdali.ops.resize(x, size=[224, 224], interp_type=jdali.types.INTERP_CUBIC), (480, 640, 3)),
    ],
    ids=["jpeg_compression_distortion", "optical_flow", "gaussian_blur", "resize"],
)
def test_no_program_takes_long_to_compile(call: Any, shape: tuple[int, ...]):
    start = time.process_time()
    h100.compiled(jax.vmap(call), jax.ShapeDtypeStruct((4, *shape), np.uint8))
    assert time.process_time() - start < MOST_SECONDS


def shape_of(value: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(np.shape(value), value.dtype)
