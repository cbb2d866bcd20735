"""readers.video, readers.video_resize and experimental.readers.video: which frames, in what order, as what."""

import io
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support import oracle
from support.data import SHARED
from support.readers import failures
from support.settled import settle_at_once
from support.videos import av, encode, numbers_of, pictures

import jdali.dynamic as jd
from jdali import SampleError, fn, pipeline_def, types
from jdali._operators.record import REGISTRY
from jdali._system.extras import install
from jdali.readers.video import build_index

av()
COUNT = 12
TIMES = np.cumsum([0] + [40, 20, 33, 100, 50, 17, 66] * 2)[:COUNT]
EXPERIMENTAL = "experimental.readers.video"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two subfolders of videos of 12 and 5 frames; one of variable rate."""
    root = tmp_path_factory.mktemp("videos")
    for name in ("a", "b"):
        (root / name).mkdir()
    (root / "a" / "12.webm").write_bytes(encode(pictures(COUNT), "libvpx-vp9", "webm", options={"g": "5"}))
    (root / "b" / "5.webm").write_bytes(encode(pictures(5), "libvpx", "webm"))
    (root / "b" / "notes.txt").write_text("no video")
    (root / "vfr.mp4").write_bytes(encode(pictures(COUNT), options={"bf": "2", "g": "6"}, times_ms=TIMES))
    return root


def opened(name, **args):
    op = REGISTRY[name]
    bound = op.bind(args)
    return op.run(**{key: arg.convert(bound[key]) for key, arg in op.public_args.items()})


def everything(name=EXPERIMENTAL, **args):
    """The outputs of all samples; the frames by the numbers that they show."""
    reader = opened(name, **args)
    samples = [reader.load(i) for i in range(reader.size)]
    assert all(len(sample) == reader.num_outputs for sample in samples)
    assert REGISTRY[name].num_outputs(args) == reader.num_outputs
    reader.close()
    return [(numbers_of(frames), *(np.asarray(o).tolist() for o in others)) for frames, *others in samples]


def sequences(name=EXPERIMENTAL, **args):
    return [sample[0] for sample in everything(name, **args)]


# --- which frames ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"sequence_length": 5}, [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]),
        ({"sequence_length": 3, "stride": 2}, [[0, 2, 4], [6, 8, 10]]),
        ({"sequence_length": 3, "stride": 2, "step": 4}, [[0, 2, 4], [4, 6, 8]]),
        ({"sequence_length": 11, "step": 1}, [list(range(11)), list(range(1, 12))]),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("name", [EXPERIMENTAL, "readers.video", "readers.video_resize"])
def test_whole_sequences(folder, name, args, expected):
    assert sequences(name, filenames=str(folder / "a" / "12.webm"), **args) == expected
    assert sequences(name, filenames=[str(folder / "vfr.mp4")], **args) == expected


@pytest.mark.parametrize(
    ("mode", "last"),
    [("edge", [10, 11, 11, 11, 11]), ("repeat", [10, 11, 11, 11, 11]), ("reflect_1001", [10, 11, 11, 10, 9]),
     ("symmetric", [10, 11, 11, 10, 9]), ("reflect_101", [10, 11, 10, 9, 8]), ("reflect", [10, 11, 10, 9, 8])],
)  # fmt: skip
def test_padded_sequences(folder, mode, last):
    args = {"filenames": str(folder / "vfr.mp4"), "sequence_length": 5, "pad_mode": mode}
    got = everything(enable_frame_num="sequence", enable_timestamps=True, **args)
    assert [g[0] for g in got] == [g[1] for g in got] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], last]
    np.testing.assert_allclose(got[2][2], TIMES[last] / 1000, rtol=0, atol=1e-9)


def test_a_mirrored_part_goes_on_before_its_start(folder, tmp_path):
    path = listed(tmp_path, f"{folder / 'a' / '12.webm'} 0 2 5")
    args = {"file_list": path, "file_list_format": "frames", "sequence_length": 8}
    assert sequences(pad_mode="reflect_101", **args) == [[2, 3, 4, 3, 2, 1, 0, 1]]
    assert sequences(pad_mode="reflect_1001", **args) == [[2, 3, 4, 4, 3, 2, 1, 0]]


def test_room_for_a_sequence(folder):
    """`stride` after the last frame counts for the one reader, as for DALI's, and not for the older ones."""
    args = {"filenames": str(folder / "a" / "12.webm"), "sequence_length": 3, "stride": 4, "step": 1}
    assert sequences(**args) == [[0, 4, 8]]
    assert sequences(pad_mode="edge", **args) == [[0, 4, 8], [1, 5, 9]]
    whole = [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
    assert sequences("readers.video", **args) == whole


def test_padded_sequences_of_the_older_reader(folder):
    args = {"filenames": str(folder / "b" / "5.webm"), "sequence_length": 3, "pad_sequences": True}
    reader = opened("readers.video", step=1, enable_frame_num="sequence", **args)
    numbers = [reader.load(i)[1].tolist() for i in range(reader.size)]
    reader.close()
    assert numbers == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, -1], [4, -1, -1]]


