"""Allocates memory that several processes can map, and keeps the slabs of such memory that a pool uses for results.

Memory is a file without a name, which never outlives the processes. Its descriptor is sent to another process over a socket
(SCM_RIGHTS), which all POSIX systems support. Processes allocate slabs and send the descriptors. The pool keeps the
descriptors, so a slab outlives its process. It lends a slab to a process for a result, then leases it to the arrays of the
result.
"""

from __future__ import annotations

import collections
import dataclasses
import errno
import mmap
import os
import tempfile
import weakref
from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np

from jdali._system.open_files import lacks_descriptors
from jdali._workers.messages import SlabName

_SHARED_MEMORY = Path("/dev/shm")  # a file system in memory, on Linux
_SMALLEST = mmap.ALLOCATIONGRANULARITY


@dataclasses.dataclass(eq=False)
class Memory:
    """Holds the descriptor of a file without a name."""

    descriptor: int
    size: int  # bytes

    def map(self) -> mmap.mmap:
        """Maps the memory. If that raises OSError (`mmap` needs one more descriptor), closes the descriptor."""
        try:
            return mmap.mmap(self.descriptor, self.size)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Closes the descriptor; a second call does nothing. Mapped memory exists as long as it is used."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def folders() -> list[str | None]:
    """Lists the folders to try for shared memory: the file system in memory, if any, then the folder for temporary files."""
    return [*([str(_SHARED_MEMORY)] if os.access(_SHARED_MEMORY, os.W_OK) else []), None]


def allocate(size: int, least: int = 0) -> tuple[int, int]:
    """Makes a file without a name, of at least `max(size, least)` bytes. Returns its descriptor and its size in bytes.

    Raises:
        MemoryError: neither memory nor disk has room for it.
        OSError: no descriptor is free.
    """
    # Powers of two, so that samples that grow a little do not need a new file each time.
    length = max(_SMALLEST, least if size <= least else 1 << (size - 1).bit_length())
    failure: OSError | None = None
    for folder in folders():
        try:
            with tempfile.TemporaryFile(buffering=0, prefix="jdali-", dir=folder) as file:
                _take(file.fileno(), length)
                return os.dup(file.fileno()), length
        except OSError as error:
            if lacks_descriptors(error):
                raise
            failure = error
    raise MemoryError(f"no room for {length} bytes of shared memory") from failure


def _take(descriptor: int, length: int) -> None:
    """Reserves the memory now, because a full file system raises an error here, but would kill the process later."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, length)
        return
    # macOS has no `posix_fallocate`.
    free = os.fstatvfs(descriptor)
    if free.f_bavail * free.f_frsize < length:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.ftruncate(descriptor, length)


def allocate_slab(size: int, room: int) -> Memory:
    """Allocates `room` bytes; if `size` is larger, allocates up to 9/8 of `size`, because batches may grow."""
    step = max(mmap.ALLOCATIONGRANULARITY, 1 << max(size.bit_length() - 4, 0))
    return Memory(*allocate(size, room if size <= room else -(-size // step) * step))


@dataclasses.dataclass(eq=False)
class SharedSlab:
    """Holds memory that is mapped in this process and in processes of the pool."""

    name: SlabName
    memory: Memory
    mapped: mmap.mmap
    samples: int = 0  # maximum number of samples that were in it

    @property
    def size(self) -> int:
        return self.memory.size


class SharedSlabs:
    """Holds the slabs of a pool. The pool's lock guards them, but leases end in any thread, without the lock."""

    def __init__(self, most_idle: int):
        self._most_idle = most_idle
        self._all: dict[SlabName, SharedSlab] = {}
        self._idle: list[SharedSlab] = []  # the most recently used last
        # A lease may end at any point of the program, so returned slabs wait here for `_sort_in`.
        self._returned: collections.deque[SharedSlab] = collections.deque()
        self._largest = 0  # bytes of the largest result so far

    def adopt(self, name: SlabName, descriptor: int, size: int) -> SharedSlab:
        """Takes over the descriptor of a slab that a process has allocated. Raises OSError if the slab cannot be mapped."""
        memory = Memory(descriptor, size)
        slab = self._all[name] = SharedSlab(name, memory, memory.map())
        return slab

    def lend(self, known: Container[SlabName]) -> SharedSlab | None:
        """Lends an idle slab that fits the largest result so far, preferably one of `known`; None if no slab fits."""
        self._sort_in()
        fitting = [slab for slab in self._idle if slab.size >= self._largest]
        if not fitting:
            return None
        chosen = next((slab for slab in reversed(fitting) if slab.name in known), fitting[-1])
        self._idle.remove(chosen)
        return chosen

    def take_back(self, slab: SharedSlab) -> None:
        """Ends the loan of a slab that holds no result."""
        self._return(slab)
        self._sort_in()

    def lease(self, slab: SharedSlab, size: int, samples: int) -> np.ndarray[Any, Any]:
        """Leases a slab that holds a result of `size` bytes; returns its memory, uint8 [slab.size].

        The lease ends when the last view of the memory is gone.
        """
        self._largest, slab.samples = max(self._largest, size), max(slab.samples, samples)
        whole = np.frombuffer(slab.mapped, np.uint8)
        weakref.finalize(whole, self._return, slab).atexit = False
        return whole

    def alive(self) -> Container[SlabName]:
        return self._all.keys()

    def usage(self) -> tuple[int, int]:
        """Counts the bytes of slabs that are lent or leased, and the bytes of idle slabs."""
        slabs, idle = list(self._all.values()), sum(slab.size for slab in [*self._idle, *self._returned])
        return sum(slab.size for slab in slabs) - idle, idle

    def sizes(self) -> list[tuple[int, int]]:
        return [(slab.size, slab.samples) for slab in self._all.values()]

    def _return(self, slab: SharedSlab) -> None:
        if slab.name in self._all:  # otherwise `close` has dropped it
            self._returned.append(slab)

    def _sort_in(self) -> None:
        while self._returned:
            self._idle.append(self._returned.popleft())
        idle = sum(slab.size for slab in self._idle)
        for slab in list(self._idle):
            # A slab that is too small for the largest result is never lent.
            if slab.size < self._largest or idle > self._most_idle:
                idle -= slab.size
                self._idle.remove(slab)
                del self._all[slab.name]
                slab.memory.close()

    def close(self) -> None:
        """Closes all descriptors; memory that arrays use stays until they are gone."""
        for slab in self._all.values():
            slab.memory.close()
        self._all.clear()
        self._idle.clear()
        self._returned.clear()
