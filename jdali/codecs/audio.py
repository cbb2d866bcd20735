"""Decodes sound with the fastest library for each format.

NumPy decodes plain WAV. Two optional packages decode other formats: miniaudio decodes FLAC, and PyAV (FFmpeg) decodes
MP3, M4A and WebM. libsndfile decodes all remaining files (Vorbis and Opus in OGG, compressed WAV and more).
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import soundfile

from jdali._batches import RaggedBlock, empty
from jdali._errors import SampleError
from jdali._operators.record import Share
from jdali._system import limits
from jdali._system.devices import HostArray
from jdali._system.extras import install
from jdali.codecs import flac as _flac
from jdali.codecs import incomplete_sound as _incomplete
from jdali.codecs import mp3 as _mp3
from jdali.codecs import mp4_sound as _mp4_sound
from jdali.codecs import wav as _wav
from jdali.codecs.resampling import lobes_of, resample, resampled_length

MAX_VALUES: int
MAX_VALUES_PER_BYTE: int
"""Older names of the limits `max_sound_values` and `max_values_per_byte` of `jdali.storage.configure`."""
limits.older_names(__name__, {"MAX_VALUES": "max_sound_values", "MAX_VALUES_PER_BYTE": "max_values_per_byte"})
# A sound may always have this many values; `max_values_per_byte` limits longer sounds.
_SLACK = 1 << 16
_VALUE_BYTES = 4
# When several sounds share one array, each begins at a multiple of a cache line.
_ALIGNED_VALUES = 64 // _VALUE_BYTES

ACCEPT_INCOMPLETE = False
"""Whether to decode the available part of truncated files, as DALI does, instead of raising an error. A file is
truncated if it holds less than its header says, or if pages of an OGG file are missing. May be set."""

_Sound: TypeAlias = "_wav.Wave | _flac.Flac | _Libsndfile"
"""An open sound file. If its `floats` is True, it stores floats, which `read` does not scale to integers. `read(first, count,
dtype)` reads `count` samples from sample `first` on, [T, C]; None if another library must decode the file."""
# Subtypes that store floats. When libsndfile reads floats as integers, it does not scale them.
_FLOAT_SUBTYPES = ("FLOAT", "DOUBLE")


# Formats that need the package av, and formats that no package decodes, each as (offset, magic bytes, name).
_BY_FFMPEG = ((4, b"ftyp", "an MP4 file (AAC, ALAC)"), (0, b"\x1a\x45\xdf\xa3", "a Matroska or WebM file"))
_NOT_DECODED = (
    (0, bytes.fromhex("3026b2758e66cf11"), "a WMA file"), (0, b"#!AMR", "AMR"), (0, b"wvpk", "WavPack"),
    (0, b"\x0b\x77", "AC-3"),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class AudioInfo:
    """The header of an encoded sound.

    Attributes:
        length: number of samples per channel.
        channels: number of channels.
        sample_rate: samples per second.
    """

    length: int
    channels: int
    sample_rate: int


def peek(encoded: bytes | HostArray) -> AudioInfo:
    """Reads only the header; raises `SampleError` if the data are no sound or exceed the limits."""
    content = _content(encoded)
    with _opened(content) as sound:
        return _info(sound, len(content))


def decode(
    encoded: bytes | HostArray,
    *,
    dtype: np.dtype | type = np.float32,
    sample_rate: float = 0.0,
    quality: float = 50.0,
    downmix: bool = False,
) -> tuple[HostArray, np.float32]:
    """Decodes a whole sound.

    Args:
        dtype: int16, int32 or float32. Values from -1 to 1 in float32 stand for the full range of an integer type.
        sample_rate: rate to resample to, Hz; 0 or less: no resampling.
        quality: resampling quality, 0 to 100.
        downmix: average all channels.

    Returns: (the sound, [T] if `downmix`, else [T, C]; its sampling rate).
    """
    wave, info = decode_part(
        encoded, 0.0, None, dtype=dtype, sample_rate=sample_rate, quality=quality, downmix=downmix
    )
    return wave, np.float32(sample_rate if sample_rate > 0 else info.sample_rate)


def decode_together(
    encoded: Sequence[HostArray], share: Share, *, dtype: np.dtype, sample_rates: HostArray, downmix: bool
) -> tuple[RaggedBlock, HostArray] | None:
    """Decodes sounds together if all are plain WAV files that need no conversion; otherwise returns None.

    Args:
        encoded: contents of files, uint8.
        share: `share(function, count)` calls the function with slices of the sounds, in several threads.
        dtype, downmix: see `decode`.
        sample_rates: float [n], see `decode`.

    Returns: the sounds, and their sampling rates, float32 [n].
    """
    if dtype != np.float32:
        return None
    waves = _wav.plain(encoded)
    if waves is None:
        return None
    channels = np.array([wave.channels for wave in waves], np.int64)
    rates = np.array([wave.sample_rate for wave in waves], np.float32)
    if ((sample_rates > 0) & (sample_rates != rates)).any() or (downmix and (channels > 1).any()):
        return None
    values = np.array([len(wave.content) // 2 for wave in waves], np.int64)
    most = min(limits.most("max_sound_values"), limits.most("max_sample_bytes") // _VALUE_BYTES)
    if values.max() > most or channels.max() > limits.most("max_channels"):
        return None  # `decode` will raise the error
    ends = np.cumsum(-(-values // _ALIGNED_VALUES) * _ALIGNED_VALUES)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    floats = empty((int(ends[-1]),), np.float32)
    positions = starts.tolist()
    share(lambda part: _wav.floats_into(floats, positions[part], waves[part]), len(waves))
    lengths = values[:, None] // channels[:, None]
    extents = lengths if downmix else np.concatenate([lengths, channels[:, None]], axis=1)
    return RaggedBlock(floats, starts, extents), rates


# Files of floats may hold NaN, infinity and huge numbers; NumPy would warn about them.
@np.errstate(over="ignore", invalid="ignore")
def decode_part(
    encoded: bytes | HostArray,
    offset: float,
    duration: float | None,
    *,
    dtype: np.dtype | type = np.float32,
    sample_rate: float = 0.0,
    quality: float = 50.0,
    downmix: bool = False,
) -> tuple[HostArray, AudioInfo]:
    """Decodes a part of a sound. Most decoders skip the samples before and after the part; MP3 may be decoded whole.

    Args:
        offset: start of the part, in seconds; rounded down to a sample.
        duration: length of the part, in seconds; rounded down to a sample, and cut at the end of the sound. None: up to
            the end.
        dtype, sample_rate, quality, downmix: see `decode`.

    Returns: (the part, [T] if `downmix`, else [T, C]; the sound's header).
    """
    out = np.dtype(dtype)
    if out not in (np.int16, np.int32, np.float32):
        raise ValueError(f"decoders.audio: dtype must be INT16, INT32 or FLOAT, got {out}")
    lobes_of(quality)
    content = _content(encoded)
    request = offset, duration, out, sample_rate, downmix
    wave, info = _decoded(content, *request)
    if wave is None:  # libsndfile decodes the sound, or raises the error
        wave, info = _decoded(content, *request, quick=False)
    assert wave is not None
    resampled = sample_rate > 0 and sample_rate != info.sample_rate
    if downmix:
        wave = wave.mean(axis=1, dtype=wave.dtype) if info.channels > 1 else wave[:, 0]
    if resampled:
        wave = resample(wave, info.sample_rate, sample_rate, quality)
    return rescale(wave, out), info


def _part(info: AudioInfo, offset: float, duration: float | None) -> tuple[int, int]:
    """Returns a part's first sample and its length, in samples; a negative offset counts as 0, a negative duration as None."""
    first = int(max(offset, 0.0) * info.sample_rate)
    if first > info.length:
        raise SampleError(
            f"decoders.audio: the part begins at {offset} s, but the sound has {info.length} samples at "
            f"{info.sample_rate} Hz, that is {info.length / info.sample_rate:.3f} s"
        )
    rest = info.length - first
    if duration is None or duration < 0:
        return first, rest
    return first, min(int(duration * info.sample_rate), rest)


def rescale(wave: HostArray, dtype: np.dtype) -> HostArray:
    """Scales floats between -1 and 1 to the full range of an integer type.

    Rounds half away from zero and saturates; NaN becomes 0.
    """
    if wave.dtype == dtype or dtype.kind == "f":
        return wave.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    # Multiplies in float32, as DALI does: 2³¹ - 1 is rounded to 2³¹, and saturation corrects the result.
    scaled = np.asarray(wave * np.float32(limits.max), np.float64)
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))
    rounded[np.isnan(rounded)] = 0
    return np.clip(rounded, limits.min, limits.max).astype(dtype)


