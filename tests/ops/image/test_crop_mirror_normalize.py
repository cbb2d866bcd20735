"""crop_mirror_normalize against the real DALI, and against numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import batch, contract, oracle
from support.data import image

from jdali import types
from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.image._crop_mirror_normalize import crop_mirror_normalize as cmn

SIZES = [(5, 8), (9, 4), (4, 5), (7, 7)]
IMAGENET = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375]}


def pictures(dtype=np.uint8, channels=3):
    return [image(h, w, channels, dtype, i) for i, (h, w) in enumerate(SIZES)]


def test_formula():
    picture = image(6, 7)
    mean, std = np.float32([10, 20, 30]), np.float32([2, 4, 8])
    expected = (picture[1:5, ::-1][:, 1:6] - mean) / std * 4 + 8  # powers of two: exact in float32
    args = {"mean": mean, "std": std, "scale": 4.0, "shift": 8.0, "crop": [4.0, 5.0], "mirror": 1}
    contract.check(cmn, [[picture]], args, layout="HWC", expected=[[expected.transpose(2, 0, 1)]])


@pytest.mark.oracle
def test_hundreds_of_windows():
    rng = np.random.default_rng(5)
    count = 300
    sizes = rng.integers(1, 20, (count, 2))
    samples = [rng.integers(0, 255, (h, w, 3), np.uint8) for h, w in sizes]
    per_sample = {
        "crop_h": list(rng.integers(0, sizes[:, 0] + 8).astype(np.float32)),
        "crop_w": list(rng.integers(0, sizes[:, 1] + 8).astype(np.float32)),
        "crop_pos_y": list(rng.choice([0, 0.5, 1, 0.3], count).astype(np.float32)),
        "crop_pos_x": list(rng.random(count).astype(np.float32)),
        "mirror": list(rng.integers(0, 2, count).astype(np.int32)),
    }
    args = IMAGENET | {"out_of_bounds_policy": "pad", "fill_values": [1.0, -2, 3]}
    want = oracle.run("crop_mirror_normalize", [samples], args, per_sample, layout="HWC")[0]
    got = batch.run(cmn, [samples], args, per_sample, layout="HWC")
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        np.testing.assert_array_equal(g, w, err_msg=f"sample {i}")


# The constants are folded with DALI's rounding and the rest is one subtraction and one product, which
# cannot be contracted: equal to the last bit, in every compiled form.
EXACT = {"compiled_atol": 0.0}


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"mirror": 1, "output_layout": "HWC"},
        IMAGENET | {"scale": 0.7, "shift": -1.3},
        {"mean": [100.0], "std": [3.0, 7, 11], "output_layout": "WCH"},
        {"shift": 0.3, "pad_output": True, "output_layout": ""},
        {"mean": 7.0, "std": 0.0},
        {"crop": [4, 20], "out_of_bounds_policy": "trim_to_shape", "mirror": 5},
        {
            "crop": [4, 20],
            "out_of_bounds_policy": "pad",
            "fill_values": [2.5],
            "pad_output": True,
            **IMAGENET,
        },
        {"crop": [9, 3], "out_of_bounds_policy": "pad", "fill_values": [1.0, 2, 3, 4], "pad_output": True},
        {
            "crop": [9, 3],
            "out_of_bounds_policy": "pad",
            "fill_values": [1.0, 2, 3],
            "pad_output": True,
            **IMAGENET,
        },
    ],
    ids=str,
)
def test_arguments(args):
    contract.check(cmn, [pictures()[:2]], args, layout="HWC", **EXACT)


@pytest.mark.oracle
def test_per_sample_arguments():
    # Means that are traced are folded in float32 by the compiler, which may fuse a product into a sum.
    per_sample = {
        "mean": list(np.float32([[1, 2, 3], [4, 5, 6], [70, 80, 90], [0, 0, 0]])),
        "std": list(np.float32([[10, 20, 30], [4, 5, 6], [7, 8, 9], [1, 1, 1]])),
        "mirror": [0, 1, 1, 0],
        "crop": list(np.float32([[3, 2], [4, 4], [1, 5], [0, 0]])),
    }
    contract.check(cmn, [pictures()], {"shift": 0.5}, per_sample, layout="HWC", compiled_atol=1e-4)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("dtype", "out"),
    [(np.uint8, types.FLOAT16), (np.uint8, types.INT8), (np.int16, types.FLOAT),
     (np.uint16, types.UINT8), (np.int32, types.FLOAT), (np.float16, types.FLOAT16),
     (np.float32, types.UINT8)],
)  # fmt: skip
def test_dtypes(dtype, out):
    args = {"dtype": out, "mean": [3.25], "std": [0.7], "mirror": 1}
    # A float32 in the middle of two float16 goes away from zero in DALI and to the even one in XLA: one
    # unit in the last place of results below 8 (those of floats; integers are exact or overflow).
    atol = 2**-8 if out is types.FLOAT16 and np.dtype(dtype).kind == "f" else 0
    contract.check(cmn, [pictures(dtype)[:1]], args, layout="HWC", atol=atol, **EXACT)


@pytest.mark.oracle
def test_rounds_and_saturates():
    edges = np.float32([0.5, 1.5, 2.5, 254.5, 300, -0.5, -1.5, -200, 65520, 1e6]).reshape(1, -1, 1)
    for out in (types.UINT8, types.INT8, types.FLOAT16):
        contract.check(cmn, [[edges]], {"dtype": out}, layout="HWC", **EXACT)


@pytest.mark.oracle
@pytest.mark.parametrize("channels", [1, 5])
def test_channels(channels):
    args = {"mean": list(range(channels)), "pad_output": True, "mirror": 1}
    contract.check(cmn, [pictures(np.uint8, channels)[:1]], args, layout="HWC", **EXACT)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "out"),
    [
        ("CHW", "HWC"), ("FHWC", "FCHW"), ("DHWC", "CDHW"), ("CFHW", ""), ("", "HWC"), ("FDHWC", "FCDHW"),
    ],
)  # fmt: skip
def test_layouts(layout, out):
    rng = np.random.default_rng(1)
    extents = {"F": (2, 3), "D": (4, 5), "H": (6, 5), "W": (3, 9), "C": (3, 3)}
    samples = [rng.integers(0, 255, [extents[c][i] for c in layout or "HWC"], np.uint8) for i in (0, 1)]
    args = IMAGENET | {"output_layout": out, "crop_h": 4, "crop_w": 2, "crop_pos_x": 0.9, "mirror": 1}
    contract.check(cmn, [samples], args, layout=layout, **EXACT)


def test_empty_image():
    empty = np.zeros((0, 4, 3), np.uint8)
    contract.check(cmn, [[empty]], layout="HWC", expected=[[np.zeros((3, 0, 4), np.float32)]])


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_tracers_and_gradient():
    picture = jnp.arange(24, dtype=jnp.float32).reshape(4, 6, 1)

    def run(mirror, x, mean, picture):
        args = {"crop": [4, 4], "crop_pos_x": x, "mirror": mirror, "mean": mean, "std": 2.0}
        return pure_call(cmn, [picture], args, layout="HWC")

    batched = jax.jit(jax.vmap(run, in_axes=(0, 0, 0, None)))
    got = batched(jnp.int32([0, 1]), jnp.float32([0, 1]), jnp.float32([0, 3]), picture)
    np.testing.assert_array_equal(got[0, 0], picture[:, :4, 0] / 2)
    np.testing.assert_array_equal(got[1, 0], (picture[:, :1:-1, 0] - 3) / 2)
    gradient = jax.grad(lambda p: run(1, 0.0, 0.0, p).sum())(picture)
    np.testing.assert_array_equal(gradient[..., 0], np.float32([[0.5] * 4 + [0] * 2] * 4))


def test_compiles_to_no_branch():
    """The mirror of a sample is an index, not two pictures to choose from."""

    def run(mirror, picture):
        return pure_call(cmn, [picture], IMAGENET | {"mirror": mirror}, layout="HWC")

    program = jax.jit(jax.vmap(run)).lower(jnp.zeros(2, jnp.int32), jnp.zeros((2, 8, 8, 3), jnp.uint8))
    text = program.compile().as_text()
    assert "conditional(" not in text
    assert "while(" not in text


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ({"mean": [1.0, 2]}, ValueError, "crop_mirror_normalize: The number of per-channel arguments should match the number"),
        ({"output_layout": "FCHW"}, ValueError, "The requested output layout is not a permutation of input"),
        ({"crop": [9, 2]}, SampleError, r"Slice can't be placed out of bounds .* Got: window \[9, 2, 3\]"),
        ({"crop": [2, 2], "crop_pos_y": -0.1}, SampleError, r"Anchor for dimension 0 \(-0.100000\) is out of range \[0.0,"),
        ({"out_of_bounds_policy": "pad", "fill_values": [1.0, 2], "pad_output": True}, ValueError,
         "2 fill_values for 4 channels"),
    ],
)  # fmt: skip
def test_errors(args, error, text):
    with pytest.raises(error, match=text):
        pure_call(cmn, [image(4, 5)], args, layout="HWC")


def test_needs_channels():
    with pytest.raises(ValueError, match='The layout "HW" does not match any of the allowed layouts:'):
        pure_call(cmn, [np.zeros((4, 5), np.uint8)], {}, layout="HW")
