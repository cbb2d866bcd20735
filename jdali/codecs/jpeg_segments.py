"""Walks over the segments of a JPEG file as libjpeg does, and corrects flaws that libjpeg only warns about."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator

from jdali._system import limits
from jdali.codecs.base import corrupt

# Frame types: 0xC0 to 0xCF except for DHT, JPG and DAC.
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
LOSSLESS_FRAMES = frozenset({0xC3, 0xC7, 0xCB, 0xCF})
SEQUENTIAL_FRAMES = frozenset({0xC0, 0xC1})
ARITHMETIC_FRAMES = frozenset(range(0xC8, 0xD0))
PROGRESSIVE_FRAME = 0xC2
PROGRESSIVE_FRAMES = frozenset({PROGRESSIVE_FRAME, 0xC6, 0xCA, 0xCE})
START_OF_SCAN, END_OF_IMAGE, APP0, APP1, APP14, RESTART_INTERVAL = 0xDA, 0xD9, 0xE0, 0xE1, 0xEE, 0xDD
_COMMENT, _APPLICATIONS = 0xFE, frozenset(range(0xE0, 0xF0))
# Types of frames whose scans contain complete blocks, and the scan parameters of such scans.
_WHOLE_BLOCKS_FRAMES, WHOLE_BLOCKS = frozenset({0xC0, 0xC1, 0xC9}), b"\0\x3f\0"
# Matches a marker, except restart markers and markers that libjpeg skips or rejects. Also excludes stuffed and fill bytes.
_MARKER = re.compile(rb"\xff[\xc0-\xcf\xd9-\xfe]")
_RESTART = re.compile(rb"\xff[\xd0-\xd7]")
_START_OF_IMAGE, _END = b"\xff\xd8", b"\xff\xd9"
_MOST_SEGMENTS = 1 << 14  # real files have far fewer, because a segment can have 64 KB
_JFIF = b"JFIF\0\1\1\0\0\1\0\1\0\0"  # version 1.1, without a thumbnail
# The colour codes of Adobe's segment that libjpeg supports, by number of components. The last code is the default.
_ADOBE_TRANSFORMS = {3: b"\0\1", 4: b"\0\2"}


def segments(view: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """Yields marker, position and content of each segment, up to and including the end of the image.

    Skips entropy coded data and stray bytes between segments, as libjpeg does.
    """
    position = 2
    for _ in range(_MOST_SEGMENTS):
        found = _MARKER.search(view, position)
        if found is None:
            return
        position = found.start()
        marker = view[position + 1]
        if marker == END_OF_IMAGE:
            yield marker, position, view[:0]
            return
        if position + 4 > len(view):
            return
        (length,) = struct.unpack_from(">H", view, position + 2)
        yield marker, position, view[position + 4 : position + 2 + length]
        position += 2 + length
    raise corrupt("JPEG", f"it has more than {_MOST_SEGMENTS} segments")


def count_scans(view: memoryview) -> int:
    """Counts the scans of a picture, up to one more than the limit. Each scan may cost a pass over the picture."""
    scans = (marker for marker, _, _ in segments(view) if marker == START_OF_SCAN)
    return sum(1 for _ in itertools.islice(scans, limits.most("max_jpeg_scans") + 1))


def up_to_end(view: memoryview) -> memoryview:
    """Cuts off bytes after the picture; raises `SampleError` if the picture has no end marker."""
    for marker, position, _ in segments(view):
        if marker == END_OF_IMAGE:
            return view[: position + len(_END)]
    raise corrupt("JPEG", "premature end of file")


def put_right(view: memoryview, components: int) -> bytes:
    """Rewrites a file so that libjpeg does not warn: corrects segments and drops trailing bytes, but keeps the pixels.

    libjpeg reports only its first warning, so a harmless warning would hide missing data. Application segments are
    dropped unless they affect colours. If a picture of one scan has no end marker, the marker replaces the last two
    bytes of the file and the zeros before them.

    Raises `SampleError` if a picture of several scans has no end marker, or restart markers are missing.
    """
    parts: list[bytes | memoryview] = [_START_OF_IMAGE]
    frame = scan = b""
    coded = interval = 0  # offset of the entropy coded data; number of coded units between restarts
    sequential = False
    for marker, position, body in segments(view):
        if coded:
            parts.append(_with_restarts(view[coded:position], frame, scan, interval))
        if marker == END_OF_IMAGE:
            return b"".join([*parts, _END])
        coded = 0
        content = bytes(body)
        if marker in FRAMES:
            frame, sequential = content, marker in _WHOLE_BLOCKS_FRAMES
        elif marker == RESTART_INTERVAL:
            (interval,) = struct.unpack_from(">H", content)
        elif marker == START_OF_SCAN:
            coded, scan = position + 4 + len(content), content
            if sequential:
                content = content[: 2 * content[0] + 1] + WHOLE_BLOCKS
        elif marker == APP0 and content.startswith(b"JFIF\0"):
            content = content if len(content) < len(_JFIF) else _JFIF
        elif marker == APP14 and content.startswith(b"Adobe"):
            known = _ADOBE_TRANSFORMS.get(components, b"")
            if content[11:12] not in known:
                content = content[:11] + known[-1:]
        elif marker in _APPLICATIONS or marker == _COMMENT:
            continue
        parts.append(struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content)
    if not (coded and sequential and scan[0] == components):
        raise corrupt("JPEG", "premature end of file")
    # Drops the last two bytes, and zeros before them. Coded data are padded with bits of 1, so their last byte is 0 only if
    # it is the stuffed zero after 0xFF.
    last = bytes(view[coded:-2]).rstrip(b"\0")
    last += b"\0" * last.endswith(b"\xff")
    return b"".join([*parts, _with_restarts(last, frame, scan, interval), _END])


def _with_restarts(coded: bytes | memoryview, frame: bytes, scan: bytes, interval: int) -> bytes | memoryview:
    """Returns the data of a scan; raises `SampleError` if restart markers are missing."""
    if interval:
        count = -(-_coded_units(frame, scan) // interval) - 1
        found = _RESTART.findall(coded)[:count]
        if found != [bytes([0xFF, 0xD0 + n % 8]) for n in range(count)]:
            raise corrupt("JPEG", "restart markers are missing")
    return coded


def _coded_units(frame: bytes, scan: bytes) -> int:
    height, width = struct.unpack_from(">HH", frame, 1)
    sampling = {frame[at]: (frame[at + 1] >> 4, frame[at + 1] & 15) for at in range(6, 6 + 3 * frame[5], 3)}
    most_x, most_y = (max(factors) for factors in zip(*sampling.values(), strict=True))
    x, y = sampling[scan[1]] if scan[0] == 1 else (1, 1)
    return -(-width * x // (8 * most_x)) * -(-height * y // (8 * most_y))
