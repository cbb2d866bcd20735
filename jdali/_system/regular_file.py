"""Opening local files of data: only regular ones, and never more of them in memory than fits.

A FIFO or a socket would keep a thread waiting, a device may have no end, and a sparse file may claim more bytes than
the machine has.
"""

from __future__ import annotations

import errno
import os
import stat

from jdali._system import limits
from jdali._system.limits import memory_limit
from jdali._system.open_files import opening

# Not blocking: opening a FIFO that nobody writes to would wait. On regular files the flag has no effect.
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
# What `open` says of sockets, and of devices that are not there.
_CANNOT_OPEN = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)
# What the machine lacks at the moment: descriptors, memory, the other side of a network or user-space file system. EIO is
# not among them, for a bad sector is the matter of one file.
_OF_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ESTALE, errno.ENOTCONN)
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


def open_regular(path: str) -> tuple[int, int]:
    """Opens a file for reading, following symbolic links.

    Checks the opened file itself: the name may point elsewhere by then.

    Returns: (descriptor; size in bytes).

    Raises:
        OSError: it cannot be opened, or is no regular file.
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


def is_of_machine(error: BaseException) -> bool:
    """Returns True if the machine failed: the file need not be bad, so its sample is not."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _OF_MACHINE)


def check_no_device(path: str) -> None:
    """Raises `OSError` if the name is a FIFO, a socket or a device; for libraries that open files themselves."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # said by what opens it
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
    """Returns the largest file or record that is read as a whole, bytes."""
    return min(limits.most("max_file_bytes"), memory_limit())


def check_size(path: str, size: int) -> None:
    """Raises `OSError` if `size` bytes of a file are more than may be read, before they are allocated."""
    most = most_bytes()
    if size <= most:
        return
    configured = most == limits.current().max_file_bytes
    limit = f"the limit of {limits.words('max_file_bytes')}" if configured else f"the memory of {most} bytes"
    raise OSError(errno.EFBIG, f"its {size} bytes are more than {limit}", path)


def no_memory(path: str, size: int) -> OSError:
    """Makes the error to raise where memory lacks `size` bytes for a file."""
    return OSError(errno.ENOMEM, f"there is no memory for its {size} bytes", path)
