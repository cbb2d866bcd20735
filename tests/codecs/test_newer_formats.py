"""AVIF, HEIC and JPEG XL: pixels as by the libraries' own packages, orientation, depth, damage, and what is missing."""

import contextlib
import io
import struct
import sys

import numpy as np
import pytest
from PIL import Image, ImageOps
from support.pictures import HAS_AVIF, noise, pillow

import jdali
from jdali import SampleError, fn
from jdali.codecs import heif, image
from jdali.types import ANY_DATA, GRAY, INDEX

# Blocks of 8 x 8, so that no compression changes them much.
PICTURE = np.kron(noise(5, 6, 3), np.ones((8, 8, 1), np.uint8))
WITH_ALPHA = np.concatenate([PICTURE, PICTURE[..., ::-1][..., :1]], axis=2)
# Both read with AV1's decoder, and make RGB of it with the same library.
SAME = 0

avif = pytest.mark.skipif(not HAS_AVIF, reason="Pillow was built without AVIF")


def jxl(array, **options):
    codecs = pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
    return codecs.jpegxl_encode(array, lossless=True, **options)


def heic(array, **options):
    package = pytest.importorskip("pillow_heif", reason="pillow-heif is not installed")
    out = io.BytesIO()
    package.from_pillow(Image.fromarray(array)).save(out, quality=95, chroma=444, **options)
    return out.getvalue()


def by_pillow(data):
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))


# --- AVIF -----------------------------------------------------------------------------------------
@avif
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:0"])
@pytest.mark.parametrize("without_pillow", [False, True])
def test_avif(subsampling, without_pillow, monkeypatch):
    data = pillow(PICTURE, "avif", quality=90, subsampling=subsampling)
    expected = by_pillow(data)
    if without_pillow:
        pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
        monkeypatch.setattr(heif, "_pillow_avif", lambda: None)
    np.testing.assert_allclose(image.decode(data).astype(int), expected, rtol=0, atol=SAME)
    part = image.decode(data, window=(3, 5, 8, 9))
    np.testing.assert_array_equal(part, image.decode(data)[3:11, 5:14])
    assert image.decode(data, output_type=GRAY).shape == (40, 48, 1)


@avif
@pytest.mark.parametrize("orientation", range(1, 9))
def test_avif_is_turned(orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    data = pillow(PICTURE, "avif", quality=95, exif=exif.tobytes())
    assert image.probe(data).orientation == orientation
    np.testing.assert_array_equal(image.decode(data), by_pillow(data))
    assert image.decode(data, adjust_orientation=False).shape == PICTURE.shape


@avif
def test_avif_of_gray_and_with_alpha():
    gray = PICTURE[..., 0]
    np.testing.assert_allclose(
        image.decode(pillow(gray, "avif", quality=100))[..., 1].astype(int), gray, atol=3
    )
    data = pillow(WITH_ALPHA, "avif", quality=100)
    with Image.open(io.BytesIO(data)) as picture:
        np.testing.assert_array_equal(image.decode(data), np.asarray(picture)[..., :3])
        np.testing.assert_array_equal(image.decode(data, output_type=ANY_DATA), np.asarray(picture))


def test_avif_of_ten_bits(monkeypatch):
    codecs = pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
    data = codecs.avif_encode(PICTURE.astype(np.uint16) * 4, bitspersample=10, level=100)
    deep = image.decode(data, dtype=np.uint16)
    expected = codecs.avif_decode(data)
    np.testing.assert_allclose(deep, np.round(expected * (65535 / 1023)), rtol=0, atol=1)  # single precision
    monkeypatch.setattr("jdali.codecs.base.imagecodecs", lambda: None)
    with pytest.raises(
        ImportError,
        match=r"an AVIF image( of 10 bits|, or Pillow 11.3,) needs the package imagecodecs: pip install .*codecs",
    ):
        image.decode(data)
    monkeypatch.setattr(heif, "_pillow_avif", lambda: None)
    with pytest.raises(
        ImportError, match=r"an AVIF image, or Pillow 11.3, needs|an AVIF image of 10 bits, needs|needs"
    ):
        image.decode(data)


# --- HEIC -----------------------------------------------------------------------------------------
def test_heic():
    data = heic(PICTURE)
    np.testing.assert_allclose(image.decode(data).astype(int), PICTURE, atol=12)
    package = pytest.importorskip("pillow_heif")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x112] = orientation
        turned = heic(PICTURE, exif=exif.tobytes())
        expected = np.asarray(package.open_heif(io.BytesIO(turned)))[..., :3]
        np.testing.assert_array_equal(image.decode(turned), expected)
        assert image.output_shape(image.probe(turned)) == expected.shape


