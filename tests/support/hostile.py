"""Small files whose headers ask for much: what is written here is valid as far as its format goes."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image

from support.pictures import PNG_SIGNATURE, png_chunk

_MIB = 1 << 20


def png_with_surplus(size: int, mebibytes: int, *, depth: int = 8, interlaced: bool = False) -> bytes:
    """A black square of RGB, whose stream goes on for some mebibytes after the last row."""
    row = 1 + 3 * size * depth // 8
    # Blocks that refer to nothing before them can be repeated without compressing them again.
    packer = zlib.compressobj(9)
    rows = 2 * size * row + 1024
    head = packer.compress(bytes(rows)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(_MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    # An empty last block, and the checksum of zeros.
    end = b"\x03\0" + struct.pack(">HH", (rows + mebibytes * _MIB) % 65521, 1)
    header = struct.pack(">IIBBBBB", size, size, depth, 2, 0, 0, interlaced)
    data = head + block * mebibytes + end
    return b"".join(
        [PNG_SIGNATURE, png_chunk(b"IHDR", header), png_chunk(b"IDAT", data), png_chunk(b"IEND", b"")]
    )


def jpeg_of_scans(size: int, scans: int) -> bytes:
    """A progressive gray square that has its last scan many times."""
    out = io.BytesIO()
    Image.new("L", (size, size), 128).save(out, "jpeg", progressive=True, quality=10, optimize=True)
    data = out.getvalue()
    last = data.rindex(b"\xff\xda")
    return data[:last] + data[last:-2] * scans + data[-2:]


def jpeg2000(
    height: int,
    width: int,
    *,
    components: int = 1,
    tile: tuple[int, int] | None = None,
    levels: int = 0,
    precinct: int | None = None,
    block: int = 4,
    layers: int = 1,
    where: str = "header",
) -> bytes:
    """A codestream of one empty tile.

    Args:
        height, width, components: of the picture.
        tile: height and width of a tile; None: those of the picture.
        levels: of the wavelet transform.
        precinct: exponent of the side of precincts; None: as large as possible.
        block: exponent of the side of code-blocks, less 2.
        layers: of quality.
        where: "header", or "tile", "component": precincts and blocks are told by a marker of a tile or a component.
    """
    tall, wide = tile or (height, width)
    sizes = struct.pack(">H8IH", 0, width, height, 0, 0, wide, tall, 0, 0, components)
    style = bytes([levels, block, block, 0, 1])
    special = (
        bytes([precinct is not None]),
        style + bytes([17 * (precinct or 0)] * (levels + 1)) * (precinct is not None),
    )
    usual = bytes([0]), bytes([levels, 4, 4, 0, 1])
    flags, parameters = special if where == "header" else usual
    number = struct.pack(">BHB", 0, layers, 0)
    marks = b"\xff\x4f" + _mark(0x51, sizes + b"\x07\x01\x01" * components)
    marks += _mark(0x52, flags + number + parameters)
    if where == "component":
        marks += _mark(0x53, b"\0" + special[0] + special[1])
    marks += _mark(0x5C, b"\x40" + b"\x40" * (1 + 3 * levels))
    inner = _mark(0x52, special[0] + number + special[1]) if where == "tile" else b""
    body = inner + b"\xff\x93" + bytes(40)
    return marks + _mark(0x90, struct.pack(">HIBB", 0, 12 + len(body), 0, 1)) + body + b"\xff\xd9"


def _mark(kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, kind, 2 + len(body)) + body


def tiff(
    height: int,
    width: int,
    *,
    compression: int = 1,
    channels: int = 1,
    tile: tuple[int, int] | None = None,
    size: int = 8,
) -> bytes:
    """A file whose strip or tile has `size` bytes."""
    tags = {256: width, 257: height, 258: 8, 259: compression, 262: 1, 277: channels}
    if tile is None:
        tags |= {273: 8, 278: height, 279: size}
    else:
        tags |= {322: tile[1], 323: tile[0], 324: 8, 325: size}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, tags[tag]) for tag in sorted(tags))
    return (
        b"II*\0"
        + struct.pack("<I", 8 + size)
        + bytes(size)
        + struct.pack("<H", len(tags))
        + entries
        + bytes(4)
    )


def bmp(height: int, width: int, bits: int) -> bytes:
    """A header without pixels."""
    colors = bytes(4 << bits) if bits <= 8 else b""
    start = 54 + len(colors)
    return b"BM" + struct.pack(
        "<IIIIiiHHIIiiII", start, 0, start, 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0
    ) + colors  # fmt: skip


def webp(height: int, width: int) -> bytes:
    """The header of a lossless picture."""
    body = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(5)
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBPVP8L" + struct.pack("<I", len(body)) + body


def wav(samples: Sequence[int], rate: int, *, channels: int = 1) -> bytes:
    """A sound of 16 bits."""
    data = struct.pack(f"<{len(samples)}h", *samples)
    layout = struct.pack("<HHIIHH", 1, channels, rate, 2 * channels * rate, 2 * channels, 16)
    return (
        b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + layout
        + b"data" + struct.pack("<I", len(data)) + data
    )  # fmt: skip


def flac(length: int) -> bytes:
    """A header that claims so many samples."""
    fields = (44100 << 44) | (15 << 36) | length
    return (
        b"fLaC"
        b"\x80"
        + (34).to_bytes(3, "big")
        + struct.pack(">HH", 4096, 4096)
        + bytes(6)
        + fields.to_bytes(8, "big")
        + bytes(16)
    )


def npy(text: str, data: bytes = b"", *, padding: int = 0) -> bytes:
    """An array with this text as its header."""
    head = text.encode() + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + data


def fits_of_gzip(mebibytes: int) -> bytes:
    """A compressed image of 16 x 16, whose tiles unpack to some mebibytes."""
    fits = pytest.importorskip("astropy.io.fits")
    image = fits.CompImageHDU(np.zeros((16, 16), np.int16), compression_type="GZIP_1")
    out = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), image]).writeto(out)
    table = fits.open(io.BytesIO(out.getvalue()), disable_image_compression=True)[1]
    tile = np.frombuffer(gzip.compress(bytes(mebibytes << 20)), np.uint8)
    tiles = np.empty(16, object)
    tiles[:] = [tile] * 16
    column = fits.Column("COMPRESSED_DATA", format="1PB()", array=tiles)
    out = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns([column], header=table.header)]).writeto(
        out
    )
    return out.getvalue()


def mp4(frames: int, *, frame_bytes: int = 1, fragment: bool = False, compressed: bool = False) -> bytes:
    """A video whose table, or fragment, claims so many frames of one size; it holds 64 bytes of them.

    Args:
        frames: how many.
        frame_bytes: of each.
        fragment: they are in a fragment.
        compressed: the header is compressed.
    """
    start = _box(b"ftyp", b"isom\0\0\2\0isom")
    codec = _box(
        b"jpeg",
        bytes(6) + struct.pack(">H", 1) + bytes(16) + struct.pack(">HHII", 48, 32, 0x480000, 0x480000)
        + bytes(4) + struct.pack(">H", 1) + bytes(32) + struct.pack(">Hh", 24, -1),
    )  # fmt: skip
    known = 0 if fragment else frames
    table = [
        _full(b"stsd", struct.pack(">I", 1) + codec),
        _full(b"stts", struct.pack(">III", 1, known, 1) if known else bytes(4)),
        _full(b"stsc", struct.pack(">IIII", 1, 1, known, 1) if known else bytes(4)),
        _full(b"stsz", struct.pack(">II", frame_bytes if known else 0, known)),
        _full(b"stco", struct.pack(">II", 1, len(start) + 8) if known else bytes(4)),
    ]
    source = _box(b"dinf", _full(b"dref", struct.pack(">I", 1) + _full(b"url ", b"", flags=1)))
    inner = _box(b"minf", _full(b"vmhd", bytes(8), flags=1) + source + _box(b"stbl", b"".join(table)))
    media = (
        _full(b"mdhd", struct.pack(">IIIIHH", 0, 0, 1000, known, 0, 0))
        + _full(b"hdlr", bytes(4) + b"vide" + bytes(12) + b"v\0") + inner
    )  # fmt: skip
    matrix = struct.pack(">9i", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    track = _full(
        b"tkhd",
        struct.pack(">5I", 0, 0, 1, 0, known) + bytes(16) + matrix + struct.pack(">II", 48 << 16, 32 << 16),
        flags=3,
    )
    movie = _full(
        b"mvhd",
        struct.pack(">IIIIIH", 0, 0, 1000, known, 0x10000, 0x100) + bytes(10) + matrix + bytes(24)
        + struct.pack(">I", 2),
    )  # fmt: skip
    movie += _box(b"trak", track + _box(b"mdia", media))
    if fragment:
        movie += _box(b"mvex", _full(b"trex", struct.pack(">5I", 1, 1, 1, frame_bytes, 0)))
    moov = _box(b"moov", movie)
    if compressed:
        packed = _box(b"cmvd", struct.pack(">I", len(moov)) + zlib.compress(moov))
        moov = _box(b"moov", _box(b"cmov", _box(b"dcom", b"zlib") + packed))
    file = start + _box(b"mdat", bytes(64)) + moov
    if fragment:
        run = _full(b"trun", struct.pack(">Ii", frames, 8), flags=1)
        part = _full(b"tfhd", struct.pack(">I", 1), flags=0x20000) + _full(b"tfdt", bytes(4)) + run
        file += _box(b"moof", _full(b"mfhd", struct.pack(">I", 1)) + _box(b"traf", part))
        file += _box(b"mdat", bytes(64))
    return file


def _box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def _full(kind: bytes, body: bytes, *, flags: int = 0) -> bytes:
    return _box(kind, struct.pack(">I", flags) + body)
