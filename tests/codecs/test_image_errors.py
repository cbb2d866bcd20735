"""Damaged, hostile and unknown data: an error that says what is wrong, no crash, no half pictures."""

import struct

import numpy as np
import pytest
from support.data import image
from support.pictures import PNG_SIGNATURE, noise, pillow, png, png_chunk

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.codecs.base import ImageInfo

ENCODED = {
    "jpeg": pillow(image(40, 50), "jpeg", quality=90),
    "progressive jpeg": pillow(image(40, 50), "jpeg", quality=90, progressive=True),
    "png": png(noise(20, 30, 3)),
    "interlaced png": png(noise(20, 30, 3), interlaced=True),
    "16-bit interlaced png": png(noise(20, 30, 3, np.uint16), interlaced=True),
    "webp": pillow(image(40, 50), "webp"),
    "lossless webp": pillow(image(40, 50), "webp", lossless=True),
    "bmp": pillow(noise(20, 30, 3), "bmp"),
    "palette bmp": pillow(noise(20, 32, None), "bmp"),
    "tiff": pillow(noise(20, 30, 3), "tiff"),
    "packed tiff": pillow(image(40, 50), "tiff", compression="tiff_lzw"),
    "jpeg2000": pillow(image(40, 50), "jpeg2000"),
    "ppm": pillow(noise(20, 30, 3), "ppm"),
    "pbm": pillow(noise(20, 30, None) > 99, "ppm"),
}


@pytest.mark.parametrize("kind", ENCODED)
def test_cut_off(kind):
    encoded = ENCODED[kind]
    codec.decode(encoded)
    # The last bytes of a JPEG 2000 file are its end marker, those of a BMP fill up its row: they say nothing of the picture.
    most = len(encoded) - (3 if kind in ("jpeg2000", "bmp") else 1)
    for length in {*range(60), *np.linspace(0, most, 40).astype(int), most}:
        with pytest.raises(SampleError):
            codec.decode(encoded[:length])


@pytest.mark.parametrize("kind", ENCODED)
def test_random_damage(kind, capfd):
    """Whatever is in the bytes: a picture of the size in the header, or a `SampleError`."""
    encoded = np.frombuffer(ENCODED[kind], np.uint8)
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = encoded.copy()
        offsets = rng.integers(0, min(len(damaged), rng.choice([40, 200, len(damaged)])), rng.integers(1, 4))
        damaged[offsets] = rng.integers(0, 256, len(offsets))
        try:
            info = codec.probe(damaged)
            if info.height * info.width > 1_000_000:
                continue
            assert codec.decode(damaged).shape == codec.output_shape(info)
        except SampleError:
            pass
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an image of a known format: no data"),
        (b"hello, world", r"not an image of a known format: 12 bytes that begin with b'hello, w'"),
        (b"GIF89a" + bytes(20), "broken GIF image: the header says 0x0x3"),
        (b"\0\0\0\x20ftypavif" + bytes(20), "broken HEIF image: it has no list of pictures"),
        (b"\xff\xd8\xff", "broken JPEG image: its header is cut off"),
        (b"\xff\xd8\xff\xd9", "broken JPEG image: it ends before the first scan"),
        (b"\xff\xd8\xff\xe0\0\x04ab12", "broken JPEG image: its header is cut off"),
        (PNG_SIGNATURE, "broken PNG image: its header is cut off"),
        (PNG_SIGNATURE + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 5, 3, 2, 0, 0, 0)), "bit depth 3"),
        (PNG_SIGNATURE + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 5, 8, 2, 0, 0, 0)), "says 5x0x3"),
        (b"P6\nx 3\n255\n", "kind, width and height are not three numbers"),
        (b"P6\n3 3\n70000\n", "the largest value is not a number from 1 to 65535"),
        (b"P5\n3 3\n255\nabc", "it is cut off: 3 bytes of 9"),
        (b"II*\0\xff\xff\xff\x7f", "broken TIFF image: its header is cut off"),
    ],
)  # fmt: skip
def test_message(data, message):
    with pytest.raises(SampleError, match=message):
        codec.decode(data)


@pytest.mark.parametrize("missing", [2, 1])
def test_jpeg_without_its_end_marker(missing):
    with pytest.raises(SampleError, match=r"broken JPEG image: .*premature end"):
        codec.decode(ENCODED["jpeg"][:-missing])


def test_jpeg_with_missing_data_before_its_end_marker():
    encoded = ENCODED["jpeg"]
    with pytest.raises(SampleError, match="premature end of data segment"):
        codec.decode(encoded[: len(encoded) // 2] + b"\xff\xd9")


def test_jpeg_with_superfluous_data_is_decoded():
    encoded = ENCODED["jpeg"]
    for more in (encoded + b"trailing", encoded[:-2] + bytes(50) + encoded[-2:]):
        np.testing.assert_array_equal(codec.decode(more), codec.decode(encoded))


def test_header_is_checked_against_the_limit_before_anything_is_allocated(monkeypatch):
    def of_size(height, width):
        encoded = bytearray(png(noise(2, 2, 3)))
        encoded[8:33] = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        return bytes(encoded)

    with pytest.raises(SampleError, match="PNG image of 40000x40000x3 is larger than the limit of 500000000"):
        codec.decode(of_size(40000, 40000))
    # Within the limit, but there is by far not enough data for it: refused without decoding.
    with pytest.raises(SampleError, match="bytes cannot hold 20000x20000 pixels"):
        codec.decode(of_size(20000, 20000))
    monkeypatch.setattr(codec, "MAX_PIXELS", 100)
    codec.decode(png(noise(10, 10, 3)))
    with pytest.raises(SampleError, match="limit of 100 pixels"):
        codec.decode(png(noise(10, 11, 3)))


def test_pillows_own_limit_does_not_show(monkeypatch):
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10)
    for kind in ("interlaced png", "palette bmp"):
        codec.decode(ENCODED[kind])


def test_a_decoder_that_gives_another_size_than_the_header():
    encoded = pillow(noise(4, 4, 3), "webp")
    info = ImageInfo("webp", 3, 4, 3, detail=codec.probe(encoded).detail)
    with pytest.raises(SampleError, match=r"decoded to \(4, 4\), its header says \(3, 4\)"):
        codec.decode(encoded, info=info)
