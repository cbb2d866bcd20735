"""WAV files of plain samples, read without a library: they need no decoding.

Everything else that a WAV file may be (compressed, cut off, of unknown length, with a strange header) is left
to libsndfile, and samples are what libsndfile would give, to the last bit. Chunks around them are passed over, also
those behind which libsndfile loses samples (a short `acid`) or the whole file.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jdali._batches import empty
from jdali._system.devices import HostArray
from jdali.codecs.incomplete_sound import RIFF_MAGIC, UNKNOWN_LENGTH, W64_MAGIC, wave_chunks

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
# How a format is written in the extensible header, after the number of the format.
_GUID = bytes.fromhex("000000001000800000aa00389b71")
_BITS = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}
_MPEG = {b"\x50\0", b"\x55\0"}  # formats of layers I and II, and of layer III
_MOST_CHANNELS = 1024  # of libsndfile
# The head of a file that holds a format of 16 bytes and the samples, and nothing else.
_USUAL_HEAD = struct.Struct("<4s4x8sI16x4sI")
_OF_16_BITS = np.float32(2**-15)


class Wave(NamedTuple):
    """A sound in memory: `content` holds [T, C] samples of `bits` bits, `floats` or integers."""

    content: memoryview
    channels: int
    sample_rate: int
    bits: int
    floats: bool

    @property
    def length(self) -> int:
        return len(self.content) // (self.channels * self.bits // 8)

    def read(self, first: int, count: int, dtype: np.dtype) -> HostArray:
        """Reads [T, C] of int16, int32 or float32; floats are from -1 to 1 if integers are stored."""
        size = self.channels * self.bits // 8
        content = self.content[first * size : (first + count) * size]
        return _converted(content, self.bits, self.floats, dtype).reshape(-1, self.channels)


def _converted(content: memoryview, bits: int, floats: bool, dtype: np.dtype) -> HostArray:
    if floats:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
            return np.frombuffer(content, f"<f{bits // 8}").astype(dtype)
    if bits == 16:
        samples = np.frombuffer(content, "<i2")
        if dtype == np.int16:
            return samples.astype(np.int16)
        if dtype == np.int32:
            return samples.astype(np.int32) << 16
        return _floats_of_16_bits(samples)
    wide = _left_justified(content, bits)
    if dtype == np.int16:
        return (wide >> 16).astype(np.int16)
    if dtype == np.int32:
        return wide
    return np.multiply(wide, np.float32(2**-31), dtype=np.float32, casting="same_kind")


def _left_justified(content: memoryview, bits: int) -> npt.NDArray[np.int32]:
    """Shifts integers to the top of 32 bits."""
    if bits == 8:
        return (np.frombuffer(content, np.uint8) ^ np.uint8(128)).astype(np.int32) << 24
    if bits == 32:
        return np.frombuffer(content, "<i4").astype(np.int32)
    wide = np.zeros((len(content) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(content, np.uint8).reshape(-1, 3)
    return wide.view("<i4")[:, 0].astype(np.int32)


def parse(content: memoryview) -> Wave | None:
    """Finds the samples of a WAV file; None if it is not a whole, plain one."""
    form, sound = _usual(content) or _form_and_sound(content)
    layout = _layout(form)
    if layout is None:
        return None
    size = layout[0] * layout[2] // 8
    return Wave(sound[: len(sound) // size * size], *layout)


def _usual(content: memoryview) -> tuple[memoryview, memoryview] | None:
    """Finds the same as `_form_and_sound`, quicker, where a file holds nothing else, as most do; None for other files."""
    if len(content) <= _USUAL_HEAD.size:
        return None
    head = _USUAL_HEAD.unpack_from(content)
    if head != (b"RIFF", b"WAVEfmt ", 16, b"data", len(content) - _USUAL_HEAD.size):
        return None
    return content[20:36], content[_USUAL_HEAD.size :]


def mpeg(content: memoryview) -> memoryview | None:
    """Returns the MPEG frames (layers I to III) in a WAV file; None if it holds anything else, or is not whole."""
    form, sound = _form_and_sound(content)
    return sound if bytes(form[:2]) in _MPEG else None


def count_sounds(content: memoryview) -> int:
    """Counts the chunks of a WAV file that hold samples, where it is whole."""
    return sum(name == b"data" for name, _ in _chunks(content))


def _form_and_sound(content: memoryview) -> tuple[memoryview, memoryview]:
    """Finds the chunk of the format and that of the samples; both empty unless each comes once."""
    found = _chunks(content)
    forms = [body for name, body in found if name == b"fmt "]
    sounds = [body for name, body in found if name == b"data"]
    same = len(sounds) == 1 and forms and all(form == forms[0] for form in forms)
    return (forms[0], sounds[0]) if same else (content[:0], content[:0])


def _chunks(content: memoryview) -> list[tuple[bytes, memoryview]]:
    """Lists name and content of the chunks of format and samples; empty if a chunk is cut off before the
    samples or in them, if their length is unknown, or if another file follows.
    """
    magic = bytes(content[:16])
    if magic != W64_MAGIC and (magic[:4] not in RIFF_MAGIC or magic[8:12] != b"WAVE"):
        return []
    told = int.from_bytes(magic[4:8], "little")
    found: list[tuple[bytes, memoryview]] = []
    for name, start, size in wave_chunks(content):
        if name == b"RIFF":
            return []
        never_told = magic != W64_MAGIC and (told + 8 <= start or told >= UNKNOWN_LENGTH)
        if name == b"data" and size == 0 and never_told and start < len(content):
            size = len(content) - start  # the program that wrote it did not come to write its sizes
        if size is None or start + size > len(content):
            return found if name != b"data" and any(name == b"data" for name, _ in found) else []
        if name == b"fmt " or (name == b"data" and size):
            found.append((name, content[start : start + size]))
    return found


def plain(contents: Sequence[HostArray]) -> list[Wave] | None:
    """Finds the samples of several files; None unless all are plain ones of 16 bits."""
    waves = []
    for content in contents:
        wave = parse(content.data)
        if wave is None or wave.bits != 16:
            return None
        waves.append(wave)
    return waves


def floats_into(out: HostArray, starts: Sequence[int], waves: Sequence[Wave]) -> None:
    """Converts sounds of 16 bits to floats, each from its start in `out` on, float32 [values]."""
    for start, wave in zip(starts, waves, strict=True):
        samples = np.frombuffer(wave.content, "<i2")
        np.multiply(samples, _OF_16_BITS, out=out[start : start + len(samples)], dtype=np.float32)


def _floats_of_16_bits(samples: HostArray) -> HostArray:
    result = empty(samples.shape, np.float32)
    return np.multiply(samples, _OF_16_BITS, out=result, dtype=np.float32)


def _layout(body: memoryview) -> tuple[int, int, int, bool] | None:
    """Reads channels, rate, bits of a sample and whether it is a float, if it is a plain format."""
    if len(body) < 16:
        return None
    kind, channels, rate, _, align, bits = struct.unpack_from("<HHIIHH", body)
    if kind == _EXTENSIBLE:
        if len(body) < 40 or bytes(body[26:40]) != _GUID:
            return None
        valid, _, kind = struct.unpack_from("<HIH", body, 18)
        if valid != bits:
            return None
    plain = bits in _BITS.get(kind, ()) and align == channels * bits // 8
    if not (plain and 0 < channels <= _MOST_CHANNELS and 0 < rate < 1 << 31):
        return None
    return channels, rate, bits, kind == _FLOAT
