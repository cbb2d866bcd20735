"""How long a training loop waited for its data."""

from __future__ import annotations

import time

from jax.profiler import TraceAnnotation


class WaitClock:
    """Adds up the time spent inside of `with clock:`, epoch by epoch.

    The figures of an epoch stay readable until the first wait of the next one.

    Attributes:
        waited: seconds.
        waits: how many there were.
        over: the next wait begins a new epoch.
    """

    def __init__(self) -> None:
        self.waited = 0.0
        self.waits = 0
        self._first = self._start = self._last = 0.0
        self.over = True
        self._annotation: TraceAnnotation | None = None

    def __enter__(self) -> WaitClock:
        self._annotation = TraceAnnotation("jdali wait for data")
        self._annotation.__enter__()
        self._start = time.perf_counter()
        if self.over:
            self.waited, self.waits, self._first, self.over = 0.0, 0, self._start, False
        return self

    def __exit__(self, *exception: object) -> None:
        self._last = time.perf_counter()
        self.waited += self._last - self._start
        self.waits += 1
        if self._annotation is not None:
            self._annotation.__exit__(None, None, None)

    def end_epoch(self) -> None:
        """The last wait was for the end of the epoch."""
        self.over = True
        self.waits -= 1

    @property
    def elapsed(self) -> float:
        """Seconds from the first wait to the end of the last one."""
        return self._last - self._first

    @property
    def share(self) -> float:
        """Part of the time from the first wait to the end of the last one."""
        return self.waited / self.elapsed if self.elapsed > 0 else 0.0
