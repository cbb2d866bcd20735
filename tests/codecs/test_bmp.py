"""BMP: masks, runs, and how much a file may ask for."""

import struct

import numpy as np
import pytest
from support.image_files.bmp import HEIGHT, WIDTH, made, rows

from jdali import SampleError
from jdali.codecs import image as codec


def test_every_value_of_a_masked_channel():
    """Whatever its width: the largest is 255, fractions are cut off."""
    for shift, width in ((0, 1), (3, 5), (11, 5), (5, 6), (8, 8), (20, 10), (0, 16), (0, 32)):
        most = (1 << width) - 1
        values = np.linspace(0, most, HEIGHT * WIDTH).astype(np.uint64)
        pixels = (values << np.uint64(shift)).astype("<u4").reshape(HEIGHT, WIDTH, 1)
        data = made(32, rows(pixels, 32), compression=3, masks=(most << shift, 0, 0), top_down=True)
        want = [int(v) * 255 // most for v in values]
        decoded = codec.decode(data)
        np.testing.assert_array_equal(decoded[..., 0].ravel(), want)
        assert not decoded[..., 1:].any()


@pytest.mark.parametrize(("bits", "compression"), [(3, 0), (24, 1), (8, 2), (0, 4), (16, 7)])
def test_kinds_that_are_not_supported(bits, compression):
    with pytest.raises(SampleError, match=f"{bits} bits with compression {compression} are not supported"):
        codec.probe(made(bits, bytes(600), compression=compression))


def test_runs_that_end_at_once_ask_for_no_more_than_their_bytes_may():
    data = bytearray(made(8, b"\0\1", bytes(4), compression=1, colors=1))
    assert not codec.decode(bytes(data)).any()
    struct.pack_into("<ii", data, 18, 20000, 20000)
    with pytest.raises(SampleError, match="2 bytes cannot hold 20000x20000 pixels"):
        codec.decode(bytes(data))
