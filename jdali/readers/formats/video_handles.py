"""Open videos that threads borrow: going on where another thread stopped needs no seek."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from jdali._system.open_files import keeps_open, make_room
from jdali.codecs.video import VideoDecoder

# Decoders keep some frames.
_MOST_IDLE = 32


class Handles:
    """Decoders of a set of files, each lent to one thread at a time.

    Args:
        opened: opens a file by its number.
    """

    def __init__(self, opened: Callable[[int], VideoDecoder]):
        self._opened = opened
        self._idle: list[tuple[int, VideoDecoder]] = []  # the longest idle first
        self._lock = threading.Lock()
        self._closed = False
        keeps_open(self)

    @contextlib.contextmanager
    def borrowed(self, file: int, first: int) -> Iterator[VideoDecoder]:
        """Lends a decoder of a file, best one that has come near to frame `first`."""
        decoder = self._take(file, first)
        if decoder is None:
            make_room()
            decoder = self._opened(file)
        try:
            yield decoder
        except BaseException:
            decoder.close()  # what state it is in nobody knows
            raise
        self._give(file, decoder)

    def _take(self, file: int, first: int) -> VideoDecoder | None:
        with self._lock:
            mine = [i for i, (number, _) in enumerate(self._idle) if number == file]
            if not mine:
                return None

            def way(i: int) -> tuple[bool, int]:
                position = self._idle[i][1].position
                return position > first, abs(first - position)

            return self._idle.pop(min(mine, key=way))[1]

    def _give(self, file: int, decoder: VideoDecoder) -> None:
        with self._lock:
            closed = self._closed
            if not closed:
                self._idle.append((file, decoder))
        if closed:
            decoder.close()
        elif len(self._idle) > _MOST_IDLE:
            self.let_go()

    def __len__(self) -> int:
        return len(self._idle)

    def let_go(self) -> None:
        """Closes the decoder that is idle the longest."""
        with self._lock:
            decoder = self._idle.pop(0)[1] if self._idle else None
        if decoder is not None:
            decoder.close()

    def forget(self, file: int) -> None:
        """Closes the idle decoders of a file whose index has changed."""
        with self._lock:
            mine = [decoder for number, decoder in self._idle if number == file]
            self._idle = [one for one in self._idle if one[0] != file]
        for decoder in mine:
            decoder.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, decoder in idle:
            decoder.close()
