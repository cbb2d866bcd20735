"""experimental.dilate and experimental.erode against OpenCV: DALI has them on GPUs only."""

import numpy as np
import pytest
from support import contract
from support.data import image

from jdali._operators.pure import pure_call
from jdali.ops.image._morphology import dilate, erode

cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")

MODES = {
    "constant": cv2.BORDER_CONSTANT, "replicate": cv2.BORDER_REPLICATE, "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}  # fmt: skip
SAMPLES = [image(11, 14, 3), image(5, 7, 3, seed=1)]


def reference(op, picture, mask_size=(3, 3), anchor=(-1, -1), border_mode="constant", iterations=1):
    function = {dilate: cv2.dilate, erode: cv2.erode}[op]
    mask = np.ones(mask_size[::-1], np.uint8)
    out = function(picture, mask, anchor=tuple(anchor), iterations=iterations, borderType=MODES[border_mode])
    return out.reshape(picture.shape)


def check(op, samples, args, per_sample=None, layout="HWC"):
    per_sample = per_sample or {}
    expected = [
        reference(op, s, **args, **{name: values[i] for name, values in per_sample.items()})
        for i, s in enumerate(samples)
    ]
    contract.check(op, [samples], args, per_sample, layout=layout, expected=[expected])


@pytest.mark.parametrize("op", [dilate, erode], ids=lambda op: op.name)
@pytest.mark.parametrize("border_mode", MODES)
def test_border_modes_equal_opencv(op, border_mode):
    check(op, SAMPLES, {"border_mode": border_mode, "mask_size": (4, 3)})


def test_masks_of_samples_equal_opencv():
    masks, anchors = [(1, 5), (12, 2)], [(0, 4), (-1, 0)]
    check(dilate, SAMPLES, {}, {"mask_size": masks, "anchor": anchors})


def test_iterations_equal_opencv():
    check(erode, SAMPLES, {"mask_size": (2, 3), "anchor": (0, 1), "iterations": 3})


def test_wrapping():
    """OpenCV does not wrap: by hand."""
    row = np.uint8([[[1], [2], [3], [9]]])
    got = contract.pure(dilate, [row], {"border_mode": "wrap"}, layout="HWC")
    np.testing.assert_array_equal(np.asarray(got).ravel(), [9, 3, 9, 9])


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
@pytest.mark.parametrize("op", [dilate, erode], ids=lambda op: op.name)
def test_types_equal_opencv(op, dtype):
    picture = image(6, 5, 1, dtype)
    check(op, [-picture if dtype == np.float32 else picture], {})


def test_sequences():
    frames = np.stack([image(6, 5, 2, seed=i) for i in range(3)])
    contract.check(
        dilate, [[frames]], layout="FHWC", expected=[[np.stack([reference(dilate, f) for f in frames])]]
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"mask_size": (0, 3)}, r"mask_size must be at least 1, got \(0, 3\)"),
        ({"mask_size": (3, 3, 3)}, "mask_size must have 2 values"),
        ({"anchor": (3, 0)}, r"anchor must lie within the mask, got \(3, 0\)"),
        ({"border_mode": "mirror"}, "border_mode is 'mirror'"),
        ({"iterations": 0}, "iterations is 0, it must be at least 1"),
    ],
)
def test_what_is_refused(args, message):
    with pytest.raises(ValueError, match=f"experimental.erode: {message}"):
        pure_call(erode, [image(4, 4)], args, layout="HWC")
    with pytest.raises(ValueError, match="experimental.dilate: images are int32"):
        pure_call(dilate, [np.zeros((2, 2, 1), np.int32)], {}, layout="HWC")
