"""WAV files of plain samples, read without a library: they need no decoding.

Everything else that a WAV file may be (compressed, cut off, of unknown length, with a strange header) is left
to libsndfile, and what is read here equals what libsndfile would give, to the last bit.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from jdali._batches import empty
from jdali._system.devices import HostArray
from jdali.codecs.incomplete_sound import UNKNOWN_LENGTH

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
# How a format is written in the extensible header, after the number of the format.
_GUID = bytes.fromhex("000000001000800000aa00389b71")
_BITS = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}
_MOST_CHANNELS = 1024  # of libsndfile
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
        """[T, C] of int16, int32 or float32, which is from -1 to 1 if integers are stored."""
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
    """Integers brought to 32 bits, their own at the top."""
    if bits == 8:
        return (np.frombuffer(content, np.uint8) ^ np.uint8(128)).astype(np.int32) << 24
    if bits == 32:
        return np.frombuffer(content, "<i4").astype(np.int32)
    wide = np.zeros((len(content) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(content, np.uint8).reshape(-1, 3)
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
        if size >= UNKNOWN_LENGTH or len(body) < size:
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


def plain(contents: Sequence[HostArray]) -> list[Wave] | None:
    """The samples in some files; None if one of them is not a plain one of 16 bits."""
    waves = []
    for content in contents:
        wave = parse(content.data)
        if wave is None or wave.bits != 16:
            return None
        waves.append(wave)
    return waves


def floats_together(contents: Sequence[HostArray], waves: Sequence[Wave]) -> list[HostArray]:
    """float32 [T, C] of each of some files of which many lie close together in memory.

    One multiplication over all of that memory, headers too, keeps the interpreter free for longer than one for
    each file.

    Args:
        contents: of the files.
        waves: the samples in them, of 16 bits.
    """
    samples = [np.frombuffer(wave.content, "<i2") for wave in waves]
    floats: list[HostArray] = []
    for _, group in itertools.groupby(zip(contents, samples, strict=True), lambda pair: id(pair[0].base)):
        own, *others = group
        floats += _of_neighbours(own[0].base, [own[1], *(pair[1] for pair in others)])
    return [values.reshape(-1, wave.channels) for values, wave in zip(floats, waves, strict=True)]


def _of_neighbours(base: Any, samples: list[HostArray]) -> list[HostArray]:
    """Floats of some samples that lie in the array `base`."""
    addresses = [_address(part) for part in samples]
    begin = min(addresses)
    size = max(address + part.nbytes for address, part in zip(addresses, samples, strict=True)) - begin
    together = len(samples) > 1 and isinstance(base, np.ndarray) and base.flags.c_contiguous
    if (
        not together
        or size > 2 * sum(part.nbytes for part in samples)
        or any((p - begin) % 2 for p in addresses)
    ):
        return [_floats_of_16_bits(part) for part in samples]
    first = begin - _address(base)
    floats = _floats_of_16_bits(base.reshape(-1).view(np.uint8)[first : first + size].view("<i2"))
    starts = [(address - begin) // 2 for address in addresses]
    return [floats[start : start + len(part)] for start, part in zip(starts, samples, strict=True)]


def _address(array: HostArray) -> int:
    return int(array.__array_interface__["data"][0])


def _floats_of_16_bits(samples: HostArray) -> HostArray:
    result = empty(samples.shape, np.float32)
    return np.multiply(samples, _OF_16_BITS, out=result, dtype=np.float32)


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