def test_constant_padding(folder):
    args = {"filenames": str(folder / "a" / "12.webm"), "sequence_length": 5, "enable_frame_num": "sequence",
            "enable_timestamps": True}  # fmt: skip
    for reader, fill in (
        (opened(EXPERIMENTAL, pad_mode="constant", fill_value=[1, 2, 3], **args), (1, 2, 3)),
        (opened("readers.video", pad_sequences=True, **args), (0, 0, 0)),
    ):
        frames, numbers, times = reader.load(2)
        assert numbers_of(frames[:2]) == [10, 11]
        assert (frames[2:] == fill).all()
        assert (numbers.dtype, numbers.tolist()) == (np.int32, [10, 11, -1, -1, -1])
        np.testing.assert_array_equal(times, [0.4, 0.44, -1, -1, -1])
        reader.close()


def test_uniform_samples(folder):
    # floor(linspace(0, n - 1, 5) + 0.5), by hand: 0 2.75 5.5 8.25 11.
    args = {"sequence_length": 5, "uniform_sample": True}
    assert sequences(filenames=str(folder / "a" / "12.webm"), **args) == [[0, 3, 6, 8, 11]]
    args["sequence_length"] = 9  # every half a frame
    assert sequences(filenames=str(folder / "b" / "5.webm"), **args) == [[0, 1, 1, 2, 2, 3, 3, 4, 4]]


def test_labels_and_numbers(folder):
    files = [str(folder / "b" / "5.webm"), str(folder / "a" / "12.webm")]
    args = {"filenames": files, "sequence_length": 4}
    assert len(everything(**args)[0]) == 1
    assert [g[1] for g in everything(labels=[7, 3], **args)] == [[7], [3], [3], [3]]
    assert [g[1] for g in everything(labels=[], **args)] == [[0], [1], [1], [1]]
    assert [g[1] for g in everything("readers.video", enable_frame_num=True, **args)] == [[0], [0], [4], [8]]
    assert [g[1:] for g in everything(file_root=str(folder), sequence_length=5, enable_frame_num="scalar")] == [
        ([0], [0]), ([0], [5]), ([1], [0]),
    ]  # fmt: skip
    # No subfolders: the videos of the folder itself.
    assert [g[1] for g in everything(file_root=str(folder / "b"), sequence_length=5)] == [[0]]


