"""Every compiled operator compiles for an H100 and a TPU v5e, without either: the pure function, and the engine's program."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
import pytest
from laws.test_every_function import ROWS
from laws.test_lowering import QUICK, each, plan_of
from ops.pure_calls import DEVICES, mapped, samples
from ops.pure_cases import CASES, Case
from support import h100, v5e
from support.sweep import Row

import jdali
from jdali._operators.record import REGISTRY
from jdali.engine.function.export import lowered

pytestmark = pytest.mark.timeout(900)

# Seconds of processors, which do not depend on how busy a machine is.
MOST_SECONDS = 20
# As few as show that the compiler is called as it should be: each takes seconds.
SOME = [*QUICK, "resize"]

for_each_device = pytest.mark.parametrize(
    ("platform", "compiler"),
    [
        pytest.param(platform, one, id=platform, marks=pytest.mark.skipif(not one.is_installed(), reason=one.MISSING))
        for platform, one in (("cuda", h100), ("tpu", v5e))
    ],
)  # fmt: skip


@for_each_device
@pytest.mark.parametrize("case", each(CASES, SOME))
def test_pure_function(case: Case, platform: str, compiler: ModuleType):
    stacked = samples(case, DEVICES)
    words = jax.random.key_data(stacked.key)

    def call(inputs: Any, traced: Any, words: Any) -> Any:
        return mapped(case)(type(stacked)(jax.random.wrap_key_data(words), inputs, traced))

    compiler.compiled(call, *jax.tree.map(shape_of, (stacked.inputs, stacked.traced, words)))


@for_each_device
@pytest.mark.parametrize("row", each(ROWS, SOME))
def test_program_of_the_engine(row: Row, platform: str, compiler: ModuleType):
    function, plan = plan_of(row)
    ((_, data),) = lowered(function.planner, plan.form, platform)
    exported = jax.export.deserialize(bytearray(data))
    # Of any number of samples, two.
    shapes = [
        jax.ShapeDtypeStruct([n if isinstance(n, int) else 2 for n in aval.shape], aval.dtype)
        for aval in exported.in_avals
    ]
    arguments, _ = jax.tree.unflatten(exported.in_tree, shapes)
    compiler.compiled(exported.call, *arguments)


@pytest.mark.exhaustive
@for_each_device
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
def test_no_program_takes_long_to_compile(
    call: Any, shape: tuple[int, ...], platform: str, compiler: ModuleType
):
    start = time.process_time()
    compiler.compiled(jax.vmap(call), jax.ShapeDtypeStruct((4, *shape), np.uint8))
    assert time.process_time() - start < MOST_SECONDS


def test_costs_are_of_operators_that_exist(monkeypatch: pytest.MonkeyPatch):
    for name in ("XLA_FLAGS", "JAX_PLATFORMS", "TF_CPP_MIN_LOG_LEVEL"):  # which the script sets
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "benchmarks"), *sys.path])
    rows = importlib.import_module("gpu_cost").rows()
    assert {row.op for row in rows.values()} <= set(REGISTRY)


def shape_of(value: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(np.shape(value), value.dtype)
