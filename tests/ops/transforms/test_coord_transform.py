"""coord_transform against the real DALI and NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._operators.pure import pure_call
from jdali.ops.transforms._coord_transform import coord_transform

POINTS = [np.arange(8, dtype=np.float32).reshape(4, 2), np.float32([[0.5, -1], [2, 3]])]
ARGS = [
    {},
    {"M": 2.0},
    {"M": [1.0, 2, 3, 4]},
    {"M": [1.0, 2, 3, 4, 5, 6], "T": [1.0, 2, 3]},
    {"M": [1.0, 2, 3, 4, 5, 6], "T": 1.0},
    {"M": [1.0, 2]},
    {"T": [1.0, 2]},
    {"M": 2.0, "T": 1.0},
    {"MT": [1.0, 2, 3, 4, 5, 6]},
    {"MT": [1.0, 2, 3]},
    {"MT": 2.0},
]
# Two products and a sum, exact for these small numbers except for fused multiply-adds.
ATOL = 2e-6


@pytest.mark.oracle
@pytest.mark.parametrize("args", ARGS, ids=str)
def test_equals_dali(args):
    contract.check(coord_transform, [POINTS], args, atol=ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "per_sample",
    [
        {"M": [np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[0, 1], [1, 0], [1, 1]])]},
        {"MT": [np.float32([[1, 2, 3]]), np.float32([[0, 1, 0]])]},
        {"M": [np.float32(3), np.float32(4)], "T": [np.float32([1, 2]), np.float32([0, 0])]},
    ],
    ids=lambda p: "+".join(p),
)
def test_matrices_of_samples_equal_dali(per_sample):
    contract.check(coord_transform, [POINTS], {}, per_sample, atol=ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32], ids=lambda d: d.__name__)
def test_integers_equal_dali(dtype):
    points = [np.arange(12, dtype=dtype).reshape(6, 2)]
    matrix = [30.5, -10.0, 20.0, 0.5]  # some sums end in a half, some leave the range
    contract.check(coord_transform, [points], {"M": matrix})
    contract.check(coord_transform, [points], {"M": matrix, "dtype": dtype})


@pytest.mark.oracle
def test_more_axes_and_components_equal_dali():
    colors = [np.arange(24, dtype=np.uint8).reshape(2, 4, 3)]
    contract.check(coord_transform, [colors], {"M": [1.0, 0, 0, 0, 1, 0]}, layout="HWC", atol=ATOL)
    wide = [np.arange(60, dtype=np.float32).reshape(10, 6)]
    # 6 products of numbers below 60 and 18, added up in another order
    contract.check(coord_transform, [wide], {"M": np.arange(18.0).tolist()}, atol=1e-3)


def test_equals_numpy():
    matrix, shift = np.float32([[1, 2], [3, 4], [-1, 0]]), np.float32([0.5, 0, 1])
    expected = [p @ matrix.T + shift for p in POINTS]
    args = {"M": matrix, "T": shift}
    contract.check(coord_transform, [POINTS], args, expected=[expected], atol=ATOL)
    block = {"MT": np.concatenate([matrix, shift[:, None]], axis=1)}
    contract.check(coord_transform, [POINTS], block, expected=[expected], atol=ATOL)


def test_no_points_give_no_points():
    none = np.zeros((0, 2), np.float32)
    assert contract.pure(coord_transform, [none], {"M": [1.0, 2, 3, 4, 5, 6]}).shape == (0, 3)


def test_gradient_by_the_matrix():
    points = jnp.asarray(POINTS[0])
    grad = jax.jit(jax.grad(lambda m: pure_call(coord_transform, [points], {"M": m}).sum()))(jnp.eye(2))
    np.testing.assert_allclose(grad, [points.sum(0)] * 2)


@pytest.mark.parametrize(
    ("points", "args", "message"),
    [
        (POINTS[0][0], {}, "CoordTransform expects an input with at least 2 dimensions,"),
        (POINTS[0], {"MT": 1.0, "T": 2.0}, "The combined ``MT`` argument cannot be used together with"),
        (POINTS[0], {"M": [1.0, 2, 3]}, "Cannot form a matrix with 3 elements and 2 columns; M has the"),
        (POINTS[0], {"M": np.ones((2, 3))}, "The shape of the argument ``M`` does not match the input"),
        (POINTS[0], {"T": [1.0, 2, 3]}, 'Argument "T" expects either a single value or a list of 2'),
    ],
)
def test_errors(points, args, message):
    with pytest.raises(ValueError, match=f"^coord_transform: .*{message}"):
        pure_call(coord_transform, [points], args)
