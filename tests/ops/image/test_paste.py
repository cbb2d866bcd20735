import numpy as np
import pytest
from support import contract, oracle
from support.data import image

import jdali
from jdali import fn
from jdali._operators.pure import pure_call
from jdali.ops.image._paste import paste

SIZES = ((7, 9), (16, 3), (1, 1), (10, 13))


@pytest.mark.oracle
def test_per_sample():
    """Canvases whose sizes are whole numbers except for rounding, positions of 0 and 1, and the least size."""
    pictures = [image(h, w) for h, w in SIZES]
    per_sample = {
        "ratio": [1.0, 1.7, 3.3, 1.3], "paste_x": [0.3, 1.0, 0.5, 0.123], "paste_y": [0.9, 0.0, 1.0, 0.77],
        "min_canvas_size": [0.0, 5.5, 7.9, 12.0],
    }  # fmt: skip
    contract.check(paste, [pictures], {"fill_value": (1, 2, 3)}, per_sample, layout="HWC")


@pytest.mark.oracle
def test_many_sizes():
    """DALI works in float32. The pure function alone, for its shapes are many."""
    rng = np.random.default_rng(0)
    pictures = [image(*map(int, rng.integers(1, 40, 2))) for _ in range(8)]
    per_sample = {
        "ratio": rng.uniform(1, 3, 8).astype(np.float32), "paste_x": rng.uniform(0, 1, 8).astype(np.float32),
        "paste_y": rng.integers(0, 9, 8).astype(np.float32) / 8,
    }  # fmt: skip
    (expected,) = oracle.run("paste", [pictures], {"fill_value": 9}, per_sample, layout="HWC")
    for i, (picture, want) in enumerate(zip(pictures, expected, strict=True)):
        args = {"fill_value": 9} | {name: values[i] for name, values in per_sample.items()}
        np.testing.assert_array_equal(contract.pure(paste, [picture], args, layout="HWC"), want)


def test_other_types_and_layouts():
    """Not in DALI; in whole pixels: by NumPy."""
    picture = np.random.default_rng(0).uniform(-1, 1, (2, 3, 4)).astype(np.float32)  # CHW
    expected = np.stack([np.full((6, 8), fill, np.float32) for fill in (5, -7)])
    expected[:, 2:5, 1:5] = picture
    args = {"fill_value": (5, -7), "n_channels": 2, "ratio": 2.0, "paste_x": 0.25, "paste_y": 0.7}
    contract.check(paste, [[picture]], args, layout="CHW", expected=[[expected]])


def test_fill_values_saturate():
    for fill, held in ((300, 255), (-1, 0)):
        args = {"fill_value": fill, "ratio": 2.0, "paste_x": 0.0, "paste_y": 0.0}
        out = np.asarray(contract.pure(paste, [np.full((1, 1), 9, np.uint8)], args, layout="HW"))
        np.testing.assert_array_equal(out, [[9, held], [held, held]])


def test_what_is_refused():
    picture = image(4, 5)
    for args, message in (
        ({"fill_value": 0, "ratio": 0.5}, "paste: ratio of less than 1 is not supported, ratio is 0.5"),
        (
            {"fill_value": 0, "ratio": float("nan")},
            "paste: ratio of less than 1 is not supported, ratio is nan",
        ),
        ({"fill_value": 0, "ratio": 2.0, "paste_x": 1.5}, "paste: paste_x must be in range"),
        (
            {"fill_value": 0, "ratio": 2.0, "min_canvas_size": -1.0},
            "paste: min_canvas_size_ of less than 0 is not supp",
        ),
        (
            {"fill_value": (0, 1), "ratio": 2.0},
            'paste: Argument "fill_value" expects either a single value or a list',
        ),
        ({"fill_value": (0, 1), "n_channels": 2, "ratio": 2.0}, "paste: the image has 3 channels"),
        ({"fill_value": 0, "ratio": 1e30}, "paste: the canvas is too large"),
    ):
        with pytest.raises(ValueError, match=message):
            pure_call(paste, [picture], args, layout="HWC")


def test_in_a_pipeline():
    with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        white = fn.external_source(lambda: [np.ones((6, 6, 1), np.uint8)] * 2, layout="HWC")
        ratio = fn.external_source(lambda: [np.float32(2), np.float32(0.5)])
        pipe.set_outputs(fn.paste(white, fill_value=0, ratio=ratio))
    with pytest.raises(
        jdali.OperatorError, match="paste: ratio of less than 1 is not supported.*\n.*sample 1 of the batch"
    ):
        pipe.run()
    pipe.close()