def listed(tmp_path, *lines):
    path = tmp_path / "list.txt"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", range(12)), ("3", range(3, 12)), ("2 5", range(2, 5)), ("-3 -1", range(9, 11)),
        ("2 100", range(2, 12)), ("-30 2", range(2)), ("2.4 5.6", range(2, 6)), ("+.4 +2.6", range(3)),
    ],
)  # fmt: skip
def test_parts_in_frames(folder, tmp_path, line, expected):
    path = listed(tmp_path, f"{folder / 'a' / '12.webm'} 4 {line}")
    args = {"file_list": path, "sequence_length": 1}
    got = everything(file_list_format="frames", **args)
    assert got == [([n], [4]) for n in expected]
    if "." not in line:
        assert everything("readers.video", file_list_frame_num=True, **args) == got


@pytest.mark.parametrize(
    ("rounding", "cfr", "vfr"),
    [
        # 0.09 to 0.19 of frames every 0.04; 0.05 to 0.25 of those at 0 .04 .06 .093 .193 .243 .26 ...
        ("start_down_end_up", range(2, 5), range(1, 6)), ("start_up_end_down", range(3, 4), range(2, 5)),
        ("all_up", range(3, 5), range(2, 6)), ("all_down", range(2, 4), range(1, 5)),
    ],
)  # fmt: skip
def test_parts_in_seconds(folder, tmp_path, rounding, cfr, vfr):
    lines = (f"{folder / 'a' / '12.webm'} 0 0.09 0.19", f"{folder / 'vfr.mp4'} 1 0.05 0.25")
    args = {"file_list": listed(tmp_path, *lines), "sequence_length": 1}
    expected = [([n], [0]) for n in cfr] + [([n], [1]) for n in vfr]
    assert everything(file_list_rounding=rounding, **args) == expected
    if rounding.startswith("start_"):
        preceding = rounding == "start_down_end_up"
        args["file_list_include_preceding_frame"] = preceding
        assert everything("readers.video", **args) == expected


def late(tmp_path):
    """A video of 12 frames at 1.5, 1.54, ... s, the fifth of which is shown together with the fourth."""
    path = tmp_path / "late.webm"
    times = [1500 + 40 * number - 40 * (number == 4) for number in range(COUNT)]
    path.write_bytes(encode(pictures(COUNT), "libvpx-vp9", "webm", times_ms=times))
    return path


def test_parts_in_seconds_of_a_video_that_begins_late(tmp_path):
    path = late(tmp_path)
    args = {"sequence_length": 1}
    for line, expected in (("1.55 1.63", [1, 2, 3, 4]), ("1.65 1.75", [4, 5, 6]), ("0.2 1.57", [0, 1])):
        assert sequences(file_list=listed(tmp_path, f"{path} 0 {line}"), **args) == [[n] for n in expected]
    args |= {"file_list": listed(tmp_path, f"{path} 0 0.05 0.13"), "file_list_include_preceding_frame": True}
    assert sequences("readers.video", **args) == [[1], [2], [3], [4]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [("0.2 0", range(5, 12)), ("-0.2 -0.08", range(7, 10)), ("0 0", range(12)), ("-0.09 0", range(10, 12))],
)
def test_parts_from_the_end_of_the_older_reader(folder, tmp_path, line, expected):
    """12 frames every 0.04 s: they end at 0.48."""
    path = listed(tmp_path, f"{folder / 'a' / '12.webm'} 4 {line}")
    args = {"file_list": path, "sequence_length": 1}
    assert everything("readers.video", **args) == [([n], [4]) for n in expected]
    path = listed(tmp_path, f"{folder / 'a' / '12.webm'} 4 3 0")
    assert len(everything("readers.video", file_list_frame_num=True, **args)) == 9


def test_parts_that_reach_beyond(folder, tmp_path):
    path = listed(tmp_path, f"{folder / 'a' / '12.webm'} 0 0.4 100", "", f"{folder / 'a' / '12.webm'} 1 0.4")
    assert everything(file_list=path, sequence_length=2) == [([10, 11], [0]), ([10, 11], [1])]
    path = listed(tmp_path, f"{folder / 'a' / '12.webm'} 0 5 5", f"{folder / 'b' / '5.webm'} 1")
    with pytest.warns(UserWarning, match="12.webm from 5.0 to 5.0 holds no frame, it is left out"):
        assert len(everything(file_list=path, sequence_length=5, file_list_format="frames")) == 1


