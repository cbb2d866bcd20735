"""FLAC that does not say how long it is, as programs write it into a pipe, and FLAC in OGG."""

import io

import numpy as np
import pytest
import soundfile

from jdali import SampleError
from jdali.codecs import audio
from jdali.codecs import ffmpeg as _ffmpeg

pytestmark = pytest.mark.skipif(_ffmpeg.pyav() is None, reason="PyAV is not installed")


def encode(subtype, channels, length=10_000):
    wave = np.random.default_rng(0).normal(0, 0.1, (length, channels))
    target = io.BytesIO()
    soundfile.write(target, wave, 16_000, format="FLAC", subtype=subtype)
    return target.getvalue()


def unsaid(data):
    """The same without the number of samples and the checksum of them all."""
    return data[:21] + bytes([data[21] & 0xF0]) + bytes(4 + 16) + data[42:]


@pytest.mark.parametrize("subtype", ["PCM_S8", "PCM_16", "PCM_24"])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_as_with_its_length(subtype, channels):
    data = encode(subtype, channels)
    for dtype in ("float32", "int16", "int32"):
        wave, rate = audio.decode(unsaid(data), dtype=np.dtype(dtype))
        np.testing.assert_array_equal(wave, soundfile.read(io.BytesIO(data), dtype=dtype, always_2d=True)[0])
        assert rate == 16_000
    assert audio.peek(unsaid(data)) == audio.AudioInfo(10_000, channels, 16_000)
    part, _ = audio.decode_part(unsaid(data), 0.25, 0.125)
    np.testing.assert_array_equal(part, audio.decode(data)[0][4000:6000])


def test_damage_is_found():
    data = unsaid(encode("PCM_16", 2))
    middle = len(data) // 2
    changed = data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]
    for bad in (data[:middle], data[:-1], data[:middle] + data[middle + 400 :], changed, data[:60]):
        with pytest.raises(SampleError, match="damaged or cut off FLAC file"):
            audio.decode(bad)


def test_no_more_than_the_limit(monkeypatch):
    monkeypatch.setattr(audio, "MAX_VALUES", 10_000)
    with pytest.raises(SampleError, match="more than 10000 values"):
        audio.decode(unsaid(encode("PCM_16", 2)))


def in_ogg(data):
    target, package = io.BytesIO(), _ffmpeg.pyav()
    with package.open(io.BytesIO(data)) as source, package.open(target, "w", format="ogg") as result:
        copy = result.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(audio=0):
            if packet.size:
                packet.stream = copy
                result.mux(packet)
    return target.getvalue()


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24"])
def test_in_ogg(subtype):
    data = encode(subtype, 2)
    wave, rate = audio.decode(in_ogg(data), dtype=np.int32)
    np.testing.assert_array_equal(wave, soundfile.read(io.BytesIO(data), dtype="int32")[0])
    assert rate == 16_000
    for bad in (in_ogg(data)[:-10], in_ogg(data)[: len(data) // 2]):
        with pytest.raises(SampleError, match="damaged or cut off"):
            audio.decode(bad)
