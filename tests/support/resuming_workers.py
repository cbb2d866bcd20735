"""A program with sources and functions in worker processes, to be killed and resumed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import jdali
from jdali import fn
from jdali.iterator import DataIterator
from support.resuming import goes_on

BATCHES = 5  # of an epoch


class Numbers:
    """A sample tells its epoch and number."""

    def __call__(self, info: Any) -> Any:
        if info.iteration == BATCHES:
            raise StopIteration
        return np.float32([info.epoch_idx, info.idx_in_epoch])


def batches() -> Iterator[Any]:
    """All batches, one after another: in a worker of its own."""
    for i in range(BATCHES):
        yield np.full((4, 2), 100 + i, np.float32)


def spread(value: Any) -> Any:
    return np.repeat(value, 3)


def iterator(*, workers: int = 1, depth: int = 2) -> DataIterator:
    options: dict[str, Any] = {"py_num_workers": workers, "py_start_method": "forkserver"}

    @jdali.pipeline_def(batch_size=4, num_threads=2, seed=7, prefetch_queue_depth=depth, **options)
    def pipeline() -> Any:
        numbers = fn.external_source(
            Numbers(), batch=False, parallel=True, cycle=None, prefetch_queue_depth=depth
        )
        others = fn.external_source(batches, parallel=True, cycle="raise")
        moved = numbers + fn.random.uniform(range=(0.0, 1.0))
        return fn.python_function(moved, function=spread, parallel=True), others

    return DataIterator(pipeline(), ["moved", "other"], auto_reset=True)


if __name__ == "__main__":
    state, log, workers, depth, steps = sys.argv[1:]
    with iterator(workers=int(workers), depth=int(depth)) as it:
        goes_on(it, state, log, int(steps))
