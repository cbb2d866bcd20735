"""The batches of an iterator one after another, with the ends of the epochs between them."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali.engine._executor import Result
from jdali.iterator._assemble import Assembler
from jdali.iterator._policy import EpochCounter, LastBatchPolicy
from jdali.pipeline import Pipeline

log = logging.getLogger("jdali")

STATE_VERSION = 1


@dataclasses.dataclass(frozen=True)
class Batch:
    """A batch for the user.

    Attributes:
        arrays: by name.
        belongs: bool [N], True for samples of this epoch, False for those that only fill up the batch.
        done: batches of the epoch given so far, this one included.
        length: batches in the epoch; None: not known.
        state: to go on after this batch.
    """

    arrays: dict[str, jax.Array]
    belongs: np.ndarray
    done: int
    length: int | None
    state: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class EpochEnd:
    """The end of an epoch.

    Attributes:
        size, length: of the next one.
        waits: nothing is made before the iterator is reset: a source has ended, or may do so.
        state: to go on after it.
    """

    size: int
    length: int | None
    waits: bool
    state: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Failure:
    """What was raised while a batch was made."""

    error: BaseException


Item = Batch | EpochEnd | Failure


class BatchStream:
    """Draws from pipelines and cuts what comes into epochs; used by one thread at a time."""

    def __init__(self, pipelines: Sequence[Pipeline], counter: EpochCounter, assemble: Assembler):
        self.pipelines, self.counter, self.assemble = tuple(pipelines), counter, assemble
        self.policy = counter.policy
        self._ended = False  # the end of the epoch has been told

    def get_state(self) -> dict[str, Any]:
        """JSON-able: where the pipelines and the counter are."""
        return {
            "version": STATE_VERSION,
            "epoch": self.counter.get_state(),
            "ended": self._ended,
            "pipelines": [pipeline.get_state() for pipeline in self.pipelines],
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        if state.get("version") != STATE_VERSION:
            raise ValueError(
                f"iterator: a state of version {state.get('version')!r}, expected {STATE_VERSION}"
            )
        if len(state["pipelines"]) != len(self.pipelines):
            raise ValueError(
                f"iterator: the state is of {len(state['pipelines'])} pipelines, there are "
                f"{len(self.pipelines)}"
            )
        self.counter.set_state(state["epoch"])
        for pipeline, of_pipeline in zip(self.pipelines, state["pipelines"], strict=True):
            pipeline.set_state(of_pipeline)
        self._ended = bool(state["ended"])

    def next(self) -> Item:
        """The next batch, or the end of the epoch."""
        if self._ended:
            self._begin_epoch()
        if self.counter.done == self.counter.length:
            for _ in range(self.counter.surplus):
                self._draw()
            return self._end(waits=self.counter.reader is None)
        number = self.counter.done
        self.counter.done += 1  # also if the batch fails: its samples are gone
        results = self._draw()
        if results is None and number == 0:
            # The source ended just where the epoch before did: nobody has told it to begin again.
            self._reset_pipelines()
            results = self._draw()
        if results is None:
            self.counter.done = number
            return self._end(waits=True)
        return self._batch(results, number)

    def _begin_epoch(self) -> None:
        self._reset_pipelines()
        self.counter.advance()
        self._ended = False

    def _reset_pipelines(self) -> None:
        for pipeline in self.pipelines:
            pipeline.reset()

    def _draw(self) -> list[Result] | None:
        """One batch of each pipeline; None if a source has ended."""
        try:
            return [pipeline.run_result() for pipeline in self.pipelines]
        except StopIteration:
            return None

    def _end(self, waits: bool) -> EpochEnd:
        self._ended = True
        following = self.counter.following()
        return EpochEnd(following.size, following.length, waits, self.get_state())

    def _inside(self, result: Result, count: int) -> np.ndarray:
        """Which samples of a batch belong to the epoch, if the first `count` should."""
        inside: np.ndarray = np.arange(len(result.mask)) < count
        if self.counter.reader is None:
            return inside
        # The reader knows best which of its samples are repeated.
        return ~result.padded & (inside | (self.policy is LastBatchPolicy.PAD))

    def _batch(self, results: Sequence[Result], number: int) -> Item:
        counts = self.counter.belonging(number)
        full = self.counter.batch_size
        sizes = [len(result.mask) for result in results]
        pads = self.policy is LastBatchPolicy.PAD
        if any(size != full for size in sizes) and self.counter.length is not None and not pads:
            raise RuntimeError(
                f"iterator: a pipeline gave {min(sizes)} samples in place of {full}: a source that gives "
                "smaller batches ends the epoch itself, so give neither size nor reader_name"
            )
        insides = [self._inside(result, n) for result, n in zip(results, counts, strict=True)]
        rows: list[np.ndarray | None] = [None] * len(results)
        if self.policy is LastBatchPolicy.PARTIAL:
            if any(counts) and not any(inside.any() for inside in insides):
                return self.next()  # nothing but repetitions in place of samples that could not be read
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
        arrays = self.assemble([result.outputs for result in results], rows, np.concatenate(real))
        # What next() hands over is there: so the time it waits is all the time a user waits for data.
        for array in arrays.values():
            array.block_until_ready()
        return Batch(
            arrays, np.concatenate(belongs), self.counter.done, self.counter.length, self.get_state()
        )


def item_or_failure(make: Callable[[], Item]) -> Item:
    try:
        return make()
    except BaseException as error:
        return Failure(error)
