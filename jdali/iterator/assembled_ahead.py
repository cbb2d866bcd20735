"""Makes the arrays of batches in the threads of the pipelines, before the iterator takes them.

```
 pipeline 0: made ──▶ part 0 ──┐
                               ├─▶ JoinedBatch: arrays on their devices
 pipeline 1: made ──▶ part 1 ──┘
```
The thread that adds the last part of a batch makes the arrays. `select` chooses the samples by the rules for the last batch
of an epoch. If making the arrays fails, the iterator makes them again when it takes the batch, and then raises the error.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import PaddedBlock, SlabPool
from jdali._system.jax_modes import batch_modes
from jdali._threads import NATIVE, PhaseTimer, inner
from jdali.engine import EpochShare, Result
from jdali.iterator.assemble import Assembler
from jdali.iterator.policy import EpochCounter, IteratorError, LastBatchPolicy
from jdali.pipeline import Pipeline


def select(
    counter: EpochCounter, counts: Sequence[int], results: Sequence[Result]
) -> tuple[list[np.ndarray | None], np.ndarray, np.ndarray] | None:
    """Selects the samples of a batch for the user.

    Args:
        counts: for each pipeline, the number of samples of the batch that belong to the epoch.

    Returns: the rows to take from each pipeline (None for all); bool [N], False for samples that only fill up the batch; and
        bool [N], the mask that the user gets. None if all samples failed, so that the batch is left out.

    Raises:
        OperatorError: in some pipelines, but not in all, every sample of the batch failed.
    """
    full = counter.batch_size
    lost = [result.nothing for result in results if result.nothing is not None]
    if len(lost) == len(results):
        return None
    if lost:  # the samples of the other pipelines do not fill a batch
        raise lost[0]
    sizes = [len(result.mask) for result in results]
    pads = counter.policy is LastBatchPolicy.PAD
    if counter.length is not None:
        for size, count in zip(sizes, counts, strict=True):
            wanted = count if pads else full  # with PAD, a smaller batch is filled up later
            if size < wanted:
                raise IteratorError(
                    f"iterator: a pipeline gave {size} samples in place of {wanted}. Variable batch size is not supported "
                    "by the iterator when reader_name is provided or iterator size is set explicitly: a source that gives "
                    "smaller batches ends the epoch itself"
                )
    insides = [_inside(counter, result, n) for result, n in zip(results, counts, strict=True)]
    rows: list[np.ndarray | None] = [None] * len(results)
    if counter.policy is LastBatchPolicy.PARTIAL:
        rows = [None if inside.all() else np.flatnonzero(inside) for inside in insides]
    elif pads:
        rows = [None if n == full else np.minimum(np.arange(full), n - 1) for n in sizes]
    real, belongs = [], []
    for result, whole, picked in zip(results, insides, rows, strict=True):
        chosen = np.arange(len(whole)) if picked is None else picked
        inside = whole[chosen]
        inside[len(whole) :] = False  # PAD repeats the last sample
        belongs.append(inside)
        real.append(result.mask[chosen] & (inside | (not pads)))
    return rows, np.concatenate(belongs), np.concatenate(real)


def _inside(counter: EpochCounter, result: Result, count: int) -> np.ndarray:
    """Marks the samples that belong to the epoch. Without a reader, these are the first `count`."""
    inside: np.ndarray = np.arange(len(result.mask)) < count
    if counter.reader is None:
        return inside
    # The reader itself marks the samples that it repeats.
    return ~result.padded & (inside | (counter.policy is LastBatchPolicy.PAD))


@dataclasses.dataclass(frozen=True)
class UserBatch:
    """Holds a batch for the user; `belongs` is False for samples that only fill up the batch."""

    arrays: Any
    belongs: np.ndarray
    share: EpochShare


class Assembly:
    """Makes the arrays of batches, one batch at a time."""

    def __init__(self, assemble: Assembler, counter: EpochCounter, slabs: SlabPool):
        self._assemble, self._counter, self._slabs = assemble, counter, slabs
        self.timer = PhaseTimer("batch", "put together and brought to its devices")
        self._turn = threading.Lock()

    @batch_modes()
    def __call__(self, results: Sequence[Result], share: EpochShare) -> UserBatch | None:
        """Makes the arrays of a batch and waits until they are computed. Returns None if all samples failed."""
        selected = select(self._counter, share.counts, results)
        if selected is None:
            return None
        rows, belongs, real = selected
        outputs = [result.outputs for result in results]
        with self._turn, self._slabs, self.timer.lap(), NATIVE:
            arrays = self._assemble(outputs, rows, real)
            # next() returns only computed arrays, so the time spent in it is the whole time that a user waits.
            with inner("computing"):
                jax.block_until_ready(arrays)
        return UserBatch(arrays, belongs, share)

    def bytes_beside(self, batch: UserBatch | None, results: Sequence[Result]) -> int:
        """Counts the bytes of a batch's arrays that do not share memory with the results."""
        own = {
            id(block.array)
            for result in results
            for output in result.outputs
            for block in output.store.blocks
            if isinstance(block, PaddedBlock)
        }
        leaves = jax.tree.leaves(batch and batch.arrays)
        return sum(self._assemble.bytes_of(leaf) for leaf in leaves if id(leaf) not in own)


