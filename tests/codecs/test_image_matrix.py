"""Every good image of the data pack, in every colour space and several types, against the real DALI.

Where DALI refuses a file, or is wrong, the picture of another library is what must come.
"""

import functools
import io
import json

import numpy as np
import pytest
from PIL import Image
from support import oracle
from support.data import SHARED
from support.some import drawn

from jdali import types
from jdali.codecs import image as codec
from jdali.types import ANY_DATA, BGR, GRAY, RGB, YCbCr

pytestmark = pytest.mark.skipif(not (SHARED / "MANIFEST.json").exists(), reason="the data pack is not there")

FOLDERS = [
    "bmp",
    "exif",
    "jpeg2000",
    "jpeg_lossless",
    "jpeg_variants",
    "misnamed",
    "png",
    "pnm",
    "tiff",
    "webp",
]
SPACES = [RGB, BGR, GRAY, YCbCr, ANY_DATA]
DTYPES = [types.UINT8, types.UINT16, types.INT16, types.FLOAT]
# Pairs that show all there is to see of a large picture: of the others their conversions are the same code.
SOME = [(RGB, types.UINT8), (GRAY, types.INT16), (YCbCr, types.FLOAT), (ANY_DATA, types.UINT16)]
SMALL = 160 * 213  # pixels; of a smaller picture a normal run has three pairs, others for each

# The largest difference to DALI by folder, in units of the type; everything that is not here is equal.
#   jpeg_lossless: DALI multiplies by 1/255 where it divides elsewhere: one unit in the last place, and what
#   becomes of it after rounding.
TOLERANCE = {"jpeg_lossless": {types.FLOAT: 2e-7, types.UINT16: 1, types.INT16: 1}}

# What DALI 2.4 refuses (the pack's README), crashes on, or does wrong: (file, color spaces).
ALL = frozenset(SPACES)
NOT_DALI = {
    "bmp/bgra32.bmp": {ANY_DATA},
    "jpeg2000/cat-1245673_640-5bit.jp2": ALL,
    "jpeg_lossless/cat-1245673_640_grayscale_16bit.jpg": ALL,
    "jpeg_lossless/gray_12bit_p6.jpg": ALL,
    "jpeg_lossless/gray_16bit_p1.jpg": ALL,
    "jpeg_lossless/gray_8bit_p1.jpg": ALL - {GRAY},
    "jpeg_lossless/rgb_8bit_p4.jpg": {GRAY},
    "jpeg_variants/cmyk_adobe.jpg": {ANY_DATA},
    "jpeg_variants/cmyk_no_adobe.jpg": {ANY_DATA},
    "jpeg_variants/ycck_adobe.jpg": {ANY_DATA},
    "jpeg_variants/gray_12bit.jpg": ALL,
    "jpeg_variants/gray.jpg": {ANY_DATA},  # writes past its buffer
    "jpeg_variants/gray_progressive.jpg": {ANY_DATA},
    "misnamed/jpeg_as.webp": {ANY_DATA},
    "png/gray_alpha8.png": {ANY_DATA},
    "tiff/bitdepths/rgb_5bit.tiff": ALL,
    "tiff/multichannel_2ch8.tiff": {RGB, BGR, YCbCr},  # takes the third channel from the next pixel
}


@functools.cache
def images():
    manifest = json.loads((SHARED / "MANIFEST.json").read_text())["files"]
    return {
        f["path"].removeprefix("images/"): f["image"]
        for f in manifest
        if f["path"].startswith("images/") and "image" in f
    }


def combinations(name):
    height, width = images()[name]["decoded_shape"][:2]
    every = [(s, d) for s in SPACES for d in DTYPES]
    chosen = drawn(every, 3, lambda pair: f"{name} {pair}") if height * width <= SMALL else SOME
    return [(space, dtype) for space, dtype in chosen if space not in NOT_DALI.get(name, ())]


def of_dali(data, wanted):
    """The picture in each of the (colour space, type) pairs, out of one pipeline."""
    dali = oracle.dali()
    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        encoded = dali.fn.external_source(source=[[np.frombuffer(data, np.uint8)]], cycle=True, batch=True)
        decoded = [
            dali.fn.decoders.image(encoded, output_type=oracle.translate(s), dtype=oracle.translate(d))
            for s, d in wanted
        ]
        pipe.set_outputs(*decoded)
    pipe.build()
    return [np.array(out.at(0)) for out in pipe.run()]


