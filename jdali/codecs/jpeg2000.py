"""Decodes JPEG 2000 (codestreams and JP2 files) with imagecodecs if it is installed, else with Pillow."""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np
from PIL import Jpeg2KImagePlugin

from jdali._system import limits
from jdali.codecs.base import (
    UINT8,
    UINT16,
    Format,
    ImageInfo,
    Request,
    as_stored,
    begins,
    corrupt,
    imagecodecs,
    need_imagecodecs,
    open_with_pillow,
    with_channels,
)
from jdali.codecs.color import cmyk_to_rgb, gray_15bit
from jdali.types import ANY_DATA

_BOX_FILE = b"\0\0\0\x0cjP  \r\n\x87\n"
_CODESTREAM = b"\xff\x4f\xff\x51"
# Supported (horizontal, vertical) subsampling of the first three components. For other subsampling, OpenJPEG prints
# messages.
_SAMPLINGS = (((1, 1), (1, 1), (1, 1)), ((1, 1), (2, 1), (2, 1)), ((1, 1), (2, 2), (2, 2)))
# `_ENUMERATED`: first byte of a colour box if the box gives the colour space as a number. `_PROFILE_SPACE`: offset of
# the colour space in an ICC profile.
_ENUMERATED, _PROFILE_SPACE = b"\1", 16
_COLOURS = {12: "CMYK", 18: "sYCC", 24: "e-sYCC"}


class _Jpeg2000Detail(NamedTuple):
    """Fields of the header that `decode` needs. `middle` is added to signed samples; it is 0 for unsigned samples."""

    colours: str
    middle: int


