"""Allocates memory that several processes can map: files without a name, which never outlive the processes.

Descriptors are sent to another process over a socket (SCM_RIGHTS), which all POSIX systems support.
"""

from __future__ import annotations

import dataclasses
import errno
import mmap
import os
import tempfile
from pathlib import Path

from jdali._system.open_files import lacks_descriptors

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
