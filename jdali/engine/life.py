"""Closes windows when the last reference is lost and when the interpreter exits; resets them after a fork."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Protocol

from jdali._threads import NATIVE, begin_exit
from jdali.engine.engine import Engine
from jdali.engine.executors.threads import Threads

_EXIT_SECONDS = 1.5


class Living(Protocol):
    """Declares the part of a window that this module needs."""

    engine: Engine

    def close(self, seconds: float = ...) -> None: ...

    def leave(self) -> None: ...

    def forget_parent(self) -> None: ...


class Abandon:
    """Closes a pipeline soon after the garbage collector has freed it.

    The garbage collector may call an `Abandon` in any thread, at any point, even if the thread holds a lock that the
    pipeline's threads need. So the call neither waits nor takes a lock. An `Abandon` keeps neither the window nor user
    objects alive.
    """

    def __init__(self, window: Living, threads: Threads, keeper: Threads):
        engine = window.engine
        self.told = False
        self._window = weakref.ref(window)
        self._threads, self._keeper = threads, keeper
        self._pool, self._readers = engine.pool, list(engine.readers.values())
        self._workers = None if engine.elsewhere is None else engine.elsewhere.workers

    def __call__(self) -> None:
        self.told = True
        if self._keeper.threads:
            self._keeper.submit(self._close)

    def _close(self) -> None:
        window = self._window()
        if window is not None:
            window.close()
            return
        self._threads.end()
        self._keeper.end()
        self._pool.interrupt()
        if self._workers is not None:
            self._workers.interrupt()
        for reader in self._readers:
            reader.interrupt()
        if self._workers is not None:
            self._workers.close()
        self._pool.close()
        for reader in self._readers:
            with contextlib.suppress(AttributeError):
                reader.close()


LIVE: weakref.WeakSet[Living] = weakref.WeakSet()
"""Windows to close at exit."""


@atexit.register
def close_all() -> None:
    with _uninterrupted():
        begin_exit()
        live = list(LIVE)
        _close_soon(live)
        # Wait for programs that are being compiled, but not for a user's callback, because it may never return.
        if NATIVE.wait():
            _close_soon(live)
    # A user's generator or `__del__` may call `close` during the shutdown; from now on, `close` does nothing.
    for window in live:
        window.leave()


def _close_soon(windows: list[Living]) -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for window in windows:
        window.close(max(deadline - time.monotonic(), 0.0))


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keeps Ctrl-C from raising KeyboardInterrupt; a second Ctrl-C ends the process.

    Otherwise the interpreter would end while threads are in native code, and crash.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _let_the_next_one_end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _let_the_next_one_end(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # None, closed, or interrupted while it is written to
            stream.flush()


def free_idle_memory() -> None:
    """Frees the memory that the pipelines of this process keep for later batches."""
    for window in list(LIVE):
        window.engine.pool.slabs.free_idle()


def _forget_parents() -> None:
    NATIVE.forget_parent()
    for window in list(LIVE):
        window.forget_parent()


os.register_at_fork(after_in_child=_forget_parents)
