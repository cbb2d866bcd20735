"""Every format decodes to the samples that were put into it."""

import io
import struct
import warnings

import numpy as np
import pytest
from PIL import Image
from support.data import image
from support.pictures import cmyk, noise, pillow, png, png_chunk

from jdali import SampleError, types
from jdali.codecs import image as codec
from jdali.codecs import tiff as _tiff
from jdali.types import ANY_DATA, BGR, GRAY

SIZES = [(1, 1), (7, 10), (16, 9)]
LOSSLESS = {
    "png": {},
    "bmp": {},
    "tiff": {},
    "ppm": {},
    "webp": {"lossless": True, "exact": True},
    "jpeg2000": {"irreversible": False},
}


def rgb_of(picture):
    return np.repeat(picture[..., None], 3, 2) if picture.ndim == 2 else picture[..., :3]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", LOSSLESS)
def test_rgb(kind, size):
    picture = noise(*size, 3)
    encoded = pillow(picture, kind, **LOSSLESS[kind])
    info = codec.probe(encoded)
    assert (info.height, info.width, info.channels, info.dtype) == (*size, 3, np.uint8)
    for data in (encoded, np.frombuffer(encoded, np.uint8), bytearray(encoded)):
        np.testing.assert_array_equal(codec.decode(data), picture)
    np.testing.assert_array_equal(codec.decode(encoded, output_type=BGR), picture[..., ::-1])
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), picture)


@pytest.mark.parametrize("kind", ["png", "bmp", "tiff", "ppm", "jpeg2000"])
def test_gray(kind):
    picture = noise(9, 13, None)
    encoded = pillow(picture, kind, **LOSSLESS[kind])
    assert codec.probe(encoded).channels == 1
    np.testing.assert_array_equal(codec.decode(encoded), rgb_of(picture))
    for space in (GRAY, ANY_DATA):
        np.testing.assert_array_equal(codec.decode(encoded, output_type=space), picture[..., None])


@pytest.mark.parametrize("kind", ["png", "tiff", "webp", "jpeg2000"])
def test_alpha_is_dropped_but_for_any_data(kind):
    picture = noise(6, 11, 4)
    encoded = pillow(picture, kind, **LOSSLESS[kind])
    np.testing.assert_array_equal(codec.decode(encoded), picture[..., :3])
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), picture)


@pytest.mark.parametrize("channels", [3, 4])
def test_animations_have_the_channels_of_their_pictures(channels):
    """The first one is decoded; DALI gives as many, too."""
    pictures = [noise(6, 11, channels), noise(6, 11, channels) // 2]
    first, *others = (Image.fromarray(one) for one in pictures)
    out = io.BytesIO()
    first.save(out, "webp", save_all=True, append_images=others, lossless=True, exact=True)
    want = np.asarray(Image.open(out))
    assert want.shape == (6, 11, channels)
    np.testing.assert_array_equal(codec.decode(out.getvalue(), output_type=ANY_DATA), want)


def test_the_first_frame_of_an_animation_may_be_smaller_than_the_picture():
    first, second = noise(8, 12, 4), noise(8, 12, 4)
    first[:2] = first[:, :4] = 0  # Pillow stores the rest
    out = io.BytesIO()
    Image.fromarray(first).save(
        out, "webp", save_all=True, append_images=[Image.fromarray(second)], lossless=True, exact=True
    )
    encoded = out.getvalue()
    frame = encoded.index(b"ANMF") + 8
    assert encoded[frame : frame + 12] == bytes(
        [2, 0, 0, 1, 0, 0, 7, 0, 0, 5, 0, 0]
    )  # halves of x and y, sizes less 1
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), first)
    beyond = encoded[:frame] + b"\3" + encoded[frame + 1 :]
    with pytest.raises(SampleError, match=r"first frame of 6x8 at \(2, 6\) reaches out of it, .* says 8x12"):
        codec.decode(beyond)
    with pytest.raises(SampleError, match="an animation without frames"):
        codec.decode(encoded.replace(b"ANMF", b"ANMX"))


def test_gray_and_alpha():
    picture = noise(5, 8, 2)
    np.testing.assert_array_equal(codec.decode(png(picture)), np.repeat(picture[..., :1], 3, 2))
    np.testing.assert_array_equal(codec.decode(png(picture), output_type=ANY_DATA), picture)


