"""MP3 by FFmpeg: what libsndfile gives for good files; damaged ones are refused, and nothing is printed."""

import io
import struct
from fractions import Fraction

import numpy as np
import pytest
import soundfile

from jdali import SampleError
from jdali.codecs import audio
from jdali.codecs import ffmpeg as _ffmpeg
from jdali.codecs import mp3 as _mp3

pytestmark = pytest.mark.skipif(_ffmpeg.pyav() is None, reason="av is not installed")

FRAME = 576  # samples of a frame at 16 kHz


def sound(channels=2, length=20_000):
    rng = np.random.default_rng(0)
    tone = np.sin(np.arange(length) * 0.05)[:, None] * [0.7, 0.3]
    return (tone + rng.normal(0, 0.05, (length, 2))).astype(np.float32)[:, :channels]


def encode(channels=2, rate=16_000, length=20_000):
    target = io.BytesIO()
    soundfile.write(target, sound(channels, length), rate, format="MP3", subtype="MPEG_LAYER_III")
    return target.getvalue()


GOOD = encode()
UNTAGGED = GOOD[_mp3._frame_size(GOOD) :]  # its first frame holds nothing but its length


def frame_border(data, number):
    offset = 0
    for _ in range(number):
        offset += _mp3._frame_size(data[offset:])
    return offset


def by_libsndfile(data):
    return soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)[0]


