"""experimental.median_blur against OpenCV, and SciPy for what OpenCV has not: DALI has it on GPUs only."""

import jax
import numpy as np
import pytest
from scipy import ndimage
from support import contract
from support.data import image

from jdali._operators.pure import pure_call
from jdali.ops.image._median_blur import median_blur

SAMPLES = [image(11, 14, 3), image(5, 7, 3, seed=1)]


def median(picture, window_size=(3, 3)):
    width, height = window_size
    return ndimage.median_filter(picture, size=(height, width, 1), mode="nearest")


@pytest.mark.parametrize(
    ("dtype", "side"),
    [(np.uint8, 3), (np.uint8, 5), (np.uint8, 13), (np.uint16, 5), (np.float32, 3), (np.float32, 5)],
)
def test_equals_opencv(dtype, side):
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    samples = [s.astype(dtype) * dtype(3) - dtype(40 if dtype == np.float32 else 0) for s in SAMPLES]
    expected = [cv2.medianBlur(s, side) for s in samples]
    contract.check(median_blur, [samples], {"window_size": (side, side)}, layout="HWC", expected=[expected])


def test_windows_of_samples_equal_scipy():
    """Rectangles, one larger than the picture, and one of a single pixel."""
    samples, windows = [*SAMPLES, image(1, 1, 3), image(4, 6, 3)], [(5, 1), (3, 17), (3, 3), (1, 1)]
    expected = [median(s, w) for s, w in zip(samples, windows, strict=True)]
    contract.check(median_blur, [samples], {}, {"window_size": windows}, layout="HWC", expected=[expected])


@pytest.mark.parametrize(
    "windows",
    [[(3, 3), (3, 3)], [(5, 3), (1, 5)], [(7, 7), (7, 7)], [(9, 3), (9, 3)], [(17, 3), (3, 3)]],
    ids=str,
)
def test_large_pictures_equal_scipy(windows):
    """Made in several blocks of rows on a CPU; windows that are alike, or not, or larger than networks are for."""
    samples = [image(150, 170, 3), image(131, 160, 3, seed=1)]
    expected = [median(s, w) for s, w in zip(samples, windows, strict=True)]
    contract.check(median_blur, [samples], {}, {"window_size": windows}, layout="HWC", expected=[expected])


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_channels_and_signs_equal_scipy(channels):
    picture = image(6, 5, channels, np.int32)  # from -1e6 to 1e6
    contract.check(median_blur, [[picture]], layout="HWC", expected=[[median(picture)]])


@pytest.mark.parametrize("layout", ["HW", "CHW", "FHWC", "FCHW"])
def test_layouts_equal_scipy(layout):
    data = np.random.default_rng(0).integers(0, 256, [{"F": 2, "C": 3, "H": 5, "W": 6}[a] for a in layout])
    data = data.astype(np.uint8)
    size = [{"H": 5, "W": 3}.get(letter, 1) for letter in layout]
    expected = ndimage.median_filter(data, size=size, mode="nearest")
    contract.check(median_blur, [[data]], {"window_size": (3, 5)}, layout=layout, expected=[[expected]])


def test_derivative_belongs_to_the_median():
    row = np.float32([4, 1, 3, 2, 9]).reshape(1, 5, 1)
    weights = np.float32([1, 10, 100, 1000, 10000]).reshape(1, 5, 1)

    def weighted(values):
        return (pure_call(median_blur, [values], {"window_size": (3, 1)}, layout="HWC") * weights).sum()

    # The medians are 4 3 2 3 9.
    got = jax.grad(weighted)(row).ravel()
    np.testing.assert_array_equal(got, [1, 0, 1010, 100, 10000])


def test_equal_elements_share_the_derivative():
    flat = np.ones((1, 3, 1), np.float32)
    got = jax.grad(lambda v: pure_call(median_blur, [v], {"window_size": (3, 1)}, layout="HWC")[0, 1, 0])(
        flat
    )
    np.testing.assert_allclose(got.ravel(), [1 / 3] * 3, rtol=1e-6)


def test_empty():
    assert contract.pure(median_blur, [np.zeros((0, 4, 3), np.uint8)], {}, layout="HWC").shape == (0, 4, 3)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ((2, 3), r"window_size must be odd and at least 1, got \(2, 3\)"),
        ((3, -1), r"window_size must be odd and at least 1, got \(3, -1\)"),
        ((3, 3, 3), "window_size must have 2 values"),
    ],
)
def test_what_is_refused(window, message):
    with pytest.raises(ValueError, match=f"experimental.median_blur: {message}"):
        pure_call(median_blur, [image(4, 4)], {"window_size": window}, layout="HWC")
    with pytest.raises(ValueError, match="experimental.median_blur: images are float16"):
        pure_call(median_blur, [np.zeros((2, 2, 1), np.float16)], {}, layout="HWC")