@pytest.mark.parametrize("kind", ["png", "bmp", "tiff"])
@pytest.mark.parametrize("colors", [3, 200])
def test_palette(kind, colors):
    picture = Image.fromarray(image(20, 30)).quantize(colors)
    out = io.BytesIO()
    picture.save(out, kind)
    expected = np.asarray(picture.convert("RGB")).astype(float)
    if kind == "tiff":  # its palette has 16 bits: Pillow writes 256 times the colour, full is 65535
        expected = np.rint(expected * 256 / 257)
    np.testing.assert_array_equal(codec.decode(out.getvalue()), expected)
    assert codec.decode(out.getvalue(), output_type=ANY_DATA).shape == (20, 30, 3)


@pytest.mark.parametrize("kind", ["png", "bmp", "tiff", "ppm"])
@pytest.mark.parametrize("width", [8, 13])
def test_one_bit(kind, width):
    picture = noise(7, width, None) > 127
    encoded = pillow(picture, kind)
    np.testing.assert_array_equal(codec.decode(encoded), rgb_of(picture * np.uint8(255)))
    assert codec.probe(encoded).channels == 1


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (9, 13)], ids=str)
def test_png_depths_and_interlacing(dtype, channels, interlaced, size):
    picture = noise(*size, channels, dtype)
    encoded = png(picture, interlaced=interlaced)
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA, dtype=dtype), picture)


TIFF_KINDS = [
    {}, {"bigtiff": True}, {"tile": (16, 16)}, {"compression": "lzw", "predictor": True},
    {"compression": "deflate", "bigtiff": True}, {"planarconfig": "separate"},
]  # fmt: skip


@pytest.mark.parametrize("channels", [1, 3, 4, 6])
@pytest.mark.parametrize("kind", TIFF_KINDS, ids=str)
def test_tiff_of_16_bits_and_many_channels(kind, channels):
    imagecodecs = pytest.importorskip("imagecodecs")
    picture = noise(8, 9, channels, np.uint16)
    if channels == 1:
        options = {k: v for k, v in kind.items() if k != "planarconfig"}
        encoded = imagecodecs.tiff_encode(picture[..., 0], **options)
    elif "planarconfig" in kind:
        encoded = imagecodecs.tiff_encode(np.moveaxis(picture, -1, 0), photometric="rgb", **kind)
    else:
        encoded = imagecodecs.tiff_encode(picture, photometric="rgb", **kind)
    assert codec.probe(encoded).dtype == np.uint16
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA, dtype=np.uint16), picture)
    # 65535 / 255 = 257; ties are impossible, since 257 is odd.
    expected = ((picture.astype(np.int64) + 128) // 257).astype(np.uint8)
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), expected)


def test_big_endian_tiff():
    picture = noise(8, 9, None, np.uint16)
    out = io.BytesIO()
    Image.frombytes("I;16B", (9, 8), picture.astype(">u2").tobytes()).save(out, "tiff")
    assert out.getvalue()[:2] == b"MM"
    decoded = codec.decode(out.getvalue(), output_type=GRAY, dtype=np.uint16)
    np.testing.assert_array_equal(decoded[..., 0], picture)


@pytest.mark.parametrize(("kind", "channels"), [(b"P2", 1), (b"P3", 3), (b"P5", 1), (b"P6", 3)])
@pytest.mark.parametrize("maximum", [255, 65535])
def test_pnm(kind, channels, maximum):
    dtype = np.uint8 if maximum == 255 else np.uint16
    picture = noise(4, 5, channels, dtype)
    raw = picture.astype(picture.dtype.newbyteorder(">")).tobytes()
    body = raw if kind in (b"P5", b"P6") else b" ".join(b"%d" % n for n in picture.ravel())
    encoded = kind + b" # a comment 1 2\n5\t4\n#another\n%d\n" % maximum + body
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA, dtype=dtype), picture)


def test_plain_bitmap_with_and_without_spaces():
    expected = np.array([[0, 255, 0], [255, 255, 0]], np.uint8)[..., None]
    for body in (b"1 0 1\n0 0 1\n", b"101#odd\n001"):
        np.testing.assert_array_equal(codec.decode(b"P1\n3 2\n" + body, output_type=GRAY), expected)


