"""clahe against the real DALI and OpenCV, bit by bit."""

import jax
import numpy as np
import pytest
from support import contract

from jdali import ops
from jdali._kernels.lab import lab_to_rgb, rgb_to_lab
from jdali._operators.pure import pure_call
from jdali.ops.image._clahe import clahe

RNG = np.random.default_rng(3)
TILES = {"tiles_x": 3, "tiles_y": 2, "clip_limit": 2.0}


def dim(*shape):
    """Values of little contrast, so that there is something to limit."""
    return np.clip(RNG.normal(100, 25, shape), 0, 255).astype(np.uint8)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        TILES,
        TILES | {"luma_only": False, "clip_limit": 40.0, "bins": 64},
        {"tiles_x": 1, "tiles_y": 5, "clip_limit": 0.0},
    ],
    ids=str,
)
def test_equals_dali(args):
    """RGB and gray in one batch; multiples of the tiles and none; fewer pixels than tiles."""
    samples = [dim(40, 60, 3), dim(41, 63, 1), dim(2, 2, 3), np.full((7, 12, 3), 9, np.uint8), dim(1, 5, 1)]
    contract.check(clahe, [samples], args, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("luma_only", [True, False])
def test_large_pictures_equal_dali(luma_only):
    """Made in several blocks of rows on a CPU."""
    samples = [dim(150, 170, 3), dim(143, 161, 3)]
    contract.check(clahe, [samples], TILES | {"luma_only": luma_only}, layout="HWC")


def test_a_large_picture_with_64_bit_types_equals_opencv():
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    picture = dim(150, 170, 1)
    with jax.enable_x64(True):
        result = jax.jit(lambda image: ops.clahe(image, layout="HWC", **TILES))(picture)
    np.testing.assert_array_equal(result[:, :, 0], cv2.createCLAHE(2.0, (3, 2)).apply(picture[:, :, 0]))


def test_layouts_equal_opencv():
    """DALI takes HWC only."""
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    frames = dim(2, 12, 17)
    apply = cv2.createCLAHE(2.0, (3, 2)).apply
    expected = np.stack([apply(frame) for frame in frames])
    contract.check(clahe, [[frames]], TILES, layout="FHW", expected=[[expected]])
    chw = np.ascontiguousarray(frames[:1])
    contract.check(clahe, [[chw]], TILES, layout="CHW", expected=[[expected[:1]]])


def test_lab_equals_opencv():
    """Every 5th level of each channel, there and back; also Lab that no RGB has."""
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    levels = np.arange(0, 256, 5, dtype=np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(-1, len(levels), 3)
    lab = np.stack(rgb_to_lab(cube), axis=-1)
    np.testing.assert_array_equal(lab, cv2.cvtColor(cube, cv2.COLOR_RGB2LAB))
    back = np.stack(lab_to_rgb(*(cube[..., c].astype(np.int32) for c in range(3))), axis=-1)
    np.testing.assert_array_equal(back, cv2.cvtColor(cube, cv2.COLOR_LAB2RGB))


def test_empty():
    assert contract.pure(clahe, [np.zeros((0, 4, 3), np.uint8)], TILES, layout="HWC").shape == (0, 4, 3)


@pytest.mark.parametrize(
    ("picture", "args", "message"),
    [
        (dim(4, 4, 3).astype(np.float32), {}, "images are float32, they must be uint8"),
        (dim(4, 4, 2), {}, "images must have 1 or 3 channels, got 2"),
        (dim(4, 4, 3), {"tiles_x": 0}, "tiles_x is 0, it must be at least 1"),
        (dim(4, 4, 3), {"tiles_y": -1}, "tiles_y is -1, it must be at least 1"),
        (dim(4, 4, 3), {"bins": 100}, "bins is 100, it must be a power of 2"),
    ],
)
def test_what_is_refused(picture, args, message):
    with pytest.raises(ValueError, match=f"clahe: {message}"):
        pure_call(clahe, [picture], TILES | args, layout="HWC")
