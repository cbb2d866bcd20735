"""TIFF: orientation of what libtiff turns by itself, palettes with more channels."""

import io

import numpy as np
import pytest
from PIL import Image
from support.image_files import tiff
from support.pictures import noise

from jdali.codecs import image as codec
from jdali.types import ANY_DATA, GRAY, RGB

pytest.importorskip("imagecodecs")

KINDS = {
    "RGB": (tiff.RGB, 3, {}),
    "gray": (tiff.BLACK_IS_ZERO, 1, {}),
    "palette": (tiff.PALETTE, 1, {tiff.COLORS: np.linspace(0, 65535, 768).astype(int).tolist()}),
    "CMYK": (tiff.CMYK, 4, {}),
    "YCbCr": (tiff.YCBCR, 3, {tiff.SUBSAMPLING: [1, 1]}),
    "Lab": (tiff.LAB, 3, {}),
}


def turned(picture, orientation):
    """A stored picture as it is to be seen."""
    operations = {
        2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }  # fmt: skip
    return (
        np.asarray(Image.fromarray(picture).transpose(operations[orientation]))
        if orientation > 1
        else picture
    )


def file_of(kind, orientation):
    if kind == "JPEG":
        out = io.BytesIO()
        picture = Image.fromarray(noise(tiff.HEIGHT, tiff.WIDTH, 3)).convert("YCbCr")
        picture.save(out, "tiff", compression="jpeg", tiffinfo={tiff.ORIENTATION: orientation})
        return out.getvalue()
    photometric, channels, tags = KINDS[kind]
    samples = noise(tiff.HEIGHT, tiff.WIDTH, channels)
    return tiff.made(
        [samples.tobytes()], 8, photometric, channels, tags=tags | {tiff.ORIENTATION: [orientation]}
    )


@pytest.mark.parametrize("kind", [*KINDS, "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(kind, orientation, monkeypatch):
    stored = codec.decode(file_of(kind, 1))
    data = file_of(kind, orientation)
    np.testing.assert_array_equal(codec.decode(data, adjust_orientation=False), stored)
    want = turned(stored, orientation)
    np.testing.assert_array_equal(codec.decode(data), want)
    np.testing.assert_array_equal(codec.decode(data, window=(2, 3, 9, 5)), want[2:11, 3:8])
    assert codec.decode(data, output_type=GRAY).shape == (*want.shape[:2], 1)
    if kind in ("RGB", "gray", "palette", "CMYK"):
        monkeypatch.setattr("jdali.codecs.tiff.imagecodecs", lambda: None)
        np.testing.assert_array_equal(codec.decode(data), want)


def test_only_the_first_channel_of_a_palette_is_an_index():
    both = noise(tiff.HEIGHT, tiff.WIDTH, 2)
    colors = noise(256, 3, None, np.uint16)
    data = tiff.made(
        [both.tobytes()], 8, tiff.PALETTE, 2, tags={tiff.COLORS: colors.T.ravel().tolist(), tiff.EXTRA: [2]}
    )
    for space in (RGB, ANY_DATA):
        decoded = codec.decode(data, output_type=space, dtype=np.uint16)
        np.testing.assert_array_equal(decoded, colors[both[..., 0]])