@pytest.mark.parametrize(
    "options", [{}, {"progressive": True}, {"subsampling": 0}, {"subsampling": 1}], ids=str
)
@pytest.mark.parametrize("size", [(1, 1), (7, 5), (33, 31)], ids=str)
def test_jpeg_equals_libjpeg(options, size):
    encoded = pillow(image(*size), "jpeg", quality=90, **options)
    decoded = np.asarray(Image.open(io.BytesIO(encoded)))
    np.testing.assert_array_equal(codec.decode(encoded), decoded)
    np.testing.assert_array_equal(codec.decode(encoded, output_type=BGR), decoded[..., ::-1])
    luma = Image.open(io.BytesIO(encoded))
    luma.draft("L", luma.size)
    np.testing.assert_array_equal(codec.decode(encoded, output_type=GRAY)[..., 0], np.asarray(luma))


def test_gray_jpeg():
    encoded = pillow(image(17, 9, None), "jpeg")
    decoded = np.asarray(Image.open(io.BytesIO(encoded)))
    np.testing.assert_array_equal(codec.decode(encoded), rgb_of(decoded))
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), decoded[..., None])


@pytest.mark.parametrize("kind", ["jpeg", "tiff"])
def test_cmyk(kind):
    encoded = cmyk(noise(16, 16, 4), kind, quality=100, subsampling=0)
    ink = np.asarray(Image.open(io.BytesIO(encoded))).astype(int)
    # White light is taken away by each ink and by black.
    expected = (255 - ink[..., :3]) * (255 - ink[..., 3:]) // 255
    np.testing.assert_array_equal(codec.decode(encoded), expected)
    stored = codec.decode(encoded, output_type=ANY_DATA)
    np.testing.assert_array_equal(stored, 255 - ink if kind == "jpeg" else ink)  # Adobe's JPEG is inverted


@pytest.mark.parametrize(
    "options",
    [{"compression": c} for c in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg")] + [{"tiffinfo": {278: 3}}],
    ids=str,
)  # fmt: skip
def test_cmyk_in_tiff(options):
    encoded = cmyk(noise(16, 16, 4), "tiff", **options)
    ink = np.asarray(Image.open(io.BytesIO(encoded)))
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), ink)
    part = codec.decode(encoded, output_type=ANY_DATA, window=(4, 5, 3, 7))
    np.testing.assert_array_equal(part, ink[4:7, 5:12])


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("tag", [259, 262, 266, 277, 278, 284])
@pytest.mark.parametrize("count", [0, 3])
def test_pillow_does_not_warn_of_a_tag_with_another_number_of_values(tag, count, order, monkeypatch):
    monkeypatch.setattr(_tiff, "imagecodecs", lambda: None)
    values = {256: 3, 257: 2, 258: 8, 259: 1, 262: 1, 266: 1, 273: 0, 277: 1, 278: 2, 279: 6, 284: 1}
    values[273] = end = 8 + 2 + 12 * len(values) + 4
    entries = b""
    for key, value in values.items():
        if key == tag:  # without it, its value here is also what it has by default
            inline = struct.pack(order + "HH", value, 0) if count < 3 else struct.pack(order + "I", end + 6)
            entries += struct.pack(order + "HHI", key, 3, count) + inline
        else:
            entries += struct.pack(order + "HHIHH", key, 3, 1, value, 0)
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, len(values))
    encoded = head + entries + bytes(4) + bytes(range(6)) + struct.pack(order + "HHH", values[tag], 9, 9)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        decoded = codec.decode(encoded, output_type=ANY_DATA)
    assert given == []
    np.testing.assert_array_equal(decoded.ravel(), np.arange(6))


def box(kind, body):
    return struct.pack(">I4s", len(body) + 8, kind) + body


@pytest.mark.parametrize("installed", [True, False])
def test_palette_of_jpeg2000(installed, monkeypatch):
    out = io.BytesIO()
    indices = noise(4, 5, None) % 7
    Image.fromarray(indices).save(out, "jpeg2000", no_jp2=True)
    colors = noise(7, 3, 1)[..., 0]
    head = box(b"ihdr", struct.pack(">IIHBBBB", 4, 5, 1, 7, 7, 0, 0)) + box(
        b"colr", struct.pack(">BBBI", 1, 0, 0, 16)
    )
    palette = box(b"pclr", struct.pack(">HB", 7, 3) + b"\7\7\7" + colors.tobytes())
    mapping = box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, channel) for channel in range(3)))
    encoded = (
        box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ") + box(b"jp2h", head + palette + mapping)
        + box(b"jp2c", out.getvalue())
    )  # fmt: skip
    if not installed:
        monkeypatch.setattr("jdali.codecs.jpeg2000.imagecodecs", lambda: None)
    for output_type in (types.RGB, ANY_DATA):
        np.testing.assert_array_equal(codec.decode(encoded, output_type=output_type), colors[indices])
    assert codec.output_shape(codec.probe(encoded), ANY_DATA) == (4, 5, 3)


