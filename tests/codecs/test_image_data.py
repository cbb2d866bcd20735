"""The images of the data pack: hashes of what the real DALI made of them, and damaged files."""

import hashlib
import json

import numpy as np
import pytest
from support.data import SHARED

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.types import ANY_DATA

pytestmark = pytest.mark.skipif(not (SHARED / "MANIFEST.json").exists(), reason="the data pack is not there")

VARIANTS = {
    "RGB": {},
    "ANY_DATA": {"output_type": ANY_DATA},
    "ANY_DATA_UINT16": {"output_type": ANY_DATA, "dtype": np.uint16},
    "RGB_adjust_orientation_False": {"adjust_orientation": False},
}
# Two channels as RGB: DALI takes the third channel from the next pixel.
WRONG_IN_DALI = {("images/tiff/multichannel_2ch8.tiff", "RGB")}
GOOD = ["bmp", "exif", "jpeg", "jpeg2000", "jpeg_lossless", "jpeg_variants"]
GOOD += ["misnamed", "png", "pnm", "tiff", "webp"]
# Formats that DALI does not decode; test_newer_formats.py has them.
NOT_DALIS = ("bad/unsupported/animated.gif", "bad/unsupported/photo.avif", "bad/unsupported/photo.jxl")
BAD = ["bmp", "png", "jpeg", "jpeg2000", "tiff", "webp", "pnm", "unsupported", "fuzzing"]


def entries(folder):
    manifest = json.loads((SHARED / "MANIFEST.json").read_text())
    return [f for f in manifest["files"] if f["path"].startswith(folder + "/")]


@pytest.mark.parametrize("folder", GOOD)
def test_equals_dali_to_the_last_bit(folder):
    compared = 0
    for entry in entries(f"images/{folder}"):
        if "image" not in entry:
            continue
        data = (SHARED / entry["path"]).read_bytes()
        dali = entry["image"]["dali_cpu"]
        info = codec.probe(data)
        assert list(codec.output_shape(info)) == dali["peek_image_shape"], entry["path"]
        for variant, options in VARIANTS.items():
            expected = dali.get(variant)
            if expected is None or (entry["path"], variant) in WRONG_IN_DALI:
                continue
            decoded = codec.decode(data, **options)  # also where DALI refuses the file
            if isinstance(expected, dict):
                assert list(decoded.shape) == expected["shape"], (entry["path"], variant)
                assert decoded.dtype == expected["dtype"], (entry["path"], variant)
                digest = hashlib.sha256(decoded.tobytes()).hexdigest()
                assert digest == expected["sha256"], (entry["path"], variant)
                compared += 1
    assert compared > 0


def test_lossless_and_deep_jpegs_that_dali_refuses_on_its_cpu():
    imagecodecs = pytest.importorskip("imagecodecs")
    for name in ("jpeg_lossless/gray_16bit_p1.jpg", "jpeg_lossless/cat-1245673_640_grayscale_16bit.jpg"):
        data = (SHARED / "images" / name).read_bytes()
        decoded = codec.decode(data, output_type=ANY_DATA, dtype=np.uint16)
        np.testing.assert_array_equal(decoded[..., 0], imagecodecs.jpegsof3_decode(data))


@pytest.mark.parametrize("folder", BAD)
def test_damaged_files(folder, capfd):
    for entry in entries(f"bad/{folder}"):
        if "dali_cpu" not in entry or entry["path"] in NOT_DALIS:
            continue
        data = (SHARED / entry["path"]).read_bytes()
        try:
            shape = list(codec.decode(data).shape)
        except SampleError:
            continue
        expected = {"outcome": "ok", "samples": 1, "first_shapes": [shape]}
        assert entry["dali_cpu"] == expected, entry["path"]
    assert capfd.readouterr() == ("", "")
