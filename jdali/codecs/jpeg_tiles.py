"""Builds a smaller JPEG file of a window, without decoding, from a JPEG file with restart markers."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

import numpy as np

from jdali.codecs.exif import Window
from jdali.codecs.jpeg_segments import END_OF_IMAGE

_RESTARTS = bytes(range(0xD0, 0xD8))  # second bytes of the restart markers, in order
# Pixels to decode around a window. Upsampling interpolates between neighbouring chroma samples, two pixels apart.
_MARGIN = 2
# Minimum number of columns of MCUs in the new file. Decoded at a quarter of the size, one MCU has only two chroma samples in
# a row, and libjpeg does not interpolate so short a row.
_LEAST_COLUMNS = 2
# Cutting costs more than it saves if the window takes more than this fraction of the picture.
_MOST = 0.9


class Coded(NamedTuple):
    """Layout of a sequential JPEG file with one scan.

    Attributes:
        height_at: offset of height and width in the frame header.
        coded_at: offset of the entropy coded data.
        unit: height and width of an MCU, pixels.
        interval: number of MCUs between restart markers; 0 if the file has none.
    """

    height_at: int
    coded_at: int
    unit: tuple[int, int]
    interval: int


def cut_tiles(
    view: memoryview, coded: Coded, size: tuple[int, int], window: Window, denominator: int
) -> tuple[bytearray, int, int, int, int] | None:
    """Builds a file from the segments between restart markers that a window touches.

    Decoding restarts at each marker, so a segment alone decodes to the same pixels as in its picture. If the number of
    MCUs in a row is a multiple of the interval, no segment crosses the end of a row, and parts of rows can be left out.
    If not, only whole rows can be left out, and the first row of the new file must begin with a segment.

    Args:
        size: height and width of the picture.
        window: the window, in the picture decoded at 1 / `denominator` of its size (1, 2, 4 or 8).

    Returns: the file, and y, x, height and width of the part of the picture that the file contains. None if cutting
        does not pay, or if the markers are not in order.
    """
    rows, columns = (-(-n // unit) for n, unit in zip(size, coded.unit, strict=True))
    interval = coded.interval
    y, x, height, width = window
    (top, bottom), (left, right) = (
        (max(start - _MARGIN, 0) * denominator // unit, min(-(-(end + _MARGIN) * denominator // unit), most))
        for start, end, unit, most in zip((y, x), (y + height, x + width), coded.unit, (rows, columns), strict=True)
    )  # fmt: skip
    period = interval // math.gcd(interval, columns)
    top = top // period * period
    if period == 1 and interval < columns:
        left = min(left, max(columns - _LEAST_COLUMNS, 0)) // interval * interval
        right = min(-(-max(right, left + _LEAST_COLUMNS) // interval) * interval, columns)
    else:
        left, right = 0, columns
    if (bottom - top) * (right - left) > _MOST * rows * columns:
        return None
    ends = _segment_ends(view, coded, -(-rows * columns // interval))
    if ends is None:
        return None
    if right - left < columns:
        across = columns // interval
        start = np.arange(top, bottom) * across + left // interval
        stop = start + (right - left) // interval
    else:
        start = np.array([top * columns // interval])
        stop = np.array([-(-bottom * columns // interval)])
    begins = np.concatenate(([coded.coded_at], ends))
    parts = [view[a:b] for a, b in zip(begins[start].tolist(), begins[stop].tolist(), strict=True)]
    data = bytearray().join([view[: coded.coded_at], *parts])
    segments = (start[:, None] + np.arange(stop[0] - start[0])).ravel()
    codes = coded.coded_at + np.cumsum((begins[1:] - begins[:-1])[segments]) - 1
    np.frombuffer(data, np.uint8)[codes] = np.frombuffer(_markers(len(codes)), np.uint8)
    top, left = top * coded.unit[0], left * coded.unit[1]
    height, width = min(bottom * coded.unit[0], size[0]) - top, min(right * coded.unit[1], size[1]) - left
    struct.pack_into(">HH", data, coded.height_at, height, width)
    return data, top, left, height, width


def _segment_ends(view: memoryview, coded: Coded, count: int) -> np.ndarray | None:
    """Returns the end of each segment, after the segment's marker, int64 [count].

    Returns None unless the data contain exactly `count` markers, in order, followed by the end of the image.
    """
    data = np.frombuffer(view, np.uint8)
    at = np.flatnonzero(data[coded.coded_at : -1] == 0xFF) + (coded.coded_at + 1)
    codes = data[at]
    markers = (codes != 0) & (codes != 0xFF)
    at, codes = at[markers][:count], codes[markers][:count]
    return at + 1 if len(codes) == count and codes.tobytes() == _markers(count) else None


def _markers(count: int) -> bytes:
    """Returns the second byte of the marker after each of `count` segments."""
    return (_RESTARTS * (count // 8 + 1))[: count - 1] + bytes([END_OF_IMAGE])
