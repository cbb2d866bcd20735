"""Nearest neighbours of resize: which pixel is copied, also where it lies on a border, against the real DALI."""

import numpy as np
import pytest
from support import contract, oracle
from support.some import drawn, times

from jdali import types
from jdali._operators.pure import pure_call
from jdali.ops.image._resize import resize
from jdali.ops.image._resize_crop_mirror import resize_crop_mirror

NN = {"interp_type": types.INTERP_NN}
# Where adding the step up moves positions across a border, in DALI; found by search.
HEIGHTS = [(250, 75), (96, 205), (40, 100), (44, 110), (50, 125)]


def coordinates(*shape):
    """An image or volume whose pixels say where they are."""
    return np.stack(np.indices(shape), axis=-1).astype(np.int16)


def apply(op, image, layout="HWC", **args):
    return np.asarray(pure_call(op, [image], args | NN, layout=layout))


@pytest.mark.oracle
def test_shrunk_and_enlarged_images():
    images = [coordinates(rows, 3) for rows, _ in HEIGHTS] + [coordinates(2, rows) for rows, _ in HEIGHTS]
    sizes = np.float32([(n, 2) for _, n in HEIGHTS] + [(3, n) for _, n in HEIGHTS])
    (want,) = oracle.run("resize", [images], NN, {"size": sizes}, layout="HWC")
    for image, size, expected in drawn(zip(images, sizes, want, strict=True), 4, lambda one: str(one[1])):
        np.testing.assert_array_equal(apply(resize, image, size=size), expected)


@pytest.mark.oracle
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("layout", ["HWC", "DHWC"])
def test_windows_whose_positions_lie_on_borders(layout, flipped):
    """DALI counts from the window's first element along all axes but the one that it resamples first."""
    rng = np.random.default_rng(3)
    axes = len(layout) - 1
    images = [coordinates(*rng.integers(20, 40, axes)) for _ in range(times(3, 5))]
    shapes = np.array([i.shape[:-1] for i in images])
    low = rng.integers(0, 10, shapes.shape).astype(np.float32)
    high = shapes - rng.integers(0, 10, shapes.shape).astype(np.float32)
    low, high = (high, low) if flipped else (low, high)
    per_sample = {"size": np.float32(rng.integers(1, 60, shapes.shape)), "roi_start": low, "roi_end": high}
    (want,) = oracle.run("resize", [images], NN, per_sample, layout=layout)
    for i, image in enumerate(images):
        got = apply(resize, image, layout, **{name: value[i] for name, value in per_sample.items()})
        np.testing.assert_array_equal(got, want[i])


@pytest.mark.oracle
@pytest.mark.parametrize("mirror", [0, 3])
def test_resize_crop_mirror(mirror):
    image = coordinates(250, 41)
    args = {"size": [75, 30], "crop": [60, 17], "crop_pos_y": 0.3, "mirror": mirror}
    ((want,),) = oracle.run("resize_crop_mirror", [[image]], args | NN, layout="HWC")
    np.testing.assert_array_equal(apply(resize_crop_mirror, image, **args), want)


@pytest.mark.oracle
def test_windows_of_a_resized_image_whose_positions_lie_on_borders():
    """The scale is no ratio of whole numbers; where the windows lie was found by search."""
    per_sample = {
        "resize_longer": np.float32([53, 67, 58, 48, 52, 118, 118]),
        "crop_pos_y": np.float32([0.958, 0.141, 0.0003, 0.883, 0.749, 0.586, 0.356]),
        "crop_pos_x": np.float32([0.398, 0.528, 0.023, 0.732, 0.031, 0.597, 0.122]),
    }
    images, args = [coordinates(86, 215)] * 7, NN | {"crop": (15.0, 16.0)}
    want = oracle.run("resize_crop_mirror", [images], args, per_sample, layout="HWC")
    contract.check(
        resize_crop_mirror, [images], args, per_sample, layout="HWC", expected=want, atol=0, compiled_atol=0
    )


@pytest.mark.oracle
def test_a_size_that_follows_from_the_aspect_ratio():
    """The window is that of DALI's float32 sizes, to the last bit."""
    rng = np.random.default_rng(1)
    images = [coordinates(*rng.integers(40, 250, 2)) for _ in range(times(2, 4))]
    (want,) = oracle.run("resize", [images], NN | {"resize_x": 91}, layout="HWC")
    for image, expected in zip(images, want, strict=True):
        np.testing.assert_array_equal(apply(resize, image, resize_x=91), expected)


@pytest.mark.oracle
def test_samples_of_one_batch_that_are_resized_by_different_filters():
    images = [coordinates(25, 9).astype(np.float32), coordinates(14, 9).astype(np.float32)]
    kinds = [types.INTERP_NN, types.INTERP_LINEAR]
    expected = []
    for image, kind in zip(images, kinds, strict=True):
        expected += oracle.run("resize", [[image]], {"size": [7, 5], "interp_type": kind}, layout="HWC")[0]
    contract.check(
        resize, [images], {"size": (7, 5)}, {"interp_type": kinds}, layout="HWC", expected=[expected],
        atol=1e-5,  # float32 sums in another order
    )  # fmt: skip
