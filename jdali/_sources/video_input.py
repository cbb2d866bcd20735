"""Feeds a pipeline from a video in memory, batch by batch."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._sources.external_source import SourceFeed
from jdali._sources.user_batches import Samples, as_samples, in_host_memory
from jdali.codecs.video import PADDING, VideoDecoder, build_index, in_memory

_NAME = "experimental.inputs.video"


class VideoInput(SourceFeed):
    """Provides the videos of one `fn.experimental.inputs.video`; with `blocking`, `next` waits for a video."""

    def __init__(
        self, *, name: str, sequence_length: int, last_sequence_policy: str, blocking: bool, apply_rotation: bool
    ):  # fmt: skip
        super().__init__(None, name=name, layout="FHWC")
        if last_sequence_policy not in ("partial", "pad"):
            raise ValueError(
                f'{_NAME}: last_sequence_policy is {last_sequence_policy!r}, it must be "partial" or "pad"'
            )
        if sequence_length < 1:
            raise ValueError(f"{_NAME}: sequence_length is {sequence_length}, it must be 1 or more")
        self._length, self._pads, self._blocking = sequence_length, last_sequence_policy == "pad", blocking
        self._upright = apply_rotation
        self._fed_or_closed = threading.Condition(self._feed_lock)
        self._closed = False
        self._open: contextlib.ExitStack | None = None  # closes the current video
        self._decoder: VideoDecoder | None = None
        self._frames = self._next_frame = 0

    def anew(self) -> VideoInput:
        policy = "pad" if self._pads else "partial"
        return VideoInput(
            name=self.name, sequence_length=self._length, last_sequence_policy=policy, blocking=self._blocking,
            apply_rotation=self._upright,
        )  # fmt: skip

    def as_fed(self, data: Any, layout: str | None, batch_size: int, *, copy: bool) -> Any:
        """Checks a video for `feed`: its bytes, or a batch with one sample; see `SourceFeed.as_fed`."""
        if isinstance(data, bytes):
            data = np.frombuffer(data, np.uint8)
        whole = isinstance(data, np.ndarray) and data.ndim == 1
        videos = [data] if whole else in_host_memory(as_samples(data))
        if len(videos) != 1:
            raise ValueError(f"{_NAME}: {len(videos)} videos were fed, it takes one at a time")
        if videos[0].dtype != np.uint8 or videos[0].ndim != 1:
            raise TypeError(
                f"{_NAME}: a video is given as uint8 [bytes], not {videos[0].dtype} {videos[0].shape}"
            )
        return videos[0].copy() if whole and copy else videos[0]

    def get_state(self) -> dict[str, Any]:
        """Returns the number of videos that were used to their end, and the next frame of the video after them."""
        return super().get_state() | {"frame": self._next_frame}

    def set_state(self, state: dict[str, Any]) -> None:
        self._close_video()
        super().set_state(state)
        self._next_frame = max(int(state.get("frame", 0)), 0)

    def feed(self, batch: object) -> None:
        with self._fed_or_closed:
            self.fed.append(batch)
            self._fed_or_closed.notify_all()

    def check_fed(self) -> None:
        if self._decoder is None and not self._blocking and not self.fed:
            raise self._no_data()

    def next(self, batch_size: int, iteration: int, epoch: int, first: int) -> list[Samples]:
        """Returns the next sequences, up to `batch_size`; see `SourceFeed.next`."""
        if self._decoder is None:
            self._decoder = self._next_video()
        sequences: list[np.ndarray] = []
        try:
            while len(sequences) < batch_size and self._next_frame < self._frames:
                numbers = np.arange(self._next_frame, self._next_frame + self._length)
                if self._pads:
                    numbers = np.where(numbers < self._frames, numbers, PADDING)
                else:
                    numbers = numbers[numbers < self._frames]
                sequences.append(self._decoder.read(numbers, upright=self._upright))
                self._next_frame += self._length
        except SampleError as error:
            self._end_video()
            raise SampleError(f"{_NAME}: {error}") from error
        if self._next_frame >= self._frames:
            self._end_video()
        return [sequences]

    def _next_video(self) -> VideoDecoder:
        with self._fed_or_closed:
            if self._blocking:
                self._fed_or_closed.wait_for(lambda: self.fed or self._closed)
            if not self.fed:
                raise self._no_data()
            encoded = self.fed.popleft()
        with contextlib.ExitStack() as stack:
            try:
                source = stack.enter_context(in_memory(encoded))
                index = build_index(source)
                if self._next_frame and self._next_frame >= len(index):
                    raise SampleError(
                        f"the state goes on at frame {self._next_frame} of the video, and the one that was fed has {len(index)}"
                    )
                decoder = VideoDecoder(source, index)
            except SampleError as error:
                self._end_video()
                raise SampleError(f"{_NAME}: {error}") from error
            stack.callback(decoder.close)
            self._open = stack.pop_all()
        self._frames = len(index)
        return decoder

    def _no_data(self) -> RuntimeError:
        return RuntimeError(
            f"{_NAME} {self.name!r}: no data; call pipeline.feed_input({self.name!r}, data) with the next video"
        )

    def _end_video(self) -> None:
        self._close_video()
        self._given, self._next_frame = self._given + 1, 0

    def _close_video(self) -> None:
        self._decoder = None
        if self._open is not None:
            self._open.close()
            self._open = None

    def interrupt(self) -> None:
        with self._fed_or_closed:
            self._closed = True
            self._fed_or_closed.notify_all()

    def close(self) -> None:
        self.interrupt()
        self._close_video()