def _decoded(
    content: memoryview,
    offset: float,
    duration: float | None,
    dtype: np.dtype,
    sample_rate: float,
    downmix: bool,
    quick: bool = True,
) -> tuple[HostArray | None, AudioInfo]:
    """Decodes a part to `dtype`; to float32 if floats are stored, or if the part will be resampled or downmixed."""
    with _opened(content, quick) as sound:
        info = _info(sound, len(content))
        first, count = _part(info, offset, duration)
        resampled = sample_rate > 0 and sample_rate != info.sample_rate
        if resampled:
            what = f"the sound of {count} samples of {info.channels} channels at {info.sample_rate} Hz, resampled to "
            values = resampled_length(count, info.sample_rate, sample_rate) * info.channels
            _check_values(values, len(content), f"{what}{sample_rate:g} Hz, {values} values,")
        as_float = resampled or (downmix and info.channels > 1) or sound.floats
        return sound.read(first, count, np.dtype(np.float32) if as_float else dtype), info


def _content(encoded: bytes | HostArray) -> memoryview:
    if not len(encoded):
        raise SampleError("decoders.audio: Failed to open encoded data: the file is empty (0 bytes)")
    content = (
        memoryview(encoded) if isinstance(encoded, bytes) else np.ascontiguousarray(encoded, np.uint8).data
    )
    return _mp3.untagged(content)