def test_names_in_a_list(folder, monkeypatch):
    (folder / "list").write_text("a/12.webm 5\n")
    monkeypatch.chdir(folder)
    assert everything(file_list="list", sequence_length=12)[0][1] == [5]
    monkeypatch.chdir("/")  # then they are beside the list
    assert everything(file_list=str(folder / "list"), sequence_length=12)[0][1] == [5]


def test_urls(folder):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    files = fsspec.filesystem("memory")
    files.pipe("/videos/x.mp4", (folder / "vfr.mp4").read_bytes())
    files.pipe("/videos/list", b"memory://videos/x.mp4 3 4 8\n")
    args = {"file_list_format": "frames", "sequence_length": 2}
    assert everything(file_list="memory://videos/list", **args) == [([4, 5], [3]), ([6, 7], [3])]


# --- frames as what -------------------------------------------------------------------------
def test_types_and_colours(tmp_path):
    frames = np.random.default_rng(0).integers(0, 256, (3, 16, 24, 3), np.uint8)
    (tmp_path / "x.mkv").write_bytes(encode(frames, "ffv1", "matroska", pix_fmt="bgr0"))
    args = {"filenames": str(tmp_path / "x.mkv"), "sequence_length": 3}
    for given, expected in (
        ({}, frames), ({"dtype": types.FLOAT}, frames.astype(np.float32)),
        ({"dtype": types.FLOAT, "normalized": True}, frames.astype(np.float32) / np.float32(255)),
        ({"normalized": True}, (frames > 127).astype(np.uint8)),
    ):  # fmt: skip
        (got,) = opened("readers.video", **args, **given).load(0)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    (got,) = opened(EXPERIMENTAL, image_type=types.YCbCr, **args).load(0)
    r, g, b = frames.astype(float).transpose(3, 0, 1, 2)
    luma = 0.299 * r + 0.587 * g + 0.114 * b
    expected = np.stack(
        [16 + luma * 219 / 255, 128 + (b - luma) / 1.772 * 224 / 255, 128 + (r - luma) / 1.402 * 224 / 255],
        -1,
    )
    np.testing.assert_allclose(got, expected, rtol=0, atol=1)  # FFmpeg rounds the coefficients


@pytest.mark.parametrize("surface", ["fn", "dynamic"])
def test_resized(tmp_path, surface):
    """Halves by nearest neighbour, so that the result is known, of two sizes of videos in one batch."""
    rng = np.random.default_rng(0)
    videos = [rng.integers(0, 256, (2, 16, 24, 3), np.uint8), rng.integers(0, 256, (2, 32, 16, 3), np.uint8)]
    for i, frames in enumerate(videos):
        (tmp_path / f"{i}.mkv").write_bytes(encode(frames, "ffv1", "matroska", pix_fmt="bgr0"))
    args = {
        "filenames": [str(tmp_path / "0.mkv"), str(tmp_path / "1.mkv")], "labels": [3, 4],
        "sequence_length": 2, "size": [8, 8], "mode": "not_smaller", "interp_type": types.INTERP_NN,
    }  # fmt: skip
    if surface == "fn":

        @pipeline_def(batch_size=2, num_threads=2)
        def pipe():
            return fn.readers.video_resize(name="r", **args)

        made = pipe()
        frames, labels = made.run()
        assert made.epoch_size("r") == 2
        assert frames.layout() == "FHWC"
        got = [np.asarray(frames.as_cpu().at(i)) for i in range(2)]
        labels = labels.as_cpu().as_array().ravel().tolist()
    else:
        frames, labels = jd.readers.VideoResize(**args)(batch_size=2)
        assert frames.layout == "FHWC"
        got = [np.asarray(tensor) for tensor in frames.tensors]
        labels = np.asarray(labels).ravel().tolist()
    assert labels == [3, 4]
    np.testing.assert_array_equal(got[0], videos[0][:, 1::2, 1::2])
    np.testing.assert_array_equal(got[1], videos[1][:, 1::2, 1::2])


