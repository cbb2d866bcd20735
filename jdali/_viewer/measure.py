"""Measures a pipeline in a loop, for `bench` and the Time page."""

from __future__ import annotations

import time
from collections.abc import Callable

from jdali._threads import PhaseTimer
from jdali.engine.eager import wait
from jdali.pipeline import Pipeline
from jdali.profiler import Recorder, Report

Advance = Callable[[int, float], bool]


def measure_loop(
    pipe: Pipeline, batches: int, advance: Advance = lambda done, seconds: True, warm: int = 2
) -> Report:
    """Measures a loop that only takes batches.

    Args:
        pipe: the pipeline; it runs from its current position.
        batches: number of batches to measure; fewer if the pipeline ends.
        advance: called with the number of batches so far and their seconds; returns False to stop.
        warm: number of batches to take before the measurement.
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
        wait(output)
