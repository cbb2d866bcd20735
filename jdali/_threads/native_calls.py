"""The interpreter's exit: it waits for calls of XLA in our own threads, and holds threads of the user's.

A thread that returns from a call of XLA into an interpreter that has ended brings down the process.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Native:
    """Counts the threads that are in calls which end by themselves; `with NATIVE:` around each call."""

    def __init__(self) -> None:
        self.forget_parent()

    def forget_parent(self) -> None:
        """Resets the count in a forked process, where no thread is inside."""
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._changed.notify_all()

    def wait(self) -> bool:
        """Waits until no thread is inside; whether there was one."""
        with self._changed:
            busy = self._inside > 0
            self._changed.wait_for(lambda: not self._inside)
            return busy


NATIVE = Native()


_EXITING = threading.Event()


def begin_exit() -> None:
    """Notes that the interpreter exits: from now on everything is closed."""
    _EXITING.set()


@contextlib.contextmanager
def until_exit() -> Iterator[None]:
    """Guards the waiting of a user's thread, outside of all locks.

    The exit closes pipelines that are in use. A daemon thread, which does not outlive the exit anyway, would print
    a traceback of that: it waits for its end instead.
    """
    try:
        yield
    except Exception:
        if _EXITING.is_set() and threading.current_thread().daemon:
            threading.Event().wait()
        raise
