"""Indexes the frames of a video: reads the times of the frames from the packets, and stores the times in a few arrays."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np

from jdali._errors import SampleError
from jdali._system import limits
from jdali._system.extras import install
from jdali._system.open_files import opening
from jdali._system.regular_file import is_of_machine, open_regular
from jdali.codecs import ffmpeg as _ffmpeg

Source = str | BinaryIO

# Formats to open. FFmpeg would also accept playlists, but data must not refer to files of this machine.
_FORMATS = (
    "mov", "matroska", "avi", "mpegts", "mpeg", "mpegvideo", "h264", "hevc", "m4v", "ivf", "obu", "av1", "flv",
    "asf", "ogg", "mjpeg", "nut", "mxf", "dv",
)  # fmt: skip
_OPTIONS = {"format_whitelist": ",".join(_FORMATS), "protocol_whitelist": "file"}
_DEFAULT_RATE = Fraction(25)
_NO_TIMES = 0x80  # FFmpeg's flag for formats without timestamps
# An MPEG-4 packet of up to this many bytes may mean "no picture"; FFmpeg then returns no frame.
_NO_PICTURE = 19


def library() -> Any:
    package = _ffmpeg.pyav()
    if package is None:
        raise ImportError(f"video needs PyAV: {install('video')}")
    return package


@contextlib.contextmanager
def refusals(what: str) -> Iterator[None]:
    """Turns FFmpeg's errors about bad data into a `SampleError`."""
    av = library()
    try:
        yield
    except SampleError:
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise SampleError(f"{what}: {os.strerror(error.errno or 0)}") from error
    except (av.error.FFmpegError, ValueError, OSError, EOFError, OverflowError, MemoryError) as error:
        # FFmpeg raises a MemoryError if a file requests more memory than FFmpeg's limit; this is an error of the file.
        asks_too_much = isinstance(error, av.error.FFmpegError) and isinstance(error, MemoryError)
        if is_of_machine(error) and not asks_too_much:
            raise
        raise SampleError(f"{what}: {getattr(error, 'strerror', None) or error}") from error


def open_stream(source: Source, threads: int, **options: str) -> tuple[Any, Any]:
    """Opens a container at its start; returns the container and its first video stream.

    Args:
        threads: number of decoding threads; with 1, the calling thread decodes.
    """
    library()
    if not isinstance(source, str):
        source.seek(0)
    with (
        refusals("Failed to create video decoder: it cannot be opened as a video"),
        _target(source) as target,
    ):
        container = opening(lambda: _ffmpeg.open_file(target, options=_OPTIONS | options))
    try:
        streams = [s for s in container.streams.video if s.codec_context is not None]
        if not streams:
            raise SampleError("there is no stream of pictures in it (that can be decoded)")
        stream = streams[0]
        context = stream.codec_context
        check_size(context.height, context.width)
        # Also limits the sizes of later frames, which the header does not determine.
        context.options = {"max_pixels": str(limits.most("max_pixels"))}
        stream.thread_count = threads
        stream.thread_type = "AUTO" if threads != 1 else "NONE"
    except BaseException:
        container.close()
        raise
    return container, stream


@contextlib.contextmanager
def _target(source: Source) -> Iterator[object]:
    """Yields the object that FFmpeg opens.

    A path becomes a "file:" URL, because FFmpeg reads a word before a colon as a protocol.
    """
    if not isinstance(source, str):
        yield source
        return
    descriptor, _ = open_regular(source)
    try:
        # Opens the checked file by its descriptor, because the path may point to another file by now.
        opened = f"/proc/self/fd/{descriptor}"
        yield "file:" + (opened if os.path.exists(opened) else os.path.abspath(source))
    finally:
        os.close(descriptor)


def check_size(height: int, width: int) -> None:
    limits.check("max_pixels", height * width, f"video of {height}x{width}")


def check_frames(count: int, height: int, width: int) -> None:
    """Raises `SampleError` for sequences of decoded frames that exceed the limits."""
    check_size(height, width)
    limits.check("max_frames", count, f"a sequence of {count} frames")
    limits.check(
        "max_sample_bytes", count * height * width * 3, f"a sequence of {count} frames of {height}x{width}"
    )


