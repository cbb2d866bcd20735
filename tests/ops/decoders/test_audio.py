"""decoders.audio against the real DALI, and on files that are damaged or lie."""

import dataclasses
import io
import struct
import threading

import numpy as np
import pytest
import soundfile
from support import contract, host_run, oracle

from jdali import Pipeline, fn, storage, types
from jdali._errors import SampleError
from jdali.codecs import audio as codec
from jdali.ops.decoders._audio import decode_audio


def tones(length, channels, seed=0):
    rng = np.random.default_rng(seed)
    wave = np.sin(np.arange(length)[:, None] * (0.03 + 0.02 * np.arange(channels))) * 0.7
    return wave + rng.uniform(-0.2, 0.2, (length, channels))


def encode(wave, rate=16000, kind="WAV", subtype=None):
    target = io.BytesIO()
    soundfile.write(target, wave, rate, format=kind, subtype=subtype)
    return np.frombuffer(target.getvalue(), np.uint8)


def check(samples, args, atol=(0.0, 0.0), per_sample=None):
    """Both outputs of every sample against DALI's."""
    want = oracle.run("decoders.audio", [samples], args, per_sample, outputs=2)
    for i, sample in enumerate(samples):
        mine = args | {k: v[i] for k, v in (per_sample or {}).items()}
        got = host_run.one(decode_audio, sample, **mine)
        for o in range(2):
            contract.compare(got[o], want[o][i], atol[o], f"output {o} of sample {i}")


FILES = [
    ("WAV", "PCM_16", 2), ("WAV", "PCM_U8", 1), ("WAV", "PCM_24", 3), ("WAV", "PCM_32", 1),
    ("FLAC", "PCM_16", 1), ("FLAC", "PCM_24", 2), ("OGG", "VORBIS", 2),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("kind", "subtype", "channels"), FILES)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.int32])
def test_formats_as_dali(kind, subtype, channels, dtype):
    samples = [encode(tones(n, channels), kind=kind, subtype=subtype) for n in (1000, 1, 313)]
    # Vorbis is decoded in floats by two builds of its library.
    atol = 0.0 if kind != "OGG" else {np.float32: 1e-6, np.int16: 1.0, np.int32: 4096.0}[dtype]
    check(samples, {"dtype": dtype}, (atol, 0))


@pytest.mark.oracle
def test_files_of_floats_as_dali():
    check([encode(1.5 * tones(100, 2), subtype=s) for s in ("FLOAT", "DOUBLE")], {})


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.int32])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_downmix_as_dali(channels, dtype):
    samples = [encode(tones(n, channels)) for n in (1000, 7)]
    # A mean of three float32 has one ulp to spare: 2^-24 of the integers' range.
    atol = {np.float32: 1e-7, np.int16: 1.0, np.int32: 256.0}[dtype] if channels == 3 else 0.0
    check(samples, {"dtype": dtype, "downmix": True}, (atol, 0))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("rate", "target", "quality"),
    [(16000, 8000, 50), (8000, 16000, 100), (44100, 16000, 0), (16000, 44100.5, 50)],
)
def test_resampling_as_dali(rate, target, quality):
    samples = [encode(tones(n, 2), rate) for n in (3000, 1, 40)]
    # DALI adds up the position in float32 over 256 outputs, which moves it by up to 1e-3 samples; where
    # the step of the rates is a power of two it does not.
    atol = 1e-6 if rate / target in (0.5, 2) else 3e-3
    check(samples, {"sample_rate": target, "quality": quality}, (atol, 0))
    check(
        samples, {"sample_rate": target, "downmix": True, "dtype": np.int16}, (1 if atol < 1e-3 else 100, 0)
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("rate", "target", "quality"),
    [(1, 16000, 50), (1, 8000, 100), (7, 16000, 50), (11, 31775, 50), (3, 44100, 0)],
)
def test_odd_rates_as_dali(rate, target, quality):
    """A few samples at some hertz become tens of thousands: with a small bank of weights, or with none."""
    samples = [encode(tones(n, 1), rate) for n in (1, 12)]
    # As above, but 256 of DALI's steps are less than a sample, and so is what they move.
    check(samples, {"sample_rate": target, "quality": quality}, (5e-5, 0))


@pytest.mark.oracle
def test_rates_per_sample_as_dali():
    samples = [encode(tones(500, 1), 16000)] * 3
    check(samples, {}, (1e-6, 0), {"sample_rate": [8000.0, 16000.0, 32000.0]})


