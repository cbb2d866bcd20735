"""equalize against the real DALI and OpenCV."""

import jax
import numpy as np
import pytest
from support import contract
from support.data import image

import jdali
from jdali import fn
from jdali._kernels import histogram as _histogram
from jdali._operators.pure import pure_call
from jdali.ops.image import _equalize
from jdali.ops.image._equalize import equalize

RNG = np.random.default_rng(3)
EDGES = [
    image(23, 31),
    np.full((4, 5, 3), 7, np.uint8),  # one value: stays as it is
    RNG.integers(0, 2, (9, 50, 3), np.uint8) * 255,
    np.uint8([[[0, 255, 3]]]),
    RNG.integers(100, 103, (40, 17, 3), np.uint8),
    np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3),
]


@pytest.mark.oracle
def test_equals_dali():
    contract.check(equalize, [EDGES], layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape"),
    [("HW", (7, 9)), ("CHW", (3, 7, 9)), ("FHWC", (2, 7, 9, 3)), ("FCHW", (2, 1, 5, 9)), ("FHW", (3, 5, 9))],
)
def test_layouts_equal_dali(layout, shape):
    contract.check(equalize, [[RNG.integers(30, 90, shape, np.uint8)]], layout=layout)


@pytest.mark.oracle
@pytest.mark.parametrize("channels", [1, 4, 9])
def test_channels_equal_dali(channels):
    contract.check(equalize, [[image(13, 11, channels)]], layout="HWC")


def test_every_number_of_pixels_rounds_as_opencv():
    """Counts that put values on halves: 2 · 255 · n / total is odd for some n."""
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    for total in (3, 11, 103, 511):
        row = RNG.integers(0, 256, (1, total, 1), np.uint8)
        row[0, 0] = 0
        got = contract.pure(equalize, [row], {}, layout="HWC")
        np.testing.assert_array_equal(np.asarray(got)[..., 0], cv2.equalizeHist(row[..., 0]))


def test_empty():
    assert contract.pure(equalize, [np.zeros((0, 4, 3), np.uint8)], {}, layout="HWC").shape == (0, 4, 3)


def test_histograms_equal_numpy():
    """Both ways to count, with anything in the padding."""
    picture = RNG.integers(0, 256, (11, 13, 3), np.uint8)
    expected = np.stack([np.bincount(picture[:7, :12, c].ravel(), minlength=256) for c in range(3)])
    for count in (jax.jit(_histogram._counted), _histogram._scattered):
        np.testing.assert_array_equal(count(picture, np.int32([7, 12, 3])), expected)


@pytest.mark.parametrize(
    ("shape", "extent"),
    [
        ((20, 128, 1), (20, 128)),
        ((20, 64, 3), (1, 1)),
        ((9, 33, 1), (8, 30)),
        ((9, 331, 2), (0, 0)),
        ((9, 67, 5), (9, 66)),
        ((3, 64, 7), (3, 1)),
        ((300, 1, 1), (299, 1)),
    ],
)
def test_loops_equal_numpy(shape, extent):
    """Rows that chunks divide, and others, with anything in the padding."""
    picture = RNG.integers(0, 256, shape, np.uint8)
    tables = RNG.integers(0, 256, (shape[2], 256), np.uint8)
    true, padded_extent = picture[: extent[0], : extent[1]], np.int32([*extent, shape[2]])
    expected = [np.bincount(true[..., c].ravel(), minlength=256) for c in range(shape[2])]
    np.testing.assert_array_equal(_histogram._counted(picture, padded_extent), expected)
    made = np.asarray(_histogram._one_by_one(picture, padded_extent, tables))
    np.testing.assert_array_equal(made[: extent[0], : extent[1]], tables[np.arange(shape[2]), true])


@pytest.mark.oracle
def test_large_images_equal_dali(monkeypatch):
    """Those that are counted in a loop."""
    monkeypatch.setattr(_histogram, "SMALL", 0)
    _equalize._equalized.clear_cache()
    contract.check(equalize, [EDGES[:2]], layout="HWC", pad=3)
    _equalize._equalized.clear_cache()


def test_what_is_refused():
    with pytest.raises(ValueError, match="equalize: Unsupported input type for equalize operator: float32."):
        pure_call(equalize, [image(4, 4, 3, np.float32)], {}, layout="HWC")


def test_deprecated_name():
    with jdali.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
        pipe.set_outputs(fn.experimental.equalize(fn.external_source(lambda: [EDGES[2]], layout="HWC")))
    np.testing.assert_array_equal(np.asarray(pipe.run()[0].at(0)), EDGES[2])  # two values, spread already
    pipe.close()
