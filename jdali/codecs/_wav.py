"""WAV files of plain samples, read without a library: they need no decoding.

Everything else that a WAV file may be (compressed, cut off, of unknown length, with a strange header) is left
to libsndfile, and what is read here equals what libsndfile would give, to the last bit.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import numpy as np

from jdali._recycled import empty

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
# How a format is written in the extensible header, after the number of the format.
_GUID = bytes.fromhex("000000001000800000aa00389b71")
_BITS = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}
_MOST_CHANNELS = 1024  # of libsndfile
_UNKNOWN_LENGTH = 0x7F000000  # a size from here on stands for a file that was written into a pipe


@dataclasses.dataclass(frozen=True)
class Wave:
    """A sound in memory: `content` holds [T, C] samples of `bits` bits, `floats` or integers."""

    content: memoryview
    channels: int
    sample_rate: int
    bits: int
    floats: bool

    @property
    def length(self) -> int:
        return len(self.content) // (self.channels * self.bits // 8)

    def read(self, first: int, count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """[T, C] of int16, int32 or float32, which is from -1 to 1 if integers are stored."""
        size = self.channels * self.bits // 8
        part = dataclasses.replace(self, content=self.content[first * size : (first + count) * size])
        return part._as(dtype).reshape(-1, self.channels)

    def _as(self, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        if self.floats:
            with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
                return np.frombuffer(self.content, f"<f{self.bits // 8}").astype(dtype)
        if self.bits == 16:
            samples = np.frombuffer(self.content, "<i2")
            if dtype == np.int16:
                return samples.astype(np.int16)
            if dtype == np.int32:
                return samples.astype(np.int32) << 16
            result = empty(samples.shape, np.float32)
            return np.multiply(samples, np.float32(2**-15), out=result, dtype=np.float32)
        wide = self._left_justified()
        if dtype == np.int16:
            return (wide >> 16).astype(np.int16)
        if dtype == np.int32:
            return wide
        return np.multiply(wide, np.float32(2**-31), dtype=np.float32, casting="same_kind")

    def _left_justified(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Integers brought to 32 bits, their own at the top."""
        if self.bits == 8:
            return (np.frombuffer(self.content, np.uint8) ^ np.uint8(128)).astype(np.int32) << 24
        if self.bits == 32:
            return np.frombuffer(self.content, "<i4").astype(np.int32)
        wide = np.zeros((len(self.content) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(self.content, np.uint8).reshape(-1, 3)
        return wide.view("<i4")[:, 0].astype(np.int32)


def parse(content: memoryview) -> Wave | None:
    """The samples in a WAV file; None if it is not a whole, plain one."""
    if bytes(content[:4]) != b"RIFF" or bytes(content[8:12]) != b"WAVE":
        return None
    layout = None
    position = 12
    while position + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, position)
        body = content[position + 8 : position + 8 + size]
        if size >= _UNKNOWN_LENGTH or len(body) < size:
            return None
        if name == b"fmt ":
            if layout is not None:
                return None
            layout = _layout(body)
        elif name == b"data":
            if layout is None or size == 0 or size % (layout[0] * layout[2] // 8):
                return None
            follows = content[position + 8 + size + (size & 1) :]
            return None if bytes(follows[:4]) == b"RIFF" else Wave(body, *layout)
        elif name not in _HARMLESS:
            return None
        position += 8 + size + (size & 1)
    return None


# What may stand before the samples without meaning anything for them.
_HARMLESS = frozenset({b"LIST", b"fact", b"PEAK", b"bext", b"cue ", b"JUNK", b"PAD ", b"INFO", b"iXML"})


def _layout(body: memoryview) -> tuple[int, int, int, bool] | None:
    """Channels, rate, bits of a sample and whether it is a float, if it is a plain format."""
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