# The largest difference to DALI, by format and type: lossy sound is decoded in floats by two builds of a
# library, all other is equal.
LOSSY = {types.FLOAT: 1e-6, types.INT16: 1.0, types.INT32: 4096.0}


@pytest.mark.cases(4)
@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [types.FLOAT, types.INT16, types.INT32])
@pytest.mark.parametrize("folder", ["synthetic", "wav", "ogg", "flac"])
def test_the_data_pack_as_dali(shared_data, folder, dtype):
    files = [f for f in sorted((shared_data / "audio" / folder).iterdir()) if f.suffix != ".txt"]
    for file in files if folder == "synthetic" else files[:2]:
        if "float" in file.name and dtype != types.FLOAT:
            continue  # DALI does not scale them
        atol = LOSSY[dtype] if file.suffix == ".ogg" else 0
        check([np.fromfile(file, np.uint8)], {"dtype": dtype}, (atol, 0))


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args", [{"downmix": True}, {"sample_rate": 16000.0}, {"sample_rate": 48000.0}], ids=str
)
def test_mixing_and_resampling_of_the_data_pack_as_dali(shared_data, args):
    for file in sorted((shared_data / "audio" / "synthetic").iterdir()):
        # One ulp of the mean; DALI's positions of resampled values are off by up to 1e-3 of a sample, and what
        # that is in the value depends on the slope there: full scale to full scale in the file of extremes.
        atol = 2e-7 if "downmix" in args else 5e-3
        atol = 2e-6 if file.suffix == ".ogg" and "downmix" in args else atol
        check([np.fromfile(file, np.uint8)], args, (atol, 0))


@pytest.mark.parametrize(
    "name", ["mono_alaw_8000.wav", "stereo_s24_48000.wav", "stereo_s24_96000.flac", "6ch_s16_16000.wav"]
)
def test_the_data_pack_as_soundfile(shared_data, name):
    file = shared_data / "audio" / "synthetic" / name
    for dtype in ("float32", "int16", "int32"):
        expected, rate = soundfile.read(file, dtype=dtype, always_2d=True)
        got, found = host_run.one(decode_audio, np.fromfile(file, np.uint8), dtype=np.dtype(dtype))
        np.testing.assert_array_equal(got, expected)
        assert found == rate


def test_sounds_of_no_and_of_one_sample(shared_data):
    folder = shared_data / "audio" / "synthetic"
    for name, length in {"mono_s16_zero_samples.wav": 0, "mono_s16_one_sample.wav": 1}.items():
        for rate in (0.0, 8000.0):
            got, _ = host_run.one(decode_audio, np.fromfile(folder / name, np.uint8), sample_rate=rate)
            assert got.shape[0] <= max(1, length)


def test_floats_become_integers_of_the_whole_range():
    wave = np.array([[0.0], [0.5], [-0.5], [1.5], [-1.5]])
    got, rate = host_run.one(decode_audio, encode(wave, 8000, subtype="FLOAT"), dtype=types.INT16)
    np.testing.assert_array_equal(got[:, 0], [0, 16384, -16384, 32767, -32768])
    assert (rate, rate.dtype, rate.shape) == (8000, np.float32, ())


@pytest.mark.parametrize(("dtype", "most"), [(types.INT16, 2**15 - 1), (types.INT32, 2**31 - 1)])
def test_floats_that_are_no_sound_as_integers(dtype, most):
    """NaN is 0 as everywhere (docs/differences.md), and nothing warns."""
    encoded = encode(np.array([np.nan, np.inf, -np.inf, 3e38, 0.0])[:, None], 8000, subtype="FLOAT")
    got, _ = host_run.one(decode_audio, encoded, dtype=dtype)
    assert got[:, 0].tolist() == [0, most, -most - 1, most, 0]


@pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
def test_floats_that_are_no_sound_mixed_and_resampled(subtype):
    wave = np.zeros((2000, 2))
    wave[1000] = np.inf, -np.inf
    wave[1900] = 3e38
    mixed, _ = host_run.one(decode_audio, encode(wave, 8000, subtype=subtype), downmix=True)
    assert np.isnan(mixed[1000])
    assert not mixed[:1000].any()
    for rate in (16000, 11025, 7999):
        got, _ = host_run.one(
            decode_audio,
            encode(wave, 8000, subtype=subtype),
            sample_rate=rate,
            dtype=types.INT16,
            downmix=True,
        )
        assert not got[:100].any()


