"""Sounds that are cut off are damaged; odd files that are whole are not."""

import io
import json
import struct

import numpy as np
import pytest
import soundfile

import jdali
from jdali import SampleError, fn
from jdali.codecs import audio
from jdali.codecs import incomplete_sound as _incomplete

STORED = np.random.default_rng(0).integers(-9000, 9000, (300, 1)).astype(np.int16)


def encoded(kind="WAV", subtype="PCM_16", samples=STORED):
    target = io.BytesIO()
    soundfile.write(target, samples, 16000, format=kind, subtype=subtype)
    return target.getvalue()


def chunk(name, content, order="<"):
    return struct.pack(f"{order}4sI", name, len(content)) + content + bytes(len(content) % 2)


def wav(*chunks, magic=b"RIFF", order="<"):
    layout = struct.pack(order + "HHIIHH", 1, 1, 16000, 32000, 2, 16)
    body = b"WAVE" + chunk(b"fmt ", layout, order) + b"".join(chunks)
    return struct.pack(order + "4sI", magic, len(body)) + body


SOUND = STORED.tobytes()
WHOLE = {
    "plain": wav(chunk(b"data", SOUND)),
    "odd chunks before it": wav(chunk(b"LIST", b"abc"), chunk(b"data", SOUND)),
    "chunks after it": wav(chunk(b"data", SOUND), chunk(b"LIST", b"abc")),
    "zeros after it": wav(chunk(b"data", SOUND)) + bytes(100),
    "a tag before it": b"ID3\4\0\0\0\0\0\5hello" + wav(chunk(b"data", SOUND)),
    **{
        f"unknown length {size:#x}": wav(struct.pack("<4sI", b"data", size) + SOUND)
        for size in (0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF - 44, 0x80000000)
    },
    "wrong size of the file": b"RIFF\xff\xff\xff\xff" + wav(chunk(b"data", SOUND))[8:],
    "big-endian": wav(chunk(b"data", STORED.astype(">i2").tobytes(), ">"), magic=b"RIFX", order=">"),
    "RF64": encoded("RF64"),
    "W64": encoded("W64"),
    "AIFF": encoded("AIFF"),
    "AU": encoded("AU"),
    "AU of unknown length": b".snd"
    + struct.pack(">5I", 24, 0xFFFFFFFF, 3, 16000, 1)
    + STORED.astype(">i2").tobytes(),
    "CAF": encoded("CAF"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_files(name):
    assert _incomplete.missing(memoryview(WHOLE[name])) is None
    wave, rate = audio.decode(WHOLE[name], dtype=np.int16)
    np.testing.assert_array_equal(wave[: len(STORED)], STORED)
    assert rate == 16000


def test_a_size_of_64_bits_that_is_not_there():
    known = struct.pack("<QQQI", 5000, 5000, 2500, 0)
    data = wav(chunk(b"ds64", known), struct.pack("<4sI", b"data", 0xFFFFFFFF) + SOUND, magic=b"RF64")
    assert "its header says 5000 bytes of sound, it holds 600" in _incomplete.missing(memoryview(data))


def test_a_whole_odd_number_of_bytes_without_its_padding():
    data = wav(chunk(b"data", SOUND[:-1]))[:-1]
    assert _incomplete.missing(memoryview(data)) is None


def test_chained_ogg_files():
    """Whole ones that follow each other, and one whose first part was cut off where a page ends."""
    one, other = encoded("OGG", "VORBIS"), encoded("OGG", "OPUS")
    assert _incomplete.missing(memoryview(one + other)) is None
    assert _incomplete.missing(memoryview(one + bytes(50))) is None
    last = one.rindex(b"OggS")
    assert _incomplete.missing(memoryview(one[:last] + other)) is None
    assert "last page" in _incomplete.missing(memoryview(one + other[: other.rindex(b"OggS")]))
    assert "within a page" in _incomplete.missing(memoryview(one + other[:-1]))
    wave, _ = audio.decode(one + other)
    np.testing.assert_array_equal(wave, audio.decode(one)[0])


def test_taking_what_there_is(monkeypatch):
    data = encoded()[:-200]
    with pytest.raises(
        SampleError, match="its header says 600 bytes of sound, it holds 400.*ACCEPT_INCOMPLETE"
    ):
        audio.decode(data)
    monkeypatch.setattr(audio, "ACCEPT_INCOMPLETE", True)
    wave, _ = audio.decode(data, dtype=np.int16)
    np.testing.assert_array_equal(wave, STORED[:200])


@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
@pytest.mark.parametrize("reader", ["file", "nemo_asr"])
def test_a_pipeline_sees_them(tmp_path, on_error, reader):
    for i in range(4):
        data = encoded(samples=STORED[: 50 + i])
        (tmp_path / f"{i}.wav").write_bytes(data[:-20] if i == 1 else data)
    names = [f"{i}.wav" for i in range(4)]
    (tmp_path / "list").write_text("\n".join(json.dumps({"audio_filepath": name}) for name in names))
    with jdali.Pipeline(batch_size=3, num_threads=2, device_id=None, on_error=on_error) as pipe:
        if reader == "file":
            wave, _ = fn.decoders.audio(
                fn.readers.file(file_root=str(tmp_path), files=names)[0], downmix=True
            )
        else:
            wave, _, _ = fn.readers.nemo_asr(manifest_filepaths=[str(tmp_path / "list")])
        pipe.set_outputs(wave)
    if on_error == "raise":
        with pytest.raises(jdali.OperatorError, match=r"1\.wav"):
            pipe.run()
    else:
        assert len(pipe.run()[0]) == 3
        assert {error.path.rpartition("/")[2] for error in pipe.errors} == {"1.wav"}
    pipe.close()
