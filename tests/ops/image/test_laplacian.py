"""laplacian against the real DALI."""

import jax
import numpy as np
import pytest
from support import contract
from support.data import image

from jdali._operators.pure import pure_call
from jdali.ops.image._laplacian import laplacian

RNG = np.random.default_rng(6)
SAMPLES = [image(11, 14, 3), image(1, 1, 3), image(2, 9, 3)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"window_size": [3, 5]},
        {"window_size": [3, 5], "smoothing_size": 1},
        {"window_size": 5, "smoothing_size": [7, 3], "scale": [0.5, 0.25]},
        {"window_size": [5, 3], "normalized_kernel": True},
    ],
    ids=str,
)
def test_equals_dali(args):
    """Whole numbers and powers of two: every sum is exact."""
    contract.check(laplacian, [SAMPLES], args | {"dtype": np.float32}, layout="HWC")


@pytest.mark.oracle
def test_integers_round_half_away_as_dali():
    contract.check(laplacian, [SAMPLES[:2]], {"scale": 1 / 16}, layout="HWC")


@pytest.mark.oracle
def test_arguments_of_samples_equal_dali():
    values = {
        "window_size": [[3, 7], [5, 3], [3, 3]],
        "smoothing_size": [[1, 3], [5, 5], [9, 1]],
        "scale": [[1.0, 0.5], [0.25, 1.0], [2.0, 2.0]],
    }
    contract.check(laplacian, [SAMPLES], {"dtype": np.float32}, values, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape"), [("HWC", (11, 14, 3)), ("DHWC", (4, 7, 6, 2)), ("CDHW", (2, 3, 9, 5)), ("W", (9,))]
)
def test_large_windows_equal_dali(layout, shape):
    """Sums of 31 products of more than 24 bits along each axis: some steps of float32 at their largest, 2^9 here."""
    args = {"window_size": 31, "normalized_kernel": True, "dtype": np.float32}
    samples = [RNG.integers(0, 255, shape, np.uint8)]
    contract.check(laplacian, [samples], args, layout=layout, atol=2.0**-12)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_volumes_with_windows_of_samples_equal_dali(dtype):
    """Those of a sample do not depend on the largest one of the batch; sums are normalized: up to 2^11 in float32."""
    values = {
        "window_size": [[9, 23, 5], [3, 3, 3], [31, 3, 7]],
        "smoothing_size": [[1, 3, 11], [5, 1, 1], [1, 1, 31]],
    }
    samples = [
        RNG.integers(0, 255, shape).astype(dtype) for shape in ((4, 5, 6, 2), (1, 7, 3, 2), (6, 2, 5, 2))
    ]
    atol = {np.uint8: 1, np.int16: 1, np.float32: 2.0**-10}[dtype]
    contract.check(laplacian, [samples], {"normalized_kernel": True}, values, layout="DHWC", atol=atol)


@pytest.mark.oracle
def test_windows_of_neighbours_do_not_change_bits():
    """Small and large ones are applied in different ways: which one is a matter of the sample alone."""
    picture = RNG.uniform(-1, 1, (9, 11, 2)).astype(np.float32)

    def results(sizes):
        values, atol = {"window_size": sizes}, 4.0 ** max(sizes) * 2**-22  # of sums of up to 4^size
        return contract.check(laplacian, [[picture] * len(sizes)], {}, values, layout="HWC", atol=atol)[0]

    # The first and last of the results are those of the pure function.
    np.testing.assert_array_equal(results([23, 7, 23])[1], results([7])[0])


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
def test_large_windows_of_what_is_no_number():
    """Only what lies under a window, whatever the largest window of the batch is."""
    volume = np.ones((5, 16, 5), np.float32)
    volume[2, 1, 2], volume[2, 14, 2] = np.nan, np.inf
    args = {"window_size": (5, 3, 7), "smoothing_size": 1}
    result = np.asarray(pure_call(laplacian, [volume], args, layout="DHW"))
    reached = np.zeros(volume.shape, bool)
    for y in (1, 14):
        reached[:, y, 2] = reached[2, y, :] = reached[2, y - 1 : y + 2, 2] = True
    np.testing.assert_array_equal(~np.isfinite(result), reached)
    assert not result[~reached].any()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("HW", (5, 6)),
        ("CHW", (2, 5, 6)),
        ("FHWC", (2, 5, 6, 2)),
        ("DHWC", (4, 5, 6, 2)),
        ("FCHW", (2, 2, 5, 6)),
        ("CDHW", (2, 4, 5, 3)),
        ("W", (9,)),
        ("", (4, 5, 6)),
    ],
)
def test_layouts_equal_dali(layout, shape):
    contract.check(laplacian, [[RNG.integers(0, 255, shape, np.uint8)]], {"dtype": np.float32}, layout=layout)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.float16, np.float32])
def test_types_equal_dali(dtype):
    """Floats are sums of 9 products in another order; float16 rounds them to 11 bits."""
    atol = {"f": 1e-5 if dtype == np.float32 else 1e-2}.get(np.dtype(dtype).kind, 0)
    samples = [image(5, 6, 1, dtype) // 100 if dtype == np.int32 else image(5, 6, 1, dtype)]
    contract.check(laplacian, [samples], {}, layout="HWC", atol=atol)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
@pytest.mark.parametrize("size", [3, 9])
def test_derivative_by_scale_and_data(size):
    """Linear in both."""
    picture, other = (image(5, 6, 1, np.float32, seed) * 8.0 ** (3 - size) for seed in (0, 1))

    def apply(data, scale):
        return pure_call(laplacian, [data], {"scale": scale, "window_size": size}, layout="HWC")

    scale, change = np.float32([0.5, 2.0]), np.float32([1.0, -1.0])
    _, slope = jax.jvp(apply, (picture, scale), (other, change))
    np.testing.assert_allclose(
        slope, apply(other, scale) + apply(picture, change), atol=1e-4
    )  # of sums up to 30


@pytest.mark.parametrize(
    ("args", "layout", "message"),
    [
        ({"window_size": 1}, "HWC", r"Window size must be an odd integer between 3 and 31, got \[1,"),
        ({"window_size": 4}, "HWC", r"Window size must be an odd integer between 3 and 31, got \[4,"),
        ({"smoothing_size": 33}, "HWC", "Smoothing window size must be an odd integer between 1 and"),
        ({"window_size": (3, 3, 3)}, "HWC", 'Argument "window_size" expects either a single value or a'),
        ({"scale": (1.0, 1.0, 1.0)}, "HWC", 'Argument "scale" expects either a single value or a list of 2'),
        ({"scale": 2.0, "normalized_kernel": True}, "HWC", "Parameter ``scale`` cannot be specified when"),
        ({"dtype": np.int16}, "HWC", "Output data type must be same as input, FLOAT or skipped"),
        ({}, "HCW", "Only channel-first or channel-last layouts are supported,"),
    ],
)  # fmt: skip
def test_what_is_refused(args, layout, message):
    with pytest.raises(ValueError, match=f"laplacian: {message}"):
        pure_call(laplacian, [image(4, 4)], args, layout=layout)
