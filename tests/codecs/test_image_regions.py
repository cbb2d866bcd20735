"""Windows of every format: the same samples as in the whole picture, without the work outside."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from support.data import image
from support.pictures import noise, pillow, png

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.codecs.exif import stored_window, upright
from jdali.types import ANY_DATA, BGR, GRAY

HEIGHT, WIDTH = 61, 47
# y, x, height, width: at the borders of tiles, within one, over several, at each edge, empty.
WINDOWS = [(0, 0, 16, 16), (17, 18, 3, 5), (10, 10, 30, 30), (0, 40, 61, 7), (60, 46, 1, 1), (5, 5, 0, 3)]


def tiff(picture, **options):
    imagecodecs = pytest.importorskip("imagecodecs")
    return imagecodecs.tiff_encode(picture, **options)


def gray_or_color(channels, dtype=np.uint8):
    return image(HEIGHT, WIDTH, channels, dtype)


def pillow_tiff(mode, **options):
    out = io.BytesIO()
    Image.fromarray(gray_or_color(3)).convert(mode).save(out, "tiff", **options)
    return out.getvalue()


TIFFS = {
    "strips": lambda: tiff(gray_or_color(3), photometric="rgb", rowsperstrip=8),
    "one strip": lambda: tiff(gray_or_color(3), photometric="rgb"),
    "tiles": lambda: tiff(gray_or_color(3), photometric="rgb", tile=(16, 32)),
    "packed tiles": lambda: tiff(
        gray_or_color(3), photometric="rgb", tile=(16, 16), compression="lzw", predictor=True
    ),
    "big, 16 bits": lambda: tiff(
        gray_or_color(4, np.uint16), photometric="rgb", tile=(16, 16), bigtiff=True, compression="deflate"
    ),
    "big endian": lambda: tiff(gray_or_color(None, np.uint16), rowsperstrip=5, byteorder=">"),
    "floats": lambda: tiff(gray_or_color(None, np.float32), tile=(16, 16)),
    "planes": lambda: tiff(
        np.ascontiguousarray(np.moveaxis(gray_or_color(3), -1, 0)),
        photometric="rgb",
        planarconfig="separate",
        rowsperstrip=7,
    ),
    "palette": lambda: pillow_tiff("P", strip_size=WIDTH * 6),
    "bits": lambda: pillow_tiff("1", compression="group4", strip_size=60),
    "JPEG": lambda: pillow_tiff("YCbCr", compression="jpeg", strip_size=WIDTH * 3 * 16),
    "turned": lambda: pillow_tiff("RGB", strip_size=WIDTH * 3 * 9, tiffinfo={274: 6}),
}


@pytest.mark.parametrize("kind", TIFFS)
def test_tiff(kind):
    check(TIFFS[kind](), ANY_DATA)


@pytest.mark.parametrize("kind", ["palette", "bits", "turned"])
def test_tiff_with_pillow(kind, monkeypatch):
    monkeypatch.setattr(codec._tiff, "imagecodecs", lambda: None)
    check(TIFFS[kind](), ANY_DATA)


@pytest.mark.parametrize("output_type", [ANY_DATA, GRAY, BGR], ids=str)
@pytest.mark.parametrize(
    "encoded",
    [
        pillow(image(HEIGHT, WIDTH), "png"),
        pillow(image(HEIGHT, WIDTH, None), "png"),
        pillow(image(HEIGHT, WIDTH, None) > 99, "png"),
        pillow(noise(HEIGHT, WIDTH, 4), "webp", lossless=True),
        pillow(image(HEIGHT, WIDTH), "bmp"),
        pillow(image(HEIGHT, WIDTH), "ppm"),
        pillow(image(HEIGHT, WIDTH), "jpeg2000"),
        b"P5 47 61 65535\n" + noise(HEIGHT, WIDTH, None, np.uint16).tobytes(),
    ],
    ids=["png", "gray png", "1-bit png", "webp", "bmp", "ppm", "jpeg2000", "16-bit pgm"],
)
def test_formats(encoded, output_type):
    check(encoded, output_type)


def check(encoded, output_type):
    """Each window against the same of the whole picture."""
    options = {"output_type": output_type, "dtype": np.float32}
    whole = codec.decode(encoded, **options)
    for y, x, height, width in WINDOWS:
        window = (y, x, height, width)
        if whole.shape[0] != HEIGHT:
            window = (x, y, width, height)
            y, x, height, width = window
        got = codec.decode(encoded, window=window, **options)
        np.testing.assert_array_equal(got, whole[y : y + height, x : x + width], str(window))


def filtered(picture, kinds):
    """A PNG [H, W, 3] whose rows have these filter types."""
    rows, above = [], np.zeros(picture.shape[1] * 3, np.uint8)
    for row, kind in zip(picture.reshape(len(picture), -1), kinds, strict=True):
        left = np.concatenate([np.zeros(3, np.uint8), row[:-3]])
        rows.append(bytes([kind]) + (row - {0: 0 * row, 1: left, 2: above}[kind]).tobytes())
        above = row
    encoded = bytearray(png(picture))
    start = encoded.index(b"IDAT") - 4
    data = zlib.compress(b"".join(rows))
    body = b"IDAT" + data
    end = struct.pack(">III", 0, int.from_bytes(b"IEND", "big"), zlib.crc32(b"IEND"))
    return (
        bytes(encoded[:start])
        + struct.pack(">I", len(data))
        + body
        + struct.pack(">I", zlib.crc32(body))
        + end
    )


@pytest.mark.parametrize("kinds", [[2] * 20, [0, 2, 2, 1, 2, 2, 0] + [2] * 13, [1] * 20], ids=str)
def test_rows_of_a_png_that_depend_on_those_above(kinds):
    picture = noise(20, 9, 3)
    encoded = filtered(picture, kinds)
    np.testing.assert_array_equal(codec.decode(encoded), picture)
    for y in range(8):
        np.testing.assert_array_equal(codec.decode(encoded, window=(y, 2, 2, 4)), picture[y : y + 2, 2:6])


def test_what_lies_outside_of_the_window_is_not_decoded():
    """Damage there is not seen: nobody looked."""
    tiles = bytearray(tiff(noise(64, 64, 3), photometric="rgb", tile=(16, 16), compression="deflate"))
    page = Image.open(io.BytesIO(tiles)).tag_v2
    for i, (offset, size) in enumerate(zip(page[324], page[325], strict=True)):
        if i not in (5, 6):
            tiles[offset : offset + size] = bytes(size)
    assert codec.decode(tiles, window=(16, 16, 16, 32)).std() > 50
    with pytest.raises(SampleError):
        codec.decode(tiles, window=(16, 16, 17, 32))
    with pytest.raises(SampleError):
        codec.decode(tiles)
    rows = bytearray(png(noise(200, 40, 3)))
    rows[-2000:-1900] = bytes(100)
    assert codec.decode(rows, window=(0, 0, 20, 20)).std() > 50
    with pytest.raises(SampleError):
        codec.decode(rows)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_position_of_a_window_in_the_stored_picture(orientation):
    picture = np.arange(35).reshape(5, 7)
    seen = upright(picture, orientation)
    y, x, height, width = stored_window((1, 2, 3, 2), *seen.shape, orientation)
    part = picture[y : y + height, x : x + width]
    np.testing.assert_array_equal(upright(part, orientation), seen[1:4, 2:4])


@pytest.mark.parametrize("damage", ["offset", "size"])
def test_tiles_that_are_not_where_they_should_be(damage):
    encoded = bytearray(tiff(noise(64, 64, 3), photometric="rgb", tile=(16, 16)))
    page = Image.open(io.BytesIO(encoded)).tag_v2
    tag, kind, wrong = (324, "I", b"\xff\xff\xff\x7f") if damage == "offset" else (325, "H", b"\1\0")
    at = bytes(encoded).index(struct.pack(f"<16{kind}", *page[tag]))
    encoded[at : at + len(wrong)] = wrong
    with pytest.raises(SampleError):
        codec.decode(bytes(encoded), window=(0, 0, 10, 10))
