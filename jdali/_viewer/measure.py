"""A loop over a pipeline as training would have one, for `bench` and the Time page."""

from __future__ import annotations

import time
from collections.abc import Callable

import jax

from jdali._threads import PhaseTimer
from jdali.pipeline import Pipeline
from jdali.profiler import Recorder, Report

Advance = Callable[[int, float], bool]


def measure_loop(
    pipe: Pipeline, batches: int, advance: Advance = lambda done, seconds: True, warm: int = 2
) -> Report:
    """Takes batches one after another, and does nothing with them.

    Args:
        pipe: runs from where it is.
        batches: how many are measured.
        advance: gets the number of batches so far and the seconds that they took; returns False to stop.
        warm: batches that are taken before.

    Returns: the report of the measured ones; with none where the pipeline ended.
    """
    for _ in range(warm):
        try:
            _take(pipe)
        except StopIteration:
            pipe.reset()
            break
    recorder = Recorder([pipe], PhaseTimer("batch", "outputs"))
    start = time.perf_counter()
    done, waited = 0, 0.0
    while done < batches:
        asked = time.perf_counter()
        try:
            _take(pipe)
        except StopIteration:
            break
        done, waited = done + 1, waited + time.perf_counter() - asked
        if not advance(done, time.perf_counter() - start):
            break
    return recorder.report(done, time.perf_counter() - start, waited)


def _take(pipe: Pipeline) -> None:
    for output in pipe.run():
        jax.block_until_ready([block.array for block in output.store.blocks if hasattr(block, "array")])
