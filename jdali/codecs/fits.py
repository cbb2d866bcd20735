"""Decodes images in FITS files with astropy.

The structure of a file is checked before astropy opens it: every part must lie inside the file, and the claimed size
of a compressed image must be plausible for the size of its data.
"""

from __future__ import annotations

import io
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._system import limits
from jdali._system.extras import install
from jdali.codecs.npy import native

_BLOCK, _CARD = 2880, 80
# Maximum number of cards in a header.
_MOST_CARDS = 36 * 1000
_NUMBER = re.compile(rb"[+-]?\d{1,18}")
_ALWAYS = 1 << 20  # any compressed image may claim this many bytes
# Maximum size of an element in an unpacked tile, bytes. Floats that cannot be quantized are stored unchanged.
_ELEMENT_BYTES = 8
_GZIP_MAGIC, _GZIP_WINDOW = b"\x1f\x8b", 31
# Names of the table columns that hold tiles. Each cell is a descriptor: (length, offset) of data that follow the table.
_TILE_COLUMNS = (b"COMPRESSED_DATA", b"GZIP_COMPRESSED_DATA", b"UNCOMPRESSED_DATA")
_FORM = re.compile(rb"'?\s*(\d*)\s*([LXBIJKAEDCMPQ])")
_COLUMN_BYTES = dict(zip("LBAIJEKDCMPQ", (1, 1, 1, 2, 4, 4, 8, 8, 8, 16, 8, 16), strict=True))
_BITS = (8, 16, 32, 64, -32, -64)

Cards = dict[bytes, bytes]


def require() -> Any:
    try:
        import astropy.io.fits as library
    except ImportError as error:
        raise ImportError(f"to read FITS files, astropy is needed: {install('fits')}") from error
    return library


def decode(content: Any, indices: Sequence[int]) -> list[np.ndarray]:
    """Decodes the images of HDUs, in this machine's byte order and C order, scaled as their headers say.

    `indices` are the numbers of the HDUs, from 1.
    """
    data = bytes(content)
    found = list(_headers(data, max(indices)))
    for index in indices:
        if not 1 <= index <= len(found):
            raise SampleError(f"there is no HDU {index} in a FITS file of {len(found)}")
        cards, start, size = found[index - 1]
        _check_image(index, cards, size)
        if cards.get(b"ZIMAGE") == b"T":
            _check_tiles(index, cards, data[start : start + size])
    try:
        with require().open(io.BytesIO(data), memmap=False) as file:
            images = [file[index - 1].data for index in indices]
    except Exception as error:  # astropy may raise any internal error
        raise SampleError(f"the FITS file cannot be decoded: {type(error).__name__}: {error}") from error
    return [native(np.asarray(image)) for image in images]


