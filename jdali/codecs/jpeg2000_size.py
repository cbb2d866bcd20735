"""Estimates the memory that a JPEG 2000 codestream makes its decoder allocate, from its markers.

OpenJPEG allocates records for all tiles, precincts and code-blocks that the markers speak of before it looks at the
data: a picture of 5000 x 5000 whose precincts have one pixel takes ten gigabytes and half a minute, and its file has a
hundred bytes. But a tile has at least a header in the file, and each packet (a precinct in a layer) at least a byte.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np

from jdali._system import limits
from jdali.codecs.base import corrupt

_START_OF_TILE, _START_OF_DATA, _END, _STYLE, _STYLE_OF_COMPONENT = 0xFF90, 0xFF93, 0xFFD9, 0xFF52, 0xFF53
_TILE_PART_BYTES = 14  # of a tile's header and the marker of its data
_SLACK = 1 << 16
# Code-blocks share packets, so that the file does not bound them. They have 32 or 64 pixels a side in the files that
# there are; those of the smallest size are taken in such numbers only.
_MANY_BLOCKS = 1 << 20
_BLOCKS_PER_BYTE = 4
_MOST_STYLES = 32
_MOST_LEVELS = 32
# What OpenJPEG allocates, bytes: for a sample, a code-block, a tile, and a component of a tile.
_SAMPLE_BYTES, _BLOCK_BYTES, _TILE_BYTES, _COMPONENT_BYTES = 8, 400, 6000, 1200


class _Style(NamedTuple):
    """Coding style of a tile or component; exponents of 2 of sizes in samples.

    Attributes:
        layers: 0: as another marker says.
        precincts: (x, y) by resolution, the lowest first.
        block: (x, y), of a code-block.
    """

    layers: int
    precincts: tuple[tuple[int, int], ...]
    block: tuple[int, int]


def check(stream: memoryview) -> None:
    """Raises `SampleError` for a codestream whose markers claim more than its data can hold, or than the limits."""
    right, bottom, left, top, width, height, x, y, components = struct.unpack_from(">8IH", stream, 8)
    picture = f"JPEG2000 image of {bottom - top}x{right - left}x{components}"
    limits.check("max_pixels", (bottom - top) * (right - left), picture)
    limits.check("max_channels", components, picture)
    if not (x <= left < right and y <= top < bottom) or x + width <= left or y + height <= top:
        raise corrupt("JPEG2000", "its tiles are outside of the picture")
    tiles = -(-(right - x) // width) * -(-(bottom - y) // height)
    if tiles * _TILE_PART_BYTES > len(stream):
        raise corrupt("JPEG2000", f"{len(stream)} bytes cannot hold {tiles} tiles")
    steps: dict[tuple[int, int], int] = {}
    for component in range(components):
        step = stream[43 + 3 * component], stream[44 + 3 * component]
        if 0 in step:
            raise corrupt("JPEG2000", f"component {component} has steps {step}")
        steps[step] = steps.get(step, 0) + 1
    styles = set()
    for style in _styles(stream, components):
        styles.add(style)
        if len(styles) > _MOST_STYLES:
            raise corrupt("JPEG2000", f"it has more than {_MOST_STYLES} ways of coding")
    layers = max((style.layers for style in styles), default=1)
    # The most expensive style counts for all tiles and components.
    packets = blocks = 0
    for style in styles:
        counts = [0, 0]
        for (step_x, step_y), count in steps.items():
            across = _borders(left, right, x, width, step_x)
            down = _borders(top, bottom, y, height, step_y)
            counts = [n + count * one for n, one in zip(counts, _counts(across, down, style), strict=True)]
        packets, blocks = max(packets, layers * counts[0]), max(blocks, counts[1])
    if packets > len(stream) + _SLACK:
        raise corrupt("JPEG2000", f"{len(stream)} bytes cannot hold {packets} packets")
    if blocks > _MANY_BLOCKS + _BLOCKS_PER_BYTE * len(stream):
        raise corrupt("JPEG2000", f"{len(stream)} bytes that claim {blocks} code-blocks are damaged")
    samples = (right - left) * (bottom - top) * components
    needed = samples * _SAMPLE_BYTES + blocks * _BLOCK_BYTES
    needed += tiles * (_TILE_BYTES + components * _COMPONENT_BYTES)
    limits.check("max_sample_bytes", needed, f"what decoding the {picture} takes, {needed} bytes,")


def _borders(start: int, end: int, origin: int, size: int, step: int) -> np.ndarray:
    """Computes where the samples of each tile begin and end along an axis, int64 [2, tiles]."""
    begins = np.arange(origin, end, size, dtype=np.int64)
    both = np.stack([np.maximum(begins, start), np.minimum(begins + size, end)])
    return -(-both // step)


def _counts(across: np.ndarray, down: np.ndarray, style: _Style) -> tuple[int, int]:
    """Counts precincts and code-blocks of all tiles of a component."""
    precincts = blocks = 0
    highest = len(style.precincts) - 1
    for resolution, (wide, high) in enumerate(style.precincts):
        shift = highest - resolution
        columns, rows = (-(-borders >> shift) for borders in (across, down))
        precincts += _cells(columns, wide) * _cells(rows, high)
        if resolution == 0:
            blocks += _cells(columns, min(style.block[0], wide)) * _cells(rows, min(style.block[1], high))
        else:  # three bands of half the size
            columns, rows = -(-columns >> 1), -(-rows >> 1)
            side_x, side_y = (min(b, p - 1) for b, p in zip(style.block, (wide, high), strict=True))
            blocks += 3 * _cells(columns, max(side_x, 0)) * _cells(rows, max(side_y, 0))
    return precincts, blocks


def _cells(borders: np.ndarray, exponent: int) -> int:
    """Counts the cells of a grid that the intervals touch, all together."""
    begin, end = borders
    return int(np.where(end > begin, -(-end >> exponent) - (begin >> exponent), 0).sum())


def _styles(stream: memoryview, components: int) -> Iterator[_Style]:
    """Reads the coding styles of tiles and components, from the header of the file and those of its tiles."""
    position = yield from _styles_of_header(stream, 2, components)
    while position + 12 <= len(stream) and struct.unpack_from(">H", stream, position)[0] == _START_OF_TILE:
        (size,) = struct.unpack_from(">I", stream, position + 6)
        yield from _styles_of_header(stream, position + 12, components)
        if size < _TILE_PART_BYTES:  # 0: up to the end
            return
        position += size


def _styles_of_header(stream: memoryview, position: int, components: int) -> Generator[_Style, None, int]:
    """Reads the coding styles of the markers from a byte on; returns the end of the header."""
    while position + 4 <= len(stream):
        marker, length = struct.unpack_from(">HH", stream, position)
        if marker in (_START_OF_TILE, _START_OF_DATA, _END):
            break
        body = stream[position + 4 : position + 2 + length]
        if marker == _STYLE:
            (layers,) = struct.unpack_from(">H", body, 2)
            yield _style(body[0], layers, body[5:])
        elif marker == _STYLE_OF_COMPONENT:
            at = 1 if components < 257 else 2
            yield _style(body[at], 0, body[at + 1 :])
        position += 2 + max(length, 2)
    return position


def _style(flags: int, layers: int, parameters: memoryview) -> _Style:
    levels = min(parameters[0], _MOST_LEVELS)
    block = (parameters[1] & 15) + 2, (parameters[2] & 15) + 2
    precincts = tuple((15, 15) for _ in range(levels + 1))
    if flags & 1:
        precincts = tuple((size & 15, size >> 4) for size in parameters[5 : 6 + levels])
    return _Style(layers, precincts, block)
