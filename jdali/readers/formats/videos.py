"""Reads frames of videos through a pool of decoders, so that a thread can continue where another stopped."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._storage import Arrays, always, cached_index, never
from jdali._storage import files as _storage
from jdali._system.open_files import keeps_open, make_room
from jdali._system.regular_file import is_of_machine
from jdali.codecs.video import VideoDecoder, VideoIndex
from jdali.codecs.video import build_index as index_of

# Maximum number of idle decoders to keep, because each keeps frames in memory.
_MOST_IDLE = 32


class Handles:
    """Lends decoders for a set of files, each decoder to one thread at a time. `opened` opens a decoder for a file number."""

    def __init__(self, opened: Callable[[int], VideoDecoder]):
        self._opened = opened
        self._idle: list[tuple[int, VideoDecoder]] = []  # ordered by idle time, the longest first
        self._lock = threading.Lock()
        self._closed = False
        keeps_open(self)

    @contextlib.contextmanager
    def borrowed(self, file: int, first: int) -> Iterator[VideoDecoder]:
        """Lends a decoder of a file, preferably one whose position is at or shortly before frame `first`."""
        decoder = self._take(file, first)
        if decoder is None:
            make_room()
            decoder = self._opened(file)
        try:
            yield decoder
        except BaseException:
            decoder.close()  # after an error, its state is unknown
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
        with self._lock:
            decoder = self._idle.pop(0)[1] if self._idle else None
        if decoder is not None:
            decoder.close()

    def forget(self, file: int) -> None:
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


def build_index(path: str) -> Arrays:
    """Scans a video for the times of its frames; returns the arrays of a `VideoIndex`.

    Raises `SampleError` if the file is not a video, or is damaged, truncated or too large.
    """
    source = _opened(path)
    try:
        return index_of(source).as_arrays()
    finally:
        if source is not path:
            source.close()


def _opened(path: str) -> Any:
    return _storage.open(path) if _storage.is_url(path) else path


def _index(path: str, fits: Callable[[Arrays], bool] = always) -> VideoIndex:
    return VideoIndex.of_arrays(cached_index("video", path, lambda: build_index(path), fits))


class Videos:
    """Indexes and reads video files by number, from many threads at once.

    Args:
        paths: paths of the files; local paths are absolute.
    """

    def __init__(self, paths: Sequence[str]):
        self._paths = paths
        self._indexes: dict[int, Future[VideoIndex]] = {}
        # For each file with a rebuilt index: whether the index changed, or the reason why the reader must be reopened.
        self._seen: dict[int, bool | str] = {}
        self._looking = threading.Lock()
        self._handles = Handles(self._decoder)
        self._remote: weakref.WeakSet[Any] = weakref.WeakSet()  # remote files that are open
        self._interrupted = False
        self._lock = threading.Lock()

    def index(self, file: int) -> VideoIndex:
        """Returns the index of a file; the first call builds it.

        Raises:
            SampleError: the file is not a video, or is damaged, truncated or too large.
            OSError: the file cannot be read.
        """
        with self._lock:
            known = self._indexes.get(file)
            future = self._indexes[file] = known or Future()
        if known is None:  # this thread builds the index, others wait
            try:
                future.set_result(_index(self._paths[file]))
            except BaseException as error:
                with self._lock:
                    del self._indexes[file]  # the next call may succeed
                future.set_exception(error)
        return future.result()

    def read(self, file: int, numbers: np.ndarray, **options: Any) -> np.ndarray:
        """Reads frames of a file, see `VideoDecoder.read`; rebuilds the index once if frames do not match it."""
        self.index(file)
        try:
            return self._frames(file, numbers, options)
        except SampleError as error:
            self._look_again(file, error)
            return self._frames(file, numbers, options)

    def _frames(self, file: int, numbers: np.ndarray, options: dict[str, Any]) -> np.ndarray:
        with self._handles.borrowed(file, int(numbers[0])) as decoder:
            return decoder.read(numbers, **options)

    def _decoder(self, file: int) -> VideoDecoder:
        source = _opened(self._paths[file])
        if source is not self._paths[file]:
            with self._lock:
                self._remote.add(source.raw)
                if self._interrupted:
                    source.raw.interrupt()
        return VideoDecoder(source, self.index(file))

    def _look_again(self, file: int, error: SampleError) -> None:
        """Rebuilds the index of a file, only once; raises if the index is unchanged or the reader must be reopened."""
        with self._looking:
            if file not in self._seen:
                self._seen[file] = self._index_anew(file)
            seen = self._seen[file]
        if isinstance(seen, str):
            raise SampleError(f"{error}. {seen}") from error
        if not seen:
            raise error

    def _index_anew(self, file: int) -> bool | str:
        before = self.index(file)
        try:
            index = _index(self._paths[file], never)
        except (SampleError, OSError) as error:
            if is_of_machine(error):
                raise
            return False  # the file is damaged, not the index
        if len(index) != len(before):
            return (
                f"The file was changed after its index was made: it has {len(index)} frames now, and had "
                f"{len(before)} when the reader was opened; open it again"
            )
        old, new = before.as_arrays(), index.as_arrays()
        if all(np.array_equal(new[name], old[name]) for name in old):
            return False
        self._indexes[file] = Future()
        self._indexes[file].set_result(index)
        self._handles.forget(file)
        return True

    def interrupt(self) -> None:
        with self._lock:
            self._interrupted = True
            for file in self._remote:
                file.interrupt()

    def close(self) -> None:
        self._handles.close()