# --- order, shards, state, threads ----------------------------------------------------------
def test_many_threads_and_readers_at_once(folder):
    readers = [opened(EXPERIMENTAL, file_root=str(folder), sequence_length=3) for _ in range(3)]
    expected = [readers[0].load(i) for i in range(readers[0].size)]
    wrong = []

    def work(seed):
        for i in np.random.default_rng(seed).permutation(len(expected)).tolist() * 2:
            for mine, theirs in zip(readers[seed % 3].load(i), expected[i], strict=True):
                if not np.array_equal(mine, theirs):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    for reader in readers:
        assert 1 <= len(reader._videos._handles._idle) <= 32
        reader.close()
        assert not reader._videos._handles._idle


def test_tasks_keep_neighbours_together(folder):
    reader = opened(EXPERIMENTAL, file_root=str(folder), sequence_length=2)  # 6 and 2 sequences
    cut = [(t.start, t.stop) for t in reader.tasks(np.arange(8), 2)]
    assert cut == [(0, 4), (4, 6), (6, 8)]
    assert [(t.start, t.stop) for t in reader.tasks(np.array([5, 1, 2]), 2)] == [(0, 1), (1, 3)]
    assert reader.tasks(np.arange(0), 2) == []


# --- errors ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "Only one of the following arguments can be provided: .*; none given"),
        ({"filenames": "x", "file_root": "y"}, "filenames and file_root given"),
        ({"file_root": "y", "labels": [1]}, "``labels`` is valid only when file paths are provided"),
        ({"filenames": ["x", "y"], "labels": [1]}, "Provided 2 files and 1 labels"),
        ({"filenames": "x", "sequence_length": 0}, "sequence_length is 0"),
        ({"filenames": "x", "stride": 0}, "stride 0"),
        ({"filenames": "x", "image_type": types.GRAY}, "image_type must be RGB or YCbCr"),
        ({"filenames": "x", "pad_mode": "wrap"}, "Invalid pad_mode: wrap Valid options are"),
        ({"filenames": "x", "fill_value": 300}, "fill_value must be in range .* got 300"),
        ({"filenames": "x", "enable_frame_num": "all"}, "Invalid enable_frame_num value: 'all'"),
        ({"filenames": "x", "file_list_format": "hours"}, "file_list_format is 'hours'"),
        ({"filenames": "x", "file_list_rounding": "up"}, "file_list_rounding is 'up'"),
        ({"filenames": "/none.mp4"}, "/none.mp4: .*No such file"),
        ({"filenames": __file__}, "test_video.py: Failed to create video decoder: it cannot be opened"),
        ({"file_list": __file__}, "line 1 of .* must be a file's name, a label"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=f"^{EXPERIMENTAL}: .*{message}"):
        opened(EXPERIMENTAL, **{"sequence_length": 3} | args)


def test_a_long_line_that_is_wrong(tmp_path):
    """A search that is quadratic in the digits would take a quarter of an hour."""
    with pytest.raises(ValueError, match="line 1 of .* must be a file's name, a label"):
        opened(EXPERIMENTAL, file_list=listed(tmp_path, f"a.mp4 0 {'1' * 100_000}x"), sequence_length=3)


def test_wrong_arguments_of_the_older_reader(folder):
    args = {"filenames": str(folder / "b" / "5.webm"), "sequence_length": 2}
    with pytest.raises(ValueError, match="readers.video: dtype must be UINT8 or FLOAT"):
        opened("readers.video", dtype=types.INT16, **args)
    with pytest.raises(ValueError, match="readers.video_resize: channels is 1"):
        opened("readers.video_resize", channels=1, **args)
    with pytest.raises(ValueError, match="readers.video_resize: Invalid enable_frame_num value: 'all'"):
        opened("readers.video_resize", enable_frame_num="all", **args)
    with pytest.raises(ValueError, match="no sequence of 3 frames, which takes 7 .* of their files has 5"):
        opened("readers.video", filenames=str(folder / "b" / "5.webm"), sequence_length=3, stride=3)


