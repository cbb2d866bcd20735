"""Damaged images of every format: a picture of the size that the header says, or an error that says why not.

Formats that are read by large C libraries are tried in a child process: a crash there fails one test.
"""

import io
import struct
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.data import image
from support.fuzz import mutations, refusals, survives
from support.pictures import HAS_AVIF, cmyk, noise, pillow, png
from support.some import times

from jdali.codecs import image as codec
from jdali.codecs.base import imagecodecs
from jdali.types import ANY_DATA, GRAY

COUNT = times(200, 400)
MAX_PIXELS = 1_000_000  # what a header may claim here: less than the memory that a case may take
PICTURE = image(24, 31)


def palette(kind):
    out = io.BytesIO()
    Image.fromarray(PICTURE).quantize(60).save(out, kind)
    return out.getvalue()


def animated_webp():
    out = io.BytesIO()
    others = [Image.fromarray(PICTURE // 2)]
    Image.fromarray(PICTURE).save(out, "webp", save_all=True, append_images=others)
    return out.getvalue()


def tiff(picture, **options):
    return imagecodecs().tiff_encode(picture, **options)


GOOD = {
    "jpeg": lambda: pillow(PICTURE, "jpeg", quality=85),
    "progressive jpeg": lambda: pillow(PICTURE, "jpeg", quality=85, progressive=True),
    "restarting jpeg": lambda: pillow(PICTURE, "jpeg", restart_marker_blocks=2),
    "cmyk jpeg": lambda: cmyk(noise(16, 16, 4), "jpeg", quality=60),
    "png": lambda: png(PICTURE),
    "interlaced png": lambda: png(PICTURE, interlaced=True),
    "palette png": lambda: palette("png"),
    "bmp": lambda: pillow(PICTURE, "bmp"),
    "palette bmp": lambda: palette("bmp"),
    "ppm": lambda: pillow(PICTURE, "ppm"),
    "plain pgm": lambda: b"P2\n5 4\n255\n" + b" ".join(b"%d" % n for n in range(20)),
    "webp": lambda: pillow(PICTURE, "webp"),
    "lossless webp": lambda: pillow(noise(9, 13, 4), "webp", lossless=True),
    "animated webp": lambda: animated_webp(),
    "fax tiff": lambda: pillow(noise(24, 31, None) > 99, "tiff", compression="group4"),
    "palette tiff": lambda: palette("tiff"),
    "jpeg in tiff": lambda: pillow(PICTURE, "tiff", compression="jpeg"),
    "lzw tiff": lambda: pillow(PICTURE, "tiff", compression="tiff_lzw", tiffinfo={317: 2}),
    "jpeg2000": lambda: pillow(PICTURE, "jpeg2000"),
    "gif": lambda: palette("gif"),
    **({"avif": lambda: pillow(PICTURE, "avif", speed=10)} if HAS_AVIF else {}),
}  # fmt: skip
WITH_IMAGECODECS = {
    "cmyk tiff": lambda: cmyk(noise(16, 16, 4), "tiff", compression="tiff_adobe_deflate"),  # Pillow prints
    "12-bit jpeg": lambda: imagecodecs().jpeg8_encode(noise(16, 16, None, np.uint16) >> 4, level=90, bitspersample=12),
    "lossless jpeg": lambda: imagecodecs().ljpeg_encode(noise(16, 16, None, np.uint16)),
    "16-bit png": lambda: png(noise(9, 13, 4, np.uint16)),
    "16-bit interlaced png": lambda: png(noise(9, 13, 3, np.uint16), interlaced=True),
    "tiled tiff": lambda: tiff(PICTURE, photometric="rgb", tile=(16, 16), compression="lzw", predictor=True),
    "tiff of strips": lambda: tiff(noise(24, 31, 3, np.uint16), photometric="rgb", rowsperstrip=5),
    "bigtiff": lambda: tiff(PICTURE, photometric="rgb", bigtiff=True, compression="deflate"),
    "jpeg2000 codestream": lambda: imagecodecs().jpeg2k_encode(noise(16, 17, None, np.uint16), codecformat="j2k"),
    "jpeg xl": lambda: imagecodecs().jpegxl_encode(PICTURE, lossless=True),
}  # fmt: skip
IN_A_CHILD = [
    k
    for k in (GOOD | WITH_IMAGECODECS)
    if "tiff" in k or "2000" in k or "webp" in k or "bit" in k or k in ("avif", "jpeg xl")
]


def repaired(data):
    """A PNG with the checksums that its chunks should have: so that damage gets further than to those."""
    data, position = bytearray(data), 8
    while position + 12 <= len(data):
        end = position + 8 + int.from_bytes(data[position : position + 4], "big")
        if end + 4 > len(data):
            break
        struct.pack_into(">I", data, end, zlib.crc32(data[position + 4 : end]))
        position = end + 4
    return bytes(data)


def read(data):
    if data.startswith(b"\x89PNG"):
        data = repaired(data)
    info = codec.probe(data)
    assert codec.decode(data, output_type=ANY_DATA).shape == codec.output_shape(info, ANY_DATA)
    height, width, _ = codec.output_shape(info)
    window = (height // 4, width // 3, max(1, height // 4), max(1, width // 3))
    assert codec.decode(data, output_type=GRAY, window=window).shape == (*window[2:], 1)


def check(kind, count=COUNT):
    codec.MAX_PIXELS = MAX_PIXELS
    assert refusals(read, (GOOD | WITH_IMAGECODECS)[kind](), count=count) > count // 10


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(codec, "MAX_PIXELS", MAX_PIXELS)


@pytest.mark.cases(4)
@pytest.mark.parametrize("kind", [k for k in GOOD if k not in IN_A_CHILD])
def test_damaged_files(kind, capfd):
    check(kind)
    assert capfd.readouterr() == ("", "")


def test_damaged_files_in_a_child_process():
    """One process for all of them, since importing takes as long as the cases."""
    kinds = [k for k in IN_A_CHILD if k in GOOD or imagecodecs() is not None]
    folder = Path(__file__).parent
    code = f"""
import faulthandler, sys
faulthandler.enable()
sys.path[:0] = [{str(folder)!r}, {str(folder.parent)!r}]
import test_images
for kind in {kinds!r}:
    print(kind, flush=True)
    test_images.check(kind)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f"in {done.stdout.splitlines()[-1:]}: {done.stderr[-3000:]}"
    assert done.stdout.splitlines() == kinds
    assert done.stderr == ""


def test_what_a_header_claims_beyond_the_limit_is_refused_before_memory_is_taken():
    sizes = {
        "png": lambda d: d[:16] + struct.pack(">II", 30000, 30000) + d[24:],
        "bmp": lambda d: d[:18] + struct.pack("<ii", 30000, 30000) + d[26:],
        "ppm": lambda d: d.replace(b"31 24", b"30000 30000"),
        "jpeg": lambda d: d.replace(struct.pack(">HH", 24, 31), struct.pack(">HH", 30000, 30000)),
        "tiff": lambda d: d.replace(
            struct.pack("<HHII", 256, 4, 1, 31), struct.pack("<HHII", 256, 4, 1, 10**9)
        ),
        "jpeg2000": lambda d: d.replace(struct.pack(">II", 31, 24), struct.pack(">II", 30000, 30000)),
    }
    for kind, change in sizes.items():
        data = pillow(PICTURE, kind)
        bomb = change(data)
        assert bomb != data
        says = "bytes cannot hold 30000x30000|bytes of data cannot hold|cut off|larger than the limit of 1000000 pixels"
        assert not survives(codec.decode, bomb, says=says, memory=16 << 20)


def test_a_jpeg_holds_no_more_pixels_than_its_codes_have_bits(monkeypatch):
    """Pictures of one colour are as small as they can be, and are read; what claims more is refused."""
    monkeypatch.setattr(codec, "MAX_PIXELS", 500_000_000)
    for options in ({}, {"progressive": True, "optimize": True}, {"optimize": True, "subsampling": 2}):
        for shape in ((1000, 1500, 3), (1000, 1500)):
            data = pillow(np.full(shape, 128, np.uint8), "jpeg", quality=1, **options)
            decoded = codec.decode(data)
            assert (decoded == decoded[0, 0]).all()
            claims = data.replace(struct.pack(">HH", 1000, 1500), struct.pack(">HH", 20000, 20000))
            assert not survives(codec.decode, claims, says="cannot hold 20000x20000 pixels", memory=16 << 20)


def test_an_animation_takes_the_memory_of_its_picture():
    """The first frame of 24x31 is decoded alone, whatever size the header claims for all of them."""
    data = animated_webp()
    size = (999).to_bytes(3, "little")
    assert survives(codec.decode, data[:24] + size + size + data[30:], memory=8 << 20)


def test_the_cases_are_many_and_differ():
    assert len(set(mutations(GOOD["jpeg"](), count=COUNT))) > COUNT * 0.9


@pytest.mark.cases(3)
@pytest.mark.parametrize("kind", [*[k for k in GOOD if "tiff" in k], "jpeg2000", "webp", "png"])
def test_damaged_files_without_imagecodecs(kind, monkeypatch):
    """Pillow alone: it gives no warnings, and takes no memory for a size that nobody has checked."""
    for module in (codec._png, codec._tiff, codec._webp, codec._jpeg2000):
        monkeypatch.setattr(module, "imagecodecs", lambda: None)
    monkeypatch.setattr("jdali.codecs.base.imagecodecs", lambda: None)

    def read_without(data):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            try:
                read(data)
            except ImportError as error:  # another kind of picture
                raise ValueError(str(error)) from error
            finally:
                assert [str(w.message) for w in given] == []

    assert refusals(read_without, GOOD[kind](), count=COUNT) > COUNT // 10
