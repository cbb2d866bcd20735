"""JPEG: what libjpeg warns of, what is missing, how many scans there may be."""

import io

import numpy as np
import pytest
import simplejpeg
from PIL import Image
from support.image_files import files
from support.image_files.jpeg import END, SAMPLINGS, flat, plain, with_scan_parameters, with_segment
from support.pictures import noise

from jdali import SampleError, storage
from jdali.codecs import image as codec
from jdali.codecs.image_batch import Headers, decode_small
from jdali.types import ANY_DATA, RGB


def by_pillow(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def together(data):
    """The picture out of a batch of small ones."""
    encoded = [np.frombuffer(data, np.uint8)] * 2
    headers = Headers(encoded)
    assert not headers.failures
    blocks, failures = decode_small(
        encoded, headers, headers.shapes(RGB, True), lambda work, count: work(slice(0, count)),
        output_type=RGB, dtype=np.dtype(np.uint8), adjust_orientation=True, fast_idct=False,
    )  # fmt: skip
    assert not failures
    return blocks[0][0][1]


@pytest.mark.parametrize(
    "name",
    [
        "JFIF 2.1",
        "profile out of order",
        "Adobe's transform 7, no JFIF",
        "scan (0, 0, 0)",
        "zeros for the end",
    ],
)
def test_harmless_warnings_in_a_batch_and_in_windows(name):
    data = files("jpeg")[name]
    want = by_pillow(plain())
    np.testing.assert_array_equal(together(data), want)
    np.testing.assert_array_equal(codec.decode(data, window=(3, 5, 20, 30)), want[3:23, 5:35])
    half = codec.decode(data, denominator=2)
    np.testing.assert_array_equal(half, codec.decode(plain(), denominator=2))


# A progressive picture with an end marker may have fewer scans.
@pytest.mark.parametrize(
    ("progressive", "end"), [(False, b""), (False, END), (False, bytes(900)), (True, b""), (True, bytes(900))]
)
def test_data_cut_anywhere_behind_a_harmless_warning(progressive, end):
    whole = with_segment(plain(progressive=progressive), 0xE2, b"ICC_PROFILE\0\2\1abc")
    whole = whole.replace(b"JFIF\0\1\1", b"JFIF\0\2\1")
    np.testing.assert_array_equal(codec.decode(whole), by_pillow(plain(progressive=progressive)))
    for cut in range(whole.index(b"\xff\xda") + 20, len(whole) - 3, 7):
        with pytest.raises(SampleError):
            codec.decode(whole[:cut] + end)


@pytest.mark.parametrize("window", [None, (0, 0, 8, 8)])
@pytest.mark.parametrize("name", ["scan (0, 0, 0)", "zeros before the end"])
def test_frequent_warnings_cost_no_second_decoding(name, window, monkeypatch):
    data = files("jpeg")[name]
    want = by_pillow(plain())
    calls = []
    decode = simplejpeg.decode_jpeg
    monkeypatch.setattr(simplejpeg, "decode_jpeg", lambda *a, **k: calls.append(1) or decode(*a, **k))
    np.testing.assert_array_equal(codec.decode(data, window=window), want[:8, :8] if window else want)
    assert len(calls) == 1


def test_scans_are_counted_up_to_the_end_of_the_picture():
    progressive = plain(progressive=True)
    data = progressive + progressive * 40
    np.testing.assert_array_equal(codec.decode(data), by_pillow(progressive))
    np.testing.assert_array_equal(together(data), by_pillow(progressive))


@pytest.mark.parametrize("interval", [0, 2])
@pytest.mark.parametrize("factors", SAMPLINGS, ids=str)
def test_missing_data_with_any_sampling(factors, interval):
    """Also where Pillow decodes, which says nothing of them; it lets fewer than some 20 bytes pass."""
    whole = flat(90, 80, factors, interval=interval)
    codec.decode(whole)
    start = whole.index(b"\xff\xda") + 20
    for cut in range(start, len(whole) - 25, (len(whole) - start) // 9):
        with pytest.raises(SampleError):
            codec.decode(whole[:cut] + END)


# Before an end marker imagecodecs, which reads more than 8 bits, says nothing of missing data.
@pytest.mark.parametrize("end", [b"", END, bytes(900)])
@pytest.mark.parametrize(("bits", "lossless"), [(8, True), (12, False), (12, True), (16, True)], ids=str)
def test_missing_data_of_lossless_and_deep_pictures(bits, lossless, end):
    imagecodecs = pytest.importorskip("imagecodecs")
    picture = noise(20, 30, None, np.uint16) >> (16 - bits)
    picture = picture.astype(np.uint8) if bits == 8 else picture
    whole = imagecodecs.jpeg8_encode(picture, level=95, bitspersample=bits, lossless=lossless)
    decoded = codec.decode(whole + b"hello", output_type=ANY_DATA, dtype=np.uint16)
    assert decoded.shape == (20, 30, 1)
    for cut in range(whole.index(b"\xff\xda") + 20, len(whole) - 25, 40) if bits == 8 or end != END else ():
        with pytest.raises(SampleError, match="premature end of"):
            codec.decode(whole[:cut] + end)


@pytest.mark.parametrize("progressive", [False, True])
def test_the_number_of_scans_is_limited(progressive):
    """Each goes over all of the picture, in sequential files with a scan a component, too."""
    whole = plain(progressive=True) if progressive else flat(16, 16, [(1, 1)] * 3, [[0], [1], [2]])
    last = whole.rindex(b"\xff\xda")
    data = whole[:-2] + whole[last:-2] * 200 + END
    with pytest.raises(SampleError, match="of at least 101 scans is larger than the limit of 100 scans"):
        codec.probe(data)
    storage.configure(max_jpeg_scans=300)
    try:
        codec.probe(data)
    finally:
        storage.configure(max_jpeg_scans=100)


@pytest.mark.parametrize("progressive", [False, True])
def test_the_number_of_segments_is_limited(progressive):
    """Each takes time, before the first scan and between scans."""
    data = plain(progressive=progressive)
    at = data.rindex(b"\xff\xda") if progressive else 2
    many = data[:at] + b"\xff\xfe\0\2" * 20000 + data[at:]
    with pytest.raises(SampleError, match="it has more than 16384 segments"):
        codec.probe(many)
    assert "16384 segments" in str(Headers([np.frombuffer(many, np.uint8)]).failures[0])


@pytest.mark.parametrize("components", [2, 5])
def test_a_number_of_components_that_is_not_supported(components):
    data = flat(16, 16, [(1, 1)] * components)
    with pytest.raises(SampleError, match=f"broken JPEG image: {components} components"):
        codec.decode(data)


def test_a_cut_picture_says_so_whatever_the_warning_before_it():
    data = with_scan_parameters(plain(), (0, 0, 0))
    with pytest.raises(SampleError, match="premature end of data segment"):
        codec.decode(data[: len(data) * 2 // 3] + END)
