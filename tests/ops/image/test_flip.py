"""flip against the real DALI and against numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, oracle, refusals
from support.data import image

from jdali._operators.pure import pure_call
from jdali.ops.image._flip import flip

SIZES = [(5, 8), (9, 4), (1, 1), (7, 6)]


def test_equals_numpy():
    pictures = [image(h, w) for h, w in SIZES]
    expected = [p[:, ::-1] for p in pictures]
    contract.check(flip, [pictures], {}, layout="HWC", expected=[expected])
    expected = [p[::-1, ::-1] for p in pictures]
    contract.check(flip, [pictures], {"vertical": 1}, layout="HWC", expected=[expected])


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.float32])
def test_per_sample(dtype):
    pictures = [image(h, w, 3, dtype, i) for i, (h, w) in enumerate(SIZES)]
    per_sample = {"horizontal": [0, 1, 1, 2], "vertical": [1, 0, 1, -1]}
    contract.check(flip, [pictures], {}, per_sample, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint64, np.float64])
def test_wide_dtypes(dtype):
    contract.check(flip, [[image(4, 3, 1, dtype)]], {}, layout="HWC", x64=True)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["CHW", "FHWC", "CDHW", "FDHWC", ""])
def test_layouts(layout):
    rng = np.random.default_rng(1)
    extents = {"F": (2, 3), "D": (4, 5), "H": (6, 5), "W": (3, 9), "C": (2, 2)}
    samples = [rng.integers(0, 255, [extents[c][i] for c in layout or "HWC"], np.uint8) for i in (0, 1)]
    args = {"horizontal": 0, "vertical": 1, "depthwise": 1}
    contract.check(flip, [samples], args, layout=layout)


def test_empty_image():
    empty = np.zeros((0, 4, 3), np.uint8)
    contract.check(flip, [[empty]], {"vertical": 1}, layout="HWC", expected=[[empty]])


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_tracers_and_gradient():
    picture = jnp.arange(12, dtype=jnp.float32).reshape(2, 3, 2)
    flags = jnp.int32([0, 1])
    got = jax.jit(jax.vmap(lambda h: pure_call(flip, [picture], {"horizontal": h}, layout="HWC")))(flags)
    np.testing.assert_array_equal(got, [picture, picture[:, ::-1]])
    weights = picture * 3
    gradient = jax.grad(lambda p: (pure_call(flip, [p], {}, layout="HWC") * weights).sum())(picture)
    np.testing.assert_array_equal(gradient, weights[:, ::-1])


@pytest.mark.oracle
@pytest.mark.parametrize(("shape", "layout"), [((2, 3), ""), ((2, 3), "HW"), ((2, 3, 4), "HCW"), ((4,), "")])
def test_layouts_that_dali_refuses(shape, layout):
    data = np.zeros(shape, np.uint8)
    words = "does not match any of the allowed layouts"
    refusals.check((RuntimeError, ValueError), words, lambda: oracle.run("flip", [[data]], layout=layout))
    with pytest.raises(ValueError, match="^flip: .* does not match any of the allowed layouts"):
        pure_call(flip, [data], {}, layout=layout)


@pytest.mark.oracle
def test_four_axes_without_a_layout_are_a_sequence():
    """So there is no depth to flip."""
    data = np.arange(2 * 2 * 3 * 2, dtype=np.uint8).reshape(2, 2, 3, 2)
    args = {"depthwise": 1, "vertical": 1}
    ((want,),) = oracle.run("flip", [[data]], args)
    np.testing.assert_array_equal(contract.pure(flip, [data], args), want)
