"""The law of random windows: by what is promised, and against the windows the real DALI draws."""

from __future__ import annotations

import numpy as np
import pytest
from support import oracle

from jdali._kernels.random_window import ASPECT_RATIOS, window_function
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.record import REGISTRY

COUNT = 4000


def windows(height, width, area=(0.08, 1.0), aspect=ASPECT_RATIOS, attempts=10, count=COUNT):
    """Anchors and sizes, [count, 2] each, (y, x)."""
    keys = SampleKeys(seed_words(7), 0, np.zeros(count, np.uint32), np.arange(count, dtype=np.uint32))
    draw = window_function("test", area, aspect, attempts)
    return keys.map(draw, np.tile(np.array([height, width], np.int32), (count, 1)))


def dali_windows(height, width, area=(0.08, 1.0), aspect=ASPECT_RATIOS, attempts=10):
    """The same of DALI, read off ramps: linear resizing to 2 pixels shows where they were taken."""
    dali = oracle.dali()
    import nvidia.dali.fn as fn

    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    ramps = np.stack([y, x], axis=-1)
    pipe = dali.Pipeline(batch_size=COUNT, num_threads=1, device_id=None, seed=3)
    with pipe:
        source = fn.external_source(lambda: [ramps] * COUNT, layout="HWC")
        limits = {"random_area": list(area), "random_aspect_ratio": list(aspect), "num_attempts": attempts}
        pipe.set_outputs(fn.random_resized_crop(source, size=[2, 2], antialias=False, **limits))
    pipe.build()
    out = np.stack([np.array(s) for s in pipe.run()[0]])
    first, last = out[:, 0, 0], out[:, 1, 1]  # at a quarter and three quarters of the window
    size = (last - first) * 2
    return first + 0.5 - size / 4, size


def kolmogorov(a, b):
    """Largest distance of two empirical distributions."""
    grid = np.sort(np.concatenate([a, b]))
    share = [np.searchsorted(np.sort(v), grid, side="right") / len(v) for v in (a, b)]
    return np.abs(share[0] - share[1]).max()


# Of two samples of 4000 from one law the distance is below this in all but 1 of 10,000 cases.
CLOSE = 2.23 * np.sqrt(2 / COUNT)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"height": 120, "width": 160},
        {"height": 200, "width": 90, "area": (0.3, 0.9), "aspect": (0.5, 2.0), "attempts": 2},
        # Attempts often fail, and the window is the largest allowed.
        {"height": 30, "width": 40, "area": (0.9, 0.98), "aspect": (0.5, 2.0), "attempts": 1},
        {"height": 30, "width": 100, "area": (0.15, 0.55), "aspect": (0.8, 1.25), "attempts": 1},
    ],
    ids=str,
)
def test_windows_are_distributed_like_dalis(args):
    anchor, size = windows(**args)
    dali_anchor, dali_size = dali_windows(**args)
    for axis in range(2):
        assert kolmogorov(size[:, axis], np.round(dali_size[:, axis])) < CLOSE
        assert kolmogorov(anchor[:, axis], np.round(dali_anchor[:, axis])) < CLOSE
    assert kolmogorov(size.prod(axis=1), np.round(dali_size).prod(axis=1)) < CLOSE


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"height": 10, "width": 640},  # the widest window allowed has too little area
        {"height": 640, "width": 10},
        {"height": 40, "width": 30, "aspect": (1.0, 1.0), "area": (0.9, 1.0)},
    ],
    ids=str,
)
def test_fallback_windows_are_dalis(args):
    _, size = windows(**args, count=64)
    _, dali_size = dali_windows(**args)
    ours = {tuple(s) for s in size.tolist()}
    assert len(ours) == 1
    assert ours == {tuple(s) for s in np.round(dali_size).astype(int).tolist()}


@pytest.mark.oracle
def test_default_aspect_ratios_are_those_of_dali():
    """Of an image that is too wide and all of whose area is wanted, the window has the largest ratio, 4/3."""
    shape, area = np.int64([120, 300]), {"random_area": (0.9, 1.0)}
    _, (wanted,) = oracle.run("random_crop_generator", [[shape]], area, outputs=2)
    assert wanted.tolist() == [120, 160]
    for name in ("random_crop_generator", "random_resized_crop", "decoders.image_random_crop"):
        ratios = REGISTRY[name].args["random_aspect_ratio"].default
        _, sizes = windows(*shape.tolist(), area=(0.9, 1.0), aspect=ratios, count=1)
        np.testing.assert_array_equal(sizes[0], wanted)


def test_area_and_aspect_ratio_keep_to_their_ranges():
    anchor, size = windows(480, 640)
    area, aspect = size.prod(axis=1) / (480 * 640), size[:, 1] / size[:, 0]
    # Half a pixel of either side.
    assert area.min() > 0.08 - 0.005
    assert area.max() <= 1.0
    assert aspect.min() >= 0.75
    assert aspect.max() <= 4 / 3
    assert (anchor >= 0).all()
    assert (anchor + size <= [480, 640]).all()
    # Log-uniform: as often above 1 as below; small areas nearly all fit, so their share is uniform.
    assert abs((np.log(aspect[area < 0.3]) > 0).mean() - 0.5) < 0.06
    share = (area < 0.2).mean() / (area < 0.32).mean()
    assert abs(share - 0.5) < 0.06


def test_positions_are_uniform():
    anchor, size = windows(100, 100, area=(0.25, 0.25), aspect=(1.0, 1.0))
    assert (size == 50).all()
    counts = np.bincount(anchor[:, 0], minlength=51)
    assert len(counts) == 51
    # Poisson: five standard deviations.
    assert np.abs(counts - COUNT / 51).max() < 5 * np.sqrt(COUNT / 51)
    assert abs(np.corrcoef(anchor.T)[0, 1]) < 0.08


def test_one_pixel_and_no_pixels():
    anchor, size = windows(1, 1, count=8)
    assert (size == 1).all()
    assert (anchor == 0).all()
    anchor, size = windows(0, 9, count=8)
    assert (size == 0).all()


def test_a_key_gives_the_same_window_in_any_batch():
    whole, part = windows(50, 70, count=16), windows(50, 70, count=5)
    for a, b in zip(whole, part, strict=True):
        np.testing.assert_array_equal(a[:5], b)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (((0.0, 1.0), (0.7, 1.3), 10), r"x: Provided empty range: random_area must be \(least, largest\)"),
        (((0.1, 1.0), (1.3, 0.7), 10), r"x: Provided empty range: random_aspect_ratio must be \(least,"),
        (((0.1, 1.0), (0.7, 1.3), 0), "x: num_attempts must be at least 1, got 0"),
    ],
    ids=str,
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=message):
        window_function("x", *args)


def test_the_function_is_one_object_for_one_set_of_arguments():
    assert window_function("a", (0.1, 1), [0.7, 1.3], 10) is window_function("b", [0.1, 1.0], (0.7, 1.3), 10)
