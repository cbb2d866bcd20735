"""Reads sequences of video frames as samples."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from jdali._errors import SampleError
from jdali._storage import files as _storage
from jdali._system.cpus import cpu_count
from jdali._system.progress import progress_bar
from jdali._system.regular_file import is_of_machine
from jdali.codecs.video import PADDING
from jdali.codecs.video_frames import pad
from jdali.readers.base import Reader
from jdali.readers.formats.video_files import Clip, frame_range
from jdali.readers.formats.videos import Videos
from jdali.types import DALIImageType

_FRAME_NUMBERS = {
    "none": "none", "scalar": "scalar", "sequence": "sequence", False: "none", True: "scalar",
    "False": "none", "True": "scalar",
}  # fmt: skip


def frame_number_mode(name: str, enable_frame_num: str | bool) -> str:
    """Normalizes `enable_frame_num` to "none", "scalar" or "sequence"."""
    if enable_frame_num not in _FRAME_NUMBERS:
        raise ValueError(
            f"{name}: Invalid enable_frame_num value: '{enable_frame_num}'. Valid values are: 'none', 'scalar', 'sequence'."
        )
    return _FRAME_NUMBERS[enable_frame_num]


@dataclasses.dataclass(frozen=True)
class Cut:
    """Options for cutting clips into sequences, and for their outputs.

    Attributes:
        length: number of frames of a sequence.
        stride: distance between consecutive frames of a sequence.
        step: distance between the starts of consecutive sequences, frames.
        room: number of frames that an unpadded sequence needs from its start to the end of the clip.
        pad_mode: padding beyond the end of a clip, see `pad`.
        pads_all: pad all sequences that begin in the clip; otherwise only the first incomplete one.
        fill: value of padding frames.
        uniform: take one sequence from each clip, with frames spread evenly over the clip.
        as_frames, rounding, relative: meaning of starts and ends in a list, see `frame_range`.
        image_type: RGB or YCbCr.
        upright: rotate frames as the video's metadata require.
        convert: converts the frames before they are returned.
        labels, timestamps: add these outputs.
        frame_numbers: "none", "scalar" or "sequence".
    """

    length: int
    stride: int
    step: int
    room: int
    pad_mode: str
    pads_all: bool
    fill: tuple[int, ...]
    uniform: bool
    as_frames: bool
    rounding: str
    relative: bool
    image_type: DALIImageType
    upright: bool
    convert: Callable[[np.ndarray], np.ndarray]
    labels: bool
    timestamps: bool
    frame_numbers: str

    def starts(self, low: int, high: int) -> np.ndarray:
        """Returns the first frame of each sequence in a clip of frames `low` to `high` - 1."""
        if self.uniform:
            return np.array([low])
        count = max((high - low - self.room) // self.step + 1, 0)
        if self.pad_mode != "none":
            begun = -(-(high - low) // self.step)
            count = begun if self.pads_all else min(count + 1, begun)
        return low + np.arange(count) * self.step

    def numbers(self, start: int, low: int, high: int) -> np.ndarray:
        if self.uniform:
            positions = np.linspace(low, high - 1, self.length)
            return np.floor(positions + 0.5).astype(np.int64)
        # A mirrored sequence may reach frames before the clip, as in DALI.
        return pad(start + np.arange(self.length) * self.stride, high, self.pad_mode)


class VideoReader(Reader):
    """Reads sequences of frames."""

    def __init__(
        self,
        name: str,
        clips: Sequence[Clip],
        cut: Cut,
        options: Mapping[str, object],
        classes: Sequence[str] = (),
    ):
        self._name, self._cut = name, cut
        if cut.length < 1 or cut.stride < 1:
            raise ValueError(
                f"{name}: sequence_length is {cut.length} and stride {cut.stride}, they must be 1 or more"
            )
        self._names = list(dict.fromkeys(clip.path for clip in clips))
        self._videos = Videos([_storage.placed(name) for name in self._names])
        # {file number: error} for unreadable files; each clip of such a file is a sample that fails.
        self._unreadable: dict[int, SampleError] = {}
        longest = self._look_through()
        rows = self._sequences(clips)
        if not rows:
            raise ValueError(
                f"{name}: The number of input samples: 0, needs to be at least equal to the requested number of shards: there is "
                f"no sequence of {cut.length} frames, which takes {cut.room} with the stride of "
                f"{cut.stride}, in the {len(clips)} clips; the longest of their files has {longest} frames"
            )
        self._starts, self._files, self._lows, self._highs, labels = np.concatenate(rows, axis=1)
        self._labels = labels.astype(np.int32)
        self.num_outputs = 1 + cut.labels + (cut.frame_numbers != "none") + cut.timestamps
        self.layouts = ("FHWC", *[""] * (self.num_outputs - 1))
        super().__init__(len(labels), options, self._labels if cut.labels else None, classes)

    def _look_through(self) -> int:
        """Indexes the files; returns the number of frames of the longest file, or raises `SampleError` if no file can be read."""

        def index(file: int) -> int:
            try:
                return len(self._videos.index(file))
            except (SampleError, OSError) as error:
                if is_of_machine(error):
                    raise
                reason = getattr(error, "strerror", None) or error
                failure = SampleError(f"{self._name}: {_storage.placed(self._names[file])}: {reason}")
                failure.__cause__ = error
                self._unreadable[file] = failure
                return 0

        count, longest = len(self._names), 0
        with (
            progress_bar(count, "files", f"{self._name}: times of frames") as advance,
            ThreadPoolExecutor(min(8, cpu_count(), count)) as pool,
        ):
            for frames in pool.map(index, range(count)):
                advance(1)
                longest = max(longest, frames)
        if len(self._unreadable) == count:
            raise self._unreadable[0]
        return longest

    def _sequences(self, clips: Sequence[Clip]) -> list[np.ndarray]:
        """Returns an array int64 [5, n] for each clip: first frame, file, clip start, clip end and label of its n sequences."""
        cut, rows = self._cut, []
        numbers = {name: file for file, name in enumerate(self._names)}
        for clip in clips:
            file = numbers[clip.path]
            if file in self._unreadable:
                rows.append(np.array([[0], [file], [0], [1], [clip.label]]))
                continue
            low, high = frame_range(
                clip,
                self._videos.index(file),
                as_frames=cut.as_frames,
                rounding=cut.rounding,
                relative=cut.relative,
            )
            if low >= high:
                warnings.warn(
                    f"{self._name}: {clip.path} from {clip.start} to {clip.end} holds no frame, it is left out",
                    stacklevel=3,
                )
                continue
            starts = cut.starts(low, high)
            if len(starts):
                rows.append(np.stack(np.broadcast_arrays(starts, file, low, high, clip.label)))
        return rows

    def interrupt(self) -> None:
        self._videos.interrupt()

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        cut, file = self._cut, int(self._files[index])
        if file in self._unreadable:
            raise SampleError(str(self._unreadable[file])) from self._unreadable[file].__cause__
        numbers = cut.numbers(int(self._starts[index]), int(self._lows[index]), int(self._highs[index]))
        try:
            frames = self._videos.read(
                file, numbers, image_type=cut.image_type, fill=cut.fill, upright=cut.upright
            )
        except SampleError as error:
            raise SampleError(f"{self._name}: {self.source(index)}: {error}") from error
        outputs = [cut.convert(frames)]
        if cut.labels:
            outputs.append(self._labels[index : index + 1])
        if cut.frame_numbers != "none":
            kept = numbers if cut.frame_numbers == "sequence" else numbers[:1]
            outputs.append(kept.astype(np.int32))
        if cut.timestamps:
            times = self._videos.index(file).seconds()
            outputs.append(np.where(numbers == PADDING, -1.0, times[numbers]))
        return tuple(outputs)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        """Divides samples so that one thread reads consecutive sequences of a file, which saves seeks."""
        if not len(indices):
            return []
        files = self._files[indices]
        breaks = (np.diff(indices) != 1) | (np.diff(files) != 0)
        bounds = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(indices)]
        most = -(-len(indices) // threads)
        return [
            slice(at, min(at + most, end))
            for start, end in itertools.pairwise(bounds)
            for at in range(start, end, most)
        ]

    def source(self, index: int) -> str:
        return f"{self._names[self._files[index]]}#frame {self._starts[index]}"

    def close(self) -> None:
        self._videos.close()