@pytest.fixture(autouse=True)
def silent(capfd):
    yield
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("rate", [8000, 16_000, 22_050, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_as_libsndfile(channels, rate):
    data = encode(channels, rate)
    wave, got_rate = audio.decode(data)
    assert (wave.shape, got_rate) == ((20_000, channels), rate)
    # Two decoders that work in float32: 3e-6 was seen.
    np.testing.assert_allclose(wave, by_libsndfile(data), rtol=0, atol=1e-5)
    assert audio.peek(data) == audio.AudioInfo(20_000, channels, rate)


def test_element_types_and_parts():
    wave, _ = audio.decode(GOOD)
    whole, _ = audio.decode(GOOD, dtype=np.int16)
    np.testing.assert_array_less(np.abs(whole - wave * 32767.0), 0.501)
    part, _ = audio.decode_part(GOOD, 0.25, 0.5)
    np.testing.assert_array_equal(part, wave[4000:12_000])
    mixed, _ = audio.decode(GOOD, downmix=True)
    np.testing.assert_allclose(mixed, wave.mean(axis=1), atol=1e-6)


@pytest.mark.parametrize("rate", [8000, 16_000, 44_100])
def test_frames_are_as_long_as_their_headers_say(rate):
    data, offset = encode(1, rate), 0
    while offset < len(data):
        assert data[offset] == 0xFF
        offset += _mp3._frame_size(data[offset:])
    assert offset == len(data)


def test_all_of_a_file_that_does_not_say_its_length():
    count, offset = 0, 0
    while offset < len(UNTAGGED):
        offset += _mp3._frame_size(UNTAGGED[offset:])
        count += 1
    # libsndfile takes this file of variable rate to be shorter.
    wave, _ = audio.decode(UNTAGGED)
    assert wave.shape == (FRAME * count, 2)
    delay = 1105  # of encoder and decoder, which the tag tells
    np.testing.assert_allclose(wave[delay:][2000:19_000], audio.decode(GOOD)[0][2000:19_000], atol=1e-5)


ID3V2 = b"ID3\3\0\0" + bytes([0, 0, 1, 0]) + b"TIT2\0\0\0\5\0\0\0\xff\xfe\xfa\xfb" + bytes(113)
APE = b"APETAGEX" + struct.pack("<IIII", 2000, 32, 0, 0x20000000) + bytes(8)


@pytest.mark.parametrize(
    ("before", "after"),
    [(ID3V2, b""), (b"", b"TAG" + bytes(125)), (b"", APE), (b"", bytes(5000)), (b"", b"any other" * 99), (b"", GOOD)],
    ids=["ID3v2", "ID3v1", "APE", "zeros", "junk", "another file"],
)  # fmt: skip
def test_what_stands_around_the_sound(before, after):
    expected, _ = audio.decode(GOOD)
    np.testing.assert_array_equal(audio.decode(before + GOOD + after)[0], expected)


def test_a_length_in_bytes_that_is_wrong_does_not_matter():
    offset = GOOD.index(b"Xing")
    for size in (1, len(UNTAGGED), 1 << 31):
        data = GOOD[: offset + 12] + struct.pack(">I", size) + GOOD[offset + 16 :]
        assert audio.decode(data)[0].shape == (20_000, 2)


@pytest.mark.parametrize("offset", [0, len(UNTAGGED)], ids=["before the last frames", "after them"])
def test_zeros_in_a_file_that_does_not_say_its_length(offset):
    offset = offset or frame_border(UNTAGGED, 9)
    data = UNTAGGED[:offset] + bytes(2000) + UNTAGGED[offset:]
    np.testing.assert_array_equal(audio.decode(data)[0], audio.decode(UNTAGGED)[0])


@pytest.mark.parametrize(
    ("kind", "subtype"),
    [("FLAC", "PCM_16"), ("WAV", "PCM_16"), ("WAV", "ALAW"), ("RF64", "PCM_16"), ("AIFF", "PCM_16"), ("OGG", "VORBIS"),
     ("OGG", "OPUS")],
)  # fmt: skip
def test_a_tag_before_another_format(kind, subtype):
    target = io.BytesIO()
    soundfile.write(target, sound(), 16_000, format=kind, subtype=subtype)
    data = target.getvalue()
    np.testing.assert_array_equal(audio.decode(ID3V2 + data)[0], audio.decode(data)[0])
    assert audio.decode(data)[0].shape == (20_000, 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (GOOD[:-100], r"a frame of \d+ bytes has \d+"),
        (UNTAGGED[:-100], r"a frame of \d+ bytes has \d+"),
        (GOOD[: frame_border(GOOD, 20)], r"its header claims 37 frames, 19 could be decoded"),
        (GOOD[:3000] + b"x" * 500 + GOOD[3000:], "Invalid data found"),
        (UNTAGGED + b"any other" * 99, "Invalid data found"),
        (GOOD[: _mp3._frame_size(GOOD)], "claims|no frame|Invalid"),
        (b"\xff\xfb" + bytes(200), "Invalid data found"),
        (ID3V2, "Invalid data found|no sound|no frame"),
        (UNTAGGED + encode(1), "rate or number of channels changes"),
        (UNTAGGED + encode(2, 22_050), "rate or number of channels changes"),
    ],
)  # fmt: skip
def test_damaged_files(data, message):
    for call in (audio.peek, audio.decode):
        with pytest.raises(SampleError, match=f"^decoders.audio: damaged or cut off MP3 file: .*({message})"):
            call(data)


def test_more_values_than_are_believed(monkeypatch):
    monkeypatch.setattr(audio, "MAX_VALUES", 10_000)
    with pytest.raises(SampleError, match="more than 10000 values"):
        audio.decode(GOOD)


def test_without_the_package(monkeypatch):
    expected = by_libsndfile(GOOD)
    monkeypatch.setattr(_ffmpeg, "pyav", lambda: None)
    np.testing.assert_allclose(audio.decode(GOOD)[0], expected, rtol=0, atol=1e-6)  # it varies by 1e-7


# --- layers I and II, and MPEG in WAV files -------------------------------------------------
def by_ffmpeg(codec, form, wave, rate):
    """A file that FFmpeg writes."""
    package, target = _ffmpeg.pyav(), io.BytesIO()
    layout = "mono" if wave.shape[1] == 1 else "stereo"
    with package.open(target, "w", format=form) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        samples = np.ascontiguousarray(wave, np.float32).reshape(1, -1)
        frame = package.AudioFrame.from_ndarray(samples, format="flt", layout=layout)
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        context = stream.codec_context
        resampler = package.AudioResampler(
            context.format, context.layout, rate, frame_size=context.frame_size or None
        )
        for part in (*resampler.resample(frame), *resampler.resample(None), None):
            container.mux(stream.encode(part))
    return target.getvalue()


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 32_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_layer_2(channels, rate):
    data = by_ffmpeg("mp2", "mp2", sound(channels), rate)
    expected = by_libsndfile(data)
    wave, got_rate = audio.decode(data)
    assert got_rate == rate
    assert np.abs(expected).max() > 0.5
    np.testing.assert_allclose(wave, expected, rtol=0, atol=1e-5)
    for dtype in (np.int16, np.int32):
        integers, _ = audio.decode(data, dtype=dtype)
        largest = np.iinfo(dtype).max
        np.testing.assert_allclose(integers / largest, expected, rtol=0, atol=1e-5 + 0.5 / largest)


def test_layer_1():
    """Frames made by hand: one of 32 bands has samples, of four bits."""
    rng, frames = np.random.default_rng(0), b""
    for _ in range(20):
        bits = "".join("0011" if band == 1 else "0000" for band in range(32)) + "001010"
        bits += "".join(f"{value:04b}" for value in rng.integers(1, 15, 12))
        frames += b"\xff\xff\x40\xc0" + int(bits.ljust(132 * 8, "0"), 2).to_bytes(132, "big")
    wave, rate = audio.decode(frames)
    assert (wave.shape, rate) == ((20 * 384, 1), 44_100)
    assert np.abs(wave).max() > 0.2
    np.testing.assert_allclose(wave, by_libsndfile(frames), rtol=0, atol=1e-5)
    with pytest.raises(SampleError, match="a frame of 136 bytes has 36"):
        audio.decode(frames[:-100])


@pytest.mark.parametrize("cut", [1, 100])
def test_a_cut_frame_of_layer_2(cut):
    data = by_ffmpeg("mp2", "mp2", sound(), 32_000)
    with pytest.raises(SampleError, match="damaged or cut off"):
        audio.decode(data[:-cut])


@pytest.mark.parametrize(
    ("codec", "scale"),
    [("pcm_u8", 1 / 128), ("pcm_s16le", 2**-15), ("pcm_s32le", 2**-30), ("pcm_f32le", 1e-7), ("pcm_f64le", 1e-7)],
)  # fmt: skip
def test_floats_of_every_type_that_ffmpeg_gives(codec, scale):
    wave = sound(2, 500) * 0.9
    data = by_ffmpeg(codec, "wav", wave, 16_000)
    values, rate = _ffmpeg.sound(
        memoryview(data), "wav", lambda container, stream: container.decode(stream), 1000, RuntimeError
    )
    assert rate == 16_000
    # Half a step of the integers, or a rounding of float32.
    np.testing.assert_allclose(_ffmpeg.floats(values), wave, rtol=0, atol=scale + 1e-7)


@pytest.mark.parametrize(("codec", "rate"), [("libmp3lame", 44_100), ("libmp3lame", 16_000), ("mp2", 32_000)])
def test_mpeg_in_wav(codec, rate, monkeypatch):
    wave = sound(2, 20_000)
    data, bare = (
        by_ffmpeg(codec, "wav", wave, rate),
        by_ffmpeg(codec, codec.removeprefix("lib")[:3], wave, rate),
    )
    whole, got_rate = audio.decode(data)
    assert got_rate == rate
    if codec == "mp2":
        expected = by_libsndfile(bare)  # libsndfile takes only layer III in WAV
    else:
        expected = by_libsndfile(data)
    np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-5)
    if codec != "mp2":
        monkeypatch.setattr(_ffmpeg, "pyav", lambda: None)
        np.testing.assert_allclose(audio.decode(data)[0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("codec", "form", "name"),
    [("aac", "adts", "AAC"), ("ac3", "ac3", "AC-3"), ("wavpack", "wv", "WavPack")],
)  # fmt: skip
def test_what_is_not_decoded_is_named(codec, form, name):
    data = by_ffmpeg(codec, form, sound(), 48_000)
    for tag in (b"", ID3V2) if form == "adts" else (b"",):
        with pytest.raises(SampleError, match=f"it is (an? )?{name}.*not decoded here, nor by DALI"):
            audio.decode(tag + data)
