"""bbox_paste against the real DALI, and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.bbox._bbox_paste import bbox_paste

# A product and a sum, which one program may contract to a fused multiply-add: half an ulp of 1.
FUSED = 6e-8


def boxes(count, seed=0):
    return np.random.default_rng(seed).random((count, 4), np.float32)


def test_by_hand():
    # Half the size at a quarter of the canvas: powers of two, exact.
    box, pasted = np.float32([[0.5, 0.25, 1, 0.5]]), np.float32([[0.5, 0.25, 0.5, 0.25]])
    contract.check(
        bbox_paste, [[box]], {"ratio": 2.0, "paste_y": 0.25}, expected=[[pasted]], compiled_atol=0.0
    )
    corners = np.float32([0.5, 0.25, 1, 0.5])
    pasted = np.float32([0.75, 0.125, 1, 0.25])
    contract.check(
        bbox_paste, [[corners]], {"ratio": 2.0, "paste_x": 1.0, "paste_y": 0.0, "ltrb": True},
        expected=[[pasted]], compiled_atol=0.0,
    )  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("ltrb", [False, True])
def test_equals_dali(ltrb):
    samples = [boxes(5), boxes(1, 1), boxes(0), boxes(40, 2)]
    per_sample = {
        "ratio": [1.0, 1.3, 2.0, 7.7], "paste_x": [0.0, 1.0, 0.5, 0.3], "paste_y": [1.0, 1.0, 0.0, 0.7]
    }  # fmt: skip
    contract.check(bbox_paste, [samples], {"ltrb": ltrb}, per_sample, atol=FUSED, compiled_atol=FUSED)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(4,), (12,), (2, 8), (1, 3, 4)])
def test_shapes(shape):
    samples = [[np.random.default_rng(0).random(shape, np.float32)]]
    contract.check(bbox_paste, samples, {"ratio": 3.0}, atol=FUSED, compiled_atol=FUSED)


def test_the_far_border_stays_within_the_canvas():
    ratios = np.random.default_rng(0).uniform(1, 9, 2000).astype(np.float32)
    box = np.float32([0, 0, 1, 1])
    paste = {"paste_x": 1.0, "paste_y": 1.0, "ltrb": True}
    run = jax.jit(jax.vmap(lambda r: pure_call(bbox_paste, [box], {"ratio": r, **paste})))
    corners = np.asarray(run(ratios))
    assert corners[:, 2:].max() <= 1
    np.testing.assert_allclose(corners[:, 0], 1 - 1 / ratios, atol=1.2e-7)  # two roundings
    gradient = jax.grad(lambda r: pure_call(bbox_paste, [jnp.asarray(box)], {"ratio": r})[2])(2.0)
    assert gradient == -0.25  # of 1 / ratio


def test_errors():
    with pytest.raises(
        SampleError, match="bbox_paste: Bounding box tensor size must be a multiple of 4. Got: 6;"
    ):
        pure_call(bbox_paste, [np.zeros((2, 3), np.float32)], {"ratio": 2.0})
    with pytest.raises(TypeError, match='Not all required arguments .* "ratio"'):
        pure_call(bbox_paste, [np.zeros((2, 4), np.float32)], {})
