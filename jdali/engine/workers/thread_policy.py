"""Decides which threads work on the samples of a step: the one that has the batch, or those of the pool."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence

# Of samples that are worked on together, a thread should have at least this much, or this many.
_SHARE_BYTES, _SHARE_SAMPLES = 1 << 20, 64
# Samples that are worked on together where they are tried in the thread that has the batch.
_TOGETHER = 64
# A task costs some 20 us: cheap samples share one, and enough tasks stay to even out.
_TASKS_A_THREAD = 8


class ThreadPolicy:
    """Decides for one step, batch by batch, which threads work on its samples. Results do not depend on it.

    ```
    decides                                              measures
    is_brief    the whole batch here, in turns           processor time and time by the clock (note_batch)
    work_here   how many samples here, the others        the time of a sample here, and in the pool
                in the pool                              (note_pool)
    ```
    The size of the pool's tasks follows from number and bytes of the samples: `samples_a_task`, `shares`.

    Brief work: a sample that takes some microseconds is a few short calls, during which a thread lets go of the GIL.
    Of several threads that do so each finds it taken when it comes back, and to be woken then takes longer than the
    call did: two that decode pictures of 8×8 pixels take 1.8 times the processor time of one, and no less time by the
    clock. With pictures of 64×64 pixels it is 1.05 times, and two threads are worth it.

    Cheap samples: threads that let go of the GIL many times a millisecond mostly wait for each other, too: two of them
    took three times as long as one for plain WAV files. How that is depends on the function and the machine, so both
    ways are tried now and then, and what took less time is done.

    Readers divide what goes to the pool themselves (`Reader.tasks`): they know where their records lie.

    Args:
        tries_here: samples may be cheap; else all go to the pool.
        may_be_brief: samples may take microseconds. Not where functions of the user's run, which may wait for each
            other.

    Attributes:
        is_brief: the next batch is worked on in one thread.
    """

    # Processor time of a brief sample, seconds; and how many times as long it may take by the clock, on a busy machine:
    # work that waits for a disk or a server gains by threads. What is brief stays so up to BRIEF_SLACK times as much.
    BRIEF_SECONDS, BRIEF_WAITING, BRIEF_SLACK = 30e-6, 4.0, 1.5

    # Seconds for a sample. Less than the first is not worth a try of the pool. As long as the pool's time is
    # not known, calls that take more than the second are for the pool, and those of more than the third ever.
    TRIVIAL_SECONDS = 40e-6
    CHEAP_SECONDS = 150e-6
    EXPENSIVE_SECONDS = 1e-3
    # What all calls of a batch together may take longer, for once.
    TOLERANCE_SECONDS = 450e-6
    # Batches after which the other way is tried again, at most, since samples differ. The first tries come
    # sooner: the first call may have something to set up.
    MOST_PATIENCE = 64
    # Fewer samples say nothing of the pool.
    _FEW = 4

    def __init__(self, *, tries_here: bool = True, may_be_brief: bool = False):
        self.tries_here, self.may_be_brief = tries_here, may_be_brief
        self.is_brief = False
        self._pool_seconds: float | None = None
        self._patience = 1
        self._batches_to_pool = 0
        self._batches_here = 0

    # --- the whole batch --------------------------------------------------------------------
    def note_batch(self, samples: int, cpu: float, busy: float) -> None:
        """Records a batch of `samples` samples: processor time, and time by the clock, seconds of all threads."""
        if self.may_be_brief:
            slack = self.BRIEF_SLACK if self.is_brief else 1.0
            is_short = cpu <= slack * self.BRIEF_SECONDS * samples
            self.is_brief = is_short and busy <= slack * self.BRIEF_WAITING * cpu

    # --- its first samples ------------------------------------------------------------------
    def work_here(self, function: Callable[[int], object], samples: Sequence[int]) -> int:
        """Calls function(0), function(1), ... as long as that is the better way; returns how many were called.

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
        """Notes a batch that was worked on here, and its time a sample."""
        self._batches_here += 1
        if self._batches_here == 1:
            self._patience = 1
        if seconds > self.TRIVIAL_SECONDS and self._batches_here >= 2 * self._patience:
            self._batches_to_pool = 1
            self._patience = min(2 * self._patience, self.MOST_PATIENCE)

    def note_pool(self, seconds: float, samples: int) -> None:
        """Records how long this many samples took in the pool."""
        if samples < self._FEW:
            return
        latest = seconds / samples
        known = self._pool_seconds
        self._pool_seconds = latest if known is None else (known + latest) / 2


def groups_here(count: int) -> list[slice]:
    """Divides samples that are loaded together for `work_here`: the first one alone, for it may wait for a disk."""
    bounds = [0, *range(1, count, _TOGETHER), count]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def samples_a_task(count: int, threads: int) -> int:
    """Returns how many of `count` samples, each of which is worked on by itself, share a task."""
    return max(1, count // (_TASKS_A_THREAD * threads))


def shares(count: int, nbytes: int, threads: int) -> list[slice]:
    """Divides `count` samples of `nbytes` bytes among the threads; a single share is not worth a change of threads."""
    tasks = min(threads, 1 + max(nbytes // _SHARE_BYTES, count // _SHARE_SAMPLES))
    step = max(-(-count // tasks), 1)
    return [slice(at, min(at + step, count)) for at in range(0, count, step)]
