import cv2
import numpy as np
import pytest
from support import contract, oracle

from jdali import types
from jdali._kernels import packed_pixels as _pixels
from jdali._kernels import warp as _warp
from jdali._operators.pure import pure_call
from jdali.ops.image._warp_perspective import warp_perspective

MATRIX = (0.9, 0.15, 1.3, -0.1, 1.05, -2.2, 0.002, -0.003, 1.0)
FILTERS = {"nearest": types.INTERP_NN, "linear": types.INTERP_LINEAR, "cubic": types.INTERP_CUBIC}


def smooth(height, width, channels=3, dtype=np.uint8):
    y, x = np.mgrid[:height, :width]
    planes = [128 + 100 * np.sin(x / 9 + c) * np.cos(y / 11) for c in range(channels)]
    return np.stack(planes, axis=-1).astype(dtype)


@pytest.mark.oracle
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101", "wrap"])
def test_filters_and_borders(name, border):
    """Of the smooth picture, a point that is 1e-4 pixels off is 0.002 levels off: values next to a half may round
    the other way. Only the pure function: the compiled ones are tested below."""
    args = {
        "matrix": MATRIX,
        "interp_type": FILTERS[name],
        "border_mode": border,
        "fill_value": (3.0, 100.0, 200.0),
    }
    picture = smooth(23, 31)
    ((expected,),) = oracle.run("experimental.warp_perspective", [[picture]], args, layout="HWC")
    got = np.asarray(contract.pure(warp_perspective, [picture], args, layout="HWC"))
    contract.compare(got, expected, 0 if name == "nearest" else 1, name)


@pytest.mark.oracle
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize(
    ("border", "channels"), [("constant", 1), ("constant", 3), ("reflect_101", 4), ("wrap", 2)]
)
def test_large_pictures(name, border, channels, monkeypatch):
    """Made tile by tile on a CPU, of pixels that are packed block by block. Without interpolation a shift by a
    quarter of a pixel, which has no points next to a border; else see above. Where an image that is repeated meets
    itself, levels jump by up to 200, and a point that is 0.01 pixels off is 2 levels off."""
    matrix = (1, 0, 10.25, 0, 1, -7.25, 0, 0, 1) if name == "nearest" else (*MATRIX[:6], 2e-4, -3e-4, 1)
    args = {
        "matrix": matrix,
        "interp_type": FILTERS[name],
        "border_mode": border,
        "fill_value": (3.0, 100.0, 200.0, 50.0)[:channels],
    }
    monkeypatch.setattr(_pixels, "_BLOCK", 1 << 12)
    _warp._warp.clear_cache()
    pictures = [smooth(90, 130, channels), smooth(81, 133, channels)]
    atol = 0 if name == "nearest" else 2 if border == "wrap" else 1
    contract.check(warp_perspective, [pictures], args, layout="HWC", atol=atol)
    _warp._warp.clear_cache()


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float32])
def test_per_sample(dtype):
    """A matrix and a size a sample. Floats: a point 1e-4 pixels off is 0.002 levels off. Of int16 DALI rounds points
    to 1/32 of a pixel: up to 1/64 along each axis, where the picture of 228 levels meets the border of 9."""
    pictures = [smooth(h, w, 1, dtype) for h, w in ((23, 31), (9, 5), (40, 30))]
    matrices = np.stack(
        [np.float32(MATRIX).reshape(3, 3) + np.eye(3, dtype=np.float32) * i / 50 for i in range(3)]
    )
    per_sample = {"matrix": matrices, "size": [[30.0, 20.0], [9.0, 5.0], [12.6, 40.4]]}
    contract.check(
        warp_perspective, [pictures], {"fill_value": 9.0}, per_sample, layout="HWC",
        atol={np.float32: 2e-2, np.int16: 1 + 2 * 219 / 64}.get(dtype, 1),
    )  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("inverse_map", [True, False])
@pytest.mark.parametrize("layout", ["HW", "CHW", "FHWC"])
def test_layouts_and_direction(layout, inverse_map):
    picture = {"HW": smooth(13, 17)[..., 0].copy(), "CHW": np.moveaxis(smooth(13, 17), -1, 0).copy(),
               "FHWC": np.stack([smooth(13, 17), smooth(13, 17)[::-1]])}[layout]  # fmt: skip
    args = {"matrix": MATRIX, "inverse_map": inverse_map, "border_mode": "wrap"}
    contract.check(warp_perspective, [[picture]], args, layout=layout, atol=1)


def test_like_opencv():
    """The pixel's centre as origin is OpenCV's convention."""
    picture = smooth(23, 31)
    matrix = np.float64(MATRIX).reshape(3, 3)
    for inverse, flag in ((True, cv2.WARP_INVERSE_MAP), (False, 0)):
        args = {"matrix": MATRIX, "inverse_map": inverse, "pixel_origin": "center"}
        expected = cv2.warpPerspective(picture, matrix, (31, 23), flags=cv2.INTER_LINEAR | flag)
        got = np.asarray(contract.pure(warp_perspective, [picture], args, layout="HWC"))
        contract.compare(got, expected, 1, str(args))


@pytest.mark.oracle
def test_second_input():
    matrix = np.float32(MATRIX).reshape(3, 3)
    contract.check(
        warp_perspective, [[smooth(9, 12)] * 2, [matrix, matrix * 2]], {}, layout=["HWC", ""], atol=1
    )


def test_nothing_at_the_horizon():
    """Where w is 0 the point is (0, 0), by the documented rule; DALI has no point there and gives 0."""
    picture = smooth(6, 7)
    args = {"matrix": (0.0,) * 9, "border_mode": "replicate"}
    expected = np.broadcast_to(picture[0, 0], picture.shape)
    contract.check(warp_perspective, [[picture]], args, layout="HWC", expected=[[expected]])


def test_what_is_refused():
    picture = smooth(4, 5)
    for args, message in (
        ({}, "`matrix` argument must be provided when transforms are not"),
        ({"matrix": (1.0,) * 6}, 'Argument "matrix" expected shape 3 x 3 but got 6 values,'),
        (
            {"matrix": MATRIX, "border_mode": "mirror"},
            "Invalid border_mode argument: .*. It must be one of constant, replicate",
        ),
        (
            {"matrix": MATRIX, "pixel_origin": "middle"},
            "Invalid pixel_origin argument: .*. It must be 'corner' or 'center'",
        ),
        (
            {"matrix": MATRIX, "fill_value": (1.0, 2.0)},
            "Number of values .* Number of channels: 3. Number of values provided: 2",
        ),
        (
            {"matrix": MATRIX, "interp_type": types.INTERP_LANCZOS3},
            "Only nearest, linear and cubic interpolation is supported,",
        ),
    ):
        with pytest.raises(ValueError, match=f"experimental.warp_perspective: {message}"):
            pure_call(warp_perspective, [picture], args, layout="HWC")
