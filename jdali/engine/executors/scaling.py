"""Follows the waiting time of the loop: how many workers there should be, between a least and a most.

```
 window of batches ──▶ next_scaling (pure) ──▶ resize
      waited > 5 %: one more, and it stays if batches then come faster
      waited < 1 %, and one less would be busy for less than 80 % of the time, three windows in a row: one less
```
The two limits lie apart, so that the number rests where it is enough. One more that does not help, because the cores or the
storage are at their limit, goes again and is not tried anew for a while.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from jdali.engine.executors.elsewhere import MadeElsewhere

_WAITING = 0.05  # part of the time of the loop above which it waits too long
_IDLE = 0.01  # and below which it does not wait
_BUSY = 0.8  # part of their time for which workers may be busy while the loop does not wait
_HELPS = 1.03  # rate of batches after one more worker to that before
_QUIET_WINDOWS = 3
_PAUSE_WINDOWS = 8  # before another one is tried in vain
WINDOW_BATCHES = 32


@dataclasses.dataclass(frozen=True)
class LoopWindow:
    """Counts over some batches."""

    batches: int
    seconds: float  # between the first and the last
    waited: float  # seconds of these in which the loop waited for a batch
    busy: float  # seconds for which workers worked, together


@dataclasses.dataclass(frozen=True)
class Scaling:
    """The number of workers, with what is known of earlier ones.

    Attributes:
        quiet: windows in a row after which one less would have been enough.
        rate: batches a second before the last one was added, in the window after that; else None.
    """

    count: int
    quiet: int = 0
    rate: float | None = None
    pause: int = 0  # windows for which none is added


def next_scaling(now: Scaling, window: LoopWindow, least: int, most: int) -> Scaling:
    """Decides on the number of workers after a window, in which there was the same number all the time."""
    seconds = max(window.seconds, 1e-9)
    rate, waited = window.batches / seconds, window.waited / seconds
    if now.rate is not None and rate < _HELPS * now.rate:
        return Scaling(max(now.count - 1, least), pause=_PAUSE_WINDOWS)
    pause = max(now.pause - 1, 0)
    if waited > _WAITING and now.count < most and not now.pause:
        return Scaling(now.count + 1, rate=rate)
    is_quiet = waited < _IDLE and now.count > least and window.busy / seconds <= _BUSY * (now.count - 1)
    quiet = now.quiet + 1 if is_quiet else 0
    if quiet == _QUIET_WINDOWS:
        return Scaling(now.count - 1)
    return Scaling(now.count, quiet, pause=pause)


class WorkerScaler:
    """Counts what the loop waits, and has workers added and removed; its caller holds `turn`, but in `note_wait`."""

    def __init__(
        self,
        elsewhere: MadeElsewhere,
        resize: Callable[[int], None],
        least: int,
        most: int,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._elsewhere, self._resize, self._clock = elsewhere, resize, clock
        self._least, self._most = least, most
        self._scaling = Scaling(elsewhere.workers.count)
        self._waits: list[float] = []
        self._begin()

    def _begin(self) -> None:
        self._batches, self._start, self._busy = 0, self._clock(), self._elsewhere.timer.spent().busy
        self._waits.clear()

    def note_wait(self, seconds: float) -> None:
        """Notes that a thread has waited for a batch; any thread may call it."""
        self._waits.append(seconds)

    def note_batch(self) -> None:
        """Notes that a batch was taken."""
        workers = self._elsewhere.workers
        self._batches += 1
        if self._batches < WINDOW_BATCHES:
            return
        if workers.count != self._scaling.count:  # the user has changed it
            self._scaling = Scaling(workers.count)
        elif workers.counts().ready == workers.count:
            busy = self._elsewhere.timer.spent().busy - self._busy
            window = LoopWindow(self._batches, self._clock() - self._start, sum(self._waits), busy)
            self._scaling = next_scaling(self._scaling, window, self._least, self._most)
            if self._scaling.count != workers.count:
                self._resize(self._scaling.count)
        self._begin()
