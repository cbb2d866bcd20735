"""readers.nemo_asr: entries of manifests, parts of sounds, texts; by hand and against DALI."""

import json

import numpy as np
import pytest
import soundfile
from support import oracle
from support.data import SHARED
from support.readers import assert_same, dali_everything, everything, failures, opened

from jdali import fn, pipeline_def, types
from jdali._operators.record import REGISTRY, ReaderOp

RATE = 8000
WAVE = (np.sin(np.arange(2 * RATE) * 0.1) * 20_000).astype(np.int16)
STEREO = np.stack([WAVE[:4000], WAVE[4000:8000]], axis=1)


@pytest.fixture
def manifest(tmp_path):
    """Writes a manifest of lines, objects or text, for two sounds; returns its path."""
    soundfile.write(tmp_path / "mono.wav", WAVE, RATE)
    soundfile.write(tmp_path / "stereo.flac", STEREO, 16_000)

    def write(*lines, name="manifest.json"):
        text = "\n".join(x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines)
        (tmp_path / name).write_text(text.replace("@", str(tmp_path)))
        return str(tmp_path / name)

    return write


def entry(file="@/mono.wav", **more):
    return {"audio_filepath": file, **more}


LINES = [
    entry(duration=1.0, offset=0.5, text="first é"),
    entry(),
    {"text": 'a "quote"\\', "other": {"a": [1, {"b": None}]}, "duration": 0.25, **entry("@/stereo.flac")},
    "",
    entry(duration=1.81, text=""),
    entry(offset=1.9, text="offset only"),
    entry(duration=9.0, offset=1.0),
    entry(duration=-1, offset=-1),
    entry(duration=0.0, text="nothing"),
    entry(offset=2.0),
    entry(duration=0.2),
]


def test_entries(manifest):
    samples = everything("nemo_asr", manifest_filepaths=manifest(*LINES), dtype=types.INT16, read_idxs=True)
    mono = [
        WAVE[4000:12000],
        WAVE,
        None,
        WAVE[:14480],
        WAVE[15200:],
        WAVE[8000:],
        WAVE,
        WAVE[:0],
        WAVE[:0],
        WAVE[:1600],
    ]
    texts = ["first é", "", 'a "quote"\\', "", "offset only", "", "", "nothing", "", ""]
    for i, (sample, wave, text) in enumerate(zip(samples, mono, texts, strict=True)):
        assert [a.dtype for a in sample] == [np.int16, np.float32, np.uint8, np.int64]
        assert bytes(sample[2]).decode() == text
        assert sample[3].tolist() == [i]
        if wave is not None:
            np.testing.assert_array_equal(sample[0], wave)
            assert sample[1].shape == ()
            assert sample[1] == RATE
    assert samples[2][0].shape == (4000,)
    assert samples[2][1] == 16_000


def test_outputs(manifest):
    path = manifest(entry("@/stereo.flac", text="x"))
    (wave,) = everything(
        "nemo_asr", manifest_filepaths=path, read_text=False, read_sample_rate=False, downmix=False
    )[0]
    np.testing.assert_array_equal(wave, STEREO.astype(np.float32) / 32768)
    wave, text = everything("nemo_asr", manifest_filepaths=[path], read_sample_rate=False)[0]
    np.testing.assert_allclose(wave, STEREO.mean(axis=1) / 32768, rtol=0, atol=1e-7)  # float32
    assert bytes(text) == b"x"
    wave, rate, _ = everything("nemo_asr", manifest_filepaths=[path], sample_rate=4000.0)[0]
    assert (wave.shape, rate) == ((1000,), 16_000)  # the rate is that of the file