def test_a_file_that_cannot_be_read_is_a_sample_that_fails(folder):
    (folder / "b" / "7.mp4").write_bytes(b"no video at all")
    args = {"file_root": str(folder), "sequence_length": 3}
    reader = opened(EXPERIMENTAL, **args)
    message = (
        r"experimental.readers.video: .*7.mp4: Failed to create video decoder: it cannot be opened as a video"
    )
    assert list(failures(reader)) == [5]  # after four sequences of one file and one of another
    with pytest.raises(SampleError, match=message):
        reader.load(5)
    reader.close()

    @pipeline_def(batch_size=3, num_threads=2, on_error="skip")
    def pipe():
        return fn.experimental.readers.video(**args)

    with pipe() as pipeline:
        labels = [pipeline.run()[1].as_array().ravel().tolist() for _ in range(2)]
        assert labels == [[0, 0, 0], [0, 1, 0]]
        assert {Path(skipped.path.partition("#")[0]).name for skipped in pipeline.errors} == {"7.mp4"}
    (folder / "b" / "7.mp4").unlink()


def test_a_bad_sequence_is_left_out(tmp_path):
    noise = np.random.default_rng(0).integers(-12, 12, (12, 96, 128, 3))
    good = encode(
        np.clip(pictures(12, 96, 128) + noise, 0, 255).astype(np.uint8), options={"g": "2", "bf": "0"}
    )
    with av().open(io.BytesIO(good)) as container:
        seventh = [packet for packet in container.demux(video=0) if packet.size][6]
        middle = seventh.pos + seventh.size // 2
    (tmp_path / "x.mp4").write_bytes(good[:middle] + bytes(60) + good[middle + 60 :])
    reader = opened(EXPERIMENTAL, filenames=str(tmp_path / "x.mp4"), sequence_length=2)
    assert failures(reader) == {
        3: f"{EXPERIMENTAL}: {tmp_path / 'x.mp4'}#frame 6: frame 6 is damaged",
    }  # fmt: skip
    reader.close()

    @pipeline_def(batch_size=5, num_threads=1, on_error="skip")
    def pipe():
        return fn.experimental.readers.video(
            filenames=str(tmp_path / "x.mp4"), sequence_length=2, enable_frame_num="scalar"
        )

    made = pipe()
    assert made.run()[1].as_array().ravel().tolist() == [0, 2, 4, 8, 8]
    made.close()


def test_without_pyav(folder):
    script = (
        "import sys\nsys.modules['av'] = None\nfrom jdali.readers.video import build_index\n"
        f"build_index({str(folder / 'vfr.mp4')!r})\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert result.stderr.strip().endswith(f"ImportError: video needs PyAV: {install('video')}")


def test_index_is_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path))
    path = tmp_path / "x.webm"
    path.write_bytes((folder / "a" / "12.webm").read_bytes())
    settle_at_once(monkeypatch)
    first = everything(filenames=str(path), sequence_length=5)
    assert len(list((tmp_path / "index").iterdir())) == 1
    monkeypatch.setattr("jdali.readers.formats.videos.build_index", None)
    assert everything(filenames=str(path), sequence_length=5) == first
    np.testing.assert_array_equal(build_index(str(path))["keys"], [0, 5, 10])


# --- the oracle -----------------------------------------------------------------------------
def dali_everything(**args):
    dali = oracle.dali()
    import nvidia.dali.fn as dali_fn

    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1)
    with pipe:
        outputs = dali_fn.experimental.readers.video(name="r", **args)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    return [[np.array(o.at(0)) for o in pipe.run()] for _ in range(pipe.reader_meta("r")["epoch_size"])]


