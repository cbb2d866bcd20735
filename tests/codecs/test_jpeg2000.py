"""JPEG 2000: colours and signs."""

import io

import numpy as np
import pytest
from PIL import Image
from support.image_files.jpeg2000 import CMYK, E_SYCC, SRGB, made, with_colours, with_profile
from support.pictures import noise

from jdali import SampleError
from jdali.codecs import image as codec
from jdali.types import ANY_DATA, RGB


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_cmyk(dtype):
    ink = noise(5, 7, 4, dtype)
    most = np.iinfo(dtype).max
    light = (most - ink).astype(object)
    want = (light[..., :3] * light[..., 3:] // most).astype(dtype)
    file = made(ink)
    for data in (with_colours(file, CMYK), with_profile(file, bytes(16) + b"CMYK" + bytes(108))):
        np.testing.assert_array_equal(codec.decode(data, dtype=dtype), want)
        np.testing.assert_array_equal(codec.decode(data, output_type=ANY_DATA, dtype=dtype), ink)


def test_colours_that_are_not_supported():
    rgb = made(noise(5, 7, 3))
    with pytest.raises(SampleError, match="colours in e-sYCC are not supported"):
        codec.decode(with_colours(rgb, E_SYCC))
    with pytest.raises(SampleError, match="CMYK of 3 channels of 8 bits is not supported"):
        codec.decode(with_colours(rgb, CMYK))
    np.testing.assert_array_equal(codec.decode(with_colours(rgb, SRGB)), noise(5, 7, 3))


@pytest.mark.parametrize("installed", [True, False])
def test_signed_samples_lie_around_half_of_the_range(installed, monkeypatch):
    samples = np.arange(-128, 128, dtype=np.int8).reshape(16, 16)
    data = made(samples)
    if not installed:
        monkeypatch.setattr("jdali.codecs.jpeg2000.imagecodecs", lambda: None)
    want = np.arange(256, dtype=np.uint8).reshape(16, 16)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), want)
    for space in (RGB, ANY_DATA):
        np.testing.assert_array_equal(codec.decode(data, output_type=space)[..., 0], want)


def test_components_of_different_signs():
    data = bytearray(made(noise(5, 7, 3), "j2k"))
    data[data.index(b"\xff\x51") + 40] |= 0x80
    with pytest.raises(SampleError, match="components with and without a sign are not supported"):
        codec.decode(bytes(data))
