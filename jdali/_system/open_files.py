"""Limits the number of files that stay open between uses, because a process often has only 1,024 descriptors.

Owners of open files register here. When the budget is used up, the owner with the largest number of files closes its oldest
file. When the system has no free descriptor, all owners close all files.
"""

from __future__ import annotations

import errno
import sys
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

if sys.platform != "win32":
    import resource

_T = TypeVar("_T")

# The budget is 1/_SHARE of the process's descriptors, at most _MOST.
_SHARE, _MOST = 4, 1024


class KeepsOpen(Protocol):
    """An owner of files that stay open between uses."""

    def __len__(self) -> int:
        """Returns the number of open files."""

    def let_go(self) -> None:
        """Closes the oldest file, if any. A file that a thread is using is closed when the thread no longer needs it."""


# No lock guards this set, because a forked process might find the lock held.
_OWNERS: set[weakref.ref[KeepsOpen]] = set()


def keeps_open(owner: KeepsOpen) -> None:
    """Registers an owner of open files, without keeping it alive."""
    _OWNERS.add(weakref.ref(owner, _OWNERS.discard))


def _owners() -> list[KeepsOpen]:
    # Iterates over a copy, because the garbage collector may change the set meanwhile.
    return [owner for reference in _OWNERS.copy() if (owner := reference()) is not None]


def make_room() -> None:
    """Closes files until the budget has room. The owner with the largest number of files closes one first."""
    most = budget()
    owners = _owners()
    while sum(map(len, owners)) >= most:
        max(owners, key=len).let_go()


def budget() -> int:
    """Returns the number of files that may stay open between uses."""
    if sys.platform == "win32":
        return _MOST // _SHARE  # the C library allows 512 open files
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(1, min(soft // _SHARE, _MOST))


def opening(open_: Callable[[], _T]) -> _T:
    """Calls `open_()`. If no descriptor is free, closes the files of all owners and calls it again."""
    try:
        return open_()
    except OSError as error:
        if not lacks_descriptors(error):
            raise
    for owner in _owners():
        for _ in range(len(owner)):
            owner.let_go()
    return open_()


def lacks_descriptors(error: OSError) -> bool:
    """Returns True if an error means that the process or the system has no free descriptor."""
    return error.errno in (errno.EMFILE, errno.ENFILE)
