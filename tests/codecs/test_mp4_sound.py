"""Sound of MP4 (M4A), Matroska and WebM files: AAC, ALAC, Opus; lengths, damage, and what is missing."""

import contextlib
import io
from fractions import Fraction

import numpy as np
import pytest

import jdali
from jdali import SampleError, fn
from jdali.codecs import audio
from jdali.codecs import ffmpeg as _ffmpeg

av = pytest.importorskip("av", reason="av is not installed")
# Codec, container, rate, format of its samples, largest error: ALAC loses nothing but what 16 bits do, AAC most where a
# sound swells.
KINDS = [
    ("aac", "ipod", 44100, "fltp", 0.15),
    ("aac", "mp4", 16000, "fltp", 0.15),
    ("alac", "ipod", 16000, "s16p", 1e-4),
    ("libopus", "webm", 48000, "flt", 0.05),
    ("libopus", "matroska", 48000, "flt", 0.05),
    ("libopus", "ogg", 48000, "flt", 0.05),
    ("libopus", "mp4", 48000, "flt", 0.05),
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " in ".join(kind[:2]))


def wave(rate, length=9000):
    fade = np.minimum(1, np.minimum(np.arange(length), np.arange(length)[::-1]) / 500)
    return (0.5 * fade * np.sin(2 * np.pi * 440 * np.arange(length) / rate)).astype(np.float32)


def encoded(codec, form, rate, kind, _, *, values=None, tags=None):
    values = wave(rate) if values is None else values
    out = io.BytesIO()
    with av.open(out, "w", format=form) as container:
        if tags:
            container.metadata.update(tags)
        stream = container.add_stream(codec, rate=rate)
        stream.layout, stream.codec_context.format = "mono", kind
        stored = values if kind.startswith("flt") else np.round(values * 32767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(stored[None], format=kind, layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        for one in (frame, None):
            for packet in stream.encode(one):
                container.mux(packet)
    return out.getvalue()


@kinds
def test_sound_comes_as_it_was(kind):
    *_, rate, _, most = kind
    data = encoded(*kind)
    got, of = audio.decode(data)
    expected = wave(rate)
    assert of == rate
    # What an encoder puts in front is cut off; of frames that its last one fills up some may remain.
    assert 0 <= len(got) - len(expected) < 2048
    np.testing.assert_allclose(got[: len(expected), 0], expected, rtol=0, atol=most)
    info = audio.peek(data)
    assert (info.length, info.channels, info.sample_rate) == (len(got), 1, rate)
    part, _ = audio.decode_part(data, 0.05, 0.1)
    first = int(0.05 * rate)
    np.testing.assert_array_equal(part, got[first : first + int(0.1 * rate)])


@kinds
def test_what_is_cut_off_is_a_bad_sample(kind):
    """Unless all of the sound is there: the header of an MP4 file is its end."""
    data = encoded(*kind)
    whole, _ = audio.decode(data)
    for length in range(0, len(data) - 1, max(len(data) // 60, 1)):
        try:
            got, _ = audio.decode(data[:length])
        except SampleError:
            continue
        assert length > 0.9 * len(data)
        np.testing.assert_array_equal(got, whole)


@kinds
def test_damaged_files_raise_nothing_else(kind):
    data = encoded(*kind)
    rng = np.random.default_rng(1)
    for _ in range(60):
        bad = bytearray(data)
        for _ in range(rng.integers(1, 5)):
            bad[rng.integers(len(bad))] = rng.integers(256)
        with contextlib.suppress(SampleError):
            audio.decode(bytes(bad))


def test_bombs(monkeypatch):
    """Hours of silence in few bytes are refused while they are decoded."""
    data = encoded(*KINDS[0], values=np.zeros(2_000_000, np.float32))
    before = jdali.storage.configure(max_sound_values=1_000_000)
    try:
        with pytest.raises(SampleError, match="have more than 1000000 values"):
            audio.decode(data)
    finally:
        jdali.storage.configure(max_sound_values=before.max_sound_values)


def test_a_file_without_sound():
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width = stream.height = 32
        for packet in [*stream.encode(av.VideoFrame(32, 32, "yuv420p")), *stream.encode(None)]:
            container.mux(packet)
    with pytest.raises(SampleError, match="there is no sound in it"):
        audio.decode(out.getvalue())


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[3]], ids=["MP4", "Matroska"])
def test_what_is_missing_is_named(kind, monkeypatch):
    data = encoded(*kind)
    monkeypatch.setattr(_ffmpeg, "pyav", lambda: None)
    with pytest.raises(
        SampleError, match=r"it is an? (MP4|Matroska) .*, which needs the package av: pip install .*audio"
    ):
        audio.decode(data)


def test_the_operator_and_the_reader(tmp_path):
    """Files are listed by their names, and told apart by their content."""
    for number, (kind, name) in enumerate(zip(KINDS[:4], ("a.m4a", "b.opus", "c.mp3", "d.wav"), strict=True)):
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / name).write_bytes(encoded(*kind))
        assert number < 4
    with jdali.Pipeline(batch_size=4, num_threads=1, device_id=None) as pipe:
        data, _ = fn.readers.file(file_root=str(tmp_path))
        pipe.set_outputs(*fn.decoders.audio(data, sample_rate=16000.0, downmix=True))
    sounds, _ = pipe.run()
    for one, (*_, rate, _, _) in zip(sounds.to_samples(), KINDS[:4], strict=True):
        assert abs(len(one) - 9000 * 16000 / rate) < 1100
        assert 0.4 < np.abs(one).max() < 0.6
