"""Reads image sequences from folders of numbered files; each folder is a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali import types
from jdali._errors import SampleError
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import files as _storage
from jdali._storage import read_file
from jdali.codecs import image as codec
from jdali.readers.base import Reader, reader_options, slices

_NAME = "readers.sequence"
_EXTENSIONS = (
    ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pnm", ".ppm", ".pgm", ".pbm", ".jp2", ".webp",
)  # fmt: skip


class SequenceReader(Reader):
    """Reads sequences of evenly spaced images of a stream."""

    layouts = ("FHWC",)

    def __init__(
        self,
        streams: Sequence[list[str]],
        *,
        length: int,
        step: int,
        stride: int,
        image_type: types.DALIImageType,
        options: dict[str, Any],
    ):
        span = (length - 1) * stride
        counts = [max(0, -(-(len(stream) - span) // step)) for stream in streams]
        self._starts = np.cumsum([0, *counts])
        if not self._starts[-1]:
            longest = max(map(len, streams), default=0)
            raise ValueError(
                f"{_NAME}: The number of input samples: 0, needs to be at least equal to the requested number of shards: there "
                f"is not a sequence of {length} images with a stride of {stride}: the longest of "
                f"{len(streams)} streams has {longest} images"
            )
        super().__init__(int(self._starts[-1]), options)
        self._streams, self._span, self._step, self._stride = streams, span, step, stride
        self._image_type, self._folder = image_type, _storage.working_folder()

    def _paths(self, index: int) -> list[str]:
        stream = int(np.searchsorted(self._starts, index, side="right")) - 1
        first = (index - self._starts.item(stream)) * self._step
        return self._streams[stream][first : first + self._span + 1 : self._stride]

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        paths = self._paths(index)
        frames: np.ndarray | None = None
        for number, path in enumerate(paths):
            content = read_file(_storage.join(self._folder, path))
            try:
                info = codec.probe(content)
                shape = codec.output_shape(info, self._image_type)
                if frames is None:
                    frames = np.empty((len(paths), *shape), np.uint8)
                elif shape != frames.shape[1:]:
                    raise SampleError(
                        f"it is {_text(shape)}, but the first image of the sequence, {paths[0]}, is "
                        f"{_text(frames.shape[1:])}"
                    )
                codec.decode(content, output_type=self._image_type, out=frames[number], info=info)
            except SampleError as error:
                raise SampleError(f"{_NAME}: {path}: {error}") from error
        assert frames is not None
        return (frames,)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        # A task per sequence, since decoding outweighs the overhead of a task.
        return slices(len(indices), 1)

    def source(self, index: int) -> str:
        return self._paths(index)[0]


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


@reader(name=_NAME, devices=("cpu",), source="operators/reader/sequence_reader_op.cc")
@also_takes(reader_options)
def sequence(
    *,
    file_root: Static[str],
    sequence_length: Static[int],
    image_type: Static[types.DALIImageType] = types.RGB,
    step: Static[int] = 1,
    stride: Static[int] = 1,
    **options: object,
) -> SequenceReader:
    """Reads sequences of images from folders; each folder holds the images of one stream.

    Images of a stream are ordered by the bytes of their names. Sequences stay within a stream. Incomplete
    sequences, hidden files and hidden folders are skipped.

    Args:
        file_root: parent of the folders.
        sequence_length: number of images in a sequence.
        image_type: RGB, BGR, GRAY, YCbCr or ANY_DATA.
        step: distance between the first images of consecutive sequences.
        stride: distance between consecutive images of a sequence.

    Returns: uint8 [F, H, W, C].

    Example: frames = fn.readers.sequence(file_root="frames", sequence_length=4)
    """
    for name, value in (("sequence_length", sequence_length), ("step", step), ("stride", stride)):
        if value < 1:
            words = name.capitalize().replace("_", " ")
            raise ValueError(f"{_NAME}: {words} must be positive, {name} is {value}")
    return SequenceReader(
        _streams(file_root), length=sequence_length, step=step, stride=stride, image_type=image_type,
        options=options,
    )  # fmt: skip


def _streams(root: str) -> list[list[str]]:
    root = _storage.user_path(root)
    try:
        streams = []
        for name in _visible(_storage.entries(root, folders=True)):
            folder = _storage.join(root, _storage.plain(name))
            names = [
                n
                for n in _visible(_storage.entries(folder, folders=False))
                if n.lower().endswith(_EXTENSIONS)
            ]
            streams.append([_storage.join(folder, _storage.plain(n)) for n in names])
    except OSError as error:
        raise FileNotFoundError(
            f'{_NAME}: Glob for pattern: "{root}/*/*" failed: cannot list the folders in {root}: {error.strerror}. Verify the '
            "file_root argument"
        ) from error
    streams = [stream for stream in streams if stream]
    if not streams:
        raise ValueError(
            f"{_NAME}: there are no images in the subfolders of {root} (each stream must have a folder). Verify the file_root "
            "argument"
        )
    return streams


def _visible(names: Sequence[str]) -> list[str]:
    return [name for name in names if not name.startswith(".")]
