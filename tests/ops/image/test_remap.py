"""DALI has remap on a GPU only: OpenCV is the reference, and SciPy for floats."""

import cv2
import numpy as np
import pytest
from scipy import ndimage
from support import contract

from jdali import types
from jdali._operators.pure import pure_call
from jdali.ops.image._remap import remap

FILTERS = {
    types.INTERP_NN: cv2.INTER_NEAREST, types.INTERP_LINEAR: cv2.INTER_LINEAR, types.INTERP_CUBIC: cv2.INTER_CUBIC,
}  # fmt: skip
LAYOUTS = ["HWC", "HW", "HW"]


def smooth(height, width, channels=3, dtype=np.uint8):
    y, x = np.mgrid[:height, :width]
    planes = [128 + 100 * np.sin(x / 9 + c) * np.cos(y / 11) for c in range(channels)]
    return np.stack(planes, axis=-1).astype(dtype)


def waves(height, width):
    """Maps x and y, some of whose points are outside; none is halfway between two pixels."""
    y, x = np.mgrid[:height, :width].astype(np.float32)
    return x + 3 * np.sin(y / 5) + np.float32(0.01), y * np.float32(1.1) - np.float32(1.97) + np.cos(x / 4)


@pytest.mark.parametrize("interp", FILTERS)
def test_like_opencv(interp):
    """Values within a rounding error of a half may be 1 off, and of the nearest none here."""
    sizes = ((20, 31), (9, 40))
    pictures = [smooth(23, 31), smooth(12, 17)]
    maps = [waves(*size) for size in sizes]
    expected = [cv2.remap(p, mx, my, FILTERS[interp]) for p, (mx, my) in zip(pictures, maps, strict=True)]
    inputs = [pictures, [m[0] for m in maps], [m[1] for m in maps]]
    args = {"interp": interp, "pixel_origin": "center"}
    contract.check(
        remap, inputs, args, layout=LAYOUTS, expected=[expected], atol=0 if interp == types.INTERP_NN else 1
    )


def test_floats_like_scipy():
    """The corner as origin: points are half a pixel further. Weights of float32: 1e-5 of the largest value, 228."""
    picture = smooth(23, 31, 1, np.float32)
    mapx, mapy = waves(23, 31)
    expected = ndimage.map_coordinates(
        np.pad(picture[..., 0].astype(np.float64), 1), [mapy + 0.5, mapx + 0.5], order=1, mode="constant"
    )
    inputs = [[picture], [mapx[..., None]], [mapy[..., None]]]
    contract.check(
        remap,
        inputs,
        {},
        layout=["HWC", "HWC", "HWC"],
        expected=[[expected[..., None].astype(np.float32)]],
        atol=5e-3,
    )


def test_sequences_and_what_is_no_number():
    frames = np.stack([smooth(5, 6), smooth(5, 6)[::-1]])
    mapx, mapy = np.zeros((2, 2, 3), np.float32), np.zeros((2, 2, 3), np.float32)
    mapx[1, 0, 1], mapy[1, 1, 2], mapx[0, 0, 0] = 4, 3, np.nan
    out = np.asarray(
        pure_call(remap, [frames, mapx, mapy], {"pixel_origin": "center"}, layout=["FHWC", "FHW", "FHW"])
    )
    expected = np.broadcast_to(frames[:, :1, :1], (2, 2, 3, 3)).copy()
    expected[1, 0, 1], expected[1, 1, 2], expected[0, 0, 0] = frames[1, 0, 4], frames[1, 3, 0], 0
    np.testing.assert_array_equal(out, expected)


def test_what_is_refused():
    picture, points = smooth(4, 5), np.zeros((4, 5), np.float32)
    for inputs, args, message in (
        ([picture, points, points[1:]], {}, r"mapx is \(4, 5\) and mapy \(3, 5\), they must agree"),
        ([picture, points.astype(np.int32), points], {}, "mapx is int32, it must be float32"),
        ([picture, points, points], {"pixel_origin": "top"}, "Invalid pixel_origin argument"),
        (
            [picture, points, points],
            {"interp": types.INTERP_GAUSSIAN},
            "Only nearest, linear and cubic interpolation is supported,",
        ),
        ([picture[:0], points, points], {}, "the image has no pixels"),
    ):
        with pytest.raises(ValueError, match=f"experimental.remap: {message}"):
            pure_call(remap, inputs, args, layout=LAYOUTS)
