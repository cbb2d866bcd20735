"""Finds the videos of a reader, given names, a folder or a list, and determines their labels and parts."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jdali._storage import files as _storage
from jdali.codecs.video import VideoIndex
from jdali.readers.formats.named_files import LARGEST_LABEL, class_folders, whole_labels

EXTENSIONS = (
    ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".ts", ".mpg", ".mpeg", ".ogv", ".flv", ".wmv", ".3gp",
    ".h264", ".hevc", ".ivf", ".mjpeg", ".mjpg",
)  # fmt: skip
_NUMBER = rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_LINE = re.compile(rb"(.*?\S)\s+(\d+)(?:\s+(%s))?(?:\s+(%s))?" % (_NUMBER, _NUMBER))
# Tolerance in seconds for comparing times, because files store times in ticks, and lists in decimals.
_SAME_TIME = 1e-6

# For each mode: whether to round the start of a part up to a frame, and whether to round the end up.
ROUNDING = {
    "start_down_end_up": (False, True), "start_up_end_down": (True, False),
    "all_up": (True, True), "all_down": (False, False),
}  # fmt: skip


class Clip(NamedTuple):
    """A video, or a part of one.

    Attributes:
        label: 0 without labels.
        start, end: bounds of the part, as written in the list; None: start or end of the video.
    """

    path: str
    label: int
    start: float | None = None
    end: float | None = None


def find_clips(
    name: str,
    *,
    filenames: str | Sequence[str],
    labels: float | Sequence[float] | None,
    file_root: str,
    file_list: str,
) -> tuple[list[Clip], list[str]]:
    """Lists the clips that a reader's arguments select; returns them and the names of labels, if known."""
    sources = {"filenames": bool(filenames), "file_root": bool(file_root), "file_list": bool(file_list)}
    if sum(sources.values()) != 1:
        which = " and ".join(n for n, is_present in sources.items() if is_present) or "none"
        raise ValueError(
            f"{name}: Only one of the following arguments can be provided: ``file_list``, ``file_root``, ``filenames``; {which} "
            "given"
        )
    if labels is not None and not filenames:
        raise ValueError(
            f"{name}: The argument ``labels`` is valid only when file paths are provided with `filenames` argument."
        )
    if file_list:
        return _listed(name, _storage.user_path(file_list)), []
    if file_root:
        return _in_folder(name, _storage.user_path(file_root))
    paths = [_storage.user_path(f) for f in ([filenames] if isinstance(filenames, str) else filenames)]
    numbers = [] if labels is None else whole_labels(name, labels).tolist()
    if labels is not None and not numbers:
        numbers = list(range(len(paths)))
    if numbers and len(numbers) != len(paths):
        raise ValueError(
            f"{name}: Number of provided files and labels should match. Provided {len(paths)} files and {len(numbers)} labels."
        )
    return [Clip(path, numbers[i] if numbers else 0) for i, path in enumerate(paths)], []


def _in_folder(name: str, root: str) -> tuple[list[Clip], list[str]]:
    with _storage.found(f"{name}: Directory {root} could not be opened"):
        videos = {
            folder: _videos(_storage.join(root, _storage.plain(folder)))
            for folder in _storage.entries(root, folders=True)
        }
        folders = class_folders(name, root, videos, every="")
        clips = [Clip(path, label) for label, folder in enumerate(folders) for path in videos[folder]]
        clips = clips or [Clip(path, 0) for path in _videos(root)]
    if not clips:
        raise ValueError(f"{name}: no videos in {root} and its subfolders, that is {', '.join(EXTENSIONS)}")
    return clips, folders


def _videos(folder: str) -> list[str]:
    names = [n for n in _storage.entries(folder, folders=False) if n.lower().endswith(EXTENSIONS)]
    return [_storage.join(folder, _storage.plain(n)) for n in names]


def _listed(name: str, file_list: str) -> list[Clip]:
    with _storage.found(f"{name}: file_list {file_list} could not be opened"):
        lines = _storage.lines(file_list)
    clips = []
    for number, line in enumerate(map(bytes.strip, lines), 1):
        if not line:
            continue
        found = _LINE.fullmatch(line)
        if found is None or int(found[2]) > LARGEST_LABEL:
            raise ValueError(
                f"{name}: line {number} of {file_list} must be a file's name, a label from 0 on and perhaps a "
                f"start and an end, but is {line.decode(errors='replace')!r}"
            )
        try:
            listed = _storage.in_list(file_list, os.fsdecode(found[1]))
        except ValueError as error:
            raise ValueError(f"{name}: line {number} of {file_list}: {error}") from None
        path = _storage.found_by_list(file_list, listed)
        start, end = (None if found[i] is None else float(found[i]) for i in (3, 4))
        clips.append(Clip(path, int(found[2]), start, end))
    if not clips:
        raise ValueError(f"{name}: No files were read: file_list {file_list} names none")
    return clips


def frame_range(
    clip: Clip, index: VideoIndex, *, as_frames: bool, rounding: str, relative: bool
) -> tuple[int, int]:
    """Returns the number of the first frame of a clip, and one past the number of its last frame.

    Args:
        as_frames: bounds are numbers of frames, and negative numbers count from the end; otherwise bounds are seconds.
        rounding: key of `ROUNDING`.
        relative: seconds count from the first frame, negative ones from the end, and an end of 0 means the end of the
            file; otherwise seconds are times as the file has them, and the first frame may be shown after 0.
    """
    up = ROUNDING[rounding]
    frames = len(index)
    bounds = []
    end = None if relative and clip.end == 0 else clip.end
    for value, default, is_up in ((clip.start, 0, up[0]), (end, frames, up[1])):
        if value is None:
            bounds.append(default)
            continue
        if as_frames:
            number = int(np.ceil(value) if is_up else np.floor(value))
            number += frames if number < 0 else 0
        else:
            seconds = value if relative else value - index.start
            number = _frame_at(index, seconds, is_up, from_end=relative and value < 0)
        bounds.append(min(max(number, 0), frames))
    return bounds[0], bounds[1]


def _frame_at(index: VideoIndex, seconds: float, up: bool, *, from_end: bool) -> int:
    """Returns the frame shown at a time after the first frame; with `up`, the first that begins then or later."""
    times = index.seconds()
    # Assumes that the last frame lasts as long as the median of the other frames.
    lasting = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    edges = np.append(times, times[-1] + lasting)
    if from_end:
        seconds += edges[-1]
    if up:
        return int(np.searchsorted(edges, seconds - _SAME_TIME, "left"))
    return int(np.searchsorted(edges, seconds + _SAME_TIME, "right")) - 1