def test_durations(manifest):
    paths = [
        manifest(*LINES),
        manifest(entry(duration=0.2, text="b0"), entry(duration=1.2, text="b1"), name="b"),
    ]

    def texts(**args):
        found = everything("nemo_asr", manifest_filepaths=paths, read_idxs=True, **args)
        return [(bytes(s[2]).decode(), int(s[3][0])) for s in found]

    # An index counts what is kept in its manifest; 0.2 and 1.81 are not their float32 values.
    assert texts(min_duration=0.2) == [("first é", 0), ('a "quote"\\', 1), ("", 2), ("", 3), ("b1", 0)]
    assert [t for t, _ in texts(max_duration=1.0)] == [
        "first é", "", 'a "quote"\\', "offset only", "", "nothing", "", "", "b0"
    ]  # fmt: skip
    assert texts(min_duration=1.1, max_duration=1.81) == [("b1", 0)]
    with pytest.raises(
        ValueError, match=r"readers.nemo_asr: No files found: there is nothing to read in .*manifest.json, "
    ):
        texts(min_duration=100.0)


def test_relative_paths(manifest, tmp_path, monkeypatch):
    path = manifest(entry("mono.wav"), entry("sub/mono.wav"))
    (tmp_path / "work" / "sub").mkdir(parents=True)
    soundfile.write(tmp_path / "work" / "sub" / "mono.wav", WAVE[:10], RATE)
    monkeypatch.chdir(tmp_path / "work")
    reader = opened("nemo_asr", manifest_filepaths=path)
    assert [reader.source(i) for i in range(2)] == [str(tmp_path / "mono.wav"), "sub/mono.wav"]
    assert [len(reader.load(i)[0]) for i in range(2)] == [len(WAVE), 10]


ARGS = [
    {},
    {"read_idxs": True, "read_text": False},
    {"downmix": False, "dtype": types.INT16},
    {"dtype": types.INT32, "read_sample_rate": False},
    {"max_duration": 1.81, "min_duration": 0.2, "read_idxs": True},
    {"max_duration": 1.0, "read_idxs": True},
    {"min_duration": 0.2, "read_idxs": True},
]


def as_dali(args):
    return {name: oracle.translate(value) for name, value in args.items()}


@pytest.mark.oracle
@pytest.mark.parametrize("args", ARGS, ids=str)
def test_as_dali(manifest, args):
    oracle.dali()
    paths = [manifest(*LINES), manifest(*LINES[:3], name="second")]
    expected = dali_everything("nemo_asr", manifest_filepaths=paths, **as_dali(args))
    assert_same(everything("nemo_asr", manifest_filepaths=paths, **args), expected)


@pytest.mark.oracle
@pytest.mark.parametrize("rate", [4000.0, 11_025.0])
def test_resampled_as_dali(manifest, rate):
    paths = [manifest(*(line for line in LINES if "duration" not in line or line["duration"]))]
    args = {"sample_rate": rate, "quality": 30.0}
    expected = dali_everything("nemo_asr", manifest_filepaths=paths, **args)
    for mine, theirs in zip(everything("nemo_asr", manifest_filepaths=paths, **args), expected, strict=True):
        assert_same([mine[1:]], [theirs[1:]])
        # DALI adds up float32 steps in blocks of 256, see decoders.audio.
        np.testing.assert_allclose(mine[0], theirs[0], rtol=0, atol=1e-3)


