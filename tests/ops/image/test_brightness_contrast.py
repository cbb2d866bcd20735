"""brightness_contrast, brightness and contrast against the real DALI, and against their formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import batch, contract
from support.data import image

from jdali import types
from jdali._operators.pure import pure_call
from jdali.ops.image._brightness_contrast import brightness, brightness_contrast, contrast

ARGS = [
    {"brightness": 1.3},
    {"contrast": 0.5, "brightness_shift": 0.1},
    {"contrast": -1.2, "contrast_center": 60.0, "brightness": 0.7},
]
SIZES = [(5, 8), (1, 1)]


def pictures(dtype, channels=3):
    return [image(h, w, channels, dtype, i) for i, (h, w) in enumerate(SIZES)]


def tolerance(dtype):
    # A float32 multiply-add that is fused in one library and not in the other differs by one ulp of
    # the largest product, and an integer rounded from it by one step.
    return 1e-6 if np.dtype(dtype).kind == "f" else 1.0


@pytest.mark.oracle
@pytest.mark.parametrize("args", ARGS, ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32], ids=lambda d: d.__name__)
def test_equals_dali(dtype, args):
    contract.check(brightness_contrast, [pictures(dtype)], args, layout="HWC", atol=tolerance(dtype))


def test_formula_on_types_that_dali_lacks():
    # uint16 and float16 are no input types of DALI. Powers of two: no rounding before the last one.
    for dtype, center in ((np.uint16, 32768.0), (np.float16, 0.5)):
        samples = pictures(dtype)
        exact = [((s.astype(np.float64) - center) * 0.5 + center) * 0.25 for s in samples]
        whole = dtype == np.uint16
        expected = [(np.floor(e + 0.5) if whole else e.astype(np.float32)).astype(dtype) for e in exact]
        args = {"contrast": 0.5, "brightness": 0.25}
        contract.check(brightness_contrast, [samples], args, layout="HWC", expected=[expected])


def test_rounds_half_away_and_saturates():
    sample = np.uint8([1, 2, 3, 5, 200, 255]).reshape(1, -1, 1)
    expected = np.uint8([2, 3, 5, 8, 255, 255]).reshape(1, -1, 1)
    contract.check(brightness, [[sample]], {"brightness": 1.5}, layout="HWC", expected=[[expected]])
    below = np.int16([-2, -3, 4, -5, -100, -128]).reshape(1, -1, 1)
    args = {"contrast": 0.5, "contrast_center": 0.0}
    contract.check(contrast, [[sample.astype(np.int16) * -1]], args, layout="HWC",
                   expected=[[np.int16([-1, -1, -2, -3, -100, -128]).reshape(1, -1, 1)]])  # fmt: skip
    args = {"brightness": -1.0, "brightness_shift": 0.5, "dtype": types.UINT8}
    expected = np.uint8([130, 131, 124, 133, 228, 255]).reshape(1, -1, 1)
    contract.check(brightness, [[below]], args, layout="HWC", expected=[[expected]])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("dtype", "out"),
    [(np.uint8, types.INT16), (np.uint8, types.FLOAT), (np.int16, types.UINT8), (np.int16, types.INT32),
     (np.float32, types.UINT8), (np.float32, types.INT32)],
)  # fmt: skip
def test_output_types(dtype, out):
    args = {"brightness": 1.5, "brightness_shift": 0.25, "contrast": 0.75, "dtype": out}
    samples = pictures(dtype, 1)[1:]
    # Floats: 2e-7 of the largest value.
    atol = 0.01 if out is types.FLOAT and dtype != np.float32 else tolerance(types.to_numpy_type(out))
    # A shift by a quarter of the range of int32 leaves float32 a step of 64.
    atol = 64.0 if out is types.INT32 else atol
    contract.check(brightness_contrast, [samples], args, layout="HWC", atol=atol, compiled_atol=atol)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_per_sample(dtype):
    per_sample = {"brightness": [1.3, 0.5], "brightness_shift": [0.2, -0.1]}
    contract.check(brightness, [pictures(dtype)], {}, per_sample, layout="HWC", atol=tolerance(dtype))
    per_sample = {"contrast": [1.3, 0.5], "contrast_center": [100.0, 0.2]}
    # Products with a centre of 100 are of a size of 200: 1e-4 is 4 ulp of them.
    atol = 1e-4 if dtype == np.float32 else 1
    contract.check(contrast, [pictures(dtype)], {}, per_sample, layout="HWC", atol=atol)
    contract.check(contrast, [pictures(dtype)], {"contrast": 0.4}, layout="HWC", atol=tolerance(dtype))


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["FHWC", "DHWC"])
def test_layouts(layout):
    samples = [np.stack(pictures(np.uint8)[:1] * 2) if layout else pictures(np.uint8)[0]]
    contract.check(brightness_contrast, [samples], ARGS[2], layout=layout, atol=1)


def test_channels_first_and_no_channels():
    picture = image(4, 5)
    expected = np.uint8(np.minimum(picture.astype(int) * 2, 255))
    args = {"brightness": 2.0}
    got = batch.run(brightness, [[picture.transpose(2, 0, 1)]], args, layout="CHW")
    np.testing.assert_array_equal(got[0], expected.transpose(2, 0, 1))
    contract.check(brightness, [[picture[..., 1]]], args, layout="HW", expected=[[expected[..., 1]]])
    empty = np.zeros((0, 4, 3), np.uint8)
    contract.check(brightness, [[empty]], args, layout="HWC", expected=[[empty]])


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_gradients():
    picture = jnp.asarray(image(3, 4, 3, np.float32))

    def total(op, name, value):
        return pure_call(op, [picture], {name: value}).sum()

    grad = jax.grad(lambda c: total(brightness_contrast, "contrast", c))(1.5)
    np.testing.assert_allclose(grad, (picture - 0.5).sum(), rtol=1e-5)
    grad = jax.jit(jax.vmap(jax.grad(lambda b: total(brightness, "brightness", b))))(jnp.float32([1, 2]))
    np.testing.assert_allclose(grad, [picture.sum()] * 2, rtol=1e-5)


def test_bool_is_refused():
    with pytest.raises(TypeError, match="brightness and contrast: Unsupported input type: bool. It has no"):
        pure_call(brightness, [np.zeros((2, 2, 1), bool)], {"brightness": 2.0})
