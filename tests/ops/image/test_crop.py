"""crop against the real DALI, and against windows cut by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import batch, contract, oracle
from support.data import image

from jdali import types
from jdali._errors import SampleError, TracedArgumentError
from jdali._kernels import window as _window
from jdali._kernels.take_window import exact_anchor
from jdali._operators.pure import pure_call
from jdali.ops.image._crop import crop

SIZES = [(5, 8), (9, 4), (1, 1), (7, 7)]


def pictures(dtype=np.uint8, channels=3):
    return [image(h, w, channels, dtype, i) for i, (h, w) in enumerate(SIZES)]


def test_cuts_the_window_that_numpy_cuts():
    picture = image(7, 9)
    args = {"crop": [4.9, 3.0], "crop_pos_y": 0.5, "crop_pos_x": 0.25}
    # Free: 3 rows, 6 columns; 1.5 rounds up to 2, so does 1.5 of the columns.
    contract.check(crop, [[picture]], args, layout="HWC", expected=[[picture[2:6, 2:5]]])


@pytest.mark.oracle
@pytest.mark.parametrize("rounding", ["round", "truncate"])
@pytest.mark.parametrize("policy", ["error", "pad", "trim_to_shape"])
def test_hundreds_of_windows(rounding, policy):
    rng = np.random.default_rng(3)
    count = 400
    sizes = rng.integers(1, 24, (count, 2))
    over = 0 if policy == "error" else 9
    crops = rng.integers(0, sizes + 1 + over)
    if policy == "error":
        crops = np.minimum(crops, sizes)
    # Halves, thirds and arbitrary positions, the borders among them.
    positions = rng.choice([0, 0.25, 0.5, 0.75, 1, 1 / 3, 2 / 3, 0.1, 0.3], (count, 2))
    positions[::3] = rng.random((len(positions[::3]), 2))
    samples = [rng.integers(0, 255, (h, w, 1), np.uint8) for h, w in sizes]
    per_sample = {
        "crop": list((crops + rng.choice([0, 0.6], crops.shape)).astype(np.float32)),
        "crop_pos_y": list(positions[:, 0].astype(np.float32)),
        "crop_pos_x": list(positions[:, 1].astype(np.float32)),
    }
    args = {"rounding": rounding, "out_of_bounds_policy": policy, "fill_values": [99.0]}
    want = oracle.run("crop", [samples], args, per_sample, layout="HWC")[0]
    got = batch.run(crop, [samples], args, per_sample, layout="HWC")
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        np.testing.assert_array_equal(g, w, err_msg=f"sample {i}: {sizes[i]} {crops[i]} {positions[i]}")


@pytest.mark.parametrize("rounding", ["round", "truncate"])
def test_device_anchor_is_exact(rounding):
    rng = np.random.default_rng(0)
    share = np.concatenate(
        [rng.random(20000, np.float32), rng.integers(0, 257, 20000) / 256, 10.0 ** -rng.uniform(0, 9, 20000)]
    ).astype(np.float32)
    free = rng.integers(-(2**19) + 1, 2**19, share.size).astype(np.int32)
    product = share.astype(np.float64) * free
    want = np.trunc(product + np.copysign(0.5 if rounding == "round" else 0.0, product))
    got = jax.jit(jax.vmap(lambda s, f: exact_anchor(s, f, rounding)))(share, free)
    np.testing.assert_array_equal(got, want)
    host = _window.crop_window(
        "crop", free[:, None].astype(np.int64), np.zeros((free.size, 1), np.int64), [share], rounding
    )
    np.testing.assert_array_equal(host[:, 0], want)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["CHW", "FHWC", "DHWC", "CFHW", "CDHW", ""])
def test_layouts(layout):
    rng = np.random.default_rng(1)
    extents = {"F": (2, 3), "D": (4, 5), "H": (6, 5), "W": (3, 9), "C": (2, 2)}
    names = layout or "HWC"
    samples = [rng.integers(0, 255, [extents[c][i] for c in names], np.uint8) for i in (0, 1)]
    args = {"crop_h": 4, "crop_w": 2, "crop_pos_y": 1.0, "crop_pos_x": 0.3}
    if "D" in names:
        args |= {"crop_d": 3, "crop_pos_z": 0.9}
    elif "F" in names:
        args |= {"crop_d": 2, "crop_pos_z": 0.9}
    contract.check(crop, [samples], args, layout=layout)


def test_sequence_of_volumes():
    # DALI itself stops at four axes here.
    video = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5, 1)
    args = {"crop_d": 2.0, "crop_h": 4.0, "crop_w": 1.0, "crop_pos_z": 1.0}
    contract.check(crop, [[video.astype(np.int32)]], args, layout="FDHWC",
                   expected=[[video[:, 1:, :, 2:3].astype(np.int32)]])  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("args", "per_sample"),
    [
        ({"crop": [3.0, 20.0], "out_of_bounds_policy": "pad", "fill_values": [1.9, 300.0, -4.0]}, {}),
        ({"crop": [0.0, 3.0], "out_of_bounds_policy": "trim_to_shape", "crop_pos_x": 0.9}, {}),
        (
            {},
            {
                "crop_h": [5.0, 3.0, 1.0, 2.0],
                "crop_w": [1.0, 4.0, 0.0, 3.0],
                "crop_pos_y": [0.9, 0.5, 1.0, 0.1],
            },
        ),
        ({}, {}),
    ],
)
def test_arguments(args, per_sample):
    # DALI's fill values wrap around at the limits of the type, which C++ leaves undefined;
    # jdali saturates them.
    saturated = args | ({"fill_values": [1.0, 255.0, 0.0]} if "fill_values" in args else {})
    contract.check(crop, [pictures()], args, per_sample, layout="HWC", oracle_args=saturated)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("dtype", "channels"),
    [(np.uint8, 1), (np.uint8, 4), (np.int8, 3), (np.uint16, 1), (np.int16, 2), (np.uint32, 3), (np.int32, 4),
     (np.float16, 3), (np.float32, 1)],
)  # fmt: skip
def test_dtypes(dtype, channels):
    samples = pictures(dtype, channels)[:1]
    contract.check(crop, [samples], {"crop": [1, 1], "crop_pos_x": 1.0}, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint64, np.float64])
def test_wide_dtypes(dtype):
    samples = pictures(dtype)[:1]
    contract.check(crop, [samples], {"crop": [1, 1]}, layout="HWC", x64=True)


@pytest.mark.oracle
@pytest.mark.parametrize("out", [types.UINT8, types.FLOAT16, types.FLOAT])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32])
def test_converts(dtype, out):
    edges = np.array([0, 0.4, 0.5, 2.5, 2.9, 254.9, 255.4, 300, 65504, 65519, 65520, 7e4, -0.6, -1.5, -200])
    sample = np.clip(edges, np.iinfo(dtype).min if dtype != np.float32 else None, None)
    if dtype != np.float32:
        sample = np.clip(sample, None, np.iinfo(dtype).max)
    sample = sample.astype(dtype).reshape(1, -1, 1)
    contract.check(crop, [[sample]], {"dtype": out}, layout="HWC")


def test_empty_image():
    empty = np.zeros((0, 4, 3), np.uint8)
    args = {"crop": [2, 2], "out_of_bounds_policy": "pad", "fill_values": [5.0]}
    contract.check(crop, [[empty]], args, layout="HWC", expected=[[np.full((2, 2, 3), 5, np.uint8)]])


def test_position_may_be_a_tracer():
    picture = jnp.arange(40, dtype=jnp.float32).reshape(5, 8, 1)

    def window(x, picture):
        return pure_call(crop, [picture], {"crop": [2, 3], "crop_pos_x": x}, layout="HWC")

    batched = jax.jit(jax.vmap(window, in_axes=(0, None)))(jnp.float32([0, 0.5, 1]), picture)
    for got, left in zip(batched, (0, 3, 5), strict=True):
        np.testing.assert_array_equal(got, picture[2:4, left : left + 3])
    gradient = jax.grad(lambda p: window(0.5, p).sum())(picture)
    assert gradient[2:4, 3:6].min() == 1
    assert gradient.sum() == 6
    with pytest.raises(TracedArgumentError, match="crop_h"):
        jax.jit(lambda h: pure_call(crop, [picture], {"crop_h": h, "crop_w": 2.0}, layout="HWC"))(2.0)


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        (
            {"crop": [9, 2]},
            SampleError,
            r"crop: Slice can't be placed out of bounds with current policy. Got: window \[9, 2, 3\]",
        ),
        (
            {"crop": [2, 2], "crop_pos_x": 1.5},
            SampleError,
            r"crop: Anchor for dimension 1 \(1.500000\) is out of range \[0.0, 1.0\];",
        ),
        ({"crop": [2]}, ValueError, "crop: `crop` argument should have 2 or 3 elements depending on the"),
        (
            {"crop": [2, 2], "crop_w": 1},
            ValueError,
            "crop: `crop` argument is not compatible with `crop_h`, `crop_w`,",
        ),
        (
            {"crop": [2, 2], "rounding": "up"},
            ValueError,
            "crop: Not supported rounding: up. Supported values are 'round',",
        ),
        (
            {"crop": [2, 2], "out_of_bounds_policy": "x"},
            ValueError,
            "crop: Not supported out_of_bounds_policy: x. Supported values are",
        ),
        (
            {"out_of_bounds_policy": "pad", "fill_values": [1.0, 2]},
            ValueError,
            "2 fill_values for 3 channels",
        ),
    ],
)
def test_errors(args, error, text):
    with pytest.raises(error, match=text):
        pure_call(crop, [image(4, 5)], args, layout="HWC")


def test_layout_without_height():
    with pytest.raises(
        ValueError, match='crop: The layout "AB" does not match any of the allowed layouts: it has no H and W'
    ):
        pure_call(crop, [np.zeros((4, 5), np.uint8)], {"crop": [1, 1]}, layout="AB")
