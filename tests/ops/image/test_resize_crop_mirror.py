"""resize_crop_mirror against the real DALI, and against cropping by hand."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from support import contract
from support.data import image

from jdali import types
from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.call import CallRequest, PerBatch, plan_call
from jdali._operators.pure import pure_call
from jdali.ops.image._resize import resize
from jdali.ops.image._resize_crop_mirror import resize_crop_mirror

# float32 sums in another order.
FLOAT = 1e-5


def run(x, layout="HWC", **args):
    return np.asarray(pure_call(resize_crop_mirror, [x], args, layout=layout))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"crop": [9, 8], "rounding": "truncate"},
        {"crop_h": 9.0, "crop_w": 40.7},  # wider than the resized image: its border repeats
        {"crop": [9, 8], "roi_start": [0.1, 0.8], "roi_end": [0.9, 0.3], "roi_relative": True},
    ],
    ids=str,
)
def test_equals_dali(args):
    samples = [image(13, 17, 3, np.float32, s) for s in range(4)]
    per_sample = {
        "size": [np.float32(s) for s in ([18, 12], [18, -12], [11.7, 30], [9, 8])],
        "crop_pos_x": [np.float32(p) for p in (0.5, 0, 1, 0.3)],
        "crop_pos_y": [np.float32(p) for p in (0.5, 1, 0.3, 0)],
        "mirror": [np.int32(m) for m in (0, 1, 2, 3)],
    }
    contract.check(resize_crop_mirror, [samples], args, per_sample, layout="HWC", atol=FLOAT)


@pytest.mark.oracle
def test_without_a_crop_and_in_integers_equals_dali():
    samples = [image(60, 70, 3), image(7, 5, 3, seed=1)]
    args = {"resize_shorter": 40, "mirror": 1, "interp_type": types.INTERP_CUBIC}
    # The same float that lies at .5 except for the order of summation is rounded to one or the other side.
    contract.check(resize_crop_mirror, [samples], args, layout="HWC", atol=1)


@pytest.mark.oracle
def test_nearest_equals_dali():
    # Odd input sizes, so that no source position is exactly between two pixels; see test_resize.py.
    args = {"size": [14, 10], "crop": [5, 6], "mirror": 3, "interp_type": types.INTERP_NN}
    contract.check(resize_crop_mirror, [[image(9, 15, 3)]], args, layout="HWC", atol=0)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape", "args"),
    [
        ("CHW", (3, 9, 7), {"size": [6, 12], "crop": [4, 5]}),
        ("FHWC", (2, 9, 7, 1), {"size": [6, 12], "crop": [4, 5]}),
        ("DHWC", (4, 5, 6, 1), {"size": [6, 7, 8], "crop": [4, 3, 2], "crop_pos_z": 0.9, "mirror": 5}),
        ("DHWC", (4, 5, 6, 1), {"size": [6, 7, 8], "crop_d": 4.0, "crop_h": 3.0, "crop_w": 2.0, "mirror": 4}),
    ],
    ids=str,
)
def test_layouts_equal_dali(layout, shape, args):
    sample = np.random.default_rng(0).random(shape, np.float32)
    contract.check(resize_crop_mirror, [[sample]], args, layout=layout, atol=FLOAT)


def test_is_resize_then_crop_then_mirror():
    picture = image(13, 17, 3, np.float32)
    whole = np.asarray(contract.pure(resize, [picture], {"size": [20, 10]}, layout="HWC"))
    # First row: half of 20 - 7 is 6.5, which rounds to 7; first column: 0.25 · (10 - 4) = 1.5, to 2.
    cut = run(picture, size=[20, 10], crop=[7, 4], crop_pos_x=0.25)
    np.testing.assert_allclose(cut, whole[7:14, 2:6], atol=FLOAT)
    cut = run(picture, size=[20, 10], crop=[7, 4], crop_pos_x=0.25, mirror=3, rounding="truncate")
    np.testing.assert_allclose(cut, whole[6:13, 1:5][::-1, ::-1], atol=FLOAT)


@pytest.mark.parametrize(("layout", "order"), [("CHW", (2, 0, 1)), ("HWC", (0, 1, 2))])
def test_mirror_means_the_same_axes_in_every_layout(layout, order):
    # DALI 2.4 does not: it mirrors the axis before, or none, if the layout does not begin with H or D.
    picture = image(9, 7, 3, np.float32)
    for mirror, expected in ((1, picture[:, ::-1]), (2, picture[::-1])):
        got = run(picture.transpose(order), layout, size=[9, 7], mirror=mirror)
        np.testing.assert_allclose(got, expected.transpose(order), atol=FLOAT)


def test_mirror_may_be_traced():
    picture = image(5, 6, 1, np.float32)
    mirrored = jax.jit(lambda m: pure_call(resize_crop_mirror, [picture], {"size": [5, 6], "mirror": m}))
    np.testing.assert_allclose(mirrored(1), picture[:, ::-1], atol=FLOAT)
    np.testing.assert_allclose(mirrored(0), picture, atol=FLOAT)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"crop": [3, 3]}, "Exactly one method of specifying size must be used: separate"),
        ({"size": 5, "crop": [3]}, "`crop` argument should have 2 elements, one for each of HW"),
        (
            {"size": 5, "crop": [3, 3], "crop_w": 2},
            "`crop` argument is not compatible with `crop_h`, `crop_w`,",
        ),
        ({"size": 5, "crop_w": 3}, "`crop_w` and `crop_h` arguments must be provided together"),
        (
            {"size": 5, "rounding": "up"},
            "``rounding`` value up is not supported. Supported values are 'round',",
        ),
    ],
    ids=str,
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=f"resize_crop_mirror: {message}"):
        run(image(4, 5), **args)


def test_a_position_out_of_range_names_the_sample():
    args = {"size": 5, "crop": [3, 3], "crop_pos_x": PerBatch(np.array([0.5, 1.5], np.float32))}
    with pytest.raises(
        SampleError, match=r"Anchor for dimension 1 \(1.500000\) is out of range \[0.0, 1.0\];"
    ) as caught:
        plan_call(
            CallRequest(resize_crop_mirror, [BatchSpec.of([image(4, 5)] * 2, "HWC")], args, batch_size=2)
        )
    assert (caught.value.sample, caught.value.argument) == (1, "crop_pos_x")
    del args["crop"]  # nothing is cut, so it does not matter where
    plan_call(CallRequest(resize_crop_mirror, [BatchSpec.of([image(4, 5)] * 2, "HWC")], args, batch_size=2))
