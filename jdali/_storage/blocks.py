"""Remote files in large blocks, which are fetched ahead where reading goes from front to end."""

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
    """The content of some files, for many threads.

    The blocks of all files count as one row: after the last of a file comes the first of the next. As long as
    reading goes along it, twice as many blocks are fetched ahead each time, up to a limit. Reading may go back and
    forth within a window: as many more blocks are kept.

    Args:
        files: those that are remote, by their number.
        sizes: of all files, bytes.
        scope: whose threads fetch.
    """

    def __init__(self, files: Mapping[int, RemoteFile], sizes: Sequence[int], scope: Scope):
        settings = options()
        self._files, self._sizes, self._scope = files, sizes, scope
        self._bytes = settings.block_size
        # Number of the first block of each file, and of the one after the last.
        self._starts = list(itertools.accumulate((-(-size // self._bytes) for size in sizes), initial=0))
        self._most_bytes = settings.bytes_ahead
        self._most_kept = 2 + settings.bytes_ahead // self._bytes
        self._most_ahead = max(1, min(self._most_kept // 2, settings.requests))
        self._forgive = settings.longest_wait
        self._begin()
        self._window = 0
        scope.serves(self, self._begin)

    def span(self, files: np.ndarray, offsets: np.ndarray, ends: np.ndarray, count: int) -> int:
        """Returns the largest number of blocks that `count` consecutive pieces lie in.

        Args:
            files: int [n], number of the file of each piece, in the order in which they are read.
            offsets, ends: int64 [n], bytes.
            count: from 1 on.
        """
        if not len(files):
            return 0
        count = min(count, len(files))
        starts = np.array(self._starts)[files]
        first, last = starts + offsets // self._bytes, starts + np.maximum(ends - 1, offsets) // self._bytes
        # Pieces need not lie in the order in which they are read.
        first = np.minimum.accumulate(first[::-1])[::-1]
        last = np.maximum.accumulate(last)
        return int((last[count - 1 :] - first[: len(first) - count + 1]).max()) + 1

    def widen(self, blocks: int) -> bool:
        """Lets reading go back and forth within `blocks` blocks; False if that is more than may be kept for it."""
        if blocks * self._bytes > self._most_bytes:
            return False
        self._window = blocks
        return True

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Future[bytes]] = OrderedDict()
        # When blocks could not be fetched.
        self._failed: dict[int, float] = {}
        # The current block, and the number of blocks fetched ahead of it.
        self._latest, self._ahead = -1, 0

    def read(self, file: int, offset: int, size: int) -> bytes:
        """Returns `size` bytes of the file from `offset` on; raises `OSError`."""
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
        """Fetches a block, and those after it if reading goes on there."""
        with self._lock:
            if time.monotonic() - self._failed.get(number, float("inf")) > self._forgive:
                # Until now all records of the block failed at once, without the whole row of retries.
                del self._failed[number]
                self._kept.pop(number, None)
            following = self._latest + 1
            forth = self._window if self._latest >= 0 else 0
            if 0 < number - self._latest <= max(self._ahead, 1) + forth:
                self._ahead = min(max(2 * self._ahead, 1), self._most_ahead)
                self._latest = number
            # Threads may come out of order.
            elif not 0 <= self._latest - number <= self._most_ahead + self._window:
                self._ahead, self._latest, following = 0, number, number + 1
            if number < following:
                self._fetched(number)
            # Blocks skipped within the window are fetched too, and in order: the first one fetched is dropped first.
            for block in range(following, min(self._latest + 1 + self._ahead, self._starts[-1])):
                self._fetched(block)
            future = self._kept[number]
            while len(self._kept) > self._most_kept + self._window:
                # The block fetched first is the furthest behind.
                dropped, _ = self._kept.popitem(last=False)
                self._failed.pop(dropped, None)
        return future

    def _fetched(self, number: int) -> Future[bytes]:
        future = self._kept.get(number)
        if future is None:
            future = self._kept[number] = self._scope.submit(self._fetch, number)
        return future

    def _file(self, number: int) -> int:
        """Finds the file of a block: of files that begin with the same number, all but the last are empty."""
        return bisect.bisect_right(self._starts, number) - 1

    def _fetch(self, number: int) -> bytes:
        file = self._file(number)
        offset = (number - self._starts[file]) * self._bytes
        return self._files[file].read(offset, min(self._bytes, self._sizes[file] - offset))


class BlockFile(io.RawIOBase):
    """A remote file that is read in blocks, as Python's binary files are; for one thread."""

    def __init__(self, url: str):
        self._scope = Scope(options().requests)  # first: `close` is called of a file that is not there, too
        file = RemoteFile(url)
        self._size, self._at = file.size, 0
        self._blocks = Blocks({0: file}, [self._size], self._scope)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._size - self._at))
        buffer[:count] = self._blocks.read(0, self._at, count)
        self._at += count
        return count

    def interrupt(self) -> None:
        """Makes all reads fail, now and later."""
        self._scope.end()

    def close(self) -> None:
        if not self.closed:
            self._scope.close()
        super().close()