@pytest.mark.oracle
@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
@pytest.mark.parametrize("args", ARGS[:3], ids=str)
def test_data_pack_as_dali(args, monkeypatch):
    monkeypatch.chdir(SHARED / "audio")
    paths = ["manifest_extra.json", "manifest.json"]
    expected = dali_everything("nemo_asr", manifest_filepaths=paths, **as_dali(args))
    got = everything("nemo_asr", manifest_filepaths=paths, **args)
    reader = opened("nemo_asr", manifest_filepaths=paths)
    for i, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
        # Two builds of libvorbis differ in the last bits of a float, and so at times by one after rounding.
        unit = 1 if mine[0].dtype == np.int16 else 3e-7
        atol = unit if reader.source(i).endswith(".ogg") else 0
        np.testing.assert_allclose(mine[0], theirs[0], rtol=0, atol=atol)
        assert_same([mine[1:]], [theirs[1:]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", r"line 2 of .*manifest.json: JSON is malformed"),
        ("[1, 2]", "line 2 of .*: Expected `object`, got `array`"),
        ('{"duration": 1}', "line 2 of .*: Object missing required field `audio_filepath`"),
        ('{"audio_filepath": 5}', r"line 2 of .*: Expected `str`, got `int` - at `\$.audio_filepath`"),
        ('{"audio_filepath": ""}', "line 2 of .*: audio_filepath '' is not a path"),
        ('{"audio_filepath": "a\\u0000b"}', "line 2 of .*: audio_filepath .* is not a path"),
        ('{"audio_filepath": "x", "offset": "1"}', r"line 2 of .*at `\$.offset`"),
        ('{"audio_filepath": "x"', "line 2 of .*: Input data was truncated"),
    ],
)
def test_wrong_lines(manifest, line, message):
    with pytest.raises(ValueError, match=f"^readers.nemo_asr: {message}"):
        opened("nemo_asr", manifest_filepaths=manifest(entry(), line))


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (
            {"manifest_filepaths": "/no/such"},
            FileNotFoundError,
            'Could not open NEMO ASR manifest file: "/no/such": No such',
        ),
        ({"manifest_filepaths": []}, ValueError, "``manifest_filepaths`` can not be empty"),
        ({"dtype": types.UINT8}, ValueError, "dtype must be INT16, INT32 or FLOAT, got uint8"),
        ({"quality": 101.0}, ValueError, r"Resampling quality must be in \[0..100\] range, got 101.0"),
    ],
    ids=str,
)
def test_wrong_arguments(manifest, args, error, message):
    with pytest.raises(error, match=f"^readers.nemo_asr: {message}"):
        opened("nemo_asr", **{"manifest_filepaths": manifest(entry()), **args})


def test_what_is_wrong_with_a_sample(manifest, tmp_path):
    (tmp_path / "bad.wav").write_bytes(b"RIFF")
    path = manifest(entry(), "", entry("@/none.wav"), entry("@/bad.wav"), entry(offset=2.1))
    found = failures(opened("nemo_asr", manifest_filepaths=path))
    assert list(found) == [1, 2, 3]
    assert all(f"line {line} of {path}" in found[i] for i, line in ((1, 3), (2, 4), (3, 5)))
    assert f"cannot read {tmp_path}/none.wav: No such file" in found[1]
    assert "bad.wav" in found[2]
    assert "the part begins at 2.1 s, but the sound has 16000 samples at 8000 Hz, that is 2.000 s" in found[3]


@pytest.mark.skipif(not SHARED.exists(), reason="the data pack is not there")
def test_bad_manifests_of_the_data_pack(monkeypatch):
    folder = SHARED / "bad" / "audio"
    for name, message in (
        ("bad_lines", "line 2 of .*malformed"),
        ("empty", "No files found: there is nothing to read"),
    ):
        with pytest.raises(ValueError, match=f"^readers.nemo_asr: {message}"):
            opened("nemo_asr", manifest_filepaths=str(folder / f"manifest_{name}.json"))
    found = failures(opened("nemo_asr", manifest_filepaths=str(folder / "manifest_missing_file.json")))
    assert "does_not_exist.wav, line 1 of " in found[0]


def test_in_a_pipeline(manifest):
    path = manifest(entry("@/none.wav"), *LINES)

    @pipeline_def(batch_size=2, num_threads=2, device_id=None, on_error="skip")
    def pipeline():
        return tuple(fn.readers.nemo_asr(manifest_filepaths=path, read_idxs=True, name="r"))

    pipe = pipeline()
    try:
        waves, rates, texts, indices = pipe.run()
        assert [int(indices.at(i)[0]) for i in range(2)] == [1, 1]
        assert [waves.at(i).shape for i in range(2)] == [(8000,), (8000,)]
        assert float(rates.at(0)) == RATE
        assert bytes(np.asarray(texts.at(1))).decode() == "first é"
    finally:
        pipe.close()


def test_record():
    record = REGISTRY["readers.nemo_asr"]
    assert isinstance(record, ReaderOp)
    assert [record.num_outputs(a) for a in ({}, {"read_text": False}, {"read_idxs": True})] == [3, 2, 4]
    for argument in record.public_args:
        assert f"\n    {argument}: " in record.doc, argument
