"""pad against the real DALI and against numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import batch, contract, oracle
from support.data import image

from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.image._pad import pad

SIZES = [(2, 8), (9, 4), (1, 1), (7, 6)]


def arrays(dtype=np.uint8):
    return [image(h, w, None, dtype, i) for i, (h, w) in enumerate(SIZES)]


def check_batch(args, per_sample=None, layout=""):
    """The largest extent of a batch is no matter of one sample, so the batch as a whole is compared."""
    want = oracle.run("pad", [arrays()], args, per_sample, layout=layout)[0]
    got = batch.run(pad, [arrays()], args, per_sample, layout=layout)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


def test_reaches_the_largest_of_the_batch():
    got = batch.run(pad, [arrays()], {"fill_value": 7.9})
    for sample, result in zip(arrays(), got, strict=True):
        height, width = sample.shape
        expected = np.pad(sample, ((0, 9 - height), (0, 8 - width)), constant_values=7)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("args", "per_sample"),
    [
        ({}, {}),
        ({"axes": [0]}, {}),
        ({"axes": [-1], "fill_value": 5.0}, {}),
        ({"axes": []}, {}),
        ({"axis_names": "W"}, {}),
        ({"axis_names": ""}, {}),
        ({"align": 4}, {}),
        ({"align": [3, 5]}, {}),
        ({"shape": [-1, 5], "align": [4, 3]}, {}),
        ({"shape": [3, 0]}, {}),
        ({"shape": 7}, {}),
        ({}, {"shape": np.int32([[5, 6], [-1, 3], [0, 0], [8, 2]])}),
        ({}, {"align": np.int32([[5, 2], [1, 3], [2, 2], [7, 7]])}),
        ({}, {"align": np.int32([5, 1, 2, 3]), "fill_value": np.float32([0, 1, 2.9, 3])}),
        ({"shape": [7]}, {"axes": np.int32([[0], [1], [-1], [0]])}),
    ],
    ids=str,
)
def test_batches(args, per_sample):
    check_batch(args, {k: list(v) for k, v in per_sample.items()}, layout="HW")


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int32, np.float16, np.float32])
def test_dtypes(dtype):
    contract.check(pad, [arrays(dtype)[:1]], {"shape": [9, 9], "fill_value": 2.7})


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
def test_wide_dtypes(dtype):
    contract.check(pad, [arrays(dtype)[:1]], {"shape": [9, 9], "fill_value": 2.7}, x64=True)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(3,), (2, 1, 2, 1, 2)])
def test_any_number_of_axes(shape):
    samples = [np.arange(np.prod(shape), dtype=np.int32).reshape(shape)]
    contract.check(pad, [samples], {"align": 4, "fill_value": -1.0})


def test_sequences_saturation_and_empty_data():
    video = np.full((2, 3, 2, 1), 4, np.uint8)
    expected = np.full((2, 3, 5, 1), 255, np.uint8)
    expected[:, :, :2] = 4
    args = {"axis_names": "W", "shape": [5], "fill_value": 300.0}
    contract.check(pad, [[video]], args, layout="FHWC", expected=[[expected]])
    empty = np.zeros((0, 2), np.float32)
    args = {"shape": [2, 2], "fill_value": 0.5}
    contract.check(pad, [[empty]], args, expected=[[np.full((2, 2), 0.5, np.float32)]])


def test_fill_value_may_be_a_tracer():
    data = jnp.ones((2, 2))

    def total(fill, data):
        return pure_call(pad, [data], {"shape": [3, 3], "fill_value": fill}).sum()

    np.testing.assert_array_equal(jax.jit(jax.vmap(total, (0, None)))(jnp.float32([0, 2]), data), [4, 14])
    fill, gradient = jax.grad(total, (0, 1))(1.0, data)
    assert fill == 5
    np.testing.assert_array_equal(gradient, data)


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ({"align": [0]}, SampleError, r"pad: Values of `align` argument must be positive. Got \[0, 0\]"),
        ({"axes": [2]}, SampleError, r"pad: Axis 2 out of range. Expected range is \[-2, 1\] for a 2D input"),
        (
            {"axes": [0, -2]},
            SampleError,
            r"pad: Axis index 0 occurs more than once in ``axes`` \[0, 0\] \(might",
        ),
        ({"axes": [0], "axis_names": "W"}, ValueError, 'pad: "axes" and "axis_names" are mutually exclusive'),
        ({"axis_names": "X"}, ValueError, "pad: Axis 'X' is not present in the input layout, which is 'HW'"),
        (
            {"shape": [1, 2, 3]},
            ValueError,
            'pad: Argument "shape" expected shape 2 but got',
        ),
    ],
)
def test_errors(args, error, text):
    with pytest.raises(error, match=text):
        pure_call(pad, [arrays()[0]], args, layout="HW")
