"""Measures how long a training loop waited for its data."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from jax.profiler import TraceAnnotation


class WaitClock:
    """Adds up the time spent inside of `with clock.wait():`, epoch by epoch; by any number of threads.

    The figures of an epoch stay readable until the first wait of the next one.

    Attributes:
        waited: seconds, of all threads.
        first_wait: seconds of them until the first batch came.
        batches: how many came.
        over: the epoch has ended.
    """

    def __init__(self) -> None:
        self.waited = self.first_wait = 0.0
        self.batches = 0
        self._first = self._last = 0.0
        self.over, self._came = True, False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def wait(self) -> Iterator[None]:
        """Counts while a thread waits for a batch, or for the end of the epoch."""
        start = time.perf_counter()
        with self._lock:
            if self.over:
                self.waited, self.batches, self._first, self.over = 0.0, 0, start, False
                self.first_wait, self._came = 0.0, False
        try:
            with TraceAnnotation("jdali wait for data"):
                yield
        finally:
            end = time.perf_counter()
            with self._lock:
                self._last = end
                self.waited += end - start
                if self.batches <= 1 and not self._came:
                    self.first_wait, self._came = self.waited, self.batches == 1

    def end_epoch(self) -> None:
        """Lets the next wait begin a new epoch."""
        self.over = True

    @property
    def elapsed(self) -> float:
        """Seconds from the first wait to the end of the last one."""
        return self._last - self._first

    @property
    def share(self) -> float:
        """Part of the time from the first wait to the end of the last one."""
        return self.waited / self.elapsed if self.elapsed > 0 else 0.0
