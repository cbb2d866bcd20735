"""Stops daemon threads before the interpreter shuts down."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_EXITING = threading.Event()


def begin_exit() -> None:
    """The interpreter exits: from now on everything is closed."""
    _EXITING.set()


@contextlib.contextmanager
def until_exit() -> Iterator[None]:
    """Around what a user's thread waits for, outside of all locks.

    The exit closes pipelines that are in use. A daemon thread, which does not outlive the exit anyway, would print
    a traceback of that: it waits for its end instead.
    """
    try:
        yield
    except Exception:
        if _EXITING.is_set() and threading.current_thread().daemon:
            threading.Event().wait()
        raise
