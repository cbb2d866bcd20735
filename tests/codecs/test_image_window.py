"""Orientation, windows, smaller scales, and decoding into a given array."""

import io

import numpy as np
import pytest
from PIL import Image, ImageOps
from support.data import image
from support.pictures import exif, jpeg_with_exif, noise, pillow, png, png_chunk

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.types import ANY_DATA, BGR, GRAY, RGB, YCbCr

WINDOWS = [(0, 0, 21, 34), (3, 5, 7, 11), (20, 33, 1, 1), (0, 0, 1, 34), (5, 5, 0, 3)]


def jpeg(height=21, width=34, **options):
    return pillow(image(height, width), "jpeg", quality=95, **options)


def turned(kind, orientation):
    """An encoded picture, and the same upright as Pillow shows it."""
    order = "<" if orientation % 2 else ">"
    if kind == "jpeg":
        encoded = jpeg_with_exif(jpeg(), exif(orientation, order))
    elif kind == "png":
        encoded = png(noise(5, 8, 3), extra=png_chunk(b"eXIf", exif(orientation, order)))
    elif kind == "webp":
        encoded = pillow(noise(5, 8, 3), "webp", lossless=True, exif=b"Exif\0\0" + exif(orientation, order))
    else:
        encoded = pillow(noise(5, 8, 3), "tiff", tiffinfo={274: orientation})
    return encoded, np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(encoded))).convert("RGB"))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "tiff"])
def test_orientation(kind, orientation):
    encoded, upright = turned(kind, orientation)
    info = codec.probe(encoded)
    assert info.orientation == orientation
    assert codec.output_shape(info) == upright.shape
    np.testing.assert_array_equal(codec.decode(encoded), upright)
    as_stored = codec.decode(encoded, adjust_orientation=False)
    assert as_stored.shape == (info.height, info.width, 3)
    straight, _ = turned(kind, 1)
    np.testing.assert_array_equal(as_stored, codec.decode(straight))


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_an_impossible_orientation_counts_as_none(value):
    assert codec.probe(jpeg_with_exif(jpeg(), exif(value))).orientation == 1


def test_damaged_exif_data_count_as_none():
    block = exif(6)
    for bad in (b"", b"II", block[:12], b"XX" + block[2:], block[:4] + b"\xff\xff\xff\x7f" + block[8:]):
        assert codec.probe(jpeg_with_exif(jpeg(), bad)).orientation == 1


def test_turned_without_imagecodecs(monkeypatch):
    monkeypatch.setattr(codec._tiff, "imagecodecs", lambda: None)
    for orientation in range(1, 9):
        encoded, upright = turned("tiff", orientation)
        np.testing.assert_array_equal(codec.decode(encoded), upright)
        straight, _ = turned("tiff", 1)
        stored = codec.decode(encoded, adjust_orientation=False)
        np.testing.assert_array_equal(stored, codec.decode(straight))


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_window_is_of_the_upright_picture(window, orientation):
    encoded, upright = turned("jpeg", orientation)
    y, x, height, width = window if orientation < 5 else (window[1], window[0], window[3], window[2])
    expected = upright[y : y + height, x : x + width]
    window = (y, x, height, width)
    assert codec.output_shape(codec.probe(encoded), window=window) == expected.shape
    np.testing.assert_array_equal(codec.decode(encoded, window=window), expected)
    gray = codec.decode(encoded, output_type=GRAY)
    np.testing.assert_array_equal(
        codec.decode(encoded, output_type=GRAY, window=window), gray[y : y + height, x : x + width]
    )


@pytest.mark.parametrize("window", [(-1, 0, 2, 2), (0, 0, 22, 1), (20, 30, 1, 5), (0, 0, -1, 1)], ids=str)
def test_window_out_of_the_picture(window):
    with pytest.raises(SampleError, match=r"window at .* reaches out of the picture of 21x34"):
        codec.decode(jpeg(), window=window)


