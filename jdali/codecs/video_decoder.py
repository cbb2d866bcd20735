"""Reads frames of an open video by number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from jdali._batches import empty
from jdali._errors import SampleError
from jdali.codecs.exif import is_turned, stored
from jdali.codecs.video_index import Source, VideoIndex, check_frames, library, open_stream, refusals
from jdali.types import RGB, DALIImageType

# Output channel of each of FFmpeg's planes. Planar RGB is stored as green, blue, red.
_RGB_CHANNELS, _YUV_CHANNELS = (1, 2, 0), (0, 1, 2)
_ONE = 1 << 16  # fixed-point 1 in FFmpeg's matrices
# EXIF orientation for each matrix (x to x, x to y, y to x, y to y) that maps stored positions to shown positions.
_TURNS = {
    (1, 0, 0, 1): 1, (-1, 0, 0, 1): 2, (-1, 0, 0, -1): 3, (1, 0, 0, -1): 4,
    (0, 1, 1, 0): 5, (0, 1, -1, 0): 6, (0, -1, -1, 0): 7, (0, -1, 1, 0): 8,
}  # fmt: skip


def orientation(frame: Any) -> int:
    """Returns the EXIF orientation of a frame, 1 to 8; the metadata of the video contain it as a matrix.

    Raises:
        SampleError: the angle of rotation is not a multiple of 90°.
    """
    data = frame.side_data.get("DISPLAYMATRIX")
    if data is None:
        return 1
    matrix = np.frombuffer(data, np.int32)[[0, 1, 3, 4]] / _ONE
    turn = _TURNS.get(tuple(np.round(matrix, 3).tolist()))
    if turn is None:
        raise SampleError(f"the video is to be turned by {frame.rotation}°, which is not a multiple of 90°")
    return turn


class Converter:
    """Converts frames to pixels; caches FFmpeg's state for a format, so use one converter for each video."""

    def __init__(self) -> None:
        av = library()
        flags = av.video.reformatter.Interpolation
        self._smooth = flags.BILINEAR | flags.ACCURATE_RND | flags.FULL_CHR_H_INT
        self._colors = av.video.reformatter
        self._reformatter = av.video.reformatter.VideoReformatter()

    def __call__(self, frame: Any, out: np.ndarray, image_type: DALIImageType = RGB) -> None:
        """Writes a frame's pixels to `out`, uint8 [height, width, 3].

        `image_type` is RGB or YCbCr. YCbCr is in studio range by BT.601, as image decoders return it.
        """
        # Uses one thread, because several samples are processed in parallel.
        common = {"interpolation": self._smooth, "threads": 1}
        if image_type != RGB:
            planes = self._reformatter.reformat(
                frame, format="yuv444p", dst_colorspace=self._colors.Colorspace.ITU601,
                dst_color_range=self._colors.ColorRange.MPEG, **common,
            )  # fmt: skip
            _interleave(planes, _YUV_CHANNELS, out)
        elif frame.width % 2:
            # For an odd width, planar output would differ by 1 from packed output in the last column.
            packed = self._reformatter.reformat(frame, format="rgb24", **common)
            out[...] = _rows(packed.planes[0])[: frame.height, : frame.width * 3].reshape(out.shape)
        else:
            # Converting to planes and interleaving them is six times as fast as FFmpeg's code for packed pixels.
            planes = self._reformatter.reformat(frame, format="gbrp", **common)
            _interleave(planes, _RGB_CHANNELS, out)


def _interleave(frame: Any, channels: tuple[int, ...], out: np.ndarray) -> None:
    for plane, channel in zip(frame.planes, channels, strict=True):
        out[..., channel] = _rows(plane)[: frame.height, : frame.width]


def _rows(plane: Any) -> np.ndarray:
    """Returns the rows of a plane, including their padding, uint8 [rows, bytes]."""
    return np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)


PADDING = -1  # number of a padding frame