def check(**args):
    reader = opened(EXPERIMENTAL, **args)
    expected = dali_everything(**args)
    assert reader.size == len(expected)
    for i, theirs in enumerate(expected):
        mine = reader.load(i)
        assert [(a.dtype, a.shape) for a in mine] == [(a.dtype, a.shape) for a in theirs]
        np.testing.assert_array_equal(mine[0], theirs[0])  # the same swscale is behind both
        for a, b in zip(mine[1:], theirs[1:], strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)  # times: quotients are formed otherwise
    reader.close()


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"sequence_length": 5}, {"sequence_length": 3, "stride": 2, "labels": [4]},
        {"sequence_length": 5, "stride": 2, "step": 4, "pad_mode": "edge"},
        {"sequence_length": 3, "stride": 4, "step": 1}, {"sequence_length": 3, "stride": 4, "step": 1, "pad_mode": "edge"},
        {"sequence_length": 2, "stride": 3, "step": 5, "pad_mode": "reflect_101"},
        {"sequence_length": 5, "pad_mode": "constant", "fill_value": [1, 2, 3]},
        {"sequence_length": 30, "pad_mode": "reflect_101"}, {"sequence_length": 30, "pad_mode": "reflect_1001"},
        {"sequence_length": 7, "uniform_sample": True}, {"sequence_length": 2, "step": 0},
    ],
    ids=str,
)  # fmt: skip
def test_as_dali(folder, args):
    for numbers in ("scalar", "sequence"):
        check(
            filenames=[str(folder / "a" / "12.webm")],
            enable_frame_num=numbers,
            enable_timestamps=True,
            **args,
        )


@pytest.mark.oracle
def test_folders_and_lists_as_dali(folder, tmp_path):
    (folder / "b" / "notes.txt").unlink()  # DALI takes every file for a video
    check(file_root=str(folder), sequence_length=3, enable_frame_num="scalar")
    long, short, begun = folder / "a" / "12.webm", folder / "b" / "5.webm", late(tmp_path)
    frames = listed(tmp_path, f"{long} 3 2 9", f"{short} 1", f"{long} 6 -6 -1", f"{long} 9 2.5 6.5")
    check(file_list=frames, sequence_length=2, file_list_format="frames", enable_frame_num="sequence")
    for mode in ("constant", "edge", "reflect_1001", "reflect_101"):
        check(file_list=frames, sequence_length=12, file_list_format="frames", pad_mode=mode)
    for include_end in (False, True):
        seconds = listed(
            tmp_path,
            f"  {long} 3 +.09 .31",
            f"{short} 1 0.05 0.13",
            f"{begun} 2 1.55 1.75",
            f"{begun} 1 0.2 1.7",
        )
        for rounding in ("start_down_end_up", "start_up_end_down", "all_up", "all_down"):
            check(
                file_list=seconds, sequence_length=1, file_list_rounding=rounding, enable_timestamps=True,
                file_list_include_end=include_end,
            )  # fmt: skip


@pytest.mark.cases(4)
@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    ["cfr/vp9.webm", "cfr/vp8_altref.webm", "cfr/mjpeg.avi", "cfr/mjpeg_422.mov", "cfr/vp9_profile1_444.webm",
     "cfr/vp9_profile2_10bit.webm", "sizes/vp8_177x143_odd.webm", "sizes/vp9_322x182.webm", "vfr/vp9_vfr.webm",
     "vfr/mjpeg_vfr.mkv", "with_audio/vp9_opus.webm"],
)  # fmt: skip
def test_shared_videos_as_dali(shared_data, name):
    check(
        filenames=[str(SHARED / "video" / name)], sequence_length=4, enable_timestamps=True,
        enable_frame_num="sequence",
    )  # fmt: skip
