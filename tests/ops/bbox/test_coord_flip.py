"""coord_flip against the real DALI, and by hand."""

import jax
import numpy as np
import pytest
from support import contract

from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.bbox._coord_flip import coord_flip


def points(count, axes, seed=0):
    return np.random.default_rng(seed).random((count, axes), np.float32)


def test_by_hand():
    given = np.float32([[0.25, 0.5], [1, 0]])
    contract.check(coord_flip, [[given]], {}, expected=[[np.float32([[0.75, 0.5], [0, 0]])]])
    expected = np.float32([[0.25, 1.5], [1, 2]])
    contract.check(coord_flip, [[given]], {"flip_x": 0, "flip_y": 1, "center_y": 1.0}, expected=[[expected]])


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["", "x", "yx", "zyx"])
def test_equals_dali(layout):
    axes = len(layout) or 3
    samples = [points(5, axes), points(1, axes, 1), points(0, axes), points(30, axes, 2)]
    per_sample = {"flip_x": [0, 1, 1, 2], "center_x": [0.5, 0.3, 0.5, -1.0]}
    if axes > 1:
        per_sample |= {"flip_y": [1, 0, 1, 1], "center_y": [0.1, 0.3, 0.5, 4.0]}
    if axes > 2:
        per_sample |= {"flip_z": [1, 1, 0, 1], "center_z": [0.1, 0.3, 0.5, 0.9]}
    # Twice the centre is exact, so is there one rounding only.
    contract.check(coord_flip, [samples], {"layout": layout}, per_sample, compiled_atol=0.0)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_gradient():
    value = points(4, 2)
    run = jax.jit(jax.vmap(lambda flag: pure_call(coord_flip, [value], {"flip_x": flag})))
    np.testing.assert_array_equal(
        run(np.int32([0, 1])), [value, np.float32([1, 0]) + value * np.float32([-1, 1])]
    )
    gradient = jax.grad(lambda c: pure_call(coord_flip, [value], {"center_x": c}).sum())(0.5)
    assert gradient == 8


def test_errors():
    with pytest.raises(
        SampleError,
        match=r"coord_flip: Unexpected number of dimensions 4: points must have 1 to 3 coordinates, got shape 5 x 4",
    ):
        pure_call(coord_flip, [points(5, 4)], {})
    with pytest.raises(SampleError, match=r"coord_flip: .*points must have 2 coordinates"):
        pure_call(coord_flip, [points(5, 3)], {"layout": "xy"})
    with pytest.raises(ValueError, match=r"coord_flip: points must be \[points, coordinates\], got 1 axes"):
        pure_call(coord_flip, [np.zeros(2, np.float32)], {})
    with pytest.raises(ValueError, match="coord_flip: .*layout must be the letters"):
        pure_call(coord_flip, [points(5, 2)], {"layout": "xz"})
    with pytest.raises(TypeError, match="coord_flip: Input is expected to be float, got int32"):
        pure_call(coord_flip, [np.zeros((2, 2), np.int32)], {})
