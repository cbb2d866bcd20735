"""Files that stay open between two uses: all of a process share one budget, for it may often have 1,024 descriptors.

Owners of open files register. They close some when the budget is full, and all when the system has no descriptor left.
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

# A share of the descriptors that the process may have, and no more than this many.
_SHARE, _MOST = 4, 1024


class KeepsOpen(Protocol):
    """Owner of files that are open though nobody needs them now."""

    def __len__(self) -> int:
        """Returns the number of open files."""

    def let_go(self) -> None:
        """Closes the file opened first, if any; a thread that still uses it closes it later."""


# Without a lock, which a forked process might find taken.
_OWNERS: set[weakref.ref[KeepsOpen]] = set()


def keeps_open(owner: KeepsOpen) -> None:
    """Makes an owner share the budget, as long as it lives."""
    _OWNERS.add(weakref.ref(owner, _OWNERS.discard))


def _owners() -> list[KeepsOpen]:
    # Copied at once: the garbage collector may come in while a set is gone through.
    return [owner for reference in _OWNERS.copy() if (owner := reference()) is not None]


def make_room() -> None:
    """Closes files while the budget is full, first those of the owner with most."""
    most = budget()
    owners = _owners()
    while sum(map(len, owners)) >= most:
        max(owners, key=len).let_go()


def budget() -> int:
    """Returns how many files may stay open."""
    if sys.platform == "win32":
        return _MOST // _SHARE  # the C library has 512, the system more
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(1, min(soft // _SHARE, _MOST))


def opening(open_: Callable[[], _T]) -> _T:
    """Calls `open_()`; without a free descriptor closes all files that stay open, and calls it again."""
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
    """Returns True if the process, or the system, has no descriptor left."""
    return error.errno in (errno.EMFILE, errno.ENFILE)
