"""bbox_rotate against the real DALI, and by hand."""

import numpy as np
import pytest
from support import oracle

from jdali import fn, pipeline_def
from jdali._errors import OperatorError

# Sums, products and quotients of pixels up to 100: a few units in the last place of float32.
PIXELS = 3e-5


def boxes(count, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.random((count, 2)) * 0.7
    return np.concatenate([first, first + 0.05 + rng.random((count, 2)) * 0.25], 1).astype(np.float32)


def rotate(*inputs, **args):
    """Outputs of the operator for a batch, for each a list of samples."""

    @pipeline_def(batch_size=len(inputs[0]), num_threads=1)
    def pipeline():
        nodes = [fn.external_source(source=[v], cycle=True, batch=True) for v in inputs]
        fed = {
            k: fn.external_source(source=[v], cycle=True, batch=True)
            for k, v in args.items() if isinstance(v, np.ndarray)
        }  # fmt: skip
        return fn.bbox_rotate(*nodes, **(args | fed))

    with pipeline() as pipe:
        return [[np.asarray(s) for s in out.to_samples()] for out in pipe.run()]


def test_quarter_turn_by_hand():
    given = np.float32([[0.1, 0.2, 0.3, 0.6]])
    # Counter-clockwise: the right border becomes the upper one. The canvas is turned, too.
    turned, labels = rotate([given], [np.int32([4])], angle=90.0, input_shape=[40, 80])
    np.testing.assert_allclose(turned[0], [[0.2, 0.7, 0.6, 0.9]], atol=1e-6)
    np.testing.assert_array_equal(labels[0], [4])
    # On a canvas of the same size, 80 wide: 20 pixels more on each side; above and below 20 are cut off.
    (kept,) = rotate([given], angle=90.0, input_shape=[40, 80], keep_size=True, remove_threshold=0.0)
    np.testing.assert_allclose(kept[0], [[28 / 80, 36 / 40, 44 / 80, 1]], atol=1e-6)
    none, labels = rotate(
        [given], [np.int32([[4]])], angle=90.0, input_shape=[40, 80], keep_size=True, remove_threshold=0.5
    )
    assert none[0].shape == (0, 4)
    assert labels[0].shape == (0, 1)


def test_size_of_rotated_boxes_by_hand():
    given, root = np.float32([[40, 40, 60, 60]]), np.sqrt(0.5)
    for mode, half in (("expand", 20 * root), ("fixed", 10), ("halfway", (20 * root + 10) / 2)):
        (turned,) = rotate(
            [given], angle=45.0, input_shape=[100, 100], keep_size=True, mode=mode, bbox_normalized=False
        )
        np.testing.assert_allclose(turned[0], [[50 - half, 50 - half, 50 + half, 50 + half]], atol=PIXELS)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"keep_size": True, "remove_threshold": 0.6},
        {"mode": "fixed", "keep_size": True, "bbox_layout": "xyWH"},
        {"mode": "halfway", "size": [50.7, 60.0]},
        {"bbox_normalized": False, "shape_layout": "WH", "keep_size": True, "remove_threshold": 0.3},
        {"bbox_normalized": False, "bbox_layout": "xyWH", "mode": "fixed"},
    ],
)
def test_equals_dali(args):
    given = [boxes(8), boxes(1, 1), boxes(0), boxes(30, 2)]
    sizes = np.int32([[40, 60], [61, 33], [10, 10], [77, 50]])
    if not args.get("bbox_normalized", True):
        given = [b * np.float32(50) for b in given]
    labels = [np.arange(len(b), dtype=np.int32) for b in given]
    angles = np.float32([30, -100, 45, 170])
    expected = oracle.run(
        "bbox_rotate", [given, labels], args, {"angle": angles, "input_shape": sizes}, outputs=2
    )
    got = rotate(given, labels, angle=angles, input_shape=sizes, **args)
    for i in range(4):
        np.testing.assert_array_equal(got[1][i], expected[1][i])
        assert got[0][i].shape == expected[0][i].shape
        np.testing.assert_allclose(got[0][i], expected[0][i], rtol=0, atol=PIXELS)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"mode": "grow"}, "Unknown mode: grow. Supported modes are: expand, fixed,"),
        ({"bbox_layout": "XYxy"}, "Unknown bbox_layout: XYxy. Supported layouts are: xyWH, xyXY"),
        ({"remove_threshold": 2.0}, "remove_threshold must be from 0 to 1"),
        ({"shape_layout": "HC"}, "shape_layout does not contain 'W' and/or 'H', it is 'HC'"),
        ({"shape_layout": "CHW"}, "`input_shape` ndim is smaller than the `shape_layout` ndim:"),
        (
            {"keep_size": True, "size": [5.0, 5.0]},
            "fn.bbox_rotate `keep_size` is mutually exclusive with `size` argument",
        ),
        ({"size": [5.0]}, "`size` list argument must be exactly two elements"),
    ],
)
def test_errors(args, text):
    with pytest.raises(OperatorError, match=f"bbox_rotate: {text}"):
        rotate([boxes(2)], angle=10.0, input_shape=[20, 20], **args)


def test_wrong_inputs():
    with pytest.raises(OperatorError, match=r"First input to fn.bbox_rotate should be \[N,4\], got 2 x 3"):
        rotate([np.zeros((2, 3), np.float32)], angle=10.0, input_shape=[20, 20])
    with pytest.raises(OperatorError, match="Number of labels must match number of boxes. Got: 3 and 2"):
        rotate([boxes(2)], [np.zeros(3, np.int32)], angle=10.0, input_shape=[20, 20])
