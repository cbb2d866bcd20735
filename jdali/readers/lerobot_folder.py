"""Reads the description of a LeRobot data set: its episodes, and the files of their rows and frames.

Versions 2 (a file for each episode) and 3 (files of many episodes) are read. No code from the folder is run, and names
of files outside the folder are rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._storage import files as _storage
from jdali.readers.parquet import parquet

_INFO = "meta/info.json"
# A placeholder in a path, such as "{episode_index:06d}".
_FIELD = re.compile(r"\{(\w+)(?::0?(\d)d)?\}")
_DEFAULTS = {
    2: (
        "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    ),
    3: (
        "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    ),
}


class Files(NamedTuple):
    """Locates the episodes in a set of files.

    Attributes:
        paths: paths of the files.
        file: int64 [episodes], number of the file of each episode.
        first: float64 [episodes], start of each episode in its file: a row of a table, or seconds in a video.
    """

    paths: list[str]
    file: np.ndarray
    first: np.ndarray


class Folder(NamedTuple):
    """Describes a data set.

    Attributes:
        fps: rows per second.
        features: entries of `info.json`, by column.
        lengths: int64 [episodes], number of rows of each episode.
        data: the Parquet files.
        videos: the video files, by column.
        texts: for the column "task", the text of each task by its number.
    """

    path: str
    fps: float
    features: Mapping[str, Mapping[str, Any]]
    lengths: np.ndarray
    data: Files
    videos: Mapping[str, Files]
    texts: Mapping[str, Mapping[int, np.ndarray]]

    def is_picture(self, column: str) -> bool:
        return self.features.get(column, {}).get("dtype") in ("image", "video")


def open_folder(name: str, path: str, columns: Sequence[str]) -> Folder:
    """Reads the description of a data set.

    Args:
        columns: columns whose videos to locate; if "task" is one of them, the texts of tasks are read.

    Raises:
        FileNotFoundError: the folder, or a file that it needs, is missing.
        ValueError: the data set is damaged, or its version is unknown.
    """
    about = _Described(name, path)
    info = about.json_of(_INFO)
    version = str(info.get("codebase_version", ""))
    major = {"v2": 2, "v3": 3}.get(version[:2])
    if major is None:
        raise ValueError(
            f"{name}: {path} is of version {version!r} of LeRobot's format; v2 and v3 can be read"
        )
    features, fps = info.get("features"), info.get("fps")
    if not isinstance(features, dict) or not all(isinstance(f, dict) for f in features.values()):
        raise ValueError(f"{name}: {_INFO} of {path} names no features")
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps < 1e6:
        raise ValueError(f"{name}: {_INFO} of {path} has fps {fps!r}")
    videos = [c for c in columns if features.get(c, {}).get("dtype") == "video"]
    found = _second(about, info, videos) if major == 2 else _third(about, info, videos)
    lengths, data, of_videos = found
    texts = {"task": about.tasks(major)} if "task" in columns and "task" not in features else {}
    return Folder(path, float(fps), features, lengths, data, of_videos, texts)


class _Described:
    """Reads the files that describe a data set."""

    def __init__(self, name: str, path: str):
        self.name, self.path = name, path

    def file(self, relative: str) -> str:
        """Returns the path of a file of the data set; raises ValueError for a path outside the folder."""
        try:
            return _storage.join(self.path, _storage.from_data(self.path, relative))
        except ValueError as error:
            raise ValueError(f"{self.name}: {self.path}: {error}") from error

    def damaged(self, file: str, why: object) -> ValueError:
        return ValueError(f"{self.name}: {_storage.join(self.path, file)} is damaged: {why}")

    def read(self, file: str) -> bytes:
        path = self.file(file)
        with _storage.found(f"{self.name}: cannot read {path}"):
            return _storage.read(path)

    def json_of(self, file: str, text: bytes | None = None) -> dict[str, Any]:
        try:
            found = json.loads(self.read(file) if text is None else text)
        except (ValueError, RecursionError) as error:
            raise self.damaged(file, error) from error
        if not isinstance(found, dict):
            raise self.damaged(file, "it holds no object")
        return found

    def lines(self, file: str) -> list[dict[str, Any]]:
        lines = self.read(file).splitlines()
        return [self.json_of(file, line) for line in lines if line.strip()]

    def rows(self, paths: Sequence[str], columns: Sequence[str]) -> list[list[np.ndarray]]:
        """Reads columns of small Parquet files; returns a list of values for each column."""
        try:
            table = parquet.run(columns=tuple(columns), paths=tuple(paths))
            loaded = table.load_many(np.arange(table.count))
            table.close()
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
        for failure in loaded.failures.values():
            raise ValueError(f"{self.name}: {failure}") from failure
        return [column.host_samples() for column in loaded.columns]

    def tasks(self, major: int) -> dict[int, np.ndarray]:
        """Returns the texts of the tasks, uint8 [bytes], by number."""
        if major == 2:
            file = "meta/tasks.jsonl"
            found: dict[int, np.ndarray] = {}
            for line in self.lines(file):
                number, text = line.get("task_index"), line.get("task")
                if not isinstance(number, int) or not isinstance(text, str):
                    raise self.damaged(file, "a line has no task_index, or no task")
                found[number] = np.frombuffer(text.encode(), np.uint8)
            return found
        path = self.file("meta/tasks.parquet")
        try:
            numbers, texts = self.rows([path], ["task_index", "task"])
        except ValueError:  # if pandas wrote the index without a name
            numbers, texts = self.rows([path], ["task_index", "__index_level_0__"])
        return {int(number): text for number, text in zip(numbers, texts, strict=True)}

    def pattern(self, info: Mapping[str, Any], key: str, default: str) -> str:
        pattern = info.get(key) or default
        if not isinstance(pattern, str):
            raise self.damaged(_INFO, f"{key} is {pattern!r}")
        return pattern

    def filled(self, pattern: str, values: Mapping[str, Any]) -> str:
        def value(field: re.Match[str]) -> str:
            name, width = field.groups()
            if name not in values:
                raise self.damaged(_INFO, f"{pattern!r} has a field {name!r}")
            return str(values[name]).zfill(int(width or 0))

        return self.file(_FIELD.sub(value, pattern))


def _second(
    about: _Described, info: Mapping[str, Any], videos: Sequence[str]
) -> tuple[np.ndarray, Files, dict[str, Files]]:
    """Reads the episodes of version 2, which stores each episode in its own file."""
    numbers, lengths = [], []
    for line in about.lines("meta/episodes.jsonl"):
        numbers.append(line.get("episode_index"))
        lengths.append(line.get("length"))
    if numbers != list(range(len(numbers))) or not all(isinstance(n, int) and n > 0 for n in lengths):
        raise about.damaged("meta/episodes.jsonl", "episodes are not counted from 0, or lack a length")
    size = info.get("chunks_size", 1000)
    if not isinstance(size, int) or size < 1:
        raise about.damaged(_INFO, f"chunks_size is {size!r}")

    def files(pattern: str, key: str) -> Files:
        paths = [
            about.filled(pattern, {"episode_chunk": i // size, "episode_index": i, "video_key": key})
            for i in numbers
        ]
        return Files(paths, np.arange(len(paths)), np.zeros(len(paths)))

    rows, frames = _DEFAULTS[2]
    frames = about.pattern(info, "video_path", frames)
    data = files(about.pattern(info, "data_path", rows), "")
    return np.array(lengths, np.int64), data, {key: files(frames, key) for key in videos}


def _third(
    about: _Described, info: Mapping[str, Any], videos: Sequence[str]
) -> tuple[np.ndarray, Files, dict[str, Files]]:
    """Reads the episodes of version 3, whose files hold several consecutive episodes."""
    folder = about.file("meta/episodes")
    names = sorted(name for name in _storage.walk(folder) if name.endswith(".parquet"))
    if not names:
        raise FileNotFoundError(f"{about.name}: {folder} has no Parquet files")
    parts = ["data", *(f"videos/{key}" for key in videos)]
    columns = ["episode_index", "length"]
    columns += [f"{part}/{what}" for part in parts for what in ("chunk_index", "file_index")]
    columns += [f"{part}/from_timestamp" for part in parts[1:]]
    found = about.rows([_storage.join(folder, _storage.plain(name)) for name in names], columns)
    table = {column: np.array(values) for column, values in zip(columns, found, strict=True)}
    lengths = table["length"].astype(np.int64)
    if (table["episode_index"] != np.arange(len(lengths))).any() or (lengths < 1).any():
        raise about.damaged("meta/episodes", "episodes are not counted from 0, or have no rows")

    def files(pattern: str, part: str, first: np.ndarray) -> Files:
        places = np.stack([table[f"{part}/chunk_index"], table[f"{part}/file_index"]], axis=1)
        kept, file = np.unique(places, axis=0, return_inverse=True)
        key = part.removeprefix("videos/")
        values = [{"chunk_index": c, "file_index": f, "video_key": key} for c, f in kept.tolist()]
        return Files([about.filled(pattern, value) for value in values], file.reshape(-1), first)

    rows, frames = _DEFAULTS[3]
    frames = about.pattern(info, "video_path", frames)
    data = files(about.pattern(info, "data_path", rows), "data", np.zeros(0))
    starts = np.cumsum(lengths) - lengths
    begins = np.flatnonzero(np.diff(data.file, prepend=-1))
    if (np.diff(data.file) < 0).any():
        raise about.damaged("meta/episodes", "files do not follow the order of the episodes")
    data = data._replace(first=(starts - starts[begins][data.file]).astype(np.float64))
    of_videos = {
        key: files(frames, f"videos/{key}", table[f"videos/{key}/from_timestamp"].astype(np.float64))
        for key in videos
    }
    return lengths, data, of_videos


def check_rows(name: str, folder: Folder, counts: Sequence[int], files: Sequence[int]) -> None:
    """Raises ValueError if a file and its episodes differ in the number of rows."""
    wanted = np.bincount(folder.data.file, weights=folder.lengths, minlength=len(folder.data.paths))
    for count, file in zip(counts, files, strict=True):
        if count != wanted[file]:
            raise ValueError(
                f"{name}: {folder.data.paths[file]} has {count} rows, its episodes have {int(wanted[file])}"
            )
