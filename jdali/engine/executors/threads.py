"""Runs the calls of a window in threads."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from jdali._system.jax_modes import modes_here, usual_modes

Call: TypeAlias = Callable[[], None]


class Threads:
    """Runs submitted calls in daemon threads.

    A waiting thread references only its queue. So threads keep alive neither their pipeline nor objects whose methods
    are callbacks of the pipeline.
    """

    def __init__(self, count: int, name: str):
        self._count, self._name = count, name
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self.threads: tuple[threading.Thread, ...] = ()

    def start(self) -> None:
        """Starts the threads, once, with the modes of this thread (`modes_here`).

        If the system refuses a thread, all threads end, and RuntimeError is raised.
        """
        if self.threads:
            return
        known = self._calls, modes_here()
        threads = [
            threading.Thread(target=_serve, args=known, name=self._name, daemon=True)
            for _ in range(self._count)
        ]
        try:
            for thread in threads:
                thread.start()
        finally:
            self.threads = tuple(thread for thread in threads if thread.ident is not None)
            if len(self.threads) < self._count:
                self.end()
                self.join()

    def submit(self, call: Call) -> None:
        """Queues a call. It takes no lock, so a finalizer may call it."""
        self._calls.put(call)

    def end(self) -> None:
        """Ends each thread after the calls submitted so far."""
        for _ in self.threads:
            self._calls.put(None)

    def join(self, deadline: float = float("inf")) -> bool:
        """Waits until all threads except the calling thread have ended; returns False at the deadline."""
        for thread in self.threads:
            if thread is not threading.current_thread():
                left = deadline - time.monotonic()
                thread.join(None if left == float("inf") else max(left, 0.0))
                if thread.is_alive():
                    return False
        self.threads = ()
        return True

    def forget(self) -> None:
        """Forgets the threads, because a forked process has none of them."""
        self.threads, self._calls = (), queue.SimpleQueue()


@usual_modes()
def _serve(
    calls: queue.SimpleQueue[Call | None], modes: Callable[[], contextlib.AbstractContextManager[None]]
) -> None:
    with modes():
        while (call := calls.get()) is not None:
            call()
            del call