def test_what_heic_needs(monkeypatch):
    """The header tells the size without the package."""

    def box(kind, content):
        return struct.pack(">I", 8 + len(content)) + kind + content

    size = box(b"ispe", struct.pack(">III", 0, 48, 40))
    links = struct.pack(">IIHBB", 0, 1, 1, 1, 1)
    parts = box(b"pitm", struct.pack(">IH", 0, 1)) + box(b"iprp", box(b"ipco", size) + box(b"ipma", links))
    data = box(b"ftyp", b"mif1\0\0\0\0mif1heic") + box(b"meta", bytes(4) + parts)
    assert image.output_shape(image.probe(data)) == (40, 48, 3)
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(ImportError, match=r"a HEIC image needs the package pillow-heif: pip install .*heif"):
        image.decode(data)


# --- JPEG XL --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("array", "options"),
    [
        (PICTURE, {}),
        (PICTURE, {"usecontainer": True}),
        (PICTURE[:7, :11], {}),
        (np.zeros((300, 200, 3), np.uint8), {}),
        (np.zeros((64, 128, 3), np.uint8), {}),
        (PICTURE[..., 0], {}),
        (WITH_ALPHA, {}),
        (PICTURE.astype(np.uint16) * 257, {}),
        (PICTURE.astype(np.uint16) * 4, {"bitspersample": 10}),
        ((PICTURE / 255).astype(np.float32), {}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else f"{value.dtype}{value.shape}",
)
def test_jpeg_xl(array, options):
    data = jxl(array, **options)
    assert image.output_shape(image.probe(data))[:2] == array.shape[:2]
    colours = np.repeat(array[..., None], 3, axis=2) if array.ndim == 2 else array[..., :3]
    most = (
        1.0 if array.dtype.kind == "f" else float((1 << options.get("bitspersample", array.itemsize * 8)) - 1)
    )
    got = image.decode(data, dtype=np.float32)
    np.testing.assert_allclose(got, colours / np.float32(most), rtol=0, atol=1e-6)
    if array.dtype == np.uint8:
        np.testing.assert_array_equal(image.decode(data), colours)


def test_what_jpeg_xl_needs(monkeypatch):
    data = jxl(PICTURE)
    monkeypatch.setattr("jdali.codecs.base.imagecodecs", lambda: None)
    with pytest.raises(
        ImportError, match=r"a JPEG XL image needs the package imagecodecs: pip install .*codecs"
    ):
        image.decode(data)


def test_extra_channels_of_jpeg_xl_do_not_hide_the_colour_space():
    """The header describes them before the colours: here three optional ones, of which the decoder makes planes."""
    planes = np.ascontiguousarray(np.moveaxis(WITH_ALPHA, 2, 0))
    assert image.probe(jxl(planes, planar=True)).channels == 1


# --- all ------------------------------------------------------------------------------------------
MADE = {
    "avif": lambda: (
        pillow(PICTURE, "avif", quality=95, subsampling="4:4:4")
        if HAS_AVIF
        else pytest.skip("Pillow has no AVIF")
    ),
    "heic": lambda: heic(PICTURE),
    "jxl": lambda: jxl(PICTURE),
    "jxl in boxes": lambda: jxl(PICTURE, usecontainer=True),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("channels", range(1, 5))
def test_channels_as_stored(kind, channels):
    if kind == "avif" and not HAS_AVIF:
        pytest.skip("Pillow has no AVIF")
    stored = {1: PICTURE[..., 0], 2: PICTURE[..., :2], 3: PICTURE, 4: WITH_ALPHA}[channels]
    make = {
        "avif": lambda: pillow(stored, "avif", quality=100, subsampling="4:4:4" if channels > 2 else "4:0:0"),
        "heic": lambda: heic(stored),
        "jxl": lambda: jxl(stored),
        "jxl in boxes": lambda: jxl(stored, usecontainer=True),
    }
    data = make[kind]()
    got = image.decode(data, output_type=ANY_DATA)
    assert got.shape == (40, 48, channels) == image.output_shape(image.probe(data), ANY_DATA)
    np.testing.assert_allclose(got.astype(int), stored.reshape(got.shape), atol=0 if "jxl" in kind else 12)
    assert image.decode(data).shape == PICTURE.shape
    if channels > 2:
        with pytest.raises(
            SampleError, match=f"has no palette but {channels} channels, so it holds no indices"
        ):
            image.decode(data, output_type=INDEX)
    else:
        np.testing.assert_array_equal(image.decode(data, output_type=INDEX), got[..., :1])


@pytest.mark.parametrize("kind", MADE)
def test_damaged_files_are_bad_samples(kind):
    data = MADE[kind]()
    rng = np.random.default_rng(0)
    for length in range(0, len(data), max(len(data) // 50, 1)):
        with pytest.raises(SampleError):
            image.decode(data[:length])
    for _ in range(100):
        bad = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            bad[rng.integers(len(bad))] = rng.integers(256)
        with contextlib.suppress(SampleError):
            assert image.decode(bytes(bad)).ndim == 3


@pytest.mark.parametrize("kind", MADE)
def test_sizes_are_checked_before_anything_is_decoded(kind, monkeypatch):
    data = MADE[kind]()
    before = jdali.storage.configure(max_pixels=100)
    try:
        with pytest.raises(SampleError, match="larger than the limit of 100 pixels"):
            image.probe(data)
    finally:
        jdali.storage.configure(max_pixels=before.max_pixels)


@avif
@pytest.mark.parametrize("options", [{}, {"bits": 10}, {"alpha": True}], ids=str)
def test_what_boxes_say_does_not_hide_a_large_picture(options):
    """libavif brings a picture to the size that its boxes say, after it was decoded."""
    large = np.zeros((600, 700, 4 if "alpha" in options else 3), np.uint8)
    if "bits" in options:
        codecs = pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
        data = codecs.avif_encode(large.astype(np.uint16), bitspersample=10)
    else:
        data = pillow(large, "avif", speed=10)
    assert image.output_shape(image.probe(data)) == (600, 700, 3)
    bad = data.replace(b"ispe" + struct.pack(">III", 0, 700, 600), b"ispe" + struct.pack(">III", 0, 48, 40))
    assert bad != data
    with pytest.raises(
        SampleError, match="broken AVIF image: its data are 600x700 pixels, its header says 40x48"
    ):
        image.probe(bad)


def test_formats_are_found_by_content():
    """In one batch, whatever their names are."""
    files = [np.frombuffer(make(), np.uint8) for kind, make in MADE.items() if kind != "heic"]
    with jdali.Pipeline(batch_size=len(files), num_threads=1, device_id=None) as pipe:
        data = fn.external_source(lambda: files)
        pipe.set_outputs(fn.decoders.image(data), fn.peek_image_shape(data))
    pictures, shapes = pipe.run()
    for picture in pictures.to_samples():
        np.testing.assert_allclose(picture.astype(int), PICTURE, atol=12)
    assert shapes.as_numpy().tolist() == [[40, 48, 3]] * len(files)