def _headers(data: bytes, count: int) -> Iterator[tuple[Cards, int, int]]:
    """Yields (cards, start of the data, size of the data), in bytes, for each of the first `count` HDUs."""
    if data[:9] != b"SIMPLE  =":
        raise SampleError(
            "it is empty, no FITS file" if not data else f"it is not a FITS file: it begins with {data[:9]!r}"
        )
    at = 0
    for number in range(1, count + 1):
        cards, at = _cards(data, at, number)
        size = _data_size(cards, number)
        if at + size > len(data):
            raise SampleError(
                f"HDU {number} promises {size} bytes of data from byte {at} on, but the file has {len(data)} "
                "bytes; it is damaged or cut short"
            )
        yield cards, at, size
        at += -(-size // _BLOCK) * _BLOCK
        if data[at : at + 8] != b"XTENSION":  # trailing bytes that are no HDU do not belong to the FITS file
            return


def _cards(data: bytes, at: int, number: int) -> tuple[Cards, int]:
    """Parses the header at `at`; returns the values of its cards as text, and the start of the HDU's data."""
    cards: Cards = {}
    for start in range(at, min(len(data) - _CARD + 1, at + _MOST_CARDS * _CARD), _CARD):
        card = data[start : start + _CARD]
        key = card[:8].rstrip()
        if key == b"END":
            return cards, at + -(-(start + _CARD - at) // _BLOCK) * _BLOCK
        if card[8:10] == b"= ":
            cards.setdefault(key, card[10:].partition(b"/")[0].strip())
    raise SampleError(
        f"the header of HDU {number}, at byte {at}, has no end; the file is damaged or cut short"
    )


def _integer(cards: Cards, number: int, key: str, default: int | None = None) -> int:
    text = cards.get(key.encode())
    if text is None and default is not None:
        return default
    if text is None or not _NUMBER.fullmatch(text):
        raise SampleError(f"{key} of HDU {number} must be an integer, but is {(text or b'missing')[:30]!r}")
    return int(text)


def _shape(cards: Cards, number: int, prefix: str = "") -> list[int]:
    """Returns the lengths of the axes in file order, the fastest-varying axis first."""
    axes = _integer(cards, number, f"{prefix}NAXIS")
    if not 0 <= axes <= 32:
        raise SampleError(f"HDU {number} has {axes} axes; at most 32 can be read")
    shape = [_integer(cards, number, f"{prefix}NAXIS{axis + 1}") for axis in range(axes)]
    if min(shape, default=0) < 0:
        raise SampleError(f"HDU {number} is damaged: its extents are {shape}")
    return shape


def _tile(cards: Cards, number: int) -> list[int]:
    """Returns the shape of a tile of a compressed image; by default, a tile is a row."""
    return [
        _integer(cards, number, f"ZTILE{axis + 1}", extent if axis == 0 else 1)
        for axis, extent in enumerate(_shape(cards, number, "Z"))
    ]


def _item_size(cards: Cards, number: int, prefix: str = "") -> int:
    bits = _integer(cards, number, f"{prefix}BITPIX")
    if bits not in _BITS:
        raise SampleError(f"HDU {number} is damaged: its {prefix}BITPIX is {bits}")
    return abs(bits) // 8


def _data_size(cards: Cards, number: int) -> int:
    shape = _shape(cards, number)
    size, parameters, groups = (
        _item_size(cards, number),
        *(_integer(cards, number, key, default) for key, default in (("PCOUNT", 0), ("GCOUNT", 1))),
    )
    if parameters < 0 or groups < 0:
        raise SampleError(f"HDU {number} is damaged: its PCOUNT is {parameters} and its GCOUNT {groups}")
    return size * groups * (parameters + math.prod(shape)) if shape else 0


def _check_image(number: int, cards: Cards, size: int) -> None:
    """Raises `SampleError` if an HDU holds no image, or a compressed image of an implausible size."""
    if cards.get(b"ZIMAGE") != b"T":
        kind = cards.get(b"XTENSION", b"'IMAGE'").strip(b"' ")
        if kind != b"IMAGE":
            raise SampleError(f"HDU {number} is not an image but a {kind[:20].decode(errors='replace')}")
        if not size:
            raise SampleError(f"HDU {number} has no image")
        return
    shape, item, tile = _shape(cards, number, "Z"), _item_size(cards, number, "Z"), _tile(cards, number)
    if not shape or min(tile) < 1:
        raise SampleError(
            f"HDU {number} is damaged: its compressed image has tiles {tile} of extents {shape}"
        )
    tiles = math.prod(-(-extent // side) for extent, side in zip(shape, tile, strict=True))
    if tiles != _integer(cards, number, "NAXIS2"):
        raise SampleError(
            f"HDU {number} is damaged: {tiles} tiles, but {_integer(cards, number, 'NAXIS2')} are stored"
        )
    claimed = item * max(math.prod(shape), math.prod(tile))
    what = f"HDU {number}, a compressed image of {shape}, {claimed} bytes,"
    limits.check("max_sample_bytes", claimed, what)
    if claimed > _ALWAYS:
        limits.check("max_values_per_byte", claimed // max(size, 1), f"{what} in {size} bytes of data")


def _check_tiles(number: int, cards: Cards, data: bytes) -> None:
    """Raises `SampleError` if a gzip tile unpacks to more bytes than a tile can have; astropy would unpack them all."""
    most = _ELEMENT_BYTES * math.prod(_tile(cards, number))
    row, rows = _integer(cards, number, "NAXIS1"), _integer(cards, number, "NAXIS2")
    heap = _integer(cards, number, "THEAP", row * rows)
    if min(row, rows, heap) < 0 or row * rows > len(data):
        raise SampleError(f"HDU {number} is damaged: {rows} rows of {row} bytes, and a heap at byte {heap}")
    at = 0
    for column in range(1, _integer(cards, number, "TFIELDS", 0) + 1):
        form = _FORM.match(cards.get(b"TFORM%d" % column, b""))
        if form is None:
            raise SampleError(f"HDU {number} is damaged: its column {column} has no TFORM that is known")
        count, kind = int(form[1] or 1), form[2].decode()
        size = -(-count // 8) if kind == "X" else count * _COLUMN_BYTES[kind]
        name = cards.get(b"TTYPE%d" % column, b"").strip(b"' ")
        if name in _TILE_COLUMNS and kind in "PQ" and count and at + size <= row:
            one = np.dtype(">u4" if kind == "P" else ">u8")
            table = np.frombuffer(data, np.uint8, row * rows).reshape(rows, row)[
                :, at : at + 2 * one.itemsize
            ]
            for length, offset in np.ascontiguousarray(table).view(one).tolist():
                _check_tile(number, data[heap + offset : heap + offset + length], most)
        at += size


def _check_tile(number: int, tile: bytes, most: int) -> None:
    if not tile.startswith(_GZIP_MAGIC):
        return
    try:
        size = len(zlib.decompressobj(_GZIP_WINDOW).decompress(tile, most + 1))
    except zlib.error:
        return  # astropy will raise the error
    if size > most:
        raise SampleError(f"HDU {number} is damaged: a tile of it has more than {most} bytes")
