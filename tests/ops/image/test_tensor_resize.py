import jax
import numpy as np
import pytest
from support import contract, oracle
from support.data import image

from jdali import types
from jdali._operators.pure import pure_call
from jdali.ops.image._tensor_resize import tensor_resize

# As in `resize`: weights of float32 in another order.
ATOL = 2e-6


def like_dali(data, args, layout="HWC", atol=ATOL):
    """The pure function alone; the compiled ones are `resize`'s."""
    ((expected,),) = oracle.run("tensor_resize", [[data]], args, layout=layout)
    contract.compare(contract.pure(tensor_resize, [data], args, layout=layout), expected, atol, str(args))


@pytest.mark.oracle
def test_per_sample():
    pictures = [image(h, w, 3, np.float32) for h, w in ((7, 9), (12, 5), (1, 1))]
    per_sample = {
        "sizes": [[4.0, 12.6], [-6.0, 0.0], [3.0, 2.0]],
        "alignment": [[0.5, 0.0], [0.2, 0.5], [1.0, 1.0]],
    }
    contract.check(tensor_resize, [pictures], {"axes": [0, 1]}, per_sample, layout="HWC", atol=ATOL)


@pytest.mark.oracle
@pytest.mark.parametrize("rounding", ["round", "truncate", "ceil"])
def test_sizes_are_rounded(rounding):
    picture = image(7, 9, 2, np.float32)
    for size in ({"sizes": [4.6, 5.5, 2.2]}, {"scales": [0.5, 0.66, 1.0]}, {"scales": [0.3, -1.5, 1.0]}):
        args = {"size_rounding": rounding, **size}
        ((expected,),) = oracle.run("tensor_resize", [[picture]], args, layout="HWC")
        got = jax.eval_shape(
            lambda data, args=args: pure_call(tensor_resize, [data], args, layout="HWC"), picture
        )
        assert got.shape == expected.shape, args
    like_dali(picture, {"size_rounding": rounding, "scales": [0.5, -0.66, 1.0]})


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("alignment", "more"),
    [
        (0.0, {"roi_start": [1.0, 6.5], "roi_end": [6.0, 2.0]}),
        (0.3, {"subpixel_scale": False}),
        (0.3, {"roi_start": [1.0, 6.5], "roi_end": [6.0, 2.0]}),
        (1.0, {}),
    ],
)
def test_alignment(alignment, more):
    like_dali(
        image(7, 9, 1, np.float32), {"sizes": [-4.6, 5.6], "axes": [0, 1], "alignment": alignment, **more}
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"sizes": 4.0},
        {"sizes": [4.0, 5.0], "axis_names": "WH"},
        {"sizes": [4.0, 5.0], "axes": [-3, -2], "max_size": 4.5},
        {"sizes": [4.0, 2.0], "axes": [0, 2]},
        {"sizes": [4.0, 0.0], "axes": [0, 1]},
        {"sizes": [4.0, 20.0, 8.0], "mode": "not_larger"},
        {"scales": [1.0, 2.0], "axes": [0, 1], "roi_start": [1.0, 2.0], "roi_end": [5.0, 8.0]},
        {"scales": [0.5, 0.5], "axes": [0, 1], "antialias": False, "dtype": types.FLOAT},
    ],
    ids=str,
)
def test_axes_and_modes(args):
    like_dali(image(7, 9, 3, np.float32), args)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape"), [("", (5,)), ("AB", (5, 6)), ("CHW", (2, 5, 6)), ("DHWC", (4, 5, 3, 2))]
)
def test_layouts(layout, shape):
    rng = np.random.default_rng(0)
    axes = (
        list(range(len(shape)))[-3:] if "C" not in layout else [layout.index(c) for c in layout if c != "C"]
    )
    like_dali(
        rng.uniform(0, 1, shape).astype(np.float32),
        {"sizes": [4.0, 7.0, 3.0][: len(axes)], "axes": axes},
        layout,
    )


def test_axes_apart():
    """DALI takes only axes that follow each other: linear interpolation of a ramp is a ramp."""
    a, b, c, d = np.meshgrid(*(np.arange(n, dtype=np.float32) for n in (5, 2, 3, 7)), indexing="ij")
    got = contract.pure(
        tensor_resize, [a + 10 * b + 100 * c + 1000 * d],
        {"sizes": [9.0, 4.0], "axes": [3, 0], "roi_start": [1.0, 1.0], "roi_end": [6.0, 4.0], "subpixel_scale": False},
    )  # fmt: skip
    rows = 1 + (np.arange(4) + 0.5) * 3 / 4 - 0.5
    columns = 1 + (np.arange(9) + 0.5) * 5 / 9 - 0.5
    expected = (
        rows[:, None, None, None]
        + 10 * np.arange(2)[:, None, None]
        + 100 * np.arange(3)[:, None]
        + 1000 * columns
    )
    np.testing.assert_allclose(got, expected, rtol=1e-6)  # float32


@pytest.mark.parametrize("ndim", [4, 5])
def test_more_axes_than_dali_resizes(ndim):
    """By nearest neighbours an axis of twice its size has each element twice."""
    data = np.arange(2**ndim, dtype=np.float32).reshape((2,) * ndim)
    got = contract.pure(tensor_resize, [data], {"sizes": [4.0] * ndim, "interp_type": types.INTERP_NN})
    expected = data
    for axis in range(ndim):
        expected = expected.repeat(2, axis)
    np.testing.assert_array_equal(got, expected)


def test_what_is_refused():
    picture = image(4, 5)
    for args, message in (
        ({}, "Need one of ``scales`` or ``sizes``, but not both"),
        ({"sizes": 2.0, "scales": 2.0}, "Need one of ``scales`` or ``sizes``, but not both"),
        ({"sizes": [2.0, 3.0]}, 'Argument "sizes" expects either a single value or a list of 3'),
        ({"sizes": 2.0, "axes": [0, 0]}, r"Duplicate axis index 0 in axes \(0, 0\)"),
        ({"sizes": 2.0, "axes": [3]}, r"Axis index out of range: 3 not in range \[-3,2\]"),
        ({"sizes": 2.0, "axis_names": "X"}, "Axis 'X' is not present in the input layout, which is 'HWC'"),
        (
            {"sizes": 2.0, "axis_names": "H", "axes": [0]},
            "Arguments `axes` and `axis_names` are mutually exclusive",
        ),
        ({"sizes": 2.0, "size_rounding": "up"}, "size_rounding must be one of round, truncate, ceil"),
        ({"sizes": 2.0, "dtype": types.INT32}, "Resize must output original type or float. Got: int32 for"),
    ):
        with pytest.raises(ValueError, match=f"tensor_resize: {message}"):
            pure_call(tensor_resize, [picture], args, layout="HWC")
