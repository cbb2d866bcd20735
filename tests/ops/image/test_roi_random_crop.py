"""roi_random_crop: the positions that are drawn are those of DALI, and each as likely."""

from collections import Counter

import jax
import numpy as np
import pytest
from support import contract, oracle

from jdali._operators.pure import pure_call
from jdali.ops.image._roi_random_crop import roi_random_crop

PICTURE = np.zeros((7, 6, 3), np.uint8)


def drawn(count, args, inputs=()):
    with jax.enable_x64(True):
        draw = jax.vmap(lambda key: pure_call(roi_random_crop, inputs, args, key=key))
        starts = np.asarray(jax.jit(draw)(contract.sample_keys(count)))
    assert starts.dtype == np.int64
    return Counter(map(tuple, starts.tolist()))


CASES = {
    "window around": {"crop_shape": (5,), "roi_start": (3,), "roi_end": (5,)},
    "window within": {"crop_shape": (2,), "roi_start": (3,), "roi_shape": (5,)},
    "same size": {"crop_shape": (5,), "roi_start": (3,), "roi_shape": (5,)},
    "in bounds": {"crop_shape": (5,), "roi_start": (3,), "roi_end": (5,), "in_shape": (7,)},
    "two axes": {"crop_shape": (5, 2), "roi_start": (3, 0), "roi_shape": (2, 4), "in_shape": (9, 4)},
    "outside where there are no bounds": {"crop_shape": (8,), "roi_start": (-3,), "roi_end": (2,)},
    "region of nothing": {"crop_shape": (2,), "roi_start": (3,), "roi_end": (3,)},
    "region that ends before it begins": {"crop_shape": (2,), "roi_start": (3,), "roi_end": (1,)},
    "window of nothing": {"crop_shape": (0,), "roi_start": (3,), "roi_shape": (2,)},
}


@pytest.mark.oracle
@pytest.mark.parametrize("args", CASES.values(), ids=CASES)
def test_positions_as_dali(args):
    """At most 9 positions: each is among 400 draws except for a chance of 1e-19."""

    def call(**args):
        return oracle.function("roi_random_crop")(**{k: list(v) for k, v in args.items()})

    (starts,), _ = oracle.run_call(call, [], args, batch_size=400)
    assert starts[0].dtype == np.int64
    counts = drawn(400, args)
    assert set(counts) == {tuple(start.tolist()) for start in starts}
    expected = 400 / len(counts)
    assert all(abs(count - expected) <= 5 * np.sqrt(expected) for count in counts.values())


@pytest.mark.oracle
@pytest.mark.parametrize("axes", [2, 3])
def test_bounds_of_an_input(axes):
    args = {"crop_shape": (5, 6, 3)[:axes], "roi_start": (3, 0, 0)[:axes], "roi_shape": (2, 1, 3)[:axes]}
    (starts,) = oracle.run("roi_random_crop", [[PICTURE] * 200], args)
    assert set(drawn(200, args, [PICTURE])) == {tuple(start.tolist()) for start in starts}


def test_by_sample_and_padding():
    """Of the samples' own bounds, whatever their padding."""
    pictures = [np.zeros((7, 6, 3), np.uint8), np.zeros((9, 4, 3), np.uint8), np.zeros((5, 5, 3), np.uint8)]
    per_sample = {
        "crop_shape": [(7, 6), (2, 4), (5, 5)], "roi_start": [(1, 2), (7, 0), (2, 2)], "roi_end": [(3, 3), (9, 4), (3, 3)],
    }  # fmt: skip
    ((*starts,),) = contract.check_random(roi_random_crop, [pictures], {}, per_sample, layout="HWC", x64=True)
    assert [start.tolist() for start in starts] == [[0, 0], [7, 0], [0, 0]]


@pytest.mark.parametrize(
    ("args", "inputs", "text"),
    [
        (
            {"roi_end": (5,), "in_shape": (7,), "crop_shape": (9,)},
            [],
            r"Cropping shape can't be bigger than the input shape. Got: crop_shape\[9\], sample_shape\[7\]",
        ),
        (
            {"roi_end": (9,), "in_shape": (7,)},
            [],
            r"ROI can't be out of bounds. Got roi_start\[3\], roi_end\[9\], sample_shape\[7\]",
        ),
        (
            {"roi_end": (5,), "roi_start": (-1,)},
            [PICTURE],
            r"ROI can't be out of bounds. Got roi_start\[-1\], roi_end\[5\], sample_shape\[7\]",
        ),
        (
            {"roi_end": (5,), "roi_shape": (2,)},
            [],
            "Either ROI end or ROI shape should be defined, but not both",
        ),
        ({}, [], "Either ROI end or ROI shape should be defined, but not both"),
        (
            {"roi_end": (5,), "in_shape": (7,)},
            [PICTURE],
            "``in_shape`` argument is incompatible with providing an input",
        ),
        ({"roi_end": (5, 6)}, [], "Argument .roi_end. expected shape 1 but got 2 values"),
        ({"roi_end": (5,)}, [np.uint8(0)], "crop_shape has 1 elements, the input 0 axes"),
    ],
)
def test_what_is_refused(args, inputs, text):
    given = {"crop_shape": (2,), "roi_start": (3,)} | args
    with pytest.raises(ValueError, match=f"^roi_random_crop: .*{text}"):
        pure_call(roi_random_crop, inputs, given, key=contract.sample_keys(1)[0])
