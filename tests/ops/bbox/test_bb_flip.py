"""bb_flip against the real DALI, and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.bbox._bb_flip import bb_flip


def boxes(count, seed=0):
    return np.random.default_rng(seed).random((count, 4), np.float32)


def test_by_hand():
    # Powers of two: exact.
    box, flipped = np.float32([[0.125, 0.25, 0.5, 0.125]]), np.float32([[0.375, 0.25, 0.5, 0.125]])
    contract.check(bb_flip, [[box]], {}, expected=[[flipped]])
    corners, flipped = np.float32([0.125, 0.25, 0.5, 0.75]), np.float32([0.5, 0.25, 0.875, 0.75])
    contract.check(bb_flip, [[corners]], {"ltrb": True, "vertical": 1}, expected=[[flipped]])


@pytest.mark.oracle
@pytest.mark.parametrize("ltrb", [False, True])
def test_equals_dali(ltrb):
    samples = [boxes(5), boxes(1, 1), boxes(0), boxes(40, 2)]
    per_sample = {"horizontal": [0, 1, 1, 3], "vertical": [1, 0, 1, -1]}
    # Sums and differences only, nothing to contract: exact in every compiled form.
    contract.check(bb_flip, [samples], {"ltrb": ltrb}, per_sample, compiled_atol=0.0)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(4,), (12,), (2, 8), (1, 3, 4)])
def test_shapes(shape):
    contract.check(bb_flip, [[np.random.default_rng(0).random(shape, np.float32)]], {"vertical": 1})


def test_twice_is_nothing_and_gradient():
    value = jnp.asarray(np.float32([[0.125, 0.25, 0.5, 0.125]]))

    def run(flag, value):
        return pure_call(bb_flip, [value], {"horizontal": flag})

    np.testing.assert_array_equal(jax.jit(run)(1, run(1, value)), value)
    got = jax.jit(jax.vmap(run, (0, None)))(jnp.int32([0, 1]), value)
    np.testing.assert_array_equal(got[:, 0, 0], [0.125, 0.375])
    gradient = jax.grad(lambda v: run(1, v)[0, 0])(value)  # 1 - (x + w)
    np.testing.assert_array_equal(gradient, [[-1, 0, -1, 0]])


def test_errors():
    with pytest.raises(
        SampleError, match="bb_flip: Bounding box tensor size must be a multiple of 4. Got: 6;"
    ):
        pure_call(bb_flip, [np.zeros((2, 3), np.float32)], {})
    with pytest.raises(
        TypeError, match="bb_flip: Bounding box in wrong format: it must be float32, got int32"
    ):
        pure_call(bb_flip, [np.zeros((2, 4), np.int32)], {})
