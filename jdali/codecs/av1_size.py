"""Reads the coded sizes of the AV1 pictures in an AVIF file. The decoder needs memory for these sizes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from jdali.codecs.jpeg2000 import boxes

_SEQUENCE_HEADER = 1
_MOST_UNITS = 16  # maximum number of units to skip before the sequence header


def sizes(view: memoryview, inside: Mapping[bytes, memoryview]) -> Iterator[tuple[int, int]]:
    coded = set(_coded(inside[b"iinf"]))
    for item, method, offset in _places(inside[b"iloc"]):
        if item in coded:
            data = inside[b"idat"] if method == 1 else view
            if (size := _size(data[offset:])) is not None:
                yield size


def _coded(entries: memoryview) -> Iterator[int]:
    for kind, entry in boxes(entries[8 if entries[0] else 6 :]):
        number, kind_at = (4, 10) if entry[0] > 2 else (2, 8)
        if kind == b"infe" and bytes(entry[kind_at : kind_at + 4]) == b"av01":
            yield int.from_bytes(entry[4 : 4 + number], "big")


def _places(locations: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yields each item's id, construction method (1: its data are in "idat") and offset of its data."""
    version = locations[0]
    offset_size, length_size = locations[4] >> 4, locations[4] & 15
    base_size, index_size = locations[5] >> 4, locations[5] & 15 if version else 0
    wide = 4 if version > 1 else 2
    at = 6

    def take(size: int) -> int:
        nonlocal at
        if at + size > len(locations):
            raise struct.error
        at += size
        return int.from_bytes(locations[at - size : at], "big")

    for _ in range(take(wide)):
        item = take(wide)
        method = take(2) & 15 if version else 0
        take(2)
        base = take(base_size)
        extents = take(2)
        if extents:
            take(index_size)
            yield item, method, base + take(offset_size)
            take(length_size + (extents - 1) * (index_size + offset_size + length_size))


def _size(data: memoryview) -> tuple[int, int] | None:
    """Reads height and width from the sequence header; returns None if there is no such header."""
    at = 0
    for _ in range(_MOST_UNITS):
        if at >= len(data):
            return None
        kind, at = data[at] >> 3 & 15, at + 1 + (data[at] >> 2 & 1)
        size = shift = 0
        while True:
            byte = data[at]
            size |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if not byte & 128:
                break
        if kind == _SEQUENCE_HEADER:
            return _SequenceHeader(data[at : at + size]).size()
        at += size
    return None


class _SequenceHeader:
    """Parses a sequence header bit by bit."""

    def __init__(self, data: memoryview):
        self._value, self._left = int.from_bytes(data, "big"), 8 * len(data)

    def take(self, count: int) -> int:
        if count > self._left:
            raise IndexError
        self._left -= count
        return self._value >> self._left & (1 << count) - 1

    def size(self) -> tuple[int, int]:
        self.take(4)
        if self.take(1):  # the reduced header of a still picture
            self.take(5)
        else:
            self._points()
        width_bits, height_bits = self.take(4) + 1, self.take(4) + 1
        width = self.take(width_bits) + 1
        return self.take(height_bits) + 1, width

    def _points(self) -> None:
        """Skips timing information and operating points."""
        delay = 0
        if self.take(1):
            self.take(64)
            if self.take(1):
                zeros = 0
                while not self.take(1):
                    zeros += 1
                self.take(zeros)
            if self.take(1):
                delay = self.take(5) + 1
                self.take(42)
        has_delays = self.take(1)
        for _ in range(self.take(5) + 1):
            self.take(12)
            if self.take(5) > 7:
                self.take(1)
            if delay and self.take(1):
                self.take(2 * delay + 1)
            if has_delays and self.take(1):
                self.take(4)
