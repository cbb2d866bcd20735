"""segmentation.random_mask_pixel: which pixels are drawn, and how often."""

from collections import Counter

import jax
import numpy as np
import pytest
from support import contract, oracle

from jdali._operators.pure import pure_call
from jdali.ops.segmentation._random_mask_pixel import random_mask_pixel

MASK = np.int32([[0, 1, 0], [2, 0, 2]])


def drawn(mask, count=400, **args):
    """How often each pixel is drawn for `count` samples."""
    with jax.enable_x64(True):
        draw = jax.vmap(lambda key: pure_call(random_mask_pixel, [mask], args, key=key))
        pixels = np.asarray(jax.jit(draw)(contract.sample_keys(count)))
    assert pixels.dtype == np.int64
    return Counter(map(tuple, pixels.tolist()))


def drawn_by_dali(mask, count=400, **args):
    ((*pixels,),) = oracle.run("segmentation.random_mask_pixel", [[mask] * count], args)
    return Counter(tuple(pixel.tolist()) for pixel in pixels)


CASES = {
    "any": (MASK, {}),
    "foreground": (MASK, {"foreground": 1}),
    "any number but 0": (MASK, {"foreground": -3}),
    "value": (MASK, {"foreground": 1, "value": 2}),
    "no such value": (MASK, {"foreground": 1, "value": 9}),
    "threshold": (MASK, {"foreground": 1, "threshold": 1.0}),
    "below all": (MASK, {"foreground": 1, "threshold": -1.0}),
    "above all": (MASK, {"foreground": 1, "threshold": 2.0}),
    "uint8": (MASK.astype(np.uint8), {"foreground": 1, "threshold": 1.5}),
    "value that uint8 lacks": (MASK.astype(np.uint8), {"foreground": 1, "value": 258}),
    "negative value of uint8": (MASK.astype(np.uint8) + np.uint8(254), {"foreground": 1, "value": -2}),
    "bool": (MASK > 0, {"foreground": 1}),
    "value of bool": (MASK > 0, {"foreground": 1, "value": 1}),
    "value that bool lacks": (MASK > 0, {"foreground": 1, "value": 2}),
    "float": (MASK.astype(np.float32) + np.float32(0.5), {"foreground": 1, "threshold": 1.5}),
    "value of float": (MASK.astype(np.float32), {"foreground": 1, "value": 2}),
    "value between floats": (MASK.astype(np.float32) + np.float32(0.5), {"foreground": 1, "value": 2}),
    "int64": (MASK.astype(np.int64) - 2**40, {"foreground": 1, "threshold": -(2.0**40)}),
    "compared as float32": (np.int32([2**24, 2**24 + 1, 2**24 + 2]), {"foreground": 1, "threshold": 2.0**24}),
    "three axes": (MASK.reshape(1, 3, 2), {"foreground": 1}),
    "one pixel": (MASK[:1, :1], {"foreground": 1}),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_draws_the_pixels_that_dali_draws(case):
    """Of at most 6 pixels each is among 400 with a chance of all but 1e-31; so all that can be drawn are."""
    mask, args = case
    assert set(drawn(mask, **args)) == set(drawn_by_dali(mask, **args))


@pytest.mark.parametrize("args", [{}, {"foreground": 1}])
def test_each_is_as_likely(args):
    """Within 5 standard deviations."""
    counts = drawn(MASK, 1200, **args)
    expected = 1200 / len(counts)
    for count in counts.values():
        assert abs(count - expected) < 5 * np.sqrt(expected)


def test_per_sample_and_sizes():
    """What is drawn is of each sample's own foreground, whatever its size and padding."""
    rng = np.random.default_rng(0)
    masks = [rng.integers(0, 5, size).astype(np.int32) for size in [(9, 4), (1, 1), (3, 17), (6, 6)]]
    per_sample = {"foreground": [1, 1, 0, 1], "value": [3, 7, 1, 4]}
    ((*pixels,),) = contract.check_random(random_mask_pixel, [masks], {}, per_sample, x64=True)
    assert masks[0][tuple(pixels[0])] == 3
    assert masks[3][tuple(pixels[3])] == 4
    assert pixels[1].tolist() == [0, 0]


def test_what_is_refused():
    with pytest.raises(ValueError, match="a scalar has no pixels"):
        pure_call(random_mask_pixel, [np.int32(1)], {}, key=contract.sample_keys(1)[0])
    with pytest.raises(ValueError, match=r"a mask of shape \(0, 3\) has no pixels"):
        pure_call(random_mask_pixel, [MASK[:0]], {}, key=contract.sample_keys(1)[0])
