"""Calls of XLA in threads of our own: the interpreter must not end while they are under way.

A thread that comes back from one into an interpreter that has ended brings down the process.
"""

from __future__ import annotations

import threading


class Native:
    """Counts the threads that are in calls which end by themselves; `with NATIVE:` around each call."""

    def __init__(self) -> None:
        self.forget_parent()

    def forget_parent(self) -> None:
        """In a forked process: no thread is inside."""
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
