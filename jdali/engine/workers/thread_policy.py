"""Decides which threads work on the samples of a step: the calling thread, or the threads of the pool."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence

# `shares` uses at most 1 + max(bytes // _SHARE_BYTES, samples // _SHARE_SAMPLES) threads.
_SHARE_BYTES, _SHARE_SAMPLES = 1 << 20, 64
# Samples per call in the calling thread, see `groups_here`.
_TOGETHER = 64
# A task costs some 20 us, so a task has several cheap samples. Each thread gets several tasks, to balance the load.
_TASKS_A_THREAD = 8


class ThreadPolicy:
    """Decides for one step, batch by batch, which threads work on the samples. Results do not depend on the choice.

    ```
    decides                                                  measures
    is_brief    if the calling thread makes the whole        processor time and wall time (note_batch)
                batch, one batch at a time
    work_here   how many samples the calling thread makes    the time of a sample in this thread, and in the pool
                before the pool makes the rest               (note_pool)
    ```
    `samples_a_task` and `shares` choose the size of the pool's tasks by the number and bytes of the samples.

    Brief work: a sample that takes some microseconds makes a few short calls that release the GIL. With several threads, each
    finds the GIL taken when its call ends, and waking up takes longer than the call. Two threads that decode pictures of 8×8
    pixels take 1.8 times the processor time of one, and no less wall time. With pictures of 64×64 pixels it is 1.05 times,
    and two threads are worth it.

    Cheap samples: threads that release the GIL many times a millisecond mostly wait for each other, too. For plain WAV files,
    two threads took three times as long as one. This depends on the function and the machine, so now and then the
    policy tries both the calling thread alone and the pool, and uses the faster one.

    Readers themselves divide their work into tasks (`Reader.tasks`), depending on where their records are.

    Args:
        tries_here: True if samples may be cheap; False sends all samples to the pool.
        may_be_brief: True if a sample may take only microseconds. Must be False where user functions run, because
            they may wait for each other.

    Attributes:
        is_brief: True if one thread works on the next batch.
    """

    # A brief sample takes at most BRIEF_SECONDS of processor time. Its wall time is at most BRIEF_WAITING times as
    # long; with more, it waits for a disk or a server, and threads are faster. Once work is brief, both limits are
    # multiplied by BRIEF_SLACK.
    BRIEF_SECONDS, BRIEF_WAITING, BRIEF_SLACK = 30e-6, 4.0, 1.5

    # Limits of a sample's time in the calling thread. Below TRIVIAL_SECONDS the pool is not tried. Above CHEAP_SECONDS
    # samples go to the pool while the pool's time is unknown. Above EXPENSIVE_SECONDS they always go to the pool.
    TRIVIAL_SECONDS = 40e-6
    CHEAP_SECONDS = 150e-6
    EXPENSIVE_SECONDS = 1e-3
    # A batch may take this many seconds more in the calling thread than these limits allow for its samples.
    TOLERANCE_SECONDS = 450e-6
    # After at most this many batches, the policy tries the other way (calling thread or pool) again, because samples differ.
    # The first tries come sooner, because a first call may include some set-up.
    MOST_PATIENCE = 64
    # With fewer samples, the speed of the pool cannot be measured.
    _FEW = 4

    def __init__(self, *, tries_here: bool = True, may_be_brief: bool = False):
        self.tries_here, self.may_be_brief = tries_here, may_be_brief
        self.is_brief = False
        self._pool_seconds: float | None = None
        self._patience = 1
        self._batches_to_pool = 0
        self._batches_here = 0

    def note_batch(self, samples: int, cpu: float, busy: float) -> None:
        """Records a batch of `samples` samples: processor time and wall time, in seconds, of all threads together."""
        if self.may_be_brief:
            slack = self.BRIEF_SLACK if self.is_brief else 1.0
            is_short = cpu <= slack * self.BRIEF_SECONDS * samples
            self.is_brief = is_short and busy <= slack * self.BRIEF_WAITING * cpu

    def work_here(self, function: Callable[[int], object], samples: Sequence[int]) -> int:
        """Calls function(0), function(1), ... as long as that pays; returns the number of calls.

        Call i works on `samples[i]` samples.
        """
        if not self.tries_here:
            return 0
        if self._batches_to_pool:
            self._batches_to_pool -= 1
            return 0
        start = time.perf_counter()
        known = self._pool_seconds
        limit = self.CHEAP_SECONDS if known is None else min(known, self.EXPENSIVE_SECONDS)
        allowed, used = self.TOLERANCE_SECONDS, 0.0
        for i, count in enumerate(samples):
            function(i)
            allowed += count * max(limit, self.TRIVIAL_SECONDS)
            used = time.perf_counter() - start
            if used > allowed:
                self._batches_here = 0
                self._batches_to_pool = self._patience
                self._patience = min(2 * self._patience, self.MOST_PATIENCE)
                return i + 1
        self._stay(used / max(sum(samples), 1))
        return len(samples)

    def _stay(self, seconds: float) -> None:
        """Records a batch that the calling thread made alone; it took `seconds` per sample."""
        self._batches_here += 1
        if self._batches_here == 1:
            self._patience = 1
        if seconds > self.TRIVIAL_SECONDS and self._batches_here >= 2 * self._patience:
            self._batches_to_pool = 1
            self._patience = min(2 * self._patience, self.MOST_PATIENCE)

    def note_pool(self, seconds: float, samples: int) -> None:
        if samples < self._FEW:
            return
        latest = seconds / samples
        known = self._pool_seconds
        self._pool_seconds = latest if known is None else (known + latest) / 2


def groups_here(count: int) -> list[slice]:
    """Divides samples into calls for `work_here`. The first sample is a call of its own, because it may wait for a disk."""
    bounds = [0, *range(1, count, _TOGETHER), count]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def samples_a_task(count: int, threads: int) -> int:
    """Returns how many of `count` samples share a task, if each sample is a separate call."""
    return max(1, count // (_TASKS_A_THREAD * threads))


def shares(count: int, nbytes: int, threads: int) -> list[slice]:
    """Divides `count` samples of `nbytes` bytes among the threads. If there is only one share, the calling thread takes it."""
    tasks = min(threads, 1 + max(nbytes // _SHARE_BYTES, count // _SHARE_SAMPLES))
    step = max(-(-count // tasks), 1)
    return [slice(at, min(at + step, count)) for at in range(0, count, step)]
