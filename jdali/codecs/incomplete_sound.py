"""Finds truncated sound files, which libsndfile and DALI accept as shorter sounds.

Files that were written into a pipe have no length in their header. They are accepted, because their truncation cannot
be detected.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator

# Sizes of at least this mean an unknown length: programs write 0x7FFFFFFF or 0xFFFFFFFF, minus the size of a header.
UNKNOWN_LENGTH = 0x7F000000

# Head of a page: magic, version, flags, granule, stream, page number, CRC, number of segments.
_OGG_PAGE = struct.Struct("<4sBBqIIIB")
_OGG_MAGIC = re.compile(b"OggS")
_OGG_FIRST, _OGG_LAST = 2, 4
_OGG_CRC_OFFSET = 22
_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_MOST_CHUNKS = 10_000  # maximum number of chunks to read
RIFF_MAGIC = (b"RIFF", b"RF64", b"BW64")
W64_MAGIC = bytes.fromhex("726966662e91cf11a5d628db04c10000")


def missing(content: memoryview) -> str | None:
    """Describes the missing part of a file; None if the file is complete, or if its length is unknown."""
    head = bytes(content[:16])
    if head[:4] == b"OggS":
        return _missing_of_ogg(content)
    if head[:4] == b".snd" and len(content) >= 12:
        start, size = struct.unpack_from(">II", content, 4)
        chunks: Iterator[tuple[bytes, int, int | None]] = iter(
            [(b"data", start, size)] if size < UNKNOWN_LENGTH else []
        )
    elif head[:4] in RIFF_MAGIC or head == W64_MAGIC:
        chunks = wave_chunks(content)
    elif head[:4] in (b"RIFX", b"FORM"):
        chunks = _chunks(content, 12, ">4sI")
    elif head[:4] == b"caff":
        chunks = _chunks(content, 8, ">4sQ", pad=1)
    else:
        return None
    for name, start, size in chunks:
        if name in (b"data", b"SSND"):
            if size is not None and start + size > len(content):
                return f"its header says {size} bytes of sound, it holds {max(len(content) - start, 0)}"
            return None
    return None


def wave_chunks(content: memoryview) -> Iterator[tuple[bytes, int, int | None]]:
    if bytes(content[:16]) == W64_MAGIC:
        return _chunks(content, 40, "<4s12xQ", pad=8, counts_itself=True)
    return _chunks(content, 12, "<4sI")


def _chunks(
    content: memoryview, at: int, form: str, *, pad: int = 2, counts_itself: bool = False
) -> Iterator[tuple[bytes, int, int | None]]:
    """Yields name, start and size of each chunk; ends after a chunk of unknown length, whose size is None.

    Args:
        form: `struct` format of a chunk's header.
        pad: alignment of the chunks, bytes.
        counts_itself: the size in a header includes the header.
    """
    head = struct.Struct(form)
    unknown = UNKNOWN_LENGTH if head.size == 8 else 1 << 62
    large = None  # size of the data chunk in a file of more than 4 GiB
    for _ in range(_MOST_CHUNKS):
        if at + head.size > len(content):
            if at < len(content):  # the file ends within a header
                yield bytes(content[at : at + 4]), at + head.size, 0
            return
        name, size = head.unpack_from(content, at)
        start = at + head.size
        if counts_itself:
            size = max(size - head.size, 0)
        if name == b"ds64" and size >= 16 and start + 16 <= len(content):
            large = struct.unpack_from("<Q", content, start + 8)[0]
        if name == b"data" and large and size == 0xFFFFFFFF:
            size = large
        elif size >= unknown:
            yield name, start, None
            return
        yield name, start, size
        at = start + size
        at += -at % pad
    yield b"", at, None


def _missing_of_ogg(content: memoryview) -> str | None:
    """Describes the missing part of an OGG file. In a chain of OGG files, only the last file must be complete."""
    next_numbers: dict[int, int] = {}  # number of the next page of each open stream
    beginning = False
    at = 0
    while found := _OGG_MAGIC.search(content, at):
        at = found.start()
        if at + _OGG_PAGE.size > len(content):
            return "it ends within a page"
        _, _, flags, _, stream, number, crc, segments = _OGG_PAGE.unpack_from(content, at)
        body = at + _OGG_PAGE.size + segments
        end = body + sum(content[at + _OGG_PAGE.size : body])
        if end > len(content):
            return "it ends within a page"
        if _ogg_crc(bytes(content[at:end])) != crc:
            return f"the page at byte {at} is damaged"
        if flags & _OGG_FIRST and not beginning:
            next_numbers.clear()
        beginning = bool(flags & _OGG_FIRST)
        if next_numbers.get(stream, number) != number:
            return f"before byte {at} pages of its stream are missing"
        next_numbers[stream] = number + 1
        if flags & _OGG_LAST:
            del next_numbers[stream]
        at = end
    return "its last page, which ends the stream, is missing" if next_numbers else None


def _ogg_crc(page: bytes) -> int:
    """Computes a page's CRC-32, which, unlike zlib's, starts with 0 and takes the highest bit of a byte first."""
    without = page[:_OGG_CRC_OFFSET] + bytes(4) + page[_OGG_CRC_OFFSET + 4 :]
    mirrored = zlib.crc32(without.translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{mirrored:032b}"[::-1], 2)