@pytest.mark.oracle
@pytest.mark.parametrize("folder", FOLDERS)
def test_equals_dali(folder):
    compared = 0
    for name in images():
        if not name.startswith(folder + "/") or not combinations(name):
            continue
        data = (SHARED / "images" / name).read_bytes()
        for (space, dtype), want in zip(combinations(name), of_dali(data, combinations(name)), strict=True):
            got = codec.decode(data, output_type=space, dtype=types.to_numpy_type(dtype))
            label = f"{name} {space} {dtype}"
            assert got.dtype == want.dtype, label
            atol = TOLERANCE.get(folder, {}).get(dtype, 0)
            np.testing.assert_allclose(got, want, rtol=0, atol=atol, equal_nan=True, err_msg=label)
            compared += 1
    assert compared > 0


def read(name):
    return (SHARED / "images" / name).read_bytes()


def by_pillow(name, mode="RGB"):
    return np.asarray(Image.open(io.BytesIO(read(name))).convert(mode))


def by_imagecodecs(name, decoder):
    module = pytest.importorskip("imagecodecs")
    picture = getattr(module, decoder)(read(name))
    return picture[..., None] if picture.ndim == 2 else picture


def shifted(picture, bits):
    """Samples of `bits` bits as 8."""
    return np.floor(picture * (255 / ((1 << bits) - 1)) + 0.5).astype(np.uint8)


# By file: colour space, type, and what another library makes of it.
REFUSED = {
    "bmp/bgra32.bmp": (ANY_DATA, np.uint8, lambda n: by_pillow(n)),
    "jpeg2000/cat-1245673_640-5bit.jp2": (
        ANY_DATA, np.uint8, lambda n: shifted(by_imagecodecs(n, "jpeg2k_decode"), 5),
    ),
    "jpeg_lossless/cat-1245673_640_grayscale_16bit.jpg": (
        ANY_DATA, np.uint16, lambda n: by_imagecodecs(n, "jpegsof3_decode"),
    ),
    "jpeg_lossless/gray_16bit_p1.jpg": (ANY_DATA, np.uint16, lambda n: by_imagecodecs(n, "jpegsof3_decode")),
    "jpeg_lossless/gray_12bit_p6.jpg": (
        ANY_DATA, np.uint8, lambda n: shifted(by_imagecodecs(n, "jpegsof3_decode"), 12),
    ),
    "jpeg_lossless/gray_8bit_p1.jpg": (RGB, np.uint8, lambda n: by_imagecodecs(n, "jpegsof3_decode").repeat(3, 2)),
    "jpeg_variants/gray_12bit.jpg": (
        ANY_DATA, np.uint8, lambda n: shifted(by_imagecodecs(n, "jpeg8_decode"), 12),
    ),
    # Stored values as they are: Adobe means light by them, not ink. Pillow turns all of them around.
    "jpeg_variants/cmyk_no_adobe.jpg": (ANY_DATA, np.uint8, lambda n: 255 - by_pillow(n, "CMYK")),
    "jpeg_variants/cmyk_adobe.jpg": (ANY_DATA, np.uint8, lambda n: 255 - by_pillow(n, "CMYK")),
    "jpeg_variants/gray.jpg": (ANY_DATA, np.uint8, lambda n: by_pillow(n, "L")[..., None]),
    "jpeg_variants/gray_progressive.jpg": (ANY_DATA, np.uint8, lambda n: by_pillow(n, "L")[..., None]),
    "misnamed/jpeg_as.webp": (ANY_DATA, np.uint8, lambda n: by_pillow(n, "L")[..., None]),
    "png/gray_alpha8.png": (ANY_DATA, np.uint8, lambda n: by_pillow(n, "LA")),
    "tiff/bitdepths/rgb_5bit.tiff": (
        ANY_DATA, np.uint8, lambda n: shifted(by_imagecodecs(n, "tiff_decode"), 5),
    ),
    "tiff/multichannel_2ch8.tiff": (RGB, np.uint8, lambda n: by_imagecodecs(n, "tiff_decode")[..., :1].repeat(3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_dali_refuses(name):
    space, dtype, expected = REFUSED[name]
    np.testing.assert_array_equal(codec.decode(read(name), output_type=space, dtype=dtype), expected(name))
    info = codec.probe(read(name))
    for space in SPACES:
        for kind in DTYPES:
            got = codec.decode(read(name), output_type=space, dtype=types.to_numpy_type(kind))
            assert got.shape == codec.output_shape(info, space)
            assert got.dtype == types.to_numpy_type(kind)


def test_every_file_is_in_one_of_the_lists():
    assert {n for n in NOT_DALI if n not in images()} == set()
    folders = {name.partition("/")[0] for name in images()}
    assert folders - set(FOLDERS) == {"jpeg"}  # plain photos, compared in test_image_data