@pytest.mark.parametrize("steps", [(3, 1), (2, 3)])
def test_jpeg2000_with_components_of_odd_sampling_prints_nothing(steps, capfd):
    encoded = bytearray(pillow(image(8, 8), "jpeg2000"))
    colour = encoded.index(struct.pack(">I", 16), encoded.index(b"colr"))
    encoded[colour : colour + 4] = struct.pack(">I", 18)  # YCbCr
    sizes = encoded.index(b"\xff\x4f\xff\x51") + 42
    encoded[sizes + 4 : sizes + 6] = bytes(steps)
    with pytest.raises(SampleError, match="components with steps .* are not supported"):
        codec.decode(bytes(encoded))
    assert capfd.readouterr() == ("", "")


def test_other_chunks_of_a_png_change_nothing_and_print_nothing(capfd):
    picture = noise(4, 4, 3)
    profile = png_chunk(b"iCCP", b"x\0\0" + b"no zlib stream")
    clear = png_chunk(b"tRNS", b"\0\1\0\2\0\3")
    encoded = png(picture, extra=profile + png_chunk(b"gAMA", b"\0\0\0\1") + clear)
    np.testing.assert_array_equal(codec.decode(encoded, output_type=ANY_DATA), picture)
    assert capfd.readouterr() == ("", "")


def test_jpeg_of_12_bits():
    imagecodecs = pytest.importorskip("imagecodecs")
    picture = noise(16, 16, None, np.uint16) >> 4
    encoded = imagecodecs.jpeg8_encode(picture, level=100, bitspersample=12)
    decoded = codec.decode(encoded, output_type=GRAY, dtype=np.uint16)[..., 0]
    # Full intensity is 4095 there; quality 100 loses less than one step in a hundred.
    assert np.abs(decoded.astype(int) - np.rint(picture * (65535 / 4095))).max() < 656


@pytest.mark.parametrize("name", ["UINT64", "INT64", "FLOAT16", "FLOAT64", "BOOL"])
def test_types_that_images_are_not_decoded_to(name):
    dtype = types.to_numpy_type(getattr(types, name))
    with pytest.raises(ValueError, match=r"dtype .* is not supported; use uint8, int8"):
        codec.decode(png(noise(2, 2, 3)), dtype=dtype)


def test_the_same_without_imagecodecs(monkeypatch):
    """What Pillow can do as well comes out the same; for the rest the message says what to install."""
    rgba, deep = noise(6, 7, 4), noise(6, 7, 3, np.uint16)
    easy = [pillow(rgba[..., :3], k, **o) for k, o in LOSSLESS.items()] + [
        pillow(rgba, "png"), pillow(rgba, "webp", lossless=True, exact=True),
        png(rgba[..., :3], interlaced=True),
        png(noise(5, 6, 1, np.uint16)), pillow(noise(5, 6, None) > 99, "tiff"), pillow(rgba[..., 0], "tiff"),
        pillow(noise(5, 6, None, np.uint16), "tiff"),
    ]  # fmt: skip
    hard = [png(deep), png(deep, interlaced=True)]
    before = [codec.decode(e, output_type=ANY_DATA, dtype=np.uint16) for e in easy]
    for module in (codec._png, codec._tiff, codec._webp, codec._jpeg2000):
        monkeypatch.setattr(module, "imagecodecs", lambda: None)
    monkeypatch.setattr("jdali.codecs.base.imagecodecs", lambda: None)
    for encoded, expected in zip(easy, before, strict=True):
        decoded = codec.decode(encoded, output_type=ANY_DATA, dtype=np.uint16)
        np.testing.assert_array_equal(decoded, expected)
    for encoded in hard:
        with pytest.raises(ImportError, match=r'needs the package imagecodecs: pip install "\.\[codecs\]"'):
            codec.decode(encoded)