def test_lossless_formats_give_what_was_stored():
    stored = np.random.default_rng(0).integers(-(2**15), 2**15, (50, 2)).astype(np.int16)
    for kind in ("WAV", "FLAC"):
        got, _ = host_run.one(decode_audio, encode(stored, kind=kind, subtype="PCM_16"), dtype=np.int16)
        np.testing.assert_array_equal(got, stored)
    mp3, _ = host_run.one(
        decode_audio, encode(tones(4000, 1), kind="MP3", subtype="MPEG_LAYER_III"), downmix=True
    )
    assert mp3.shape == (4000,)
    np.testing.assert_allclose(np.corrcoef(mp3, tones(4000, 1)[:, 0])[0, 1], 1, atol=0.1)


def test_bytes_are_taken_too_and_peek_reads_the_header():
    sound = encode(tones(321, 2), 22050, "FLAC").tobytes()
    assert codec.peek(sound) == codec.AudioInfo(321, 2, 22050)
    assert codec.decode(sound)[0].shape == (321, 2)


BAD = {
    "bad_format_tag.wav": "Failed to open encoded data",
    "bit_flips.flac": "damaged FLAC file",
    "cut50.flac": "damaged FLAC file",
    "garbage.wav": "Failed to open encoded data",
    "header_20bytes.wav": "Failed to open encoded data",
    "zero_channels.wav": "Channel count is zero",
    "zero_length.wav": "empty",
    "zero_rate.wav": "Failed to open encoded data",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_say_what_is_wrong(shared_data, name):
    with pytest.raises(SampleError, match=f"decoders.audio: .*{BAD[name]}"):
        host_run.one(decode_audio, np.fromfile(shared_data / "bad" / "audio" / name, np.uint8))


@pytest.mark.parametrize("name", ["bit_flips.ogg", "cut50.ogg", "cut50.wav"])
def test_what_is_left_of_a_cut_file_is_decoded_as_by_dali_on_demand(shared_data, name, monkeypatch):
    content = np.fromfile(shared_data / "bad" / "audio" / name, np.uint8)
    with pytest.raises(SampleError, match="decoders.audio: damaged or cut off"):
        host_run.one(decode_audio, content)
    monkeypatch.setattr(codec, "ACCEPT_INCOMPLETE", True)
    got, _ = host_run.one(decode_audio, content)
    assert len(got) == {"bit_flips.ogg": 10240, "cut50.ogg": 13568, "cut50.wav": 25349}[name]


def test_a_header_that_claims_too_much_is_not_believed():
    sound = bytearray(encode(np.zeros((5000, 1)), kind="FLAC").tobytes())
    # STREAMINFO ends with 4 + 32 bits of the number of samples, before 16 bytes of checksum.
    at = 4 + 4 + 13
    assert struct.unpack(">I", sound[at + 1 : at + 5]) == (5000,)
    sound[at + 1 : at + 5] = b"\xff" * 4
    with pytest.raises(
        SampleError, match="4294967295 samples of 1 channels that the header claims in .*max_values_per_byte"
    ):
        host_run.one(decode_audio, np.frombuffer(bytes(sound), np.uint8))


def test_wrong_arguments():
    sound = encode(tones(10, 1))
    with pytest.raises(ValueError, match="dtype must be INT16, INT32 or FLOAT, got uint8"):
        host_run.one(decode_audio, sound, dtype=np.uint8)
    with pytest.raises(ValueError, match=r"Resampling quality must be in \[0..100\] range, got -1.0"):
        host_run.one(decode_audio, sound, quality=-1.0)


def test_threads_do_not_disturb_each_other():
    sounds = [encode(tones(2000 + 10 * i, 2, i), kind="FLAC") for i in range(4)]
    want = [codec.decode(s)[0] for s in sounds]
    wrong = []

    def work(i):
        for _ in range(5):
            if not np.array_equal(codec.decode(sounds[i])[0], want[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- together -------------------------------------------------------------------------------
TOGETHER = {"downmix": False, "dtype": types.FLOAT, "quality": 50.0, "sample_rate": 0.0}


def together(samples, **change):
    """(sound, rate) of each, in two tasks; None if they are left to each alone."""

    workers = host_run.Workers()
    made = decode_audio.run(samples, workers=workers, **TOGETHER | change)
    if workers.one_by_one:
        return None
    assert not made.failures
    return list(zip(*(column.host_samples() for column in made.columns), strict=True))


def neighbours(files, gap=64):
    """The same files in one array, each from a multiple of `gap` on."""
    starts = np.cumsum([0, *(-(-len(file) // gap) * gap for file in files)])
    memory = np.full(starts[-1], 255, np.uint8)
    for start, file in zip(starts.tolist(), files, strict=False):
        memory[start : start + len(file)] = file
    return [memory[start : start + len(file)] for start, file in zip(starts.tolist(), files, strict=False)]


def stored(count, channels, rate):
    """A file, and its samples and rate by NumPy."""
    values = np.random.default_rng(count).integers(-(1 << 15), 1 << 15, (count, channels)).astype(np.int16)
    return encode(values, rate), values.astype(np.float32) / 32768, rate


@pytest.mark.parametrize("gap", [2, 64])
def test_plain_files_together(gap):
    known = [stored(100, 1, 16000), stored(7, 2, 8000), stored(30_000, 1, 44100), stored(1, 3, 16000)]
    files = neighbours([file for file, _, _ in known], gap)
    # Some in one array, one elsewhere, some again.
    for order in ([0, 1, 2, 3], [3, 1, 0], [2], [1, 1]):
        samples = [files[i] for i in order]
        samples.insert(1, known[2][0])
        results = together(samples)
        for got, i in zip(results, [order[0], 2, *order[1:]], strict=True):
            np.testing.assert_array_equal(got[0], known[i][1])
            assert (got[0].dtype, got[1].dtype, got[1]) == (np.float32, np.float32, known[i][2])


def test_files_that_end_at_odd_bytes_together():
    file, wave, _ = stored(5, 1, 8000)
    memory = np.concatenate([[0], file, file, [0], file]).astype(np.uint8)
    size = len(file)
    parts = [memory[1 : 1 + size], memory[1 + size : 1 + 2 * size], memory[2 + 2 * size :]]
    for got, _ in together(parts):
        np.testing.assert_array_equal(got, wave)


@pytest.mark.parametrize(
    ("other", "change"),
    [
        (encode(tones(9, 1), subtype="PCM_24"), {}),
        (encode(tones(9, 1), kind="FLAC"), {}),
        (np.zeros(0, np.uint8), {}),
        (np.zeros(50, np.uint8), {}),
        (encode(tones(9, 1)), {"dtype": types.INT16}),
        (encode(tones(9, 2)), {"downmix": True}),
        (encode(tones(9, 1)), {"sample_rate": np.array([0.0, 8000.0])}),
    ],
)
def test_what_is_left_to_each_alone(other, change):
    assert together([encode(tones(9, 1)), other], **change) is None


@pytest.mark.parametrize(
    "limit", [{"max_sound_values": 17}, {"max_channels": 1}, {"max_sample_bytes": 71}], ids=str
)
def test_many_plain_files_keep_the_limits(limit):
    before = storage.configure(**limit)
    try:
        assert together([encode(tones(9, 1)), encode(tones(9, 2))]) is None
    finally:
        storage.configure(**dataclasses.asdict(before))


def test_downmix_and_rates_that_need_nothing_together():
    samples = [stored(4, 1, 16000), stored(5, 1, 8000)]
    change = {"downmix": True, "sample_rate": np.array([16000.0, 8000.0])}
    results = together([file for file, _, _ in samples], **change)
    for (got, rate), (_, wave, wanted) in zip(results, samples, strict=True):
        np.testing.assert_array_equal(got, wave[:, 0])
        assert rate == wanted


def test_a_pipeline_of_many_plain_files(tmp_path):
    known = [stored(count, 1, 16000) for count in (1, 1000, 400_000, 30, 250_000, 7)]
    (tmp_path / "class").mkdir()
    for i, (file, _, _) in enumerate(known):
        (tmp_path / "class" / f"{i}.wav").write_bytes(file.tobytes())
    pipe = Pipeline(batch_size=4, num_threads=2, device_id=None)
    with pipe:
        encoded, _ = fn.readers.file(file_root=str(tmp_path))
        pipe.set_outputs(*fn.decoders.audio(encoded, downmix=True))
    for first in (0, 4, 2, 0):
        waves, rates = pipe.run()
        for i, wave in enumerate(waves.to_samples()):
            np.testing.assert_array_equal(wave, known[(first + i) % 6][1][:, 0])
        assert rates.as_numpy().ravel().tolist() == [16000.0] * 4
    pipe.close()
