"""decoders.image_crop, image_slice and image_random_crop: decode, then cut."""

import numpy as np
import pytest
from support import host_run, oracle
from support.data import image
from support.pictures import exif, jpeg_with_exif, noise, pillow, png

from jdali import SampleError, types
from jdali.codecs import image as codec
from jdali.ops.decoders._image_crop import image_crop
from jdali.ops.decoders._image_random_crop import image_random_crop
from jdali.ops.decoders._image_slice import image_slice

SAMPLES = [
    np.frombuffer(data, np.uint8)
    for data in (
        pillow(image(21, 34), "jpeg"),
        jpeg_with_exif(pillow(image(40, 23), "jpeg"), exif(8)),
        png(noise(20, 33, 3)),
    )
]
PICTURES = [codec.decode(s) for s in SAMPLES]  # 21x34, 23x40, 20x33


def float32(*rows):
    return [np.array(r, np.float32) for r in rows]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("args", "per_sample"),
    [
        ({"crop": (10.0, 12.0)}, {}),
        ({"crop": (10.7, 12.2), "crop_pos_x": 0.3, "crop_pos_y": 1.0}, {}),
        ({"crop_h": 5.0, "crop_w": 0.0, "rounding": "truncate"}, {}),
        ({}, {"crop": float32((7, 9), (20, 40), (1, 1)), "crop_pos_x": float32(0.0, 0.3, 0.9)}),
        ({"crop": (6.0, 6.0), "output_type": types.GRAY, "dtype": types.FLOAT}, {}),
        ({"crop": (6.0, 6.0), "adjust_orientation": False}, {"crop_pos_y": float32(0.1, 0.9, 0.5)}),
    ],
    ids=str,
)
def test_crop_equals_dali(args, per_sample):
    [expected] = oracle.run("decoders.image_crop", [SAMPLES], args, per_sample)
    for got, want in zip(host_run.run(image_crop, SAMPLES, args, per_sample), expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_crop():
    results = host_run.run(image_crop, SAMPLES, {"crop": (10, 12)})
    for result, picture in zip(results, PICTURES, strict=True):
        # Half a pixel rounds away from zero: 11 free rows put the window at row 6.
        y, x = ((n - s + 1) // 2 for n, s in zip(picture.shape, (10, 12), strict=False))
        np.testing.assert_array_equal(result, picture[y : y + 10, x : x + 12])


def test_crop_out_of_bounds_names_the_sample():
    with pytest.raises(
        SampleError, match=r"decoders.image_crop: The cropping window .* is not valid for image dimensions"
    ) as error:
        host_run.plan(image_crop, SAMPLES, {"crop": (21, 5)})
    assert error.value.sample == 2


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("args", "per_sample"),
    [
        ({"start": (3, 4), "shape": (10, 7)}, {}),
        ({"rel_start": (0.1, 0.2), "rel_end": (0.7, 0.9)}, {}),
        ({"rel_start": 0.25, "rel_shape": 0.5, "axis_names": "H"}, {}),
        ({"end": (9, 11), "axes": (0, 1)}, {}),
        ({"output_type": types.GRAY}, {"start": [np.array(v, np.int32) for v in ((0, 1), (2, 3), (5, 5))]}),
    ],
    ids=str,
)
def test_slice_equals_dali(args, per_sample):
    [expected] = oracle.run("decoders.image_slice", [SAMPLES], args, per_sample)
    for got, want in zip(host_run.run(image_slice, SAMPLES, args, per_sample), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.oracle
@pytest.mark.parametrize("args", [{}, {"normalized_anchor": False, "normalized_shape": False}], ids=str)
def test_slice_by_inputs_equals_dali(args):
    share = 1 if args == {} else 20
    anchors = float32((0.1, 0.2), (0.0, 0.5), (0.3, 0.3))
    shapes = float32((0.5, 0.5), (1.0, 0.5), (0.25, 0.7))
    anchors, shapes = [a * share for a in anchors], [s * share for s in shapes]
    [expected] = oracle.run("decoders.image_slice", [SAMPLES, anchors, shapes], args)
    results = host_run.run(image_slice, SAMPLES, args, inputs=[anchors, shapes])
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_slice():
    for result, picture in zip(
        host_run.run(image_slice, SAMPLES, {"start": (4, 3), "shape": (7, 10)}), PICTURES, strict=True
    ):  # (x, y)
        np.testing.assert_array_equal(result, picture[3:13, 4:11])


def test_slice_needs_a_window():
    with pytest.raises(ValueError, match=r"decoders\.image_slice: Expected named slice arguments"):
        host_run.plan(image_slice, SAMPLES)


def test_slice_out_of_bounds():
    with pytest.raises(
        SampleError,
        match=r"decoders.image_slice: The cropping window \[0\.\.5, 30\.\.35\] is not valid for image",
    ):
        host_run.plan(image_slice, SAMPLES, {"start": (30, 0), "shape": (5, 5)})


def windows_of(samples, **options):
    return host_run.plan(image_random_crop, samples, **options).traced["_window"]


def test_random_crop_is_a_window_of_the_picture():
    args = {"random_area": (0.1, 0.5)}
    windows = windows_of(SAMPLES, args=args)
    results = host_run.run(image_random_crop, SAMPLES, args)
    for (y, x, height, width), result, picture in zip(windows, results, PICTURES, strict=True):
        np.testing.assert_array_equal(result, picture[y : y + height, x : x + width])


def test_random_windows_keep_their_limits_and_follow_from_the_sample_alone():
    many = [SAMPLES[0]] * 200  # 21x34
    windows = windows_of(many, args={"random_area": (0.2, 0.6), "random_aspect_ratio": (0.5, 2.0)})
    y, x, height, width = windows.T
    assert y.min() >= 0
    assert x.min() >= 0
    assert (y + height).max() <= 21
    assert (x + width).max() <= 34
    area, ratio = height * width / (21 * 34), width / height
    # The sides are rounded: half a pixel of 7, the smallest side, changes the area by 7 %.
    assert 0.2 * 0.9 < area.min() < 0.25
    assert 0.55 < area.max() < 0.6 * 1.1
    assert ratio.min() >= 0.5
    assert ratio.max() <= 2.0
    args = {"random_area": (0.2, 0.6), "random_aspect_ratio": (0.5, 2.0)}
    again = windows_of(many[:3], args=args, index=[150, 7, 23])
    np.testing.assert_array_equal(again, windows[[150, 7, 23]])
    assert (windows_of(many, args=args, seed=2) != windows).any(axis=1).mean() > 0.9


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"random_area": (0.5, 0.2)}, "Provided empty range: random_area must be"),
        ({"random_aspect_ratio": (0.0, 1.0)}, "Provided empty range: random_aspect_ratio must be"),
        ({"num_attempts": 0}, "num_attempts must be at least 1"),
        ({"dtype": types.FLOAT64}, "dtype float64 is not supported"),
    ],
    ids=str,
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=f"decoders.image_random_crop: {message}"):
        host_run.plan(image_random_crop, SAMPLES, args)
