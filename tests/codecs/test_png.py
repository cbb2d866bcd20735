"""PNG: what is unpacked of its data, which checksums count, and that nothing else shows."""

import struct
import zlib

import numpy as np
import pytest
from support.data import image
from support.pictures import noise, png, png_chunk

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.codecs import png as _png
from jdali.codecs.base import imagecodecs
from jdali.types import ANY_DATA

# With more compressed bytes than are decoded as they are, and with more rows than a block of a stored stream holds.
PICTURES = {
    "gray": noise(130, 120, 1),
    "RGB": noise(160, 170, 3),
    "gray and alpha": noise(90, 100, 2),
    "RGBA": image(150, 200, 4),
}
DEEP = {"16 bits": noise(40, 50, 3, np.uint16), "16 bits of gray": noise(50, 60, 1, np.uint16)}


def with_data(picture, change):
    """A PNG whose compressed data are changed, in several chunks with checksums that are right."""
    whole = png(picture)
    at = whole.index(b"IDAT")
    (length,) = struct.unpack_from(">I", whole, at - 4)
    data = change(whole[at + 4 : at + 4 + length])
    parts = [data[i : i + 3000] for i in range(0, len(data), 3000)]
    return whole[: at - 4] + b"".join(png_chunk(b"IDAT", p) for p in parts) + png_chunk(b"IEND", b"")


def longer(data):
    """The same rows and more behind them, in one stream."""
    return zlib.compress(zlib.decompress(data) + bytes(5000))


CHANGES = {
    "as it is": lambda data: data, "more rows": longer, "bytes behind the stream": lambda data: data + bytes(100),
    "compressed well": lambda data: zlib.compress(zlib.decompress(data), 9),
}  # fmt: skip


@pytest.mark.parametrize("deflate", [True, False], ids=["libdeflate", "zlib"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [*PICTURES, *DEEP])
def test_what_follows_the_rows_does_not_show(kind, change, deflate, monkeypatch):
    codecs = imagecodecs()
    if codecs is None:
        pytest.skip("imagecodecs is not installed: Pillow decodes")
    monkeypatch.setattr(codecs.DEFLATE, "available", deflate and codecs.DEFLATE.available)
    picture = (PICTURES | DEEP)[kind]
    data = with_data(picture, CHANGES[change])
    assert len(data) > _png._FEW_BYTES
    dtype = picture.dtype
    np.testing.assert_array_equal(codec.decode(data, output_type=ANY_DATA, dtype=dtype), picture, strict=True)
    out = np.empty_like(picture)
    assert codec.decode(data, output_type=ANY_DATA, dtype=dtype, out=out) is out
    np.testing.assert_array_equal(out, picture)


def test_palettes():
    """One chunk before the data is needed, the others are not."""
    colors = noise(1, 256, 3)[0]
    indices = noise(100, 120, 1)
    data = png(indices, color=3, extra=png_chunk(b"PLTE", colors.tobytes()) + png_chunk(b"tEXt", b"a\0b"))
    np.testing.assert_array_equal(codec.decode(data), colors[indices[..., 0]])


@pytest.mark.parametrize("deflate", [True, False], ids=["libdeflate", "zlib"])
def test_damage_is_found(deflate, monkeypatch):
    codecs = imagecodecs()
    if codecs is None:
        pytest.skip("imagecodecs is not installed: Pillow decodes")
    monkeypatch.setattr(codecs.DEFLATE, "available", deflate and codecs.DEFLATE.available)
    good = with_data(PICTURES["RGB"], lambda data: data)
    crc = bytearray(good)
    crc[good.index(b"IDAT") + 2000] ^= 1
    with pytest.raises(SampleError, match="broken PNG image: IDAT: CRC error"):
        codec.decode(bytes(crc))
    wrong = {
        "not enough data": lambda data: zlib.compress(zlib.decompress(data)[:-1]),
        r"its data are damaged \(.*incorrect data check": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        "its data are damaged": lambda data: data[:2000] + bytes(50) + data[2050:],
    }
    for reason, change in wrong.items():
        with pytest.raises(SampleError, match=reason):
            codec.decode(with_data(PICTURES["RGB"], change))
