"""Every compiled operator lowers for CUDA and TPU on a machine without either: the pure function, and the engine's program."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any

import jax
import numpy as np
import pytest
from laws.test_every_function import ROWS, function_of, operands
from ops.pure_calls import DEVICES, mapped, samples
from ops.pure_cases import CASES, Case
from support.sweep import COUNT, Row

from jdali.engine.function.export import lowered
from jdali.engine.function.preprocess import host_calls

pytest.importorskip("flatbuffers", reason="JAX writes exported programs with flatbuffers")

pytestmark = pytest.mark.timeout(600)

PLATFORMS = ("cuda", "tpu")
QUICK = ("squeeze", "crop_mirror_normalize", "reductions.mean", "random.uniform")


def each(examples: Any, some: Collection[str] = QUICK) -> Any:
    """All examples, but for `some` in the exhaustive run only."""
    return [
        pytest.param(one, id=str(one), marks=() if str(one) in some else pytest.mark.exhaustive)
        for one in examples
    ]


@functools.cache
def plan_of(row: Row) -> Any:
    function = function_of(row)
    arrays, extents = operands(row)
    sizes = extents[0] if len(extents) == 1 else extents
    return function, function.plan(*arrays, extents=sizes, index=np.arange(COUNT))


@pytest.mark.parametrize("case", each(CASES))
def test_pure_function(case: Case):
    stacked = samples(case, DEVICES)
    keyless = jax.tree.map(np.asarray, (stacked.inputs, stacked.traced))
    data = jax.random.key_data(stacked.key)

    def call(inputs: Any, traced: Any, key: Any) -> Any:
        return mapped(case)(type(stacked)(jax.random.wrap_key_data(key), inputs, traced))

    exported = jax.export.export(jax.jit(call), platforms=PLATFORMS)(*keyless, data)
    assert exported.platforms == PLATFORMS


@pytest.mark.cases(3)
@pytest.mark.parametrize("row", each(ROWS))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_program_of_the_engine(row: Row, platform: str):
    """For any number of samples, and without calls into the host."""
    function, plan = plan_of(row)
    ((batch, data),) = lowered(function.planner, plan.form, platform)
    assert batch == 0
    exported = jax.export.deserialize(bytearray(data))
    assert exported.platforms == (platform,)
    assert not host_calls(exported)