class VideoDecoder:
    """Decodes frames of an open video, in one thread at a time.

    If the wanted frame lies ahead of the current position, and no key frame lies between them, decoding continues.
    Otherwise, the decoder seeks to the last key frame up to the wanted frame.
    """

    def __init__(self, source: Source, index: VideoIndex):
        self._source, self._index = source, index
        self._by_time = np.argsort(index.ticks, kind="stable")
        self._convert = Converter()
        self._wanted = 0  # number of the frame to decode up to
        self._container: Any = None
        self._stream: Any = None
        self._begin()
        # Becomes False once a wanted frame does not come out, because the marks of the stream may be wrong.
        self._leaves_out = index.ascends and self._marks_references()

    @property
    def position(self) -> int:
        """Number of the frame that will be decoded next."""
        return self._position

    def read(
        self,
        numbers: np.ndarray,
        *,
        image_type: DALIImageType = RGB,
        fill: tuple[int, ...] = (0,),
        upright: bool = False,
    ) -> np.ndarray:
        """Reads frames by number.

        Args:
            numbers: [n], numbers of the frames, in any order and possibly repeated; `PADDING` stands for a padding frame.
            image_type: RGB or YCbCr (studio range).
            fill: value of padding frames: one number for all channels, or a number for each channel.
            upright: rotate frames as the metadata say.

        Returns: uint8 [n, height, width, 3].

        Raises:
            SampleError: a frame cannot be decoded, or is damaged.
        """
        check_frames(len(numbers), self._index.height, self._index.width)
        positions: dict[int, list[int]] = {}
        for position, number in enumerate(numbers.tolist()):
            positions.setdefault(number, []).append(position)
        padded = positions.pop(PADDING, [])
        result: np.ndarray | None = None
        for number in sorted(positions):
            if not 0 <= number < len(self._index):
                raise SampleError(f"there is no frame {number}, the video has {len(self._index)}")
            frame = self._frame(number)
            height, width, turn = self._shown(frame, upright)
            if result is None:
                result = self._allocate(len(numbers), height, width)
            if (height, width) != result.shape[1:3]:
                raise SampleError(
                    f"frame {number} is {height}x{width}, those before it are {result.shape[1]}x{result.shape[2]}"
                )
            first, *others = positions[number]
            with refusals(f"frame {number} cannot be converted"):
                self._convert(frame, stored(result[first], turn), image_type)
            for position in others:
                result[position] = result[first]
        if result is None:
            height, width = self._index.height, self._index.width
            if upright:
                height, width, _ = self._shown(self._frame(0), upright)
            result = self._allocate(len(numbers), height, width)
        if padded:
            result[padded] = fill
        return result

    def close(self) -> None:
        self._stop()
        if not isinstance(self._source, str):
            self._source.close()

    def _stop(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = self._stream = None

    def _frame(self, number: int) -> Any:
        keys = self._index.keys
        key = int(np.searchsorted(keys, number, "right")) - 1
        near = key < 0 or keys[key] <= self._position
        if self._position <= number and near:
            frame = self._forward(number)
            if frame is not None:
                return frame
        # A seek may overshoot, and decoding may not start cleanly at a key frame. So this loop tries earlier key frames, at
        # growing distances, and finally the start of the file.
        back = 0
        while back <= key:
            self._seek(int(keys[key - back]))
            frame = self._forward(number)
            if frame is not None:
                return frame
            back = 2 * back + 1
        self._begin()
        frame = self._forward(number)
        if frame is None:
            raise SampleError(f"frame {number} cannot be decoded")
        return frame

    def _forward(self, number: int) -> Any | None:
        """Decodes up to a frame and returns it; returns None if the frame does not come out."""
        self._wanted = number
        with refusals(f"frame {number} cannot be decoded"):
            for frame in self._frames:
                got = self._number(frame)
                if got is None:
                    continue
                self._position = got + 1
                if self._leaves_out and frame.interlaced_frame:
                    break  # a packet may be one of the two fields of a frame
                if got == number:
                    if frame.is_corrupt:
                        raise SampleError(f"frame {number} is damaged")
                    return frame
                if got > number:
                    break
            else:
                self._position = len(self._index)
        self._leaves_out = False
        return None

    def _number(self, frame: Any) -> int | None:
        if self._index.counted:
            return self._position
        return self._at(frame.pts)

    def _at(self, tick: int | None) -> int | None:
        """Returns the number of the frame with the time `tick`; None if no frame has this time.

        If several frames have this time, it is the one that follows the last decoded frame, or else the first of them.
        """
        if tick is None:
            return None
        ticks = self._index.ticks
        if self._position < len(ticks) and ticks[self._position] == tick:
            return self._position
        place = int(np.searchsorted(ticks, tick, sorter=self._by_time))
        number = int(self._by_time[place]) if place < len(ticks) else -1
        return number if ticks[number] == tick else None

    def _marks_references(self) -> bool:
        """Returns True if the stream marks all frames to which no other frame refers, as FFmpeg understands the marks.

        In HEVC, frames of higher temporal layers may refer to marked frames. The header of an MP4 or Matroska file (hvcC)
        has the number of layers in its byte 21.
        """
        context = self._stream.codec_context
        header = context.extradata or b""
        has_one_layer = len(header) > 21 and header[0] == 1 and header[21] >> 3 & 7 == 1
        return context.name == "h264" or (context.name == "hevc" and has_one_layer)

    def _begin(self) -> None:
        self._stop()
        self._container, self._stream = open_stream(self._source, threads=1)
        self._frames = self._decode()
        self._position = 0

    def _seek(self, key: int) -> None:
        with refusals(f"cannot go to frame {key}"):
            self._container.seek(int(self._index.ticks[key]), stream=self._stream)
        self._frames = self._decode_from_key()
        self._position = key

    def _decode(self) -> Iterator[Any]:
        for packet in self._container.demux(self._stream):
            yield from self._decoded(packet)

    def _decoded(self, packet: Any) -> list[Any]:
        """Decodes a packet. Leaves out frames before the wanted frame to which no other frame refers."""
        before = packet.pts is not None and packet.pts < self._index.ticks[self._wanted]
        self._stream.codec_context.skip_frame = "NONREF" if before and self._leaves_out else "DEFAULT"
        frames: list[Any] = packet.decode()
        return frames

    def _decode_from_key(self) -> Iterator[Any]:
        """Decodes frames after a seek; yields no frame if the first key packet or the first frame is not the expected one."""
        packets = self._container.demux(self._stream)
        # Skips packets before a key frame. Some decoders return grey pictures for packets whose reference frames are missing.
        first = next((packet for packet in packets if packet.size and packet.is_keyframe), None)
        if first is None or self._index.key_size(first.pts) != first.size:
            return
        frames = (frame for packet in itertools.chain([first], packets) for frame in self._decoded(packet))
        shown = next(frames, None)
        # Rejects a first frame whose number is above the key frame's. In H.264 with gradual refresh, FFmpeg returns
        # such a frame after a seek, and the frame may be incomplete.
        number = None if shown is None else self._at(shown.pts)
        if number is not None and number <= (self._at(first.pts) or 0):
            yield shown
            yield from frames

    @staticmethod
    def _shown(frame: Any, upright: bool) -> tuple[int, int, int]:
        """Returns height and width of the result for a frame, and the EXIF orientation to apply."""
        with refusals("the metadata of its rotation cannot be read"):
            turn = orientation(frame) if upright else 1
        height, width = frame.height, frame.width
        return (width, height, turn) if is_turned(turn) else (height, width, turn)

    @staticmethod
    def _allocate(count: int, height: int, width: int) -> np.ndarray:
        check_frames(count, height, width)
        return empty((count, height, width, 3), np.uint8)