@pytest.mark.parametrize("space", [RGB, BGR, GRAY, YCbCr, ANY_DATA], ids=str)
@pytest.mark.parametrize("kind", ["jpeg", "png", "rgba png", "gray png", "webp", "pnm"])
def test_into_a_given_array(kind, space):
    encoded = {
        "jpeg": jpeg(9, 12),
        "png": png(noise(9, 12, 3)),
        "rgba png": png(noise(9, 12, 4)),
        "gray png": png(noise(9, 12, 1)),
        "webp": pillow(noise(9, 12, 3), "webp"),
        "pnm": pillow(noise(9, 12, 3), "ppm"),
    }[kind]
    expected = codec.decode(encoded, output_type=space)
    whole = np.full((1, *expected.shape), 77, np.uint8)
    padded = np.full((1, 11, 20, expected.shape[2]), 77, np.uint8)
    for out in (whole[0], padded[0, :9, :12]):
        assert codec.decode(encoded, output_type=space, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert (padded[0, 9:] == 77).all()
    assert (padded[0, :, 12:] == 77).all()
    windowed = np.full((3, 4, expected.shape[2]), 77, np.uint8)
    codec.decode(encoded, output_type=space, window=(2, 5, 3, 4), out=windowed)
    np.testing.assert_array_equal(windowed, expected[2:5, 5:9])


def test_given_array_must_fit():
    with pytest.raises(ValueError, match=r"out is uint8\[5, 5, 3\], the picture uint8\[9, 12, 3\]"):
        codec.decode(jpeg(9, 12), out=np.empty((5, 5, 3), np.uint8))


@pytest.mark.parametrize("denominator", [2, 4, 8])
@pytest.mark.parametrize("size", [(64, 96), (241, 321), (17, 16)], ids=str)
def test_smaller_scale_is_libjpegs(size, denominator):
    encoded = jpeg(*size)
    picture = Image.open(io.BytesIO(encoded))
    picture.draft("RGB", (max(1, size[1] // denominator), max(1, size[0] // denominator)))
    expected = np.asarray(picture)
    assert expected.shape[:2] == tuple(-(-n // denominator) for n in size)
    info = codec.probe(encoded)
    assert info.max_denominator == 8
    assert codec.output_shape(info, denominator=denominator) == expected.shape
    np.testing.assert_array_equal(codec.decode(encoded, denominator=denominator), expected)
    # A window is cut at the smaller scale: start rounded down, size rounded.
    window = (size[0] // 3, size[1] // 4, size[0] // 2, size[1] // 2)
    rows, columns = (max(1, (n + denominator // 2) // denominator) for n in window[2:])
    y, x = (n // denominator for n in window[:2])
    part = codec.decode(encoded, denominator=denominator, window=window)
    y, x = min(y, expected.shape[0] - rows), min(x, expected.shape[1] - columns)
    np.testing.assert_array_equal(part, expected[y : y + rows, x : x + columns])


@pytest.mark.parametrize("denominator", [1, 2, 4, 8])
def test_every_window_at_every_scale_has_the_shape_announced(denominator):
    encoded = jpeg_with_exif(jpeg(9, 14), exif(6))
    info = codec.probe(encoded)
    for y in range(0, 14, 3):
        for x in range(0, 9, 2):
            for height in (1, 2, 14 - y):
                for width in (1, 3, 9 - x):
                    if x + width > 9 or y + height > 14:
                        continue
                    options = {"window": (y, x, height, width), "denominator": denominator}
                    shape = codec.output_shape(info, **options)
                    assert min(shape) > 0
                    assert codec.decode(encoded, **options).shape == shape


def test_formats_that_have_one_scale_only_ignore_the_denominator():
    encoded = png(noise(9, 12, 3))
    assert codec.output_shape(codec.probe(encoded), denominator=4) == (9, 12, 3)
    np.testing.assert_array_equal(codec.decode(encoded, denominator=4), codec.decode(encoded))
    with pytest.raises(ValueError, match="denominator 3 is not one of 1, 2, 4, 8"):
        codec.decode(encoded, denominator=3)


def test_fast_idct_differs_a_little():
    encoded = jpeg(64, 64)
    exact, fast = codec.decode(encoded), codec.decode(encoded, fast_idct=True)
    assert 0 < np.abs(exact.astype(int) - fast).max() <= 8


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("orientation", [1, 2, 3, 6, 8])
def test_first_rows_of_a_jpeg(subsampling, orientation):
    # Tall enough for what lies below a window to be left out; the same library is behind Pillow.
    encoded = jpeg(120, 40, subsampling=subsampling)
    upright = np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB"))
    if orientation > 1:
        encoded = jpeg_with_exif(encoded, exif(orientation, "<"))
        upright = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(encoded))).convert("RGB"))
    height, width = upright.shape[:2]
    for y, x, rows, columns in [
        (0, 0, 1, 1),
        (8, 3, 8, 9),
        (15, 0, 17, 40),
        (height - 40, width - 40, 33, 8),
    ]:
        expected = upright[y : y + rows, x : x + columns]
        got = codec.decode(encoded, window=(y, x, rows, columns))
        np.testing.assert_array_equal(got, expected)


def test_rows_below_a_window_of_a_jpeg_are_not_decoded():
    encoded = jpeg(240, 40)
    whole = codec.decode(encoded)
    start = encoded.index(b"\xff\xda") + 14
    late = start + 4 * (len(encoded) - start) // 5
    # A marker where data should be: whoever decodes the rows there stumbles on it.
    broken = encoded[:late] + b"\xff\xc0" * 4 + encoded[late + 8 :]
    with pytest.raises(SampleError):
        codec.decode(broken)
    cut = encoded[:late] + b"\x12" * 40 + encoded[late + 40 :]
    np.testing.assert_array_equal(codec.decode(cut, window=(0, 0, 30, 40)), whole[:30])


def test_a_jpeg_that_breaks_within_a_window_or_has_no_end_raises():
    encoded = jpeg(240, 40)
    start = encoded.index(b"\xff\xda") + 14
    early = start + (len(encoded) - start) // 5
    for broken in (
        encoded[:early] + b"\xff\xd9",
        encoded[:early],
        encoded[: start + 4 * (len(encoded) - start) // 5],
    ):
        with pytest.raises(SampleError, match="broken JPEG image: .*(?i:premature end)"):
            codec.decode(broken, window=(0, 0, 100, 40))


@pytest.mark.parametrize("denominator", [2, 4, 8])
def test_first_rows_of_a_jpeg_at_a_smaller_scale(denominator):
    encoded = jpeg(120, 40)
    picture = Image.open(io.BytesIO(encoded))
    picture.draft("RGB", (40 // denominator, 120 // denominator))
    small = np.asarray(picture)
    assert small.shape == (120 // denominator, 40 // denominator, 3)
    got = codec.decode(encoded, window=(8, 8, 24, 16), denominator=denominator)
    top, left, rows, columns = 8 // denominator, 8 // denominator, 24 // denominator, 16 // denominator
    np.testing.assert_array_equal(got, small[top : top + rows, left : left + columns])
