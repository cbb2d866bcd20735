"""WAV files of plain samples, with whatever stands around them: what FFmpeg and libsndfile read is read."""

import io
import struct

import numpy as np
import pytest
import soundfile

from jdali import SampleError
from jdali.codecs import audio

STORED = np.random.default_rng(0).integers(-9000, 9000, 100).astype("<i2")
SAMPLES = STORED.tobytes()


def chunk(name, content, size=None):
    return (
        struct.pack("<4sI", name, len(content) if size is None else size) + content + bytes(len(content) % 2)
    )


def form(rate=8000, extra=b""):
    return chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, rate, rate * 2, 2, 16) + extra)


def wav(*chunks, magic=b"RIFF", size=None):
    body = b"WAVE" + b"".join(chunks)
    return struct.pack("<4sI", magic, len(body) if size is None else size) + body


DATA = chunk(b"data", SAMPLES)
LARGE = chunk(b"ds64", struct.pack("<QQQI", 0, len(SAMPLES), len(STORED), 0))
UNSAID = chunk(b"data", SAMPLES, 0xFFFFFFFF)
# Chunks that may stand anywhere, some shorter than their kind allows; libsndfile loses 8 samples behind an `acid` of no
# bytes, 4 behind one of 8, and refuses others.
AROUND = {
    f"{name.decode('latin-1')} of {size}": chunk(name, bytes(size))
    for name, sizes in {
        b"acid": (0, 8, 24, 40), b"smpl": (0, 8, 36), b"inst": (0, 7), b"cue ": (0, 4), b"PEAK": (0, 16, 100),
        b"fact": (0, 4), b"bext": (0, 20, 602), b"cart": (20, 2048), b"LIST": (0, 3, 4), b"INFO": (0, 4),
        b"FLLR": (4000,), b"strc": (30,), b"abcd": (0, 5, 6), b"\0\0\0\0": (0,), b"\xff\xfe\1\2": (6,),
        b"JUNK": (3,), b"iXML": (4,), b"minf": (16,), b"elm1": (20,), b"DISP": (10,), b"slnt": (4,), b"umid": (24,),
    }.items()
    for size in sizes
}  # fmt: skip
WHOLE = {
    **{f"{name}, before": wav(form(), around, DATA) for name, around in AROUND.items()},
    **{f"{name}, behind": wav(form(), DATA, around) for name, around in AROUND.items()},
    "a cue that claims nine": wav(form(), chunk(b"cue ", struct.pack("<I", 9)), DATA),
    "a list of another kind": wav(form(), chunk(b"LIST", b"exif" + bytes(10)), DATA),
    "the format behind": wav(DATA, form()),
    "the same format twice": wav(form(), form(), DATA),
    "bytes behind the format": wav(form(extra=bytes(24)), DATA),
    "no samples, then samples": wav(form(), chunk(b"data", b""), DATA),
    "samples, then no samples": wav(form(), DATA, chunk(b"data", b"")),
    "half a sample": wav(form(), chunk(b"data", SAMPLES + b"x")),
    "junk behind": wav(form(), DATA) + b"garbage!" * 3,
    "a chunk behind that is cut off": wav(form(), DATA, chunk(b"LIST", b"INFO", 100)),
    "size of the file 0": wav(form(), DATA, size=0),
    "size of the file unknown": wav(form(), DATA, size=0xFFFFFFFF),
    "sizes never written": wav(form(), chunk(b"data", SAMPLES, 0), size=0),
    "RF64": wav(LARGE, form(), UNSAID, magic=b"RF64", size=0xFFFFFFFF),
    "BW64": wav(LARGE, form(), UNSAID, magic=b"BW64", size=0xFFFFFFFF),
    "RF64 with its size": wav(LARGE, form(), DATA, magic=b"RF64", size=0xFFFFFFFF),
}


def w64(*chunks):
    """A file of Sony's format: names of 16 bytes, sizes that count the 24 bytes of their heads."""
    body = b"".join(
        name + bytes.fromhex("f3acd3118cd100c04f8edb8a") + struct.pack("<Q", 24 + len(content)) + content
        + bytes(-len(content) % 8) for name, content in chunks
    )  # fmt: skip
    head = bytes.fromhex("726966662e91cf11a5d628db04c10000") + struct.pack("<Q", 40 + len(body))
    return head + b"wave" + bytes.fromhex("f3acd3118cd100c04f8edb8a") + body


FORM = (b"fmt ", form()[8:])
WHOLE["W64"] = w64(FORM, (b"data", SAMPLES))
WHOLE["W64, a chunk before"] = w64(FORM, (b"levl", bytes(16)), (b"data", SAMPLES))
# libsndfile, and so DALI, gives the bytes of the chunk as 20 samples more.
WHOLE["W64, a chunk behind"] = w64(FORM, (b"data", SAMPLES), (b"levl", bytes(range(16))))


@pytest.mark.parametrize("name", WHOLE)
def test_all_samples(name):
    wave, rate = audio.decode(WHOLE[name], dtype=np.int16)
    np.testing.assert_array_equal(wave[:, 0], STORED)
    assert rate == 8000


REFUSED = {
    "two chunks of samples": (wav(form(), DATA, DATA), "2 chunks of samples, and readers differ"),
    "two chunks with a list between": (
        wav(form(), DATA, chunk(b"LIST", b"INFO"), DATA),
        "2 chunks of samples",
    ),
    "two of samples, one cut off": (wav(form(), DATA, chunk(b"data", SAMPLES, 900)), "Failed to open"),
    "two formats": (wav(form(), form(16_000), DATA), "Failed to open"),
    "two files": (wav(form(), DATA) * 2, "Failed to open"),
    "samples in a list": (wav(form(), chunk(b"LIST", b"wavl" + DATA)), "Failed to open"),
    "a list that is a byte longer than it says": (
        wav(form(), chunk(b"LIST", b"INFOx")[:-1], DATA),
        "Failed to open",
    ),
    "a chunk before the samples cut off": (
        wav(form(), chunk(b"junk", bytes(4), 1000), DATA),
        "Failed to open",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """As by libsndfile, and so by DALI."""
    data, message = REFUSED[name]
    with pytest.raises(SampleError, match=message):
        audio.decode(data)
    with pytest.raises(soundfile.LibsndfileError):
        soundfile.read(io.BytesIO(data))


def test_w64_of_two_chunks_of_samples():
    with pytest.raises(SampleError, match="2 chunks of samples"):
        audio.decode(w64(FORM, (b"data", SAMPLES[:100]), (b"data", SAMPLES[100:])))


def test_cut_off():
    with pytest.raises(SampleError, match="200 bytes of sound, it holds 190"):
        audio.decode(wav(form(), DATA)[:-10])


def test_a_file_of_nothing_but_chunks_takes_no_time():
    data = wav(form(), chunk(b"none", b"") * 1_000_000, DATA)
    with pytest.raises(SampleError, match="Failed to open"):
        audio.decode(data)