@dataclasses.dataclass(frozen=True)
class VideoIndex:
    """The frames of a video, in display order.

    Attributes:
        ticks: int64 [frames], FFmpeg's time of each frame; some may be equal, because files round times. If a container
            stores only decoding times, the times may not ascend.
        keys: int64 [n], numbers of the key frames, where decoding can begin, ascending. Key frames that share their time
            with another frame are not among them.
        key_sizes: int64 [n], packet sizes of the key frames, bytes; they identify key frames after a seek.
        tick: length of a tick, seconds.
        height, width: size in the header, pixels.
        counted: frames have no usable times, so the decoder counts frames from the start.
    """

    ticks: np.ndarray
    keys: np.ndarray
    key_sizes: np.ndarray
    tick: Fraction
    height: int
    width: int
    counted: bool

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def start(self) -> float:
        """Time of the first frame in the file, in seconds."""
        return float(int(self.ticks.min()) * self.tick)

    @property
    def ascends(self) -> bool:
        """True if the times of the frames are known and ascend."""
        return not self.counted and bool((np.diff(self.ticks) > 0).all())

    def seconds(self) -> np.ndarray:
        """Returns the display time of each frame relative to the first one, float64 [frames], in seconds."""
        ticks = np.sort(self.ticks)
        return (ticks - ticks[0]) * self.tick.numerator / self.tick.denominator

    def key_size(self, tick: int | None) -> int | None:
        """Returns the packet size of the key frame at a time, bytes; None if no key frame has this time."""
        if tick is None:
            return None
        sizes = self.key_sizes[self.ticks[self.keys] == tick]
        return int(sizes[0]) if len(sizes) else None

    def as_arrays(self) -> dict[str, np.ndarray]:
        facts = [self.tick.numerator, self.tick.denominator, self.height, self.width, self.counted]
        return {
            "ticks": self.ticks,
            "keys": self.keys,
            "key_sizes": self.key_sizes,
            "facts": np.array(facts, np.int64),
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> VideoIndex:
        numerator, denominator, height, width, counted = arrays["facts"].tolist()
        tick = Fraction(numerator, denominator)
        keys = arrays["keys"], arrays["key_sizes"]
        return cls(arrays["ticks"], *keys, tick, height, width, bool(counted))


def build_index(source: Source) -> VideoIndex:
    """Builds the index of a video from its packets; decodes the first frame, or all frames if packets have no times.

    Raises:
        SampleError: the file is not a video, or it is damaged, truncated or too large.
    """
    _check_claims(source)
    container, stream = open_stream(source, 1)
    with contextlib.closing(container):
        height, width = stream.codec_context.height, stream.codec_context.width
        tick = Fraction(stream.time_base)
        rate = Fraction(stream.guessed_rate or stream.average_rate or _DEFAULT_RATE)
        with refusals("its packets cannot be read"):
            ticks, keys, in_order = _from_packets(source, container, stream)
        timeless = container.format.flags & _NO_TIMES
    counted = False
    if ticks is None:
        times = _frame_times(source)
        counted = None in times or bool(timeless)
        if not counted:
            ticks = np.array(times, np.int64)
            steps = np.diff(np.sort(ticks) if in_order else ticks)
            counted = bool((steps < 0).any())
        if counted:
            ticks, keys, tick = np.arange(len(times)), {}, 1 / rate
    assert ticks is not None
    if not len(ticks):
        raise SampleError("there are no frames in it")
    distinct, counts = np.unique(ticks, return_counts=True)
    found = np.intersect1d(distinct[counts == 1], np.array(list(keys), np.int64))
    starts = np.flatnonzero(np.isin(ticks, found))
    sizes = np.array([keys[int(tick)] for tick in ticks[starts]], np.int64)
    return VideoIndex(ticks, starts, sizes, tick, height, width, counted)


def _check_claims(source: Source) -> None:
    """Raises `SampleError` if the header claims more frames than the file can have."""
    if not isinstance(source, str):
        source.seek(0)
        refuse_claims(source)
        source.seek(0)
        return
    with refusals("it cannot be opened as a video"):
        descriptor, _ = open_regular(source)
        with os.fdopen(descriptor, "rb", buffering=1 << 12) as file:
            refuse_claims(file)


def _from_packets(
    source: Source, container: Any, stream: Any
) -> tuple[np.ndarray | None, dict[int, int], bool]:
    """Returns the times of frames, the sizes of key packets by time, and True if times ascend in decoding order.

    The times are None if the packets do not determine them.
    """
    times: list[int | None] = []
    keys: dict[int, int] = {}
    codec = stream.codec_context.name
    is_vp8 = codec in ("vp8", "libvpx")
    hidden, smallest = 0, _NO_PICTURE + 1
    shown: list[Any] = []  # the first frame, once decoded
    for packet in container.demux(stream):
        if not shown:
            # A later read of the frame raises the error.
            with contextlib.suppress(library().error.FFmpegError):
                shown = packet.decode()
        if not packet.size:
            continue
        if packet.is_discard or (is_vp8 and not memoryview(packet)[0] & 0x10):
            hidden += 1
            continue
        times.append(packet.pts)
        smallest = min(smallest, packet.size)
        limits.check("max_frames", len(times), "the number of frames of the video")
        if packet.is_keyframe and packet.pts is not None:
            keys[packet.pts] = packet.size
    told = stream.frames if container.format.name.startswith("mov") else 0
    if len(times) + hidden < told:
        held = _count_unedited(source)
        if held < told:
            raise SampleError(f"it is cut off or damaged: the header tells of {told} frames, it holds {held}")
    known = np.array([time for time in times if time is not None], np.int64)
    ticks = np.sort(known)
    in_order = np.array_equal(ticks, known)
    is_empty = codec == "mpeg4" and smallest <= _NO_PICTURE
    # If a container has no display times, FFmpeg guesses times in decoding order.
    guessed = container.format.flags & _NO_TIMES or (stream.codec_context.has_b_frames and in_order)
    # Times are unreliable if packets precede the first key frame (such packets may depend on missing frames), or if the
    # first frames are missing.
    first = shown[0].pts if shown else None
    clear = (
        not (guessed or is_empty)
        and len(known) == len(times)
        and keys
        and ticks[0] in keys
        and first in (None, ticks[0])
    )
    return (ticks if clear and (np.diff(ticks) > 0).all() else None), keys, in_order


def _count_unedited(source: Source) -> int:
    """Counts the packets of an MP4 or MOV file, including packets that the file's edit list skips."""
    container, stream = open_stream(source, 1, ignore_editlist="1")
    with contextlib.closing(container), refusals("its packets cannot be read"):
        return sum(packet.size > 0 for packet in container.demux(stream))


def _frame_times(source: Source) -> list[int | None]:
    container, stream = open_stream(source, 1)
    with contextlib.closing(container), refusals("its frames cannot be decoded"):
        times: list[int | None] = []
        for frame in container.decode(stream):
            times.append(frame.pts)
            limits.check("max_frames", len(times), "the number of frames of the video")
        return times


# Types of boxes in which FFmpeg looks for further boxes.
_FOLDERS = frozenset(b"moov trak mdia minf stbl moof traf mvex edts udta dinf wave".split())
# Types of boxes that hold a number of frames, and the offset of this number after the box's header, bytes.
_COUNTS = {b"stsz": 8, b"stz2": 8, b"trun": 4}
# Types of boxes that may come first in a file.
_FIRST = frozenset(b"ftyp moov mdat free skip wide pnot styp moof sidx udta".split())
_DEEPEST = 12
_LARGEST_HEADER = 1 << 28  # largest size of a compressed header after decompression, bytes


def refuse_claims(file: BinaryIO) -> None:
    """Raises `SampleError` if a file claims more frames than it has bytes."""
    size = file.seek(0, os.SEEK_END)
    claimed = 0
    for count in _counts(file, 0, size, 0):
        claimed += count
        if claimed > size:
            raise SampleError(f"its header tells of {claimed} frames in {size} bytes; it is damaged")


def _counts(file: BinaryIO, start: int, end: int, depth: int) -> Iterator[int]:
    """Yields the number of frames that each box between two offsets claims."""
    while start + 8 <= end:
        file.seek(start)
        length, kind = struct.unpack(">I4s", file.read(8).ljust(8, b"\0"))
        if depth == 0 and start == 0 and kind not in _FIRST:
            return  # the file has another format
        content = start + 8
        if length == 1:
            length = int.from_bytes(file.read(8), "big")
            content += 8
        stop = end if length == 0 else start + length
        if stop < content:
            return
        if kind in _COUNTS:
            file.seek(content + _COUNTS[kind])
            yield int.from_bytes(file.read(4), "big")
        elif kind == b"cmvd":
            yield from _of_compressed(file, content, min(stop, end), depth)
        elif (kind in _FOLDERS or kind == b"cmov") and depth < _DEEPEST:
            yield from _counts(file, content, min(stop, end), depth + 1)
        start = stop


def _of_compressed(file: BinaryIO, start: int, end: int, depth: int) -> Iterator[int]:
    """Yields the counts (see `_counts`) in a compressed header, which begins with its size (four bytes)."""
    file.seek(start + 4)
    limit = min(_LARGEST_HEADER, limits.most("max_sample_bytes"))
    try:
        header = zlib.decompressobj().decompress(file.read(max(end - start - 4, 0)), limit)
    except zlib.error:
        return  # FFmpeg will report the damage
    if len(header) == limit:
        raise SampleError(f"its header is compressed, and has more than {limit} bytes")
    if depth < _DEEPEST:
        yield from _counts(io.BytesIO(header), 0, len(header), depth + 1)
