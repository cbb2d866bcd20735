"""Ends running requests, so that closing a reader or the interpreter does not wait for them."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  its own exit function must be registered before ours
import contextlib
import errno
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Ended(OSError):
    """A request was cancelled because its reader was closed."""

    def __init__(self, url: str):
        super().__init__(errno.ECANCELED, "the reader was closed", url)


class Scope:
    """Groups requests so that their owner can end them together. A scope's threads make requests in the background.

    A request belongs to the scope that its thread entered (`with scope:`). Threads of a scope's pool are always in this
    scope.
    """

    def __init__(self, threads: int = 1):
        self._threads = threads
        self._owners: list[weakref.WeakMethod[Callable[[], None]]] = []
        self._start()
        _LIVE.add(self)

    def serves(self, owner: object, begin_anew: Callable[[], None]) -> None:
        """Makes the scope end when its owner is freed, and call `begin_anew` in a forked process.

        `begin_anew` is a method that resets the owner, because requests of the parent never finish in a forked process.
        """
        self._owners.append(weakref.WeakMethod(begin_anew))
        weakref.finalize(owner, self._abandon).atexit = False

    def _abandon(self) -> None:
        self.end()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> None:
        self._ended = threading.Event()
        self._futures: set[Future[Any]] = set()
        # The lock is reentrant, because the garbage collector may call `_abandon` in a thread that holds it.
        self._lock = threading.RLock()
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, function: Callable[..., object], *arguments: object) -> Future[Any]:
        """Calls a function in a thread of the pool; calls start in the order of submission."""
        with self._lock:
            if self._ended.is_set():
                cancelled: Future[Any] = Future()
                cancelled.cancel()
                return cancelled
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, "jdali-remote", self.__enter__)
            return self._pool.submit(function, *arguments)

    def close(self) -> None:
        """Ends the requests, and waits until the threads have ended."""
        self.end()
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Scope:
        _LOCAL.scopes = [*getattr(_LOCAL, "scopes", []), self]
        return self

    def __exit__(self, *_: object) -> None:
        _LOCAL.scopes = _LOCAL.scopes[:-1]

    def end(self) -> None:
        with self._lock:
            self._ended.set()
            running = list(self._futures)
        for future in running:
            future.cancel()

    @contextlib.contextmanager
    def running(self, url: str, future: Future[object]) -> Iterator[Future[Any]]:
        """Tracks a running request; cancels it if the caller leaves the context before the request ends."""
        with self._lock:
            self._futures.add(future)
        try:
            if self._ended.is_set():
                raise Ended(url)
            yield future
        finally:
            future.cancel()
            with self._lock:
                self._futures.discard(future)

    def wait(self, url: str, seconds: float) -> None:
        """Sleeps; raises `Ended` as soon as the scope ends."""
        if self._ended.wait(seconds):
            raise Ended(url)


_LOCAL = threading.local()
_LIVE: weakref.WeakSet[Scope] = weakref.WeakSet()
_ROOT = Scope()


def current_scope() -> Scope:
    scopes: list[Scope] = getattr(_LOCAL, "scopes", None) or [_ROOT]
    return scopes[-1]


def _end_all() -> None:
    for scope in list(_LIVE):
        scope.end()


def _restart_all() -> None:
    """Resets all scopes in a forked process, which has no threads or requests of its parent."""
    for scope in list(_LIVE):
        scope._start()
        for owner in scope._owners:
            begin_anew = owner()
            if begin_anew is not None:
                begin_anew()


# The interpreter joins the threads of pools before it calls `atexit` functions. Requests must end before the
# threads are joined, or the interpreter would wait for all retries.
getattr(threading, "_register_atexit", atexit.register)(_end_all)
os.register_at_fork(after_in_child=_restart_all)
