"""Decodes the sound of MP4 (M4A) and Matroska (WebM) files: AAC, ALAC, Opus and any other codec of FFmpeg, through av."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator
from typing import Any

from jdali._errors import SampleError
from jdali.codecs import ffmpeg as _ffmpeg
from jdali.codecs.video_index import refuse_claims
from jdali.codecs.wav import Wave, of_samples

# Each format: FFmpeg's name, and offset and value of the magic bytes.
_FORMS = (("mp4", 4, b"ftyp"), ("matroska", 0, b"\x1a\x45\xdf\xa3"))
_SEGMENT = b"\x18\x53\x80\x67"  # id of the Matroska element that holds everything after the header


def opened(content: memoryview, most_values: int) -> Wave | None:
    """Decodes the sound of a file; returns None for other formats, and without av.

    Raises `SampleError` if the file is damaged, truncated, or has more than `most_values` values.
    """
    form = next((form for form, at, magic in _FORMS if bytes(content[at : at + 4]) == magic), None)
    if form is None or _ffmpeg.pyav() is None:
        return None
    damaged = functools.partial(_ffmpeg.damaged, "MP4" if form == "mp4" else "Matroska")
    if form == "mp4":
        try:
            refuse_claims(io.BytesIO(content))
        except SampleError as error:
            raise damaged(str(error)) from error
    elif (missing := _missing(content)) > 0:
        raise damaged(f"{missing} bytes are missing at its end")
    frames = functools.partial(_frames, damaged=damaged)
    wave, rate = _ffmpeg.sound(content, form, frames, most_values, damaged)
    return of_samples(_ffmpeg.floats(wave), rate)


def _missing(content: memoryview) -> int:
    """Returns the number of bytes that a Matroska file lacks according to its header; 0 if the header has no size."""
    size, at = _number(content, 4)
    at += size or 0
    if bytes(content[at : at + 4]) != _SEGMENT:
        return 0
    size, at = _number(content, at + 4)
    return 0 if size is None else at + size - len(content)


def _number(content: memoryview, at: int) -> tuple[int | None, int]:
    """Reads a variable-length number of Matroska; returns its value (None: an unknown size) and its end."""
    first = content[at] if at < len(content) else 0
    length = 9 - first.bit_length()
    bits = 7 * length
    value = int.from_bytes(content[at : at + length], "big") & (1 << bits) - 1
    return None if value == (1 << bits) - 1 or length > 8 else value, at + length


def _frames(container: Any, stream: Any, *, damaged: Any) -> Iterator[Any]:
    """Yields all frames; raises for damaged packets, and for fewer packets than the header claims."""
    count = 0
    for packet in container.demux(stream):
        count += packet.size > 0
        if packet.is_corrupt:
            raise damaged(f"packet {count} is cut off")
        yield from packet.decode()
    if count < stream.frames:
        raise damaged(f"its header claims {stream.frames} packets, {count} are there")
