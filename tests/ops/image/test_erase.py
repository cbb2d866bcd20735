import numpy as np
import pytest
from support import contract, oracle

import jdali
from jdali import fn
from jdali._operators.pure import pure_call
from jdali.ops.image._erase import erase

SIZES = ((7, 9), (16, 3), (1, 1))


def whites(dtype=np.uint8, channels=2):
    rng = np.random.default_rng(0)
    return [rng.integers(1, 100, (h, w, channels)).astype(dtype) for h, w in SIZES]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.float16, np.float32])
def test_types(dtype):
    """Corners that are no whole numbers, and outside of the image."""
    args = {"anchor": [1.5, 0.9, -3.5, 2.0], "shape": [2.6, 4.5, 6.9, 30.0], "fill_value": 3.7}
    contract.check(erase, [whites(dtype)], args, layout="HWC")


def test_64_bits():
    samples = [np.full((3, 4), 2**40, np.int64)]
    expected = samples[0].copy()
    expected[1:, 2:] = -5
    args = {"anchor": [1.0, 2.0], "shape": [9.0, 9.0], "fill_value": -5.9}
    contract.check(erase, [samples], args, layout="HW", expected=[[expected]], x64=True)


@pytest.mark.oracle
@pytest.mark.parametrize("shares", [(), ("normalized",), ("normalized_anchor",), ("normalized_shape",)])
@pytest.mark.parametrize("centered", [False, True])
def test_many_corners(shares, centered):
    """Random positions and positions on halves, of three regions that overlap."""
    rng = np.random.default_rng(len(shares) + centered)
    units = {
        "anchor": "normalized" in shares or "normalized_anchor" in shares,
        "shape": "normalized" in shares or "normalized_shape" in shares,
    }
    samples = [np.ones((31, 23, 1), np.uint8)] * 6
    per_sample = {}
    for name, relative in units.items():
        values = rng.uniform(-0.2 if name == "anchor" else 0, 0.6, (6, 6)) * (1 if relative else 30)
        values[3:] = np.round(values[3:] * 2) / 2
        per_sample[name] = values.astype(np.float32)
    args = {"centered_anchor": centered} | dict.fromkeys(shares, True)
    contract.check(erase, [samples], args, per_sample, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("count", [9, 33])
def test_many_regions(count):
    rng = np.random.default_rng(count)
    args = {"anchor": rng.uniform(0, 20, 2 * count).tolist(), "shape": rng.uniform(0, 3, 2 * count).tolist()}
    contract.check(erase, [[np.ones((20, 21, 1), np.uint8)]], args, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"axis_names": "W", "anchor": [3.0, 1.0], "shape": [1.0, 3.0]},
        {"axis_names": "WH", "anchor": [3.0, 1.0], "shape": [2.0, 3.0]},
        {"axis_names": "C", "anchor": [1.0], "shape": [1.0]},
        {"axes": [1, 0], "anchor": [3.0, 1.0], "shape": [2.0, 3.0]},
        {"axes": [0, 2], "axis_names": "HW", "anchor": [3.0, 1.0], "shape": [2.0, 3.0]},
        {"shape": [3.0, 1.0]},
        {"anchor": [], "shape": []},
        {"anchor": [2.0, 2.0], "shape": [-1.0, 3.0]},
        {"anchor": [float("nan"), 2.0], "shape": [1.0, 3.0]},
        {"anchor": [1.0, 1.0], "shape": [2.0, 2.0], "fill_value": [4.0, 5.0]},
    ],
    ids=str,
)
def test_axes_and_fill_values(args):
    contract.check(erase, [whites()], args, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("HW", (6, 7)),
        ("CHW", (2, 6, 7)),
        ("DHWC", (4, 5, 6, 2)),
        ("FHWC", (3, 4, 5, 1)),
        ("FCHW", (2, 2, 4, 5)),
    ],
)
def test_layouts(layout, shape):
    """Without names of axes, all but C have coordinates, F too."""
    axes = len(layout) - layout.count("C")
    args = {"anchor": [1.0] * axes, "shape": [2.0] * axes}
    if "C" in layout:
        args["fill_value"] = [7.0, 8.0][: shape[layout.index("C")]]
    contract.check(erase, [[np.ones(shape, np.float32)]], args, layout=layout)


def test_values_that_the_type_does_not_hold():
    """Saturated, as `crop` and `slice` fill; DALI wraps."""
    picture = np.ones((2, 2, 1), np.uint8)
    for fill, held in ((300.0, 255), (-4.0, 0)):
        args = {"anchor": [0.0, 0.0], "shape": [1.0, 2.0], "fill_value": fill}
        expected = np.array([[[held]] * 2, [[1]] * 2], np.uint8)
        contract.check(erase, [[picture]], args, layout="HWC", expected=[[expected]])


@pytest.mark.oracle
def test_numbers_of_regions_that_differ():
    anchors = [np.float32([1, 1]), np.float32([]), np.float32([0, 0, 3, 3, 4, 1])]
    shapes = [np.float32([2, 2]), np.float32([]), np.float32([1, 1, 2, 2, 1, 9])]
    pictures = [np.full((6, 7, 3), 9, np.uint8)] * 3
    ((*expected,),) = oracle.run("erase", [pictures], {}, {"anchor": anchors, "shape": shapes}, layout="HWC")
    with jdali.Pipeline(batch_size=3, num_threads=1, device_id=None) as pipe:
        white = fn.external_source([pictures], cycle=True, layout="HWC")
        anchor = fn.external_source([anchors], cycle=True)
        shape = fn.external_source([shapes], cycle=True)
        pipe.set_outputs(fn.erase(white, anchor=anchor, shape=shape))
    (out,) = pipe.run()
    for i, want in enumerate(expected):
        np.testing.assert_array_equal(out.at(i), want)
    pipe.close()


def test_what_is_refused():
    picture = np.ones((4, 5, 2), np.uint8)
    for args, message in (
        ({"anchor": [1.0], "shape": [1.0]}, "erase: shape has 1 values; each region needs 2"),
        ({"anchor": [1.0] * 4, "shape": [1.0] * 2}, "erase: anchor has 4 values and shape has 2"),
        ({"axis_names": "X"}, "erase: Axis 'X' is not present in the input layout, which is 'HWC'"),
        ({"axes": [3]}, "erase: Axis 3 out of range. Expected range is"),
        (
            {"normalized": True, "normalized_shape": True},
            "erase: `normalized` argument is incompatible with providing a",
        ),
        (
            {"shape": [1.0, 1.0], "fill_value": [1.0] * 3},
            "erase: Multi-channel fill value does not match the number of channels in the input: it has 3 values, the data has 2",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            pure_call(erase, [picture], args, layout="HWC")
    with pytest.raises(ValueError, match="erase: data without a layout: give axes"):
        pure_call(erase, [picture], {"shape": [1.0, 1.0]}, layout="")


def test_in_a_pipeline():
    """A number of values that is no whole number of regions is an error of its sample."""
    with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        white = fn.external_source(lambda: [np.ones((6, 6, 1), np.uint8)] * 2, layout="HWC")
        corner = fn.external_source(lambda: [np.float32([1, 2]), np.float32([1])])
        pipe.set_outputs(fn.erase(white, anchor=corner, shape=corner))
    with pytest.raises(jdali.OperatorError, match="erase: shape has 1 values.*\n.*sample 1 of the batch"):
        pipe.run()
    pipe.close()
