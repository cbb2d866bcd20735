"""MP3 by FFmpeg, through the optional package av.

libsndfile, which does it without that package, prints what it finds wrong with a file, and takes a file of
variable rate that does not say its length to be as long as the rate of its first frames would make it.
"""

from __future__ import annotations

import dataclasses
import io
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali.codecs import ffmpeg as _ffmpeg

_OTHER_FORMATS = (b"fLaC", b"OggS", b"RIFF", b"FORM")  # which libsndfile reads with an ID3 tag before them
# Kilobits a second by the four bits in a header of layer III; 0 and 15 are no numbers.
_RATES_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)
_RATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0)
_SAMPLE_RATES = (44100, 48000, 32000)  # of MPEG 1
# In the first frame of a file that says its length; then come four bytes of flags, and for each of the lowest
# two that are set four with the number of the other frames and that of bytes.
_LENGTH_TAGS = (b"Xing", b"Info")
_TAG_OFFSET = 48  # bytes of the first frame in which a tag begins


@dataclasses.dataclass(frozen=True)
class Mp3:
    """A decoded file; only decoding tells how long it is.

    Attributes:
        wave: float32 [T, C].
        sample_rate: samples a second.
    """

    wave: np.ndarray
    sample_rate: int

    @property
    def length(self) -> int:
        return len(self.wave)

    @property
    def channels(self) -> int:
        return self.wave.shape[1]

    @property
    def floats(self) -> bool:
        return True

    def read(self, first: int, count: int, dtype: np.dtype) -> np.ndarray:
        """[T, C] of float32."""
        return self.wave[first : first + count]


def opened(content: memoryview, most_values: int) -> Mp3 | None:
    """The file in memory; None if it is no MP3 file, or the package is not installed.

    Raises `SampleError` if it is damaged, cut off, or has more than `most_values` values.
    """
    start = _start(content)
    package = _ffmpeg.pyav() if start is not None else None
    if package is None or start is None:
        return None
    claimed, content = _claimed(content, start)
    parts: list[np.ndarray] = []
    rate, got = 0, 0
    try:
        with _ffmpeg.open_file(io.BytesIO(content), format="mp3") as container:
            stream = container.streams.audio[0]
            stream.thread_type = "NONE"
            for frame in _frames(container, stream, claimed):
                if parts and (frame.sample_rate != rate or frame.layout.nb_channels != len(parts[0])):
                    raise _damaged("its rate or number of channels changes")
                rate = frame.sample_rate
                parts.append(frame.to_ndarray())
                got += frame.samples
                if got * len(parts[0]) > most_values:
                    raise _damaged(f"{len(content)} bytes have more than {most_values} values")
    except (package.error.FFmpegError, IndexError) as error:
        reason = getattr(error, "strerror", None) or "there is no sound in it"
        raise _damaged(f"{reason}, after {got} decoded samples") from error
    if not parts:
        raise _damaged("there is no frame in it")
    return Mp3(np.ascontiguousarray(np.concatenate(parts, axis=1).T), rate)


def _damaged(reason: str) -> SampleError:
    return SampleError(f"decoders.audio: damaged or cut off MP3 file: {reason}")


def tag_size(content: memoryview) -> int:
    """Bytes of the ID3 tag before a file; 0 if there is none."""
    if bytes(content[:3]) != b"ID3":
        return 0
    size = bytes(content[6:10])
    return 10 + sum((byte & 127) << 7 * (3 - i) for i, byte in enumerate(size))


def _start(content: memoryview) -> int | None:
    """Finds the first frame; None if it is another format."""
    start = tag_size(content)
    if start:
        return None if bytes(content[start : start + 4]) in _OTHER_FORMATS else start
    return start if len(content) > 3 and content[0] == 0xFF and content[1] & 0xE0 == 0xE0 else None


def _claimed(content: memoryview, start: int) -> tuple[int, memoryview]:
    """The number of frames by the tag in the first one (0: there is none), and the file up to their end.

    Where the tag has another number of bytes, it gets the right one, for FFmpeg would leave the silence that
    encoders put at the end.
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


def _frames(container: Any, stream: Any, claimed: int) -> Iterator[Any]:
    """All frames, which must be as many as `claimed`; zeros after the last one are passed over."""
    count = 0
    for packet in container.demux(stream):
        data = bytes(packet)
        if data and not any(data):
            continue
        frames = packet.decode()
        count += bool(data)  # of frames at the borders that are not to be heard nothing comes
        if data and len(data) < _frame_size(data):
            raise _damaged(f"a frame of {_frame_size(data)} bytes has {len(data)}")
        yield from frames
    if count < claimed:
        raise _damaged(f"its header claims {claimed} frames, {count} could be decoded")


def _frame_size(header: bytes) -> int:
    """Bytes of a frame of layer III; 0 of anything else."""
    first, second = header[1:3] if len(header) > 2 else (0, 0)
    version, rate, sample_rate = first >> 3 & 3, second >> 4, second >> 2 & 3
    if first >> 1 & 3 != 1 or version == 1 or sample_rate == 3:
        return 0
    is_first = version == 3
    kilobits = (_RATES_1 if is_first else _RATES_2)[rate]
    if not kilobits:
        return 0
    divisor = {3: 1, 2: 2, 0: 4}[version]
    return (144 if is_first else 72) * kilobits * 1000 * divisor // _SAMPLE_RATES[sample_rate] + (
        second >> 1 & 1
    )
