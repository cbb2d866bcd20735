"""LeRobot: values and frames of windows in time, and folders that are damaged or lie."""

import json

import numpy as np
import pytest
from support import robots
from support.readers import everything, failures, opened
from support.robots import CAMERA, FPS, PICTURE, TASKS, shade, state

from jdali import SampleError, storage
from jdali.codecs.video import VideoDecoder

pytest.importorskip("av", reason="PyAV is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

LENGTHS = [7, 1, 9, 4]
ROWS = [(episode, row) for episode, length in enumerate(LENGTHS) for row in range(length)]


@pytest.fixture(scope="module", params=[2, 3])
def robot(request, tmp_path_factory):
    return robots.write(tmp_path_factory.mktemp("robot") / "data", request.param, LENGTHS)


@pytest.fixture
def own(tmp_path):
    """Makes a data set of a version for one test, which changes it."""
    return lambda version=3: robots.write(tmp_path / "robot", version, LENGTHS)


def same_shade(frames, expected):
    """Frames are of one gray; a step of 16 is between neighbours, and the codec changes it by less than 3."""
    assert frames.dtype == np.uint8
    assert frames.shape[-3:] == (robots.HEIGHT, robots.WIDTH, 3)
    assert np.abs(frames.astype(int).mean(axis=(-3, -2, -1)) - np.array(expected)).max() < 3


def test_rows_alone(robot):
    columns = [CAMERA, PICTURE, "observation.state", "frame_index", "task"]
    samples = everything("lerobot", directory=str(robot), columns=columns)
    assert len(samples) == len(ROWS)
    for (episode, row), (frame, picture, values, number, task) in zip(ROWS, samples, strict=True):
        same_shade(frame, shade(0, episode, row))
        np.testing.assert_array_equal(picture, np.full_like(picture, shade(1, episode, row)))
        np.testing.assert_array_equal(values, state(episode, row))
        assert (values.dtype, number, number.shape) == (np.float32, row, ())
        assert bytes(task).decode() == TASKS[episode % 2]


@pytest.mark.cases(4)
@pytest.mark.parametrize("steps", [[0], [-1, 0, 1], [5], [-20, 3, 0, 0], list(range(16))])
def test_windows_stay_in_their_episode(robot, steps):
    columns = ["observation.state", CAMERA, "index", PICTURE]
    windows = {column: [step / FPS for step in steps] for column in columns if column != "index"}
    samples = everything(
        "lerobot", directory=str(robot), columns=columns, delta_timestamps=windows, with_padding=True
    )
    for number, (values, frames, index, pictures, *beyond) in enumerate(samples):
        episode, row = ROWS[number]
        wanted = [min(max(row + step, 0), LENGTHS[episode] - 1) for step in steps]
        np.testing.assert_array_equal(values, [state(episode, one) for one in wanted])
        same_shade(frames, [shade(0, episode, one) for one in wanted])
        same_shade(pictures, [shade(1, episode, one) for one in wanted])
        assert index == number
        for flags in beyond:
            np.testing.assert_array_equal(flags, [not 0 <= row + s < LENGTHS[episode] for s in steps])
        assert len(beyond) == 3


def test_episodes(robot):
    reader = opened(
        "lerobot", directory=str(robot), columns=["episode_index", "frame_index", CAMERA], episodes=[2, 0]
    )
    expected = [(2, row) for row in range(9)] + [(0, row) for row in range(7)]
    samples = [reader.load(i) for i in range(reader.size)]
    assert [(int(e), int(r)) for e, r, _ in samples] == expected
    same_shade(np.stack([frame for _, _, frame in samples]), [shade(0, *one) for one in expected])
    assert reader.meta()["episodes"] == 2
    assert reader.meta()["fps"] == FPS
    assert reader.source(9) == f"{robot}#episode 0 row 0"
    reader.close()
    alone = everything("lerobot", directory=str(robot), columns=["episode_index"], episodes=3)
    assert [int(e) for (e,) in alone] == [3] * LENGTHS[3]


@pytest.mark.parametrize("steps", [[0], [-2, 0, 2, 4]])
@pytest.mark.parametrize("batch", [8, 32])
def test_frames_are_decoded_about_once(tmp_path, monkeypatch, steps, batch):
    decoded = []
    number = VideoDecoder._number
    monkeypatch.setattr(VideoDecoder, "_number", lambda self, frame: decoded.append(1) or number(self, frame))
    robot = robots.write(tmp_path / "robot", 3, [64], gop=16)
    windows = {CAMERA: [step / FPS for step in steps]}
    reader = opened("lerobot", directory=str(robot), columns=[CAMERA], delta_timestamps=windows)
    used = 0
    for first in range(0, 64, batch):
        rows = np.arange(first, first + batch)
        assert not reader.load_many(rows).failures
        used += len(np.unique((rows[:, None] + steps).clip(0, 63)))
    reader.close()
    assert len(decoded) <= 1.5 * used


def test_windows_share_the_frames_that_were_decoded(robot):
    reader = opened(
        "lerobot", directory=str(robot), columns=[CAMERA], delta_timestamps={CAMERA: [-1 / FPS, 0]}
    )
    before, after = reader.load_many(np.array([3, 4])).columns[0].host_samples()
    reader.close()
    assert np.shares_memory(before[1], after[0])
    with pytest.raises(ValueError, match="read-only"):
        after[0] = 0
    same_shade(before, [shade(0, *ROWS[row]) for row in (2, 3)])
    same_shade(after, [shade(0, *ROWS[row]) for row in (3, 4)])


def test_a_large_request_is_decoded_in_parts(robot):
    reader = opened("lerobot", directory=str(robot), columns=[CAMERA])
    before = storage.configure(max_sample_bytes=3 * 32 * 48 * 3)
    try:
        loaded = reader.load_many(np.arange(len(ROWS)))
        assert not loaded.failures
        same_shade(np.stack(loaded.columns[0].host_samples()), [shade(0, *one) for one in ROWS])
    finally:
        storage.configure(max_sample_bytes=before.max_sample_bytes)
        reader.close()


# --- damage ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["cut", "gone", "noise"])
def test_a_damaged_video_costs_its_episodes(own, how):
    robot = own()
    video = robot / f"videos/{CAMERA}/chunk-000/file-000.mp4"
    content = video.read_bytes()
    if how == "gone":
        video.unlink()
    else:
        video.write_bytes(content[: len(content) // 2] if how == "cut" else bytes(len(content)))
    found = failures(opened("lerobot", directory=str(robot), columns=[CAMERA, "index"]))
    assert set(found) == set(range(8))  # of the first two episodes
    assert all("file-000.mp4" in message and "#episode" in message for message in found.values())


def test_frames_at_other_times_are_bad_samples(own):
    robot = own(2)
    video = robot / f"videos/chunk-000/{CAMERA}/episode_000002.mp4"
    robots.write_video(video, [1] * 6, 4)  # three are missing
    found = failures(opened("lerobot", directory=str(robot), columns=[CAMERA]))
    assert set(found) == {14, 15, 16}
    assert "has no frame at 0.800000 s; the nearest is at 0.500000 s" in found[16]


def test_damaged_rows(own):
    robot = own(2)
    file = robot / "data/chunk-000/episode_000002.parquet"
    content = bytearray(file.read_bytes())
    content[40:60] = bytes(20)
    file.write_bytes(content)
    found = failures(opened("lerobot", directory=str(robot), columns=[PICTURE]))
    assert found
    assert set(found) <= set(range(8, 17))
    assert all(f"#episode 2 row {i - 8}: {PICTURE}: " in message for i, message in found.items())


def info(robot, **changes):
    file = robot / "meta/info.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(("changes", "message"), [
    ({"codebase_version": "v1.6"}, "of version 'v1.6'"),
    ({"codebase_version": None}, "of version 'None'"),
    ({"fps": 0}, "has fps 0"),
    ({"features": []}, "names no features"),
    ({"data_path": "{nothing}.parquet"}, "has a field 'nothing'"),
    ({"data_path": "{episode_index.__class__}"}, "cannot|no Parquet|open"),
    ({"data_path": 5}, "data_path is 5"),
    ({"data_path": "data/chunk-000/file-000.parquet"}, "has 8 rows, its episodes have"),
    ({"video_path": "../../{video_key}.mp4"}, "names found in data"),
])  # fmt: skip
def test_descriptions_that_lie(own, changes, message):
    robot = own()
    info(robot, **changes)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        opened("lerobot", directory=str(robot), columns=[CAMERA, "index"])


def test_lines_that_lie(own):
    robot = own(2)
    lines = (robot / "meta/episodes.jsonl").read_text().splitlines()
    for text, message in (
        ("\n".join(lines[1:]), "not counted from 0"),
        (lines[0].replace("7", "-1"), "lack a length"),
        ("[1]", "holds no object"),
        ("{", "is damaged"),
        (lines[0].replace("7", "8"), "has 7 rows, its episodes have 8"),
    ):
        (robot / "meta/episodes.jsonl").write_text(text)
        with pytest.raises(ValueError, match=message):
            opened("lerobot", directory=str(robot), columns=["index"])


@pytest.mark.parametrize(("arguments", "message"), [
    ({"columns": ["no"]}, "has no column 'no'; it has 'observation.images.top'"),
    ({"columns": []}, "columns is empty"),
    ({"delta_timestamps": {"action": [0]}}, "names 'action', which is none of the columns"),
    ({"delta_timestamps": {"index": [0.05]}}, "0.05 s, which is not a whole number of rows at 10 a second"),
    ({"delta_timestamps": [0.1]}, "it must be a dict"),
    ({"delta_timestamps": {"index": []}}, "must be a list of seconds"),
    ({"delta_timestamps": {"index": [float("nan")]}}, "must be a list of seconds"),
    ({"episodes": [4]}, "must be numbers from 0 to 3"),
    ({"episodes": []}, "must be numbers from 0 to 3"),
    ({"episodes": [1, 1]}, "names one twice"),
    ({"directory": "nowhere"}, "cannot read nowhere/meta/info.json"),
])  # fmt: skip
def test_arguments_that_are_wrong(robot, arguments, message):
    given = {"directory": str(robot), "columns": ["index"]} | arguments
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        opened("lerobot", **given)


def test_a_task_without_a_text(own):
    robot = own(2)
    (robot / "meta/tasks.jsonl").write_text('{"task_index": 0, "task": "push"}')
    reader = opened("lerobot", directory=str(robot), columns=["task"])
    assert bytes(reader.load(0)[0]) == b"push"
    with pytest.raises(SampleError, match=r"#episode 1 row 0: task: its number has no text"):
        reader.load(7)
    reader.close()
