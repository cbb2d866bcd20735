"""`output_type=types.INDEX`: indices into palettes and gray values, as they are stored."""

import io

import numpy as np
import pytest
from PIL import Image
from support.pictures import noise, pillow, png, png_chunk

import jdali
from jdali import SampleError, fn, types
from jdali.codecs import image

COLORS = noise(256, 3, None, seed=1)


def palette(indices, kind, bits=8, **options):
    """A file of a palette, written by Pillow."""
    picture = Image.fromarray(indices, "L")
    picture = Image.frombytes("P", picture.size, indices.tobytes())
    picture.putpalette(COLORS[: 1 << bits].tobytes())
    if kind == "png":
        options["bits"] = bits
    if kind == "gif":  # else the indices are numbered anew
        options["optimize"] = False
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def decoded(data, **args):
    return image.decode(data, output_type=types.INDEX, **args)


@pytest.fixture(params=["imagecodecs", "Pillow"])
def _by(request, monkeypatch):
    if request.param == "Pillow":
        for module in ("png", "tiff", "base"):
            monkeypatch.setattr(f"jdali.codecs.{module}.imagecodecs", lambda: None)


@pytest.mark.usefixtures("_by")
@pytest.mark.parametrize(
    ("kind", "bits"), [("png", 1), ("png", 2), ("png", 4), ("png", 8), ("tiff", 8), ("bmp", 8), ("gif", 8)]
)
def test_indices_of_palettes(kind, bits):
    indices = noise(20, 13, None) & (1 << bits) - 1
    data = palette(indices, kind, bits)
    assert image.probe(data).indexed
    np.testing.assert_array_equal(decoded(data)[..., 0], indices)
    np.testing.assert_array_equal(decoded(data, window=(3, 2, 5, 7))[..., 0], indices[3:8, 2:9])
    for dtype in (np.uint16, np.int32, np.float32):
        wide = decoded(data, dtype=dtype)
        assert wide.dtype == dtype
        np.testing.assert_array_equal(wide[..., 0], indices)
    with Image.open(io.BytesIO(data)) as picture:  # the colours are still those of the palette
        # The palette of a TIFF has 16 bits, which Pillow cuts off.
        expected, off = np.asarray(picture.convert("RGB")), int(kind == "tiff")
        np.testing.assert_allclose(image.decode(data).astype(int), expected.astype(int), rtol=0, atol=off)


@pytest.mark.usefixtures("_by")
@pytest.mark.parametrize("interlaced", [False, True])
def test_a_large_and_an_interlaced_palette(interlaced):
    indices = noise(90, 80, 1)
    data = png(indices, color=3, interlaced=interlaced, extra=png_chunk(b"PLTE", COLORS.tobytes()))
    np.testing.assert_array_equal(decoded(data), indices)
    np.testing.assert_array_equal(decoded(data, window=(0, 0, 9, 80)), indices[:9])


@pytest.mark.usefixtures("_by")
@pytest.mark.parametrize("kind", ["png", "tiff"])
def test_gray_values_as_they_are(kind):
    deep = noise(6, 5, None, np.uint16)
    deep[0, 0] = 40000
    assert (decoded(pillow(deep, kind), dtype=np.uint16)[..., 0] == deep).all()
    assert (decoded(pillow(deep, kind), dtype=np.int32)[..., 0] == deep).all()
    with pytest.raises(SampleError, match=r"an index of \d+ does not fit into uint8; dtype=types.INT32"):
        decoded(pillow(deep, kind))
    small = deep % 7
    assert (decoded(pillow(small, kind))[..., 0] == small).all()
    shallow = noise(6, 5, None)
    assert (decoded(pillow(shallow, kind), dtype=np.int32)[..., 0] == shallow).all()
    bits = noise(6, 5, None) > 128
    assert (decoded(pillow(bits, kind))[..., 0] == bits).all()


def test_more_formats_of_gray_values():
    pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
    wide = np.array([[0, 70000, -3]], np.int32)
    assert (decoded(pillow(wide, "tiff"), dtype=np.int32)[..., 0] == wide).all()
    with pytest.raises(SampleError, match="an index of -3 does not fit into uint16"):
        decoded(pillow(wide, "tiff"), dtype=np.uint16)
    shallow = noise(6, 5, None)
    assert (decoded(pillow(shallow, "jpeg2000", irreversible=False))[..., 0] == shallow).all()
    assert (decoded(b"P5 5 6 255\n" + shallow.tobytes())[..., 0] == shallow).all()
    assert (decoded(b"P1 3 1\n1 0 1")[..., 0] == [[0, 1, 0]]).all()
    assert (decoded(png(noise(4, 5, 2)))[..., 0] == noise(4, 5, 2)[..., 0]).all()  # alpha is left out


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (pillow(noise(4, 5, 3), "png"), "this PNG image has no palette but 3 channels"),
        (pillow(noise(4, 5, 3), "bmp"), "this BMP image has no palette but 3 channels"),
        (pillow(noise(4, 5, 3), "webp"), "this WEBP image has no palette but 3 channels"),
        (pillow(noise(4, 5, None), "jpeg"), "a JPEG image holds no indices"),
        (pillow(noise(4, 5, None).astype(np.float32), "tiff"), "this TIFF image has no palette but floats"),
    ],
)
def test_what_holds_no_indices(data, text):
    with pytest.raises(SampleError, match=text):
        decoded(data)


def test_the_operators():
    indices = noise(8, 6, None) % 4
    files = [palette(indices, "png", 2), palette(indices[:5], "gif")]
    raw = [np.frombuffer(data, np.uint8) for data in files]

    @jdali.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipe():
        data = fn.external_source(lambda: raw)
        whole = fn.decoders.image(data, output_type=types.INDEX)
        part = fn.decoders.image_crop(data, output_type=types.INDEX, crop=(2, 3), crop_pos_x=0, crop_pos_y=0)
        resized = fn.resize(whole, size=[4, 3], interp_type=types.INTERP_NN)
        return whole, part, resized, fn.peek_image_shape(data, image_type=types.INDEX)

    whole, part, resized, shapes = pipe().run()
    np.testing.assert_array_equal(whole.at(0)[..., 0], indices)
    np.testing.assert_array_equal(whole.at(1)[..., 0], indices[:5])
    np.testing.assert_array_equal(part.at(0)[..., 0], indices[:2, :3])
    np.testing.assert_array_equal(resized.at(0)[..., 0], indices[1::2, 1::2])
    np.testing.assert_array_equal(shapes.as_numpy(), [[8, 6, 1], [5, 6, 1]])


def test_gif_is_checked():
    data = palette(noise(8, 6, None), "gif")
    whole = image.decode(data)
    for length in range(len(data) - 2):  # the rest ends the file
        try:
            picture = image.decode(data[:length])
        except SampleError:
            continue
        assert length > 800, length  # the data of all pixels are there
        np.testing.assert_array_equal(picture, whole)
    huge = data[:6] + b"\xff" * 4 + data[10:]
    with pytest.raises(SampleError, match="GIF image of 65535x65535"):
        image.probe(huge)