@contextlib.contextmanager
def _opened(content: memoryview, quick: bool = True) -> Iterator[_Sound]:
    """Opens a sound with the fastest library that can read it, or with libsndfile if not `quick`."""
    plain: _Sound | None = _wav.parse(content) if quick else None
    if plain is None:
        _refuse_incomplete(content)
        count = _wav.count_sounds(content)
        if count > 1:
            raise SampleError(
                f"decoders.audio: the WAV file has {count} chunks of samples, and readers differ in which of them they take"
            )
        most = _most_values(len(content))
        if quick:
            plain = (
                _mp3.opened(content, most)
                or _flac.by_ffmpeg(content, most)
                or _mp4_sound.opened(content, most)
            )
    if plain is not None:
        yield plain
        return
    with contextlib.ExitStack() as stack:
        flac = stack.enter_context(_flac.opened(content)) if quick else None
        yield flac or stack.enter_context(_opened_by_libsndfile(content))


def _refuse_incomplete(content: memoryview) -> None:
    missing = None if ACCEPT_INCOMPLETE else _incomplete.missing(content)
    if missing is not None:
        raise SampleError(
            f"decoders.audio: damaged or cut off: {missing} (jdali.codecs.audio.ACCEPT_INCOMPLETE = True takes "
            "what there is)"
        )


