"""How many taps a program of resampling has room for changes no bit, and rises with what batches need."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.some import drawn

from jdali import types
from jdali._batches import BatchSpec, Rising
from jdali._kernels.resample_filters import Reach
from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._operators.call import CallRequest, PlannedCall, plan_call, run_call
from jdali.ops.image._resize import resize

RANDOM = np.random.default_rng(11)


def plan_of(sample: np.ndarray, layout: str, args: dict[str, Any]) -> PlannedCall:
    return plan_call(CallRequest(resize, [BatchSpec.of([sample], layout)], args, batch_size=1))


def computed(sample: np.ndarray, planned: PlannedCall, platform: str = "cpu") -> np.ndarray:
    """The result of a plan, compiled as the engine compiles it for a platform."""
    size = planned.outputs[0].extents[0]

    def function(array: Any, traced: Any, minus_zero: Any) -> Any:
        def call(array: Any, traced: Any) -> Any:
            extents = [jnp.asarray([s], jnp.int32) for s in (sample.shape, size)]
            return run_call(planned.call, [array], extents[:1], traced, extents[1:], [tuple(size.tolist())])

        return exact(call, minus_zero, platform)(array, traced)

    (result,) = jax.jit(function)(sample[None], planned.traced, MINUS_ZERO)
    return np.asarray(result)


def bytes_of(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def floats_of(*shape: int) -> np.ndarray:
    """Numbers of both signs, and some of each that is neither."""
    values = RANDOM.normal(size=shape).astype(np.float32)
    flat = values.reshape(-1)
    for i, special in enumerate((-0.0, np.nan, np.inf, -np.inf)):
        flat[i * 50 : i * 50 + 3] = special
    values[-2:] = -0.0
    return values


CASES: dict[str, tuple[np.ndarray, str, dict[str, Any], Reach]] = {
    "up": (bytes_of(60, 55, 3), "HWC", {"size": (70, 90)}, Reach.PAIR),
    "up, numbers": (floats_of(60, 55, 2), "HWC", {"size": (70, 90)}, Reach.PAIR),
    "up, few": (floats_of(9, 11, 2), "HWC", {"size": (13, 12)}, Reach.PAIR),
    "one axis down": (bytes_of(3, 60, 55), "CHW", {"size": (70, 20), "dtype": types.FLOAT}, Reach.CHUNK),
    "cubic, frames": (floats_of(2, 60, 50, 1), "FHWC", {"size": (62, 40), "interp_type": types.INTERP_CUBIC}, Reach.CHUNK),
    "volume": (bytes_of(5, 50, 52, 1), "DHWC", {"size": (8, 55, 60), "interp_type": types.INTERP_GAUSSIAN}, Reach.PAIR),
    "nearest along one axis": (
        bytes_of(60, 55, 1).astype(np.uint16), "HWC",
        {"size": (20, 90), "min_filter": types.INTERP_NN, "mag_filter": types.INTERP_TRIANGULAR}, Reach.PAIR,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_room_for_more_taps_changes_no_bit(case):
    sample, layout, args, need = CASES[case]
    planned = plan_of(sample, layout, args)
    assert planned.rising == {"_reach": Rising(need, Reach.ANY)}
    least = computed(sample, planned)
    for reach in drawn([reach for reach in Reach if reach > need], 2, lambda reach: f"{case} {reach.name}"):
        more = computed(sample, planned.raised({"_reach": int(reach)}))
        np.testing.assert_array_equal(more.view(np.uint8), least.view(np.uint8), err_msg=reach.name)


@pytest.mark.parametrize("make", [bytes_of, floats_of])
@pytest.mark.parametrize(("height", "size"), [(130, 20), (170, 20), (250, 20), (790, 10)])
def test_many_taps_are_summed_as_on_a_gpu(make, height, size):
    """13, 17, 25 and 158 taps: one pass, a second one with one chunk and with two, weights that are not kept."""
    sample = make(height, 60, 2)
    planned = plan_of(sample, "HWC", {"size": (size, 64), "dtype": types.FLOAT})
    np.testing.assert_array_equal(computed(sample, planned), computed(sample, planned, "gpu"))


@pytest.mark.parametrize(
    ("size", "kind", "need"),
    [
        ((60, 55), types.INTERP_LINEAR, Reach.PAIR),
        ((59, 55), types.INTERP_LINEAR, Reach.CHUNK),
        ((15, 55), types.INTERP_TRIANGULAR, Reach.CHUNK),
        ((14, 55), types.INTERP_TRIANGULAR, Reach.TWO_CHUNKS),
        ((7, 55), types.INTERP_TRIANGULAR, Reach.FOUR_CHUNKS),
        ((3, 55), types.INTERP_TRIANGULAR, Reach.ANY),
        ((30, 28), types.INTERP_CUBIC, Reach.CHUNK),
        ((29, 28), types.INTERP_CUBIC, Reach.TWO_CHUNKS),
        ((60, 55), types.INTERP_LANCZOS3, Reach.CHUNK),
        ((1, 1), types.INTERP_NN, Reach.PAIR),
    ],
)
def test_reach_follows_from_the_widest_filter(size, kind, need):
    planned = plan_of(bytes_of(60, 55, 1), "HWC", {"size": size, "interp_type": kind})
    assert planned.rising["_reach"].value == need
