"""Decodes FLAC with the optional package miniaudio, which takes half the time of libsndfile, or with FFmpeg.

FFmpeg decodes FLAC in OGG, because libsndfile rejects some of these files. It also decodes files that were written
into a pipe, and so have no length in their header. libsndfile decodes files that miniaudio cannot decode completely.
All libraries return the same samples, because FLAC is lossless and its frames have checksums.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from jdali._batches import empty
from jdali._system.devices import HostArray
from jdali.codecs import ffmpeg as _ffmpeg
from jdali.codecs.wav import Wave, of_samples


@functools.cache
def miniaudio() -> Any:
    """Returns miniaudio; None if it is not installed, or too old."""
    try:
        package = importlib.import_module("miniaudio")
    except ImportError:
        return None
    return package if hasattr(package.lib, "ma_dr_flac_open_memory") else None


class Flac(NamedTuple):
    """An open FLAC file, with the fields of its header and a decoder."""

    length: int
    channels: int
    sample_rate: int
    decoder: Any
    floats: bool = False

    def read(self, first: int, count: int, dtype: np.dtype) -> HostArray | None:
        """Reads [T, C] as int16, int32 or float32; None if some samples cannot be decoded."""
        package = miniaudio()
        kind, read = {
            "int16": ("ma_dr_flac_int16[]", package.lib.ma_dr_flac_read_pcm_frames_s16),
            "int32": ("ma_dr_flac_int32[]", package.lib.ma_dr_flac_read_pcm_frames_s32),
            "float32": ("float[]", package.lib.ma_dr_flac_read_pcm_frames_f32),
        }[dtype.name]
        wave = empty((count, self.channels), dtype)
        if not wave.size or (first and not package.lib.ma_dr_flac_seek_to_pcm_frame(self.decoder, first)):
            return None
        target = package.ffi.from_buffer(kind, wave, require_writable=True)
        return wave if read(self.decoder, count, target) == count else None


_LENGTH = slice(21, 26)  # these bytes have the length of the sound in their lower 36 bits
_IN_OGG = slice(28, 33)  # position of FLAC's magic bytes in the first page of an OGG file
_CHECKED = {"err_detect": "crccheck+explode"}


def by_ffmpeg(content: memoryview, most_values: int) -> Wave | None:
    """Decodes, with FFmpeg, FLAC files that are in OGG or whose header has no length.

    Returns None for all other files, and if PyAV is not installed. Raises `SampleError` if the file is damaged, or has
    more than `most_values` values.
    """
    unsaid = bytes(content[:4]) == b"fLaC" and not int.from_bytes(content[_LENGTH], "big") & 0xFFFFFFFFF
    in_ogg = bytes(content[:4]) == b"OggS" and bytes(content[_IN_OGG]) == b"\x7fFLAC"
    if not (unsaid or in_ogg) or _ffmpeg.pyav() is None:
        return None
    damaged = functools.partial(_ffmpeg.damaged, "FLAC")
    return of_samples(*_ffmpeg.sound(content, "ogg" if in_ogg else "flac", _frames, most_values, damaged))


def _frames(container: Any, stream: Any) -> Iterator[Any]:
    stream.codec_context.options = _CHECKED
    return container.decode(stream)


@contextmanager
def opened(content: memoryview) -> Iterator[Flac | None]:
    """Opens a file in memory with miniaudio; yields None if it is no FLAC file, or has an unknown length."""
    package = miniaudio() if bytes(content[:4]) == b"fLaC" else None
    if package is None:
        yield None
        return
    source = package.ffi.from_buffer(content)
    decoder = package.lib.ma_dr_flac_open_memory(source, len(content), package.ffi.NULL)
    if decoder == package.ffi.NULL:
        yield None
        return
    try:
        length = int(decoder.totalPCMFrameCount)
        yield Flac(length, int(decoder.channels), int(decoder.sampleRate), decoder) if length else None
    finally:
        package.lib.ma_dr_flac_close(decoder)
