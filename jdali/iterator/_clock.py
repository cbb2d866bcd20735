"""How long a training loop waited for its data."""

from __future__ import annotations

import time


class WaitClock:
    """Adds up the time spent inside of `with clock:`, epoch by epoch.

    The figures of an epoch stay readable until the first wait of the next one.
    """

    def __init__(self) -> None:
        self.waited = 0.0
        self._first = self._start = self._last = 0.0
        self._over = True

    def __enter__(self) -> WaitClock:
        self._start = time.perf_counter()
        if self._over:
            self.waited, self._first, self._over = 0.0, self._start, False
        return self

    def __exit__(self, *exception: object) -> None:
        self._last = time.perf_counter()
        self.waited += self._last - self._start

    def end_epoch(self) -> None:
        self._over = True

    @property
    def share(self) -> float:
        """Part of the time from the first wait to the end of the last one."""
        elapsed = self._last - self._first
        return self.waited / elapsed if elapsed > 0 else 0.0