@contextlib.contextmanager
def _opened_by_libsndfile(content: memoryview) -> Iterator[_Sound]:
    """Opens a sound with libsndfile; turns its errors into `SampleError`."""
    with contextlib.ExitStack() as stack:
        if hasattr(os, "memfd_create"):
            # libsndfile reads from a descriptor without calling Python, so it needs no GIL. With two threads, this decodes
            # 1.4 times as many FLAC files per second.
            descriptor = os.memfd_create("sound")
            stack.callback(os.close, descriptor)
            with open(descriptor, "wb", closefd=False) as target:
                target.write(content)
            os.lseek(descriptor, 0, os.SEEK_SET)
            source: Any = descriptor
        else:
            source = io.BytesIO(content)
        try:
            sound = stack.enter_context(soundfile.SoundFile(source, closefd=False))
        except (soundfile.LibsndfileError, RuntimeError, TypeError) as error:
            reason = _not_decoded(content) or _reason(error)
            raise SampleError(
                f"decoders.audio: Failed to open encoded data: {reason} ({len(content)} bytes)"
            ) from error
        floats = sound.subtype in _FLOAT_SUBTYPES
        yield _Libsndfile(int(sound.frames), int(sound.channels), int(sound.samplerate), floats, sound)


def _reason(error: Exception) -> str:
    return str(getattr(error, "error_string", None) or error)


def _not_decoded(content: memoryview) -> str | None:
    """Explains why libsndfile cannot open a file; returns None if the format is unknown."""
    content = content[_mp3.tag_size(content) :]
    head = bytes(content[:8])
    kind = next((kind for at, magic, kind in _BY_FFMPEG if head.startswith(magic, at)), None)
    if kind:
        return f"it is {kind}, which needs the package av: {install('audio')}"
    kind = next((kind for at, magic, kind in _NOT_DECODED if head.startswith(magic, at)), None)
    if _mp3.is_aac(content):
        kind = "AAC"
    return kind and f"it is {kind}, which is not decoded here, nor by DALI; convert it, to FLAC for example"


def _info(sound: _Sound, size: int) -> AudioInfo:
    info = AudioInfo(sound.length, sound.channels, sound.sample_rate)
    if info.channels < 1 or info.sample_rate < 1 or info.length < 0:
        raise SampleError(f"decoders.audio: the header makes no sense: {info}")
    what = f"the sound of {info.length} samples of {info.channels} channels that the header claims"
    limits.check("max_channels", info.channels, f"decoders.audio: {what}")
    _check_values(info.length * info.channels, size, what)
    return info


def _check_values(values: int, size: int, what: str) -> None:
    """Raises `SampleError` if a sound of `values` values, in a file of `size` bytes, exceeds the limits."""
    if values > _SLACK:
        limits.check("max_values_per_byte", values // max(size, 1), f"decoders.audio: {what} in {size} bytes")
    limits.check("max_sound_values", values, f"decoders.audio: {what}")
    limits.check("max_sample_bytes", values * _VALUE_BYTES, f"decoders.audio: {what}")


def _most_values(size: int) -> int:
    """Returns the largest number of values that a file of `size` bytes may have."""
    of_file = limits.most("max_values_per_byte") * size + _SLACK
    return min(limits.most("max_sound_values"), of_file, limits.most("max_sample_bytes") // _VALUE_BYTES)


class _Libsndfile(NamedTuple):
    """A file opened by libsndfile; see `_Sound`."""

    length: int
    channels: int
    sample_rate: int
    floats: bool
    sound: soundfile.SoundFile

    def read(self, first: int, count: int, dtype: np.dtype) -> HostArray:
        wave = empty((count, self.channels), dtype)
        name = self.sound.format
        try:
            if first and count:
                self.sound.seek(first)
            got = len(self.sound.read(out=wave)) if count else 0
        except (soundfile.LibsndfileError, RuntimeError) as error:
            raise SampleError(f"decoders.audio: damaged {name} file: {_reason(error)}") from error
        if name == "WAV" and self.sound.subtype.startswith("MPEG"):
            return wave[:got]  # libsndfile only estimates the length of MPEG sound
        if got != count:
            raise SampleError(
                f"decoders.audio: damaged or cut off {name} file: the header claims {self.length} "
                f"samples, {first + got} could be decoded"
            )
        return wave
