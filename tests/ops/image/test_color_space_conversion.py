"""color_space_conversion against the real DALI, and on colours whose values are known."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import batch, contract, oracle

from jdali._operators.pure import pure_call
from jdali.ops.image._color_space_conversion import color_space_conversion
from jdali.types import ANY_DATA, BGR, GRAY, RGB, YCbCr

PAIRS = [(a, b) for a, b in itertools.permutations([RGB, BGR, GRAY, YCbCr], 2)]


def channels(kind):
    return 1 if kind == GRAY else 3


def test_known_colours():
    # White, black, red and blue in BT.601 with foot room.
    rgb = np.uint8([[[255, 255, 255], [0, 0, 0], [255, 0, 0], [0, 0, 255]]])
    ycbcr = np.uint8([[[235, 128, 128], [16, 128, 128], [81, 90, 240], [41, 240, 110]]])
    gray = np.uint8([[[255], [0], [76], [29]]])
    for target, expected in ((YCbCr, ycbcr), (GRAY, gray), (BGR, rgb[..., ::-1]), (RGB, rgb)):
        args = {"image_type": RGB, "output_type": target}
        contract.check(color_space_conversion, [[rgb]], args, layout="HWC", expected=[[expected]])


@pytest.mark.oracle
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda k: k.name)
def test_all_pairs(source, target):
    rng = np.random.default_rng(0)
    samples = [rng.integers(0, 256, (h, w, channels(source)), np.uint8) for h, w in ((5, 8),)]
    args = {"image_type": source, "output_type": target}
    # Weighted float32 sums are formed in another order than in DALI; what is near a half may go to
    # the other side. Everything else is exact.
    sums = YCbCr in (source, target) and GRAY not in (source, target)
    contract.check(color_space_conversion, [samples], args, layout="HWC", atol=1 if sums else 0)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("source", "target"), [(RGB, YCbCr), (YCbCr, RGB), (RGB, GRAY)], ids=lambda k: k.name
)
def test_many_colours(source, target):
    colours = [np.random.default_rng(1).integers(0, 256, (400, 400, 3), np.uint8)]
    args = {"image_type": source, "output_type": target}
    want = oracle.run("color_space_conversion", [colours], args, layout="HWC")[0][0].astype(int)
    got = batch.run(color_space_conversion, [colours], args, layout="HWC")[0].astype(int)
    off = np.abs(got - want)
    assert off.max() <= (0 if target == GRAY else 1)
    assert (off > 0).mean() < 1e-4


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["FHWC", "FDHWC", ""])
def test_layouts(layout):
    shape = [2, 1, 3, 4, 3][5 - len(layout or "HWC") :]
    sample = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    args = {"image_type": RGB, "output_type": GRAY}
    contract.check(color_space_conversion, [[sample]], args, layout=layout)


def test_channels_first_and_empty():
    gray = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
    args = {"image_type": GRAY, "output_type": RGB}
    got = batch.run(color_space_conversion, [[gray]], args, layout="CHW")[0]
    np.testing.assert_array_equal(got, np.repeat(gray, 3, axis=0))
    empty = np.zeros((0, 3, 1), np.uint8)
    expected = np.zeros((0, 3, 3), np.uint8)
    contract.check(color_space_conversion, [[empty]], args, layout="HWC", expected=[[expected]])


def test_jit_and_vmap():
    pictures = jnp.asarray(np.random.default_rng(0).integers(0, 256, (2, 3, 4, 3), np.uint8))
    args = {"image_type": RGB, "output_type": BGR}
    got = jax.jit(jax.vmap(lambda p: pure_call(color_space_conversion, [p], args, layout="HWC")))(pictures)
    np.testing.assert_array_equal(got, pictures[..., ::-1])


@pytest.mark.parametrize(
    ("shape", "dtype", "args", "layout", "error", "text"),
    [
        ((2, 2, 3), np.uint8, (GRAY, RGB), "HWC", ValueError, "GRAY: Expected 1. Got 3 channels in sample 0"),
        ((2, 2, 3), np.uint8, (RGB, ANY_DATA), "HWC", ValueError, "cannot convert ANY_DATA"),
        (
            (2, 2, 3),
            np.float32,
            (RGB, GRAY),
            "HWC",
            TypeError,
            "Color space conversion accept only uint8 tensors, got float32",
        ),
        ((2, 2), np.uint8, (GRAY, RGB), "HW", ValueError, "The layout .* it has no channel axis"),
    ],
)
def test_errors(shape, dtype, args, layout, error, text):
    args = dict(zip(("image_type", "output_type"), args, strict=True))
    with pytest.raises(error, match=f"color_space_conversion: {text}"):
        pure_call(color_space_conversion, [np.zeros(shape, dtype)], args, layout=layout)


def test_types_are_required():
    with pytest.raises(TypeError, match='Not all required arguments .* "output_type"'):
        pure_call(color_space_conversion, [np.zeros((2, 2, 3), np.uint8)], {"image_type": RGB})
