"""Reads remote files in large blocks, and fetches blocks ahead while reading is sequential."""

from __future__ import annotations

import bisect
import io
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np

from jdali._storage.remote import RemoteFile
from jdali._storage.scope import Ended, Scope
from jdali.storage import options


class Blocks:
    """Reads files in blocks, from many threads.

    The blocks of all files form one sequence: the first block of a file follows the last block of the file before.
    While reads follow the sequence, each new block doubles the number of blocks fetched ahead, up to a limit. Reads
    may also go back and forth within a window of blocks; the blocks of the window stay in memory.
    """

    def __init__(self, files: Mapping[int, RemoteFile], sizes: Sequence[int], scope: Scope):
        settings = options()
        self._files, self._sizes, self._scope = files, sizes, scope
        self._bytes = settings.block_size
        # Index of each file's first block; the last entry is the total number of blocks.
        self._starts = list(itertools.accumulate((-(-size // self._bytes) for size in sizes), initial=0))
        self._most_bytes = settings.bytes_ahead
        self._most_kept = 2 + settings.bytes_ahead // self._bytes
        self._most_ahead = max(1, min(self._most_kept // 2, settings.requests))
        self._forgive = settings.longest_wait
        self._begin()
        self._window = 0
        scope.serves(self, self._begin)

    def span(self, files: np.ndarray, offsets: np.ndarray, ends: np.ndarray, count: int) -> int:
        """Returns the largest number of blocks that `count` consecutive pieces span.

        Args:
            files: int [n], the file number of each piece, in reading order.
            offsets, ends: int64 [n], bytes.
        """
        if not len(files):
            return 0
        count = min(count, len(files))
        starts = np.array(self._starts)[files]
        first, last = starts + offsets // self._bytes, starts + np.maximum(ends - 1, offsets) // self._bytes
        # The reading order may differ from the order in the files. So `first[i]` becomes `min(first[i:])`, and
        # `last[i]` becomes `max(last[:i + 1])`.
        first = np.minimum.accumulate(first[::-1])[::-1]
        last = np.maximum.accumulate(last)
        return int((last[count - 1 :] - first[: len(first) - count + 1]).max()) + 1

    def widen(self, blocks: int) -> bool:
        """Allows reads back and forth within `blocks` blocks; returns False if these blocks exceed `bytes_ahead`."""
        if blocks * self._bytes > self._most_bytes:
            return False
        self._window = blocks
        return True

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Future[bytes]] = OrderedDict()
        # For each block that could not be fetched, the time of the failure.
        self._failed: dict[int, float] = {}
        # The current block, and the number of blocks fetched ahead of it.
        self._latest, self._ahead = -1, 0

    def read(self, file: int, offset: int, size: int) -> bytes:
        if not size:
            return b""
        start, end = self._starts[file], offset + size
        first, last = start + offset // self._bytes, start + (end - 1) // self._bytes
        at = offset - (first - start) * self._bytes
        if first == last:
            return self._block(first)[at : at + size]
        parts = [self._block(number) for number in range(first, last + 1)]
        parts[0] = parts[0][at:]
        parts[-1] = parts[-1][: end - (last - start) * self._bytes]
        return b"".join(parts)

    def _block(self, number: int) -> bytes:
        future = self._kept.get(number)
        if future is None or number > self._latest or number in self._failed:
            future = self._wanted(number)
        try:
            return future.result()
        except CancelledError:
            raise Ended(self._files[self._file(number)].url) from None
        except OSError:
            with self._lock:
                self._failed.setdefault(number, time.monotonic())
            raise

    def _wanted(self, number: int) -> Future[bytes]:
        """Fetches a block. If reading is sequential, also fetches the next blocks."""
        with self._lock:
            if time.monotonic() - self._failed.get(number, float("inf")) > self._forgive:
                # The pause after a failed request is over, so the block is requested again. During the pause, reads of
                # the block fail without a request.
                del self._failed[number]
                self._kept.pop(number, None)
            following = self._latest + 1
            forth = self._window if self._latest >= 0 else 0
            if 0 < number - self._latest <= max(self._ahead, 1) + forth:
                self._ahead = min(max(2 * self._ahead, 1), self._most_ahead)
                self._latest = number
            # Threads may read out of order, so a short jump back does not begin a new sequence.
            elif not 0 <= self._latest - number <= self._most_ahead + self._window:
                self._ahead, self._latest, following = 0, number, number + 1
            if number < following:
                self._fetched(number)
            # Also fetches the blocks that this read skipped. Blocks are fetched in order, because the cache drops the
            # block that was fetched first.
            for block in range(following, min(self._latest + 1 + self._ahead, self._starts[-1])):
                self._fetched(block)
            future = self._kept[number]
            while len(self._kept) > self._most_kept + self._window:
                dropped, _ = self._kept.popitem(last=False)
                self._failed.pop(dropped, None)
        return future

    def _fetched(self, number: int) -> Future[bytes]:
        future = self._kept.get(number)
        if future is None:
            future = self._kept[number] = self._scope.submit(self._fetch, number)
        return future

    def _file(self, number: int) -> int:
        """Returns the number of the file that contains a block."""
        # If several files start at this block, all but the last are empty.
        return bisect.bisect_right(self._starts, number) - 1

    def _fetch(self, number: int) -> bytes:
        file = self._file(number)
        offset = (number - self._starts[file]) * self._bytes
        return self._files[file].read(offset, min(self._bytes, self._sizes[file] - offset))


class SizedFile(io.RawIOBase):
    """Base of binary file objects of a known size, `_size`, at the position `_at`. Only one thread may use one."""

    _at = _size = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def tell(self) -> int:
        return self._at


class BlockFile(SizedFile):
    """Reads a remote file in blocks."""

    def __init__(self, url: str):
        # Set first, because `close` needs the scope even if opening the file fails.
        self._scope = Scope(options().requests)
        file = RemoteFile(url)
        self._size = file.size
        self._blocks = Blocks({0: file}, [self._size], self._scope)

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._size - self._at))
        buffer[:count] = self._blocks.read(0, self._at, count)
        self._at += count
        return count

    def interrupt(self) -> None:
        self._scope.end()

    def close(self) -> None:
        if not self.closed:
            self._scope.close()
        super().close()
