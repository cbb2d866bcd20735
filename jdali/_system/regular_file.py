"""Opens regular local files only, and refuses files that do not fit into memory.

Other files are dangerous: a FIFO or a socket would block a thread, and a device may have no end. A sparse file may be larger
than the memory.
"""

from __future__ import annotations

import errno
import os
import stat

from jdali._system import limits
from jdali._system.limits import memory_limit
from jdali._system.open_files import opening

# O_NONBLOCK, because opening a FIFO without a writer would block. The flag has no effect on regular files.
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
# Errors that `open` raises for sockets and for missing devices.
_CANNOT_OPEN = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)
# Failures of the machine: no free descriptor, no memory, no connection to a network or user-space file system. EIO is
# not among them, because a bad sector affects a single file.
_OF_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ESTALE, errno.ENOTCONN)
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


def open_regular(path: str) -> tuple[int, int]:
    """Opens a file for reading, and follows symbolic links; returns the descriptor and the size in bytes.

    The type is checked on the opened file, because the path may meanwhile point to another file.

    Raises:
        OSError: the file cannot be opened, or is not a regular file.
    """
    try:
        descriptor = opening(lambda: os.open(path, OPEN_FLAGS))
    except OSError as error:
        if error.errno in _CANNOT_OPEN:
            check_no_device(path)
        raise
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            _check_mode(path, facts.st_mode)
        return descriptor, facts.st_size
    except BaseException:
        os.close(descriptor)
        raise


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Reads `size` bytes, fewer only at the end of the file; a system call returns at most 2 GiB."""
    data = os.pread(descriptor, size, offset)
    while len(data) < size and (more := os.pread(descriptor, size - len(data), offset + len(data))):
        data += more
    return data


def is_of_machine(error: BaseException) -> bool:
    """Returns True if an error is a failure of the machine; the file and its sample may be good."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _OF_MACHINE)


def check_no_device(path: str) -> None:
    """Raises `OSError` if a path is a FIFO, a socket or a device. Called before a library opens the file itself."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # opening the file will raise the error
    if not stat.S_ISDIR(mode):
        _check_mode(path, mode)


def _check_mode(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    kind = next((kind for matches, kind in _KINDS if matches(mode)), "something else")
    raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", path)


def most_bytes() -> int:
    """Returns the size limit of a file or record that is read as a whole, bytes."""
    return min(limits.most("max_file_bytes"), memory_limit())


def check_size(path: str, size: int) -> None:
    """Raises `OSError` if `size` exceeds the limit; called before `size` bytes are allocated for a file."""
    most = most_bytes()
    if size <= most:
        return
    configured = most == limits.current().max_file_bytes
    limit = f"the limit of {limits.words('max_file_bytes')}" if configured else f"the memory of {most} bytes"
    raise OSError(errno.EFBIG, f"its {size} bytes are more than {limit}", path)


def no_memory(path: str, size: int) -> OSError:
    return OSError(errno.ENOMEM, f"there is no memory for its {size} bytes", path)