class JoinedBatch:
    """Holds a batch of all pipelines. The parts, by pipeline, are dropped once the arrays are made."""

    def __init__(self) -> None:
        self.parts: dict[int, Result] = {}
        self.made: UserBatch | None = None


class _Joining:
    """Joins the results of all pipelines."""

    def __init__(self, pipelines: int, assembly: Assembly):
        self._pipelines, self._assembly = pipelines, assembly
        # A batch is alive as long as a result references it.
        self._batches: weakref.WeakValueDictionary[tuple[int, int], JoinedBatch] = (
            weakref.WeakValueDictionary()
        )
        self._lock = threading.Lock()

    def add(self, pipeline: int, result: Result, share: EpochShare) -> Result:
        """Adds one pipeline's part of a batch; the last part makes the arrays. `finished` of the result is the whole batch."""
        with self._lock:
            batch = self._batches.setdefault((share.epoch, share.number), JoinedBatch())
            batch.parts[pipeline] = result
            if len(batch.parts) < self._pipelines:
                return dataclasses.replace(result, finished=batch)
        parts = [batch.parts[number] for number in range(self._pipelines)]
        with contextlib.suppress(Exception):  # the iterator tries again and raises the error
            batch.made = self._assembly(parts, share)
        batch.parts = {}
        size = result.nbytes + self._assembly.bytes_beside(batch.made, parts)
        return dataclasses.replace(
            result, finished=batch, nbytes=size, most_bytes=max(size, result.most_bytes)
        )


class _Part:
    """Implements `engine.Follower` for one pipeline, starting at the next batch that the iterator takes."""

    def __init__(self, joining: _Joining, pipeline: int, counter: EpochCounter):
        self._joining, self._pipeline, self._counter = joining, pipeline, copy.copy(counter)

    def draw(self) -> EpochShare:
        return self._counter.draw()

    def end(self) -> None:
        if self._counter.meet_end():
            self._counter.advance()

    def finish(self, result: Result) -> Result:
        share = result.share
        if share is None or share.is_surplus:
            return result
        return self._joining.add(self._pipeline, result, share)


def follow(pipelines: Sequence[Pipeline], assembly: Assembly, counter: EpochCounter) -> list[object]:
    """Starts assembling batches ahead. Assembling ends when the returned objects are freed."""
    joining = _Joining(len(pipelines), assembly)
    parts = [_Part(joining, i, counter) for i in range(len(pipelines))]
    for part, pipeline in zip(parts, pipelines, strict=True):
        pipeline.follow(part)
    return [*parts]


def found(results: Sequence[Result], share: EpochShare) -> UserBatch | None:
    """Returns the batch that was assembled ahead from `results` for the same `share`; None if there is none."""
    batch = results[0].finished
    if not isinstance(batch, JoinedBatch) or any(result.finished is not batch for result in results):
        return None
    return batch.made if batch.made is not None and batch.made.share == share else None
