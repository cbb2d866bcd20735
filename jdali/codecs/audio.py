"""Decoding of sound with libsndfile: WAV, FLAC, OGG (Vorbis and Opus), MP3 and what else it reads."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import soundfile

from jdali._errors import SampleError
from jdali.codecs._resampling import lobes_of, resample

# A header may lie. More values than this, or more for each byte of the file than lossless codecs make of
# silence, are not believed and so never allocated.
MAX_VALUES = 1 << 30
MAX_VALUES_PER_BYTE = 1 << 14
_SLACK = 1 << 16

# Stored as floats, which libsndfile does not scale when it is asked for integers.
_FLOAT_SUBTYPES = ("FLOAT", "DOUBLE")


@dataclasses.dataclass(frozen=True)
class AudioInfo:
    """What the header of an encoded sound says.

    Attributes:
        length: number of samples of one channel.
        channels: number of channels.
        sample_rate: samples a second.
    """

    length: int
    channels: int
    sample_rate: int


def peek(encoded: bytes | np.ndarray[Any, Any]) -> AudioInfo:
    """Reads the header only; raises `SampleError` if it is no sound or claims too much."""
    with _open(encoded) as sound:
        return _info(sound, len(encoded))


def decode(
    encoded: bytes | np.ndarray[Any, Any],
    *,
    dtype: np.dtype[Any] | type = np.float32,
    sample_rate: float = 0.0,
    quality: float = 50.0,
    downmix: bool = False,
) -> tuple[np.ndarray[Any, Any], np.float32]:
    """Decodes a whole sound.

    Args:
        encoded: the file's content, uint8.
        dtype: int16, int32 or float32; a float from -1 to 1 is the integer's whole range.
        sample_rate: rate to resample to, in Hz; 0 or less: that of the sound.
        quality: of the resampling, 0 to 100.
        downmix: mean of all channels.

    Returns: (the sound, [T] if `downmix` and else [T, C]; its sampling rate).
    """
    wave, info = decode_part(
        encoded, 0.0, None, dtype=dtype, sample_rate=sample_rate, quality=quality, downmix=downmix
    )
    return wave, np.float32(sample_rate if sample_rate > 0 else info.sample_rate)


def decode_part(
    encoded: bytes | np.ndarray[Any, Any],
    offset: float,
    duration: float | None,
    *,
    dtype: np.dtype[Any] | type = np.float32,
    sample_rate: float = 0.0,
    quality: float = 50.0,
    downmix: bool = False,
) -> tuple[np.ndarray[Any, Any], AudioInfo]:
    """Decodes a part of a sound; what lies before and after it is not decoded.

    Args:
        encoded: the file's content, uint8.
        offset: where the part begins, in seconds; rounded down to a sample.
        duration: its length in seconds, likewise; it ends with the sound at the latest; None: there.
        dtype, sample_rate, quality, downmix: as of `decode`.

    Returns: (the part, [T] if `downmix` and else [T, C]; what the header says of the sound).
    """
    out = np.dtype(dtype)
    if out not in (np.int16, np.int32, np.float32):
        raise ValueError(f"decoders.audio: dtype must be INT16, INT32 or FLOAT, got {out}")
    lobes_of(quality)
    with _open(encoded) as sound:
        info = _info(sound, len(encoded))
        first, count = _part(info, offset, duration)
        resampled = sample_rate > 0 and sample_rate != info.sample_rate
        as_float = resampled or (downmix and info.channels > 1) or sound.subtype in _FLOAT_SUBTYPES
        wave = _read(sound, info, first, count, np.dtype(np.float32) if as_float else out)
    if downmix:
        wave = wave.mean(axis=1, dtype=wave.dtype) if info.channels > 1 else wave[:, 0]
    if resampled:
        wave = resample(wave, info.sample_rate, sample_rate, quality)
    return rescale(wave, out), info


def _part(info: AudioInfo, offset: float, duration: float | None) -> tuple[int, int]:
    """The first sample of a part and how many there are; a negative time stands for none."""
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


def rescale(wave: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Floats from -1 to 1 as integers of the whole range, half away from zero, saturated."""
    if wave.dtype == dtype or dtype.kind == "f":
        return wave.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    # In float32, as DALI does it: 2³¹ - 1 is then 2³¹, and saturation brings it back.
    scaled = np.asarray(wave * np.float32(limits.max), np.float64)
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))
    return np.clip(rounded, limits.min, limits.max).astype(dtype)


@contextlib.contextmanager
def _open(encoded: bytes | np.ndarray[Any, Any]) -> Iterator[soundfile.SoundFile]:
    """The sound behind the bytes; what libsndfile says of a bad one becomes a `SampleError`."""
    content = encoded if isinstance(encoded, bytes) else np.ascontiguousarray(encoded, np.uint8).data
    if not len(content):
        raise SampleError("decoders.audio: the file is empty (0 bytes)")
    with contextlib.ExitStack() as stack:
        if hasattr(os, "memfd_create"):
            # Given a descriptor, libsndfile reads without calling back into Python for every block, and so
            # without the GIL: 1.4 times as many FLAC files a second with two threads.
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
            raise SampleError(
                f"decoders.audio: {len(content)} bytes that are no readable sound: {_reason(error)}"
            ) from error
        yield sound


def _reason(error: Exception) -> str:
    return str(getattr(error, "error_string", None) or error)


def _info(sound: soundfile.SoundFile, size: int) -> AudioInfo:
    info = AudioInfo(int(sound.frames), int(sound.channels), int(sound.samplerate))
    if info.channels < 1 or info.sample_rate < 1 or info.length < 0:
        raise SampleError(f"decoders.audio: the header makes no sense: {info}")
    values = info.length * info.channels
    if values > min(MAX_VALUES, MAX_VALUES_PER_BYTE * size + _SLACK):
        raise SampleError(
            f"decoders.audio: the header of {size} bytes claims {info.length} samples of {info.channels} "
            "channels, more than is believed"
        )
    return info


def _read(
    sound: soundfile.SoundFile, info: AudioInfo, first: int, count: int, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """`count` samples from number `first` on, [T, C]."""
    wave = np.empty((count, info.channels), dtype)
    try:
        if first and count:
            sound.seek(first)
        got = len(sound.read(out=wave)) if count else 0
    except (soundfile.LibsndfileError, RuntimeError) as error:
        raise SampleError(f"decoders.audio: damaged {sound.format} file: {_reason(error)}") from error
    if got != count:
        raise SampleError(
            f"decoders.audio: damaged or cut off {sound.format} file: the header claims {info.length} "
            f"samples, {first + got} could be decoded"
        )
    return wave
