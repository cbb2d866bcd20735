"""Data sets of robots in LeRobot's format, written by pyarrow and PyAV as LeRobot lays them out."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

FPS = 10
CAMERA, PICTURE = "observation.images.top", "observation.images.wrist"
TASKS = ("push the block", "lift it")
HEIGHT, WIDTH = 32, 48


def shade(camera: int, episode: int, row: int) -> int:
    """The gray of a frame, which tells it from its neighbours."""
    return 30 + (camera * 90 + episode * 37 + row * 16) % 200


def state(episode: int, row: int) -> np.ndarray:
    return np.array([episode, row, episode * row], np.float32)


def write(root: Path, version: int, lengths: Sequence[int], per_file: int = 2, gop: int = 4) -> Path:
    """Writes a data set.

    Args:
        root: of the data set.
        version: 2 or 3.
        lengths: rows of each episode.
        per_file: in version 3, episodes of a file.
        gop: frames from one key frame to the next.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    (root / "meta").mkdir(parents=True)
    features = {
        CAMERA: {"dtype": "video", "shape": [HEIGHT, WIDTH, 3]},
        PICTURE: {"dtype": "image", "shape": [HEIGHT, WIDTH, 3]},
        "observation.state": {"dtype": "float32", "shape": [3]},
        **{name: {"dtype": "int64", "shape": [1]} for name in ("frame_index", "episode_index", "index", "task_index")},
    }  # fmt: skip
    info = {"codebase_version": f"v{version}.0", "fps": FPS, "features": features, "chunks_size": 1000}
    groups = [[i] for i in range(len(lengths))] if version == 2 else [
        list(range(len(lengths)))[at : at + per_file] for at in range(0, len(lengths), per_file)
    ]  # fmt: skip
    if version == 2:
        data, video = (
            "data/chunk-000/episode_{:06d}.parquet",
            f"videos/chunk-000/{CAMERA}/episode_{{:06d}}.mp4",
        )
    else:
        data, video = "data/chunk-000/file-{:03d}.parquet", f"videos/{CAMERA}/chunk-000/file-{{:03d}}.mp4"
    episodes = []
    index = 0
    for number, group in enumerate(groups):
        rows = [(episode, row) for episode in group for row in range(lengths[episode])]
        table = pa.table({
            PICTURE: [{"bytes": _png(shade(1, e, r)), "path": None} for e, r in rows],
            "observation.state": [state(e, r) for e, r in rows],
            "frame_index": [r for _, r in rows],
            "episode_index": [e for e, _ in rows],
            "index": range(index, index + len(rows)),
            "task_index": [e % 2 for e, _ in rows],
        })  # fmt: skip
        index += len(rows)
        (root / data.format(number)).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, root / data.format(number), row_group_size=5)
        (root / video.format(number)).parent.mkdir(parents=True, exist_ok=True)
        write_video(root / video.format(number), [shade(0, e, r) for e, r in rows], gop)
        second = 0.0
        for episode in group:
            place = {"chunk_index": 0, "file_index": number}
            facts = {f"data/{k}": v for k, v in place.items()} | {
                f"videos/{CAMERA}/{k}": v for k, v in place.items()
            }
            facts[f"videos/{CAMERA}/from_timestamp"] = second
            episodes.append({"episode_index": episode, "length": lengths[episode], "tasks": ["?"], **facts})
            second += lengths[episode] / FPS
    if version == 2:
        lines = [json.dumps({k: v for k, v in e.items() if "/" not in k}) for e in episodes]
        (root / "meta/episodes.jsonl").write_text("\n".join(lines))
        tasks = [json.dumps({"task_index": i, "task": task}) for i, task in enumerate(TASKS)]
        (root / "meta/tasks.jsonl").write_text("\n".join(tasks))
    else:
        (root / "meta/episodes/chunk-000").mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(episodes), root / "meta/episodes/chunk-000/file-000.parquet")
        tasks = pa.table({"task_index": range(len(TASKS)), "__index_level_0__": TASKS})
        pq.write_table(tasks, root / "meta/tasks.parquet")
    (root / "meta/info.json").write_text(json.dumps(info))
    return root


def write_video(path: Path, shades: Sequence[int], gop: int) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"g": str(gop), "crf": "4"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for gray in shades:
            picture = np.full((HEIGHT, WIDTH, 3), gray, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def _png(gray: int) -> bytes:
    content = io.BytesIO()
    Image.fromarray(np.full((HEIGHT, WIDTH, 3), gray, np.uint8)).save(content, "PNG")
    return content.getvalue()
