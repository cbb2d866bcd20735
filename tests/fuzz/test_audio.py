"""Damaged sounds: a sound of the length that the header says, or an error that says what is wrong."""

import contextlib
import io
import struct

import numpy as np
import pytest
import soundfile
from support.fuzz import mutations, refusals

from jdali import SampleError
from jdali.codecs import audio
from jdali.codecs import ffmpeg as _ffmpeg
from jdali.codecs import flac as _flac
from jdali.codecs import wav as _wav

WAVE = (np.sin(np.arange(900) * 0.05)[:, None] * [0.7, 0.3]).astype(np.float32)


def encode(kind, subtype):
    target = io.BytesIO()
    soundfile.write(target, WAVE, 16000, format=kind, subtype=subtype)
    return target.getvalue()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """What claims more is refused before memory is taken for it."""
    monkeypatch.setattr(audio, "MAX_VALUES", 1_000_000)


def read(data):
    info = audio.peek(data)
    wave, rate = audio.decode(data)
    assert wave.shape == (info.length, info.channels)
    assert wave.dtype == np.float32
    assert rate == info.sample_rate


KINDS = {
    "WAV": "PCM_16", "WAV24": "PCM_24", "WAVF": "FLOAT", "WAVA": "ALAW", "WAVI": "IMA_ADPCM",
    "WAVEX": "PCM_16", "FLAC": "PCM_16", "OGG": "VORBIS", "OPUS": "OPUS", "MP3": "MPEG_LAYER_III",
}  # fmt: skip
CONTAINERS = {"WAV24": "WAV", "WAVF": "WAV", "WAVA": "WAV", "WAVI": "WAV", "OPUS": "OGG"}


@pytest.mark.cases(4)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(kind, capfd):
    good = encode(CONTAINERS.get(kind, kind), KINDS[kind])
    assert refusals(read, good, count=300) > 20
    if kind != "MP3" or _ffmpeg.pyav() is not None:  # libsndfile's decoder of it prints
        assert capfd.readouterr() == ("", "")


CUT = {
    **KINDS, "RF64": "PCM_16", "W64": "PCM_16", "AIFF": "PCM_16", "AU": "PCM_16", "CAF": "PCM_16"
}  # fmt: skip


@pytest.mark.parametrize("without", ["nothing", "miniaudio and av"])
@pytest.mark.parametrize("kind", CUT)
def test_no_file_that_is_cut_off_is_taken_for_a_shorter_sound(kind, without, monkeypatch):
    if without != "nothing":
        monkeypatch.setattr(_ffmpeg, "pyav", lambda: None)
        monkeypatch.setattr(_flac, "miniaudio", lambda: None)
    good = encode(CONTAINERS.get(kind, kind), CUT[kind])
    audio.decode(good)
    step = max(1, len(good) // 200)
    taken = []
    for size in {*range(1, 100), *range(100, len(good), step), *range(len(good) - 20, len(good))}:
        for read in (audio.decode, audio.peek):
            with contextlib.suppress(SampleError):
                read(good[:size])
                taken.append((size, read.__name__))
    if kind in ("FLAC", "MP3"):  # only decoding tells
        taken = [(size, name) for size, name in taken if name == "decode"]
    assert not taken


def test_an_ogg_file_with_a_damaged_or_a_missing_page_is_refused():
    good = encode("OGG", "VORBIS")
    pages = [at for at in range(len(good)) if good[at : at + 4] == b"OggS"]
    assert len(pages) > 2
    with pytest.raises(SampleError, match="pages of its stream are missing"):
        audio.decode(good[: pages[1]] + good[pages[2] :])
    for at in pages:
        bad = bytearray(good)
        bad[at + 40] ^= 1
        with pytest.raises(SampleError, match=f"the page at byte {at} is damaged"):
            audio.decode(bytes(bad))


def plain(data, dtype):
    """The sound by soundfile, or None if it refuses it."""
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as sound:
            return sound.read(dtype=dtype, always_2d=True), sound.samplerate
    except (soundfile.LibsndfileError, RuntimeError, TypeError):
        return None


@pytest.mark.cases(4)
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
@pytest.mark.parametrize("kind", ["WAV", "WAVEX"])
def test_what_is_read_without_libsndfile_is_what_it_gives(kind, subtype):
    taken = 0
    for case in mutations(encode(kind, subtype), count=400):
        wave = _wav.parse(memoryview(case))
        if wave is None:
            continue
        for dtype in ("float32", "int16", "int32"):
            if wave.floats and dtype != "float32":
                continue  # audio.decode never asks for it
            given = plain(case, dtype)
            if given is None:
                break  # libsndfile looks into chunks that are not read here
            np.testing.assert_array_equal(wave.read(0, wave.length, np.dtype(dtype)), given[0], case.how)
            assert wave.sample_rate == given[1]
        else:
            taken += 1
    assert taken > 20


def test_a_damaged_flac_file_is_decoded_as_a_whole_or_not_at_all(monkeypatch):
    if _flac.miniaudio() is None:
        pytest.skip("miniaudio is not installed")
    good = encode("FLAC", "PCM_16")
    expected = plain(good, "float32")[0]
    for case in mutations(good, count=400):
        try:
            wave, _ = audio.decode(case)
        except SampleError:
            continue
        # Frames have checksums of 16 bits: what is decoded is what was encoded.
        if wave.shape == expected.shape:
            np.testing.assert_array_equal(wave, expected, case.how)


@pytest.mark.parametrize("claimed", [0, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_wav_file_of_unknown_length(claimed):
    good = encode("WAV", "PCM_16")
    at = good.index(b"data") + 4
    data = good[:at] + struct.pack("<I", claimed) + good[at + 4 :]
    assert _wav.parse(memoryview(data)) is None
    wave, _ = audio.decode(data)
    np.testing.assert_array_equal(wave, plain(data, "float32")[0])
