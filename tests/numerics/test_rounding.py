"""Conversions to integers, against the rule in float64, where it has no roundings of its own."""

import jax
import numpy as np
import pytest

from jdali._numerics.platform import tracing_for
from jdali._numerics.rounding import saturate_cast


def values():
    """float32: halves and their neighbours, random bits, and what is no number."""
    halves = np.arange(-70000, 70000, 0.5, dtype=np.float32)
    neighbours = [np.nextafter(halves, np.float32(side)) for side in (-np.inf, np.inf)]
    bits = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    return np.concatenate([halves, *neighbours, bits, np.float32([np.nan, np.inf, -np.inf, -0.0])])


@pytest.mark.cases(7)
@pytest.mark.parametrize("platform", ["cpu", "gpu"])
@pytest.mark.parametrize("source", [np.float16, np.float32])
@pytest.mark.parametrize("target", [np.uint8, np.int8, np.uint16, np.int16, np.int32])
def test_half_away_from_zero_and_saturated(source, target, platform):
    with np.errstate(over="ignore", invalid="ignore"):
        given = values().astype(source)
        wide, limits = given.astype(np.float64), np.iinfo(target)
        rounded = np.clip(np.copysign(np.floor(np.abs(wide) + 0.5), wide), limits.min, limits.max)
    expected = np.where(np.isnan(wide), 0, rounded).astype(target)
    with tracing_for(platform):
        found = np.asarray(jax.jit(lambda v: saturate_cast(v, target))(given))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("target", "narrow"), [(np.int64, np.int32), (np.uint64, np.uint32)])
@pytest.mark.parametrize("source", [np.float16, np.float32, np.int32, np.uint8])
def test_64_bits_are_32_without_x64(source, target, narrow):
    values = np.array([0, 1, 100], source)
    found = saturate_cast(values, target)
    assert found.dtype == narrow
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("target", [np.uint8, np.int8, np.uint16, np.int16])
def test_a_gpu_converts_and_takes_no_bits(target):
    """There the lowest byte of a float32 is stored as if it were converted (ptxas 12.8 and 13.0, seen on an H200)."""
    function = jax.jit(lambda v: saturate_cast(v * 2, target))
    program = function.trace(np.ones(8, np.float32)).lower(lowering_platforms=("cuda",))
    assert "bitcast_convert" not in program.as_text()
