"""Decodes MP3 and MPEG layers I and II with FFmpeg, through the optional package av.

Without av, libsndfile decodes these formats, and prints messages about damaged files. If a file has a variable rate and
no stored length, libsndfile estimates the length from the first frames.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from typing import Any

from jdali.codecs import ffmpeg as _ffmpeg
from jdali.codecs import wav as _wav

# Magic bytes of other formats that may follow an ID3 tag.
_OTHER_FORMATS = (b"fLaC", b"OggS", b"RIFF", b"RF64", b"BW64", b"FORM")
# (is MPEG 1, layer): bit rates in kbit/s, indexed by four bits of the header. Codes 0 and 15 are rejected.
_RATES = {
    (True, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 0),
    (True, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0),
    (True, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    (False, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 0),
    (False, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
    (False, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
_SAMPLE_RATES = (44100, 48000, 32000)  # in MPEG 1
# The first frame may have a tag with the file's length: one of these names, four bytes of flags, then numbers of four
# bytes. The number of frames after the first is present if flag 1 is set, the number of bytes if flag 2 is set.
_LENGTH_TAGS = (b"Xing", b"Info")
_damaged = functools.partial(_ffmpeg.damaged, "MP3")
_TAG_OFFSET = 48  # the tag begins within this many bytes of the start of the frame


def opened(content: memoryview, most_values: int) -> _wav.Wave | None:
    """Decodes an MP3 file, or MP3 in a WAV file; returns None for other formats, and without av.

    Raises `SampleError` if the file is damaged, truncated, or has more than `most_values` values.
    """
    content = _wav.mpeg(content) or content
    start = _start(content)
    if start is None or _ffmpeg.pyav() is None:
        return None
    claimed, content = _claimed(content, start)
    frames = functools.partial(_frames, claimed=claimed)
    wave, rate = _ffmpeg.sound(content, "mp3", frames, most_values, _damaged)
    return _wav.of_samples(_ffmpeg.floats(wave), rate)


def tag_size(content: memoryview) -> int:
    """Returns the size of the ID3 tag at the start of a file, bytes; 0 without a tag."""
    if bytes(content[:3]) != b"ID3":
        return 0
    size = bytes(content[6:10])
    return 10 + sum((byte & 127) << 7 * (3 - i) for i, byte in enumerate(size))


def untagged(content: memoryview) -> memoryview:
    """Removes an ID3 tag in front of another format, because libsndfile rejects some files with such a tag."""
    start = tag_size(content)
    return content[start:] if bytes(content[start : start + 4]) in _OTHER_FORMATS else content


def _start(content: memoryview) -> int | None:
    """Returns the offset of the first frame; None for other formats."""
    start = tag_size(content)
    if is_aac(content[start:]):
        return None
    return start if start or (len(content) > 3 and content[0] == 0xFF and content[1] & 0xE0 == 0xE0) else None


def is_aac(content: memoryview) -> bool:
    """Returns True for an AAC stream, whose frames begin like MPEG frames of layer 0."""
    return len(content) > 3 and content[0] == 0xFF and content[1] & 0xF6 == 0xF0


def _claimed(content: memoryview, start: int) -> tuple[int, memoryview]:
    """Returns the number of frames that the length tag claims (0 without a tag), and the file up to the end of these frames.

    The tag may also state the number of bytes. A wrong number is corrected in a copy of the file, because it would make
    FFmpeg keep the silence that encoders append.
    """
    head = bytes(content[start : start + _TAG_OFFSET + 16])
    offset = max(head.find(tag, 0, _TAG_OFFSET) for tag in _LENGTH_TAGS)
    if offset < 0 or len(head) < offset + 16:
        return 0, content
    flags, frames, size_told = struct.unpack_from(">III", head, offset + 4)
    if not flags & 1:
        return 0, content
    end = start
    for _ in range(1 + frames):
        size = _frame_size(bytes(content[end : end + 3]))
        if not size:
            return frames, content
        end += size
    if flags & 2 and size_told != end - start and end - start >= offset + 16:
        content = memoryview(bytearray(content[:end]))
        struct.pack_into(">I", content, start + offset + 12, end - start)
    return frames, content[:end]


def _frames(container: Any, stream: Any, *, claimed: int) -> Iterator[Any]:
    """Yields all frames; skips packets of zeros. Raises `SampleError` for fewer than `claimed` frames."""
    count = 0
    decoder = _ffmpeg.float_decoder(stream.codec_context)
    for packet in container.demux(stream):
        data = bytes(packet)
        if data and not any(data):
            continue
        frames = decoder.decode(packet)
        count += bool(data)  # counts packets, since the decoder drops silent frames at start and end
        if data and len(data) < _frame_size(data):
            raise _damaged(f"a frame of {_frame_size(data)} bytes has {len(data)}")
        yield from frames
    if count < claimed:
        raise _damaged(f"its header claims {claimed} frames, {count} could be decoded")


def _frame_size(header: bytes) -> int:
    """Computes the size of a frame from its header, bytes; 0 if the bytes are not a header."""
    first, second = header[1:3] if len(header) > 2 else (0, 0)
    version, layer, sample_rate = first >> 3 & 3, 4 - (first >> 1 & 3), second >> 2 & 3
    if layer == 4 or version == 1 or sample_rate == 3:
        return 0
    is_first = version == 3
    kilobits = _RATES[is_first, layer][second >> 4]
    if not kilobits:
        return 0
    rate, padding = _SAMPLE_RATES[sample_rate] // {3: 1, 2: 2, 0: 4}[version], second >> 1 & 1
    if layer == 1:
        return (12 * kilobits * 1000 // rate + padding) * 4
    return (144 if is_first or layer == 2 else 72) * kilobits * 1000 // rate + padding
