"""Frames of an open video by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali.codecs.video_index import Source, VideoIndex, check_frames, open_stream, refusals
from jdali.codecs.video_pixels import Converter
from jdali.types import RGB, DALIImageType

PADDING = -1  # in place of the number of a frame


class VideoDecoder:
    """An open video; for one thread at a time.

    Frames that follow one another are decoded on; for another one decoding begins at the key frame before it.

    Args:
        source: the video.
        index: its index.
        threads: that decode; 1: the thread that calls.
    """

    def __init__(self, source: Source, index: VideoIndex, *, threads: int = 1):
        self._source, self._index, self._threads = source, index, threads
        self._convert = Converter()
        self._container: Any = None
        self._stream: Any = None
        self._begin()

    @property
    def position(self) -> int:
        """Number of the frame that comes next without seeking."""
        return self._position

    def read(
        self, numbers: np.ndarray, *, image_type: DALIImageType = RGB, fill: tuple[int, ...] = (0,)
    ) -> np.ndarray:
        """Frames by number.

        Args:
            numbers: [n], in any order, also repeated; `PADDING` where there is none.
            image_type: RGB or YCbCr (studio range).
            fill: value of padding, one or one a channel.

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
            if result is None:
                result = self._allocate(len(numbers), frame.height, frame.width)
            if (frame.height, frame.width) != result.shape[1:3]:
                raise SampleError(
                    f"frame {number} is {frame.height}x{frame.width}, those before it are "
                    f"{result.shape[1]}x{result.shape[2]}"
                )
            first, *others = positions[number]
            with refusals(f"frame {number} cannot be converted"):
                self._convert(frame, result[first], image_type)
            for position in others:
                result[position] = result[first]
        if result is None:
            result = self._allocate(len(numbers), self._index.height, self._index.width)
        if padded:
            result[padded] = fill
        return result

    def close(self) -> None:
        """Closes the video, and the file that it was opened from."""
        self._stop()
        if not isinstance(self._source, str):
            self._source.close()

    def _stop(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = self._stream = None

    # --- one frame --------------------------------------------------------------------------
    def _frame(self, number: int) -> Any:
        """The frame with a number, decoded; the next one is then `number + 1`."""
        keys = self._index.keys
        key = int(np.searchsorted(keys, number, "right")) - 1
        near = self._index.counted or key < 0 or keys[key] <= self._position
        if self._position <= number and near:
            frame = self._forward(number)
            if frame is not None:
                return frame
        # Containers may lead to a position after the one asked for; then the key frames before are tried.
        for start in (*range(key, max(key - 3, -1), -1), None):
            if start is None or self._index.counted:
                self._begin()
            else:
                self._seek(int(keys[start]))
            frame = self._forward(number)
            if frame is not None:
                return frame
        raise SampleError(f"frame {number} cannot be decoded")

    def _forward(self, number: int) -> Any | None:
        """Decodes up to a frame; None if it does not come."""
        with refusals(f"frame {number} cannot be decoded"):
            for frame in self._frames:
                got = self._number(frame)
                if got is None:
                    continue
                self._position = got + 1
                if got == number:
                    if frame.is_corrupt:
                        raise SampleError(f"frame {number} is damaged")
                    return frame
                if got > number:
                    return None
        self._position = len(self._index)
        return None

    def _number(self, frame: Any) -> int | None:
        if self._index.counted:
            return self._position
        ticks = self._index.ticks
        if frame.pts is None:
            return None
        number = int(np.searchsorted(ticks, frame.pts))
        return number if number < len(ticks) and ticks[number] == frame.pts else None

    # --- where decoding goes on ---------------------------------------------------------------
    def _begin(self) -> None:
        """Opens the video (again), at its start."""
        self._stop()
        if not isinstance(self._source, str):
            self._source.seek(0)
        self._container, self._stream = open_stream(self._source, self._threads)
        self._frames = self._decode(wait_for_key=False)
        self._position = 0

    def _seek(self, key: int) -> None:
        with refusals(f"cannot go to frame {key}"):
            self._container.seek(int(self._index.ticks[key]), stream=self._stream)
        self._frames = self._decode(wait_for_key=True)
        self._position = key

    def _decode(self, *, wait_for_key: bool) -> Iterator[Any]:
        for packet in self._container.demux(self._stream):
            # Without what they refer to, some decoders make grey pictures of the packets before a key frame.
            if wait_for_key and packet.size and not packet.is_keyframe:
                continue
            wait_for_key = False
            yield from packet.decode()

    @staticmethod
    def _allocate(count: int, height: int, width: int) -> np.ndarray:
        check_frames(count, height, width)
        return np.empty((count, height, width, 3), np.uint8)