def boxes(view: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Yields type and content of each box; the last box may extend to the end of the data."""
    position = 0
    while position + 8 <= len(view):
        length, kind = struct.unpack_from(">I4s", view, position)
        head = 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", view, position + 8)
            head = 16
        yield kind, view[position + head : position + length if length else None]
        if length < head:
            return
        position += length


def _opened(view: memoryview) -> tuple[memoryview, list[int], str]:
    """Returns the codestream in a JP2 file, the number of bits of each palette channel, and the colour space.

    The colour space is "CMYK", "sYCC" or "e-sYCC"; "" for all colour spaces that need no conversion.
    """
    if begins(view, _CODESTREAM):
        return view, [], ""
    depths: list[int] = []
    colours: list[str] = []
    for kind, content in boxes(view):
        if kind == b"jp2h":
            for inner, body in boxes(content):
                if inner == b"pclr":
                    depths = [(bits & 127) + 1 for bits in body[3 : 3 + body[2]]]
                elif inner == b"colr":
                    colours.append(_colours(body))
        elif kind == b"jp2c":
            return content, depths, "".join(colours[:1])
    raise corrupt("JPEG2000", "it has no codestream")


def _colours(body: memoryview) -> str:
    if begins(body, _ENUMERATED):
        return _COLOURS.get(int.from_bytes(body[3:7]), "")
    return "CMYK" if begins(body, b"CMYK", 3 + _PROFILE_SPACE) else ""


def header(view: memoryview) -> ImageInfo:
    stream, palette, colours = _opened(view)
    if not begins(stream, _CODESTREAM):
        raise corrupt("JPEG2000", "the codestream does not begin with its size")
    right, bottom, left, top = struct.unpack_from(">IIII", stream, 8)
    tile_width, tile_height = struct.unpack_from(">II", stream, 24)
    (channels,) = struct.unpack_from(">H", stream, 40)
    if min(tile_width, tile_height) == 0 or channels == 0:
        raise corrupt("JPEG2000", "it has tiles without pixels, or no channels")
    sampling = tuple((stream[43 + 3 * c], stream[44 + 3 * c]) for c in range(min(channels, 3)))
    if len(sampling) == 3 and sampling not in _SAMPLINGS:
        raise corrupt("JPEG2000", f"components with steps {sampling} are not supported")
    _check_work(stream)
    bits = max(palette or [(stream[42 + 3 * c] & 127) + 1 for c in range(channels)])
    if bits > 16:
        raise corrupt("JPEG2000", f"samples of {bits} bits are not supported")
    signs = {stream[42 + 3 * c] >> 7 for c in range(channels)}
    if len(signs) > 1:
        raise corrupt("JPEG2000", "components with and without a sign are not supported")
    if colours == "e-sYCC":
        raise corrupt("JPEG2000", "colours in e-sYCC are not supported")
    if colours == "CMYK" and (channels < 4 or bits not in (8, 16)):
        raise corrupt("JPEG2000", f"CMYK of {channels} channels of {bits} bits is not supported")
    dtype = UINT8 if bits <= 8 else UINT16
    # As in DALI, full intensity of samples with 9 to 15 bits is the maximum of uint16.
    maximum = float((1 << bits) - 1) if bits < 8 else float(np.iinfo(dtype).max)
    channels = len(palette) or channels
    detail = _Jpeg2000Detail(colours, 1 << (bits - 1) if signs == {1} else 0)
    return ImageInfo("jpeg2000", bottom - top, right - left, channels, dtype, maximum=maximum, detail=detail)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """Decodes a picture; moves signed samples into the unsigned range, as Pillow does."""
    picture = _samples(view, info)
    if info.detail.colours == "CMYK" and request.output_type != ANY_DATA:
        return cmyk_to_rgb(picture, inverted=False)
    return picture


def _samples(view: memoryview, info: ImageInfo) -> np.ndarray:
    codecs = imagecodecs()
    if codecs is None:
        if info.dtype != UINT8 or info.maximum != 255 or info.channels > 4:
            need_imagecodecs("a JPEG 2000 image of other than 8 bits or of more than 4 channels")
        if info.detail.colours == "sYCC":  # Pillow's conversion to RGB rounds differently
            need_imagecodecs("a JPEG 2000 image in sYCC")
        picture = open_with_pillow(Jpeg2KImagePlugin.Jpeg2KImageFile, view, info)
        return with_channels(as_stored(picture.convert("RGB") if picture.mode == "P" else picture))
    decoded: np.ndarray = codecs.jpeg2k_decode(view, numthreads=1)
    if info.detail.middle:
        decoded = (decoded.astype(np.int32) + info.detail.middle).astype(info.dtype)
    return with_channels(decoded)


def _matches(view: memoryview) -> bool:
    return begins(view, _BOX_FILE) or begins(view, _CODESTREAM)


FORMAT = Format("jpeg2000", _matches, header, decode, gray_15bit)


_START_OF_TILE, _START_OF_DATA, _END, _STYLE, _STYLE_OF_COMPONENT = 0xFF90, 0xFF93, 0xFFD9, 0xFF52, 0xFF53
_TILE_PART_BYTES = 14  # size of the smallest tile header, including the marker before the tile's data
_SLACK = 1 << 16
# A file may have up to _MANY_BLOCKS + _BLOCKS_PER_BYTE * (bytes of the file) code-blocks. Without this limit, a small file
# could have any number, because many code-blocks can share a packet. Real code-blocks have 32 or 64 pixels a side.
_MANY_BLOCKS = 1 << 20
_BLOCKS_PER_BYTE = 4
_MOST_STYLES = 32
_MOST_LEVELS = 32
# Bytes that OpenJPEG allocates for a sample, a code-block, a tile, and a component of a tile.
_SAMPLE_BYTES, _BLOCK_BYTES, _TILE_BYTES, _COMPONENT_BYTES = 8, 400, 6000, 1200


class _Style(NamedTuple):
    """Coding style of a tile or component. A size of n stands for 2 ** n samples.

    Attributes:
        layers: number of layers; 0 in the style of a component, which has none.
        precincts: size (x, y) of a precinct at each resolution, the lowest first.
        block: size (x, y) of a code-block.
    """

    layers: int
    precincts: tuple[tuple[int, int], ...]
    block: tuple[int, int]


def _check_work(stream: memoryview) -> None:
    """Raises `SampleError` if a codestream's markers claim more than its data can hold, or exceed the limits."""
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
    # Assumes the most expensive style for all tiles and components.
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
    """Returns the start and end of each tile along an axis, in samples, int64 [2, tiles]."""
    begins = np.arange(origin, end, size, dtype=np.int64)
    both = np.stack([np.maximum(begins, start), np.minimum(begins + size, end)])
    return -(-both // step)


def _counts(across: np.ndarray, down: np.ndarray, style: _Style) -> tuple[int, int]:
    """Counts the precincts and code-blocks of a component in all tiles."""
    precincts = blocks = 0
    highest = len(style.precincts) - 1
    for resolution, (wide, high) in enumerate(style.precincts):
        shift = highest - resolution
        columns, rows = (-(-borders >> shift) for borders in (across, down))
        precincts += _cells(columns, wide) * _cells(rows, high)
        if resolution == 0:
            blocks += _cells(columns, min(style.block[0], wide)) * _cells(rows, min(style.block[1], high))
        else:  # this resolution has three bands of half its size
            columns, rows = -(-columns >> 1), -(-rows >> 1)
            side_x, side_y = (min(b, p - 1) for b, p in zip(style.block, (wide, high), strict=True))
            blocks += 3 * _cells(columns, max(side_x, 0)) * _cells(rows, max(side_y, 0))
    return precincts, blocks


def _cells(borders: np.ndarray, exponent: int) -> int:
    """Counts the grid cells of 2 ** `exponent` samples that each interval touches; returns the sum of all counts."""
    begin, end = borders
    return int(np.where(end > begin, -(-end >> exponent) - (begin >> exponent), 0).sum())


def _styles(stream: memoryview, components: int) -> Iterator[_Style]:
    position = yield from _styles_of_header(stream, 2, components)
    while position + 12 <= len(stream) and struct.unpack_from(">H", stream, position)[0] == _START_OF_TILE:
        (size,) = struct.unpack_from(">I", stream, position + 6)
        yield from _styles_of_header(stream, position + 12, components)
        if size < _TILE_PART_BYTES:  # size 0: the last tile, which extends to the end
            return
        position += size


def _styles_of_header(stream: memoryview, position: int, components: int) -> Generator[_Style, None, int]:
    """Yields the coding styles in a header that begins at `position`; returns the header's end."""
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
