"""Guards threads at the interpreter's exit.

The exit waits for calls of XLA in jdali's threads, because a thread that returns from such a call after the interpreter has
ended crashes the process. Daemon threads of the user are blocked, so that they print no traceback.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Native:
    """Counts the threads that are in calls of XLA. Such calls always return; each is made in `with NATIVE:`."""

    def __init__(self) -> None:
        self.forget_parent()

    def forget_parent(self) -> None:
        """Resets the count in a forked process, in which the parent's threads do not exist."""
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
        """Waits until no thread is in a native call. Returns True if it had to wait."""
        with self._changed:
            busy = self._inside > 0
            self._changed.wait_for(lambda: not self._inside)
            return busy


NATIVE = Native()


_EXITING = threading.Event()


def begin_exit() -> None:
    _EXITING.set()


@contextlib.contextmanager
def until_exit() -> Iterator[None]:
    """Guards a user's thread while it waits for data. The thread must not hold a lock.

    At the interpreter's exit, pipelines are closed, and threads that wait for data get an error. A daemon thread is
    blocked instead until the process ends, so that it prints no traceback.
    """
    try:
        yield
    except Exception:
        if _EXITING.is_set() and threading.current_thread().daemon:
            threading.Event().wait()
        raise
