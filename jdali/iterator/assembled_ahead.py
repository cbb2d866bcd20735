"""Batches whose arrays are made in the pipelines' threads, before the iterator asks for them.

```
 pipeline 0: made ──▶ part 0 ──┐
                               ├─▶ AheadBatch: arrays on their devices
 pipeline 1: made ──▶ part 1 ──┘
```
The thread that brings the last part of a batch makes the arrays. Which samples it takes was decided when the batch was drawn.
If the user took a batch from the pipeline meanwhile, the iterator makes the arrays itself. It does so as well if that failed
here, and then raises the error.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import Array

from jdali._batches import PaddedBlock, SlabPool
from jdali._threads import NATIVE, PhaseTimer, inner
from jdali.engine import Result
from jdali.iterator.assemble import Assembler
from jdali.iterator.policy import EpochCounter
from jdali.iterator.selection import Selection, select
from jdali.pipeline import Pipeline


class Assembly:
    """Makes the arrays of batches, one batch at a time.

    Args:
        assemble: makes them.
        slabs: that it leases memory from.

    Attributes:
        timer: of its work.
    """

    def __init__(self, assemble: Assembler, slabs: SlabPool):
        self._assemble, self._slabs = assemble, slabs
        self.timer = PhaseTimer("batch", "put together and brought to its devices")
        self._turn = threading.Lock()

    def __call__(self, results: Sequence[Result], selection: Selection) -> dict[str, Array]:
        """Returns the arrays of a batch once they are there."""
        outputs = [result.outputs for result in results]
        with self._turn, self._slabs, self.timer.lap(), NATIVE:
            arrays = self._assemble(outputs, selection.rows, selection.real)
            # What next() hands over is there: so the time it waits is all the time a user waits for data.
            with inner("computing"):
                jax.block_until_ready(arrays)
        return arrays


class AheadBatch:
    """A batch of all pipelines that is made ahead.

    Attributes:
        counts: for each pipeline how many samples belong to the epoch, known when it is drawn; None: nobody gets the batch.
        parts: the results so far; none any more once there are arrays.
        selection: the samples in the arrays; None: there are no arrays.
        arrays: by name.
    """

    def __init__(self, pipelines: int, counts: tuple[int, ...] | None):
        self.counts = counts
        self.parts: list[Result | None] = [None] * pipelines
        self.selection: Selection | None = None
        self.arrays: Any = None


class ExpectedBatches:
    """The batches of pipelines from a position in the epochs on.

    Args:
        counter: at that position.
        assembly: makes the arrays.
    """

    def __init__(self, counter: EpochCounter, assembly: Assembly):
        self._counter, self._assembly = copy.copy(counter), assembly
        self._begin = -counter.done  # index of the first batch of the counter's epoch
        self._pipelines = counter.pipelines
        # A batch lives as long as one of its parts is under way or not taken.
        self._batches: weakref.WeakValueDictionary[int, AheadBatch] = weakref.WeakValueDictionary()
        self._drawn = 0
        self._lock = threading.Lock()

    def drawn(self, index: int) -> AheadBatch | None:
        """Returns the batch that a pipeline draws a part of; None: it was drawn before this was asked for.

        Args:
            index: of the batch, from the position on.
        """
        with self._lock:
            batch = self._batches.get(index)
            if batch is None and index >= self._drawn:
                batch = self._batches[index] = AheadBatch(self._pipelines, self._counts(index))
                self._drawn = index + 1
            return batch

    def add(self, pipeline: int, batch: AheadBatch, result: Result) -> Result:
        """Adds a part of a batch, and makes the arrays with the last one; returns the part with the batch.

        Args:
            pipeline: that made it.
            batch: that it belongs to.
            result: of the pipeline.
        """
        with self._lock:
            batch.parts[pipeline] = result
            results = [part for part in batch.parts if part is not None]
        if len(results) < self._pipelines:
            return dataclasses.replace(result, finished=batch)
        with contextlib.suppress(Exception):  # the iterator tries again, and raises it
            self._assemble(batch, results)
        batch.parts = []
        size = result.nbytes + _bytes_beside(batch.arrays, results)
        return dataclasses.replace(
            result, finished=batch, nbytes=size, most_bytes=max(size, result.most_bytes)
        )

    def _assemble(self, batch: AheadBatch, results: Sequence[Result]) -> None:
        if batch.counts is None:
            return
        selection = select(self._counter, batch.counts, results)
        if selection is not None:
            batch.arrays, batch.selection = self._assembly(results, selection), selection

    def _counts(self, index: int) -> tuple[int, ...] | None:
        """Counts the samples of a batch that belong to the epoch, by pipeline; None: nobody gets the batch."""
        counter = self._counter
        if counter.gives_nothing:
            return None
        while (length := counter.length) is not None and index - self._begin >= length + counter.surplus:
            self._begin += length + counter.surplus
            counter.advance()
        number = index - self._begin
        return None if length is not None and number >= length else counter.belonging(number)


class _Part:
    """Brings the results of one pipeline; see `engine.Window.finish_with`.

    Args:
        expected: where to.
        pipeline: index of the pipeline.

    Attributes:
        first: number of the batch that is expected first; None: not known yet.
    """

    def __init__(self, expected: ExpectedBatches, pipeline: int):
        self._expected, self._pipeline = expected, pipeline
        self.first: int | None = None

    def drawn(self, number: int) -> Callable[[Result], Result] | None:
        if self.first is None or number < self.first:
            return None
        batch = self._expected.drawn(number - self.first)
        return None if batch is None else functools.partial(self._expected.add, self._pipeline, batch)


class Ahead:
    """Has the batches of an iterator assembled ahead, from where it is.

    Args:
        pipelines: of the iterator.
        assembly: makes the arrays.
    """

    def __init__(self, pipelines: Sequence[Pipeline], assembly: Assembly):
        self._pipelines, self._assembly = pipelines, assembly
        self._parts: list[_Part] = []  # the pipelines hold them weakly

    def forget(self) -> None:
        """Expects nothing while pipelines are moved one after another."""
        self._parts = []

    def expect(self, counter: EpochCounter) -> None:
        """Expects the next batches of all pipelines, from where a counter is."""
        expected = ExpectedBatches(counter, self._assembly)
        self._parts = [_Part(expected, i) for i in range(len(self._pipelines))]
        for part, pipeline in zip(self._parts, self._pipelines, strict=True):
            part.first = pipeline.finish_with(part)

    @staticmethod
    def found(results: Sequence[Result], counts: tuple[int, ...]) -> AheadBatch | None:
        """Returns the batch that was assembled of these results and counts."""
        batch = results[0].finished
        if not isinstance(batch, AheadBatch) or batch.selection is None or batch.counts != counts:
            return None
        return batch if all(result.finished is batch for result in results) else None


def _bytes_beside(arrays: object, results: Sequence[Result]) -> int:
    """Bytes of arrays that are not memory of the results."""
    own = {
        id(block.array)
        for result in results
        for output in result.outputs
        for block in output.store.blocks
        if isinstance(block, PaddedBlock)
    }
    return sum(getattr(leaf, "nbytes", 0) for leaf in jax.tree.leaves(arrays) if id(leaf) not in own)
