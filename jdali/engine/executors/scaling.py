"""Chooses the number of workers, between two bounds, from the time that the loop waits for batches.

```
 window of batches ──▶ next_scaling (pure) ──▶ resize
      the loop waited > 5 %: add a worker; keep it if batches then come faster
      in three windows in a row, the loop waited < 1 %, and with one worker fewer, the others would be busy
          at most 80 % of the time: remove a worker
```
The gap between the two limits keeps the number of workers from oscillating. A worker that does not help, because cores or
storage are at their limit, is removed, and no worker is added for a while.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from jdali.engine.executors.elsewhere import MadeElsewhere

_WAITING = 0.05  # a worker is added if the loop waits for more than this share of the time
_IDLE = 0.01  # a worker may be removed if the loop waits for less than this share of the time
_BUSY = 0.8  # a worker is removed only if the others are then busy for at most this share
_HELPS = 1.03  # a new worker stays if batches then come at least this many times as fast
_QUIET_WINDOWS = 3  # a worker is removed if it was not needed in this many windows in a row
_PAUSE_WINDOWS = 8  # after a worker that did not help, none is added for this many windows
WINDOW_BATCHES = 32


@dataclasses.dataclass(frozen=True)
class Scaling:
    """Holds the number of workers, with the history that `next_scaling` needs."""

    count: int
    quiet: int = 0  # windows in a row in which one worker fewer would have been enough
    rate: float | None = None  # batches a second before the last window added a worker; None if it added none
    pause: int = 0  # number of coming windows in which no worker is added


def next_scaling(now: Scaling, rate: float, waited: float, busy: float, least: int, most: int) -> Scaling:
    """Chooses the number of workers from the measurements of a window in which the number was constant.

    Args:
        rate: batches a second.
        waited: share of the time that the loop waited for batches.
        busy: number of workers that worked, on average.
    """
    if now.rate is not None and rate < _HELPS * now.rate:
        return Scaling(max(now.count - 1, least), pause=_PAUSE_WINDOWS)
    pause = max(now.pause - 1, 0)
    if waited > _WAITING and now.count < most and not now.pause:
        return Scaling(now.count + 1, rate=rate)
    is_quiet = waited < _IDLE and now.count > least and busy <= _BUSY * (now.count - 1)
    quiet = now.quiet + 1 if is_quiet else 0
    if quiet == _QUIET_WINDOWS:
        return Scaling(now.count - 1)
    return Scaling(now.count, quiet, pause=pause)


class WorkerScaler:
    """Measures how long the loop waits, and adds and removes workers.

    Callers hold the lock `Window.turn`, except callers of `note_wait`.
    """

    def __init__(
        self, elsewhere: MadeElsewhere, resize: Callable[[int], None], least: int, most: int,
        clock: Callable[[], float] = time.perf_counter,
    ):  # fmt: skip
        self._elsewhere, self._resize, self._clock = elsewhere, resize, clock
        self._least, self._most = least, most
        self._scaling = Scaling(elsewhere.workers.count)
        self._waits: list[float] = []
        self._begin()

    def _begin(self) -> None:
        self._batches, self._start, self._busy = 0, self._clock(), self._elsewhere.timer.spent().busy
        self._waits.clear()

    def note_wait(self, seconds: float) -> None:
        self._waits.append(seconds)

    def note_batch(self) -> None:
        workers = self._elsewhere.workers
        self._batches += 1
        if self._batches < WINDOW_BATCHES:
            return
        if workers.count != self._scaling.count:  # the user has changed it
            self._scaling = Scaling(workers.count)
        elif workers.counts().ready == workers.count:
            busy = self._elsewhere.timer.spent().busy - self._busy
            seconds = max(self._clock() - self._start, 1e-9)
            measured = self._batches / seconds, sum(self._waits) / seconds, busy / seconds
            self._scaling = next_scaling(self._scaling, *measured, self._least, self._most)
            if self._scaling.count != workers.count:
                self._resize(self._scaling.count)
        self._begin()
