"""The batches of an iterator one after another, with the ends of the epochs between them."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._pipeline.twin import PipelineTwin
from jdali._state import check_version
from jdali.engine.flow.executor import Result
from jdali.engine.workers.native_calls import NATIVE
from jdali.engine.workers.timing import PhaseTimer, inner
from jdali.iterator.assemble import Assembler
from jdali.iterator.errors import IteratorError
from jdali.iterator.policy import EpochCounter, LastBatchPolicy
from jdali.iterator.state import STATE_VERSION, begun_state, pipeline_states, state_of
from jdali.pipeline import Pipeline

log = logging.getLogger("jdali")

# States kept for finding batches again, each some hundred bytes: a run may last for months.
MOST_ANCHORS = 4096


@dataclasses.dataclass(frozen=True)
class UserBatch:
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
        state: at the end.
        next_state: at the beginning of the next one.
    """

    size: int
    length: int | None
    waits: bool
    state: dict[str, Any]
    next_state: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class BatchFailure:
    """Exception raised while a batch was made."""

    error: BaseException


Item = UserBatch | EpochEnd | BatchFailure


class BatchStream:
    """Draws from pipelines and cuts what comes into epochs; used by one thread at a time."""

    def __init__(
        self, pipelines: Sequence[Pipeline | PipelineTwin], counter: EpochCounter, assemble: Assembler
    ):
        self.pipelines, self.counter, self.assemble = tuple(pipelines), counter, assemble
        self.policy = counter.policy
        self.assembly = PhaseTimer("batch", "put together and brought to its devices")
        self.steps = 0  # batches given, in all epochs
        self.epochs = 0  # ended and left
        self._ended = False  # the end of the epoch has been told
        self._left_early = False  # and it was not reached
        # States from which any batch can be found by counting alone: of the start, the last one that was
        # restored, and those after batches in which bad samples were replaced or a source began again.
        self.anchors = [self.get_state()]
        self.forgot = False  # some of them, the oldest after the first
        self.restored: dict[str, Any] | None = None
        self._replaced: list[Any] = [{}] * len(self.pipelines)

    def get_state(self) -> dict[str, Any]:
        """JSON-able: where the pipelines and the counter are."""
        states = [pipeline.get_state() for pipeline in self.pipelines]
        return state_of(
            self.counter, steps=self.steps, epochs=self.epochs, ended=self._ended, pipelines=states
        )

    def set_state(self, state: Mapping[str, Any]) -> None:
        check_version("iterator", state, STATE_VERSION)
        reader = self.counter.reader
        states = pipeline_states(state, len(self.pipelines), None if reader is None else reader.shards)
        for pipeline, of_pipeline in zip(self.pipelines, states, strict=True):
            pipeline.set_state(of_pipeline)
        self.counter.set_state(state["epoch"], ended=bool(state["ended"]))
        self.steps, self.epochs = int(state["steps"]), int(state["epochs"])
        self._ended = bool(state["ended"])
        self.restored = self.get_state()
        self.anchors, self.forgot = [self.anchors[0], self.restored], False

    def next(self) -> Item:
        """The next batch, or the end of the epoch."""
        if self._ended:
            self._begin_epoch()
        item = None
        while item is None:
            item = self._next()
        return item

    def _next(self) -> Item | None:
        """The next batch, if it has any sample for the user, or the end of the epoch."""
        if self.counter.done == self.counter.length:
            for _ in range(self.counter.surplus):
                with contextlib.suppress(Exception):  # nobody gets these batches, and nobody their errors
                    self._draw()
            return self._end(waits=self.counter.reader is None)
        number = self.counter.done
        self.counter.done += 1  # also if the batch fails: its samples are gone
        self.steps += 1
        results = self._draw()
        if results is None and number == 0:
            # The source ended just where the epoch before did: nobody has told it to begin again.
            self._reset_pipelines()
            results = self._draw()
        if results is None:
            self.counter.done = number
            self.steps -= 1
            return self._end(waits=True)
        return self._batch(results, number)

    def _begin_epoch(self) -> None:
        self._reset_pipelines()
        self.counter.advance()
        self.epochs += 1
        self._ended = False
        if self.counter.length is None or self._left_early:
            self._remember()
        self._left_early = False

    def leave_epoch(self, state: Mapping[str, Any]) -> EpochEnd:
        """Ends the epoch after the batch that a state followed: the others of it are left out, nothing is kept of them.

        Raises:
            StateError: a source cannot go there.
        """
        counter = self.counter
        counter.set_state(state["epoch"])
        self.steps, self.epochs, self._ended = int(state["steps"]), int(state["epochs"]), False
        later = [anchor for anchor in self.anchors[1:] if anchor["steps"] <= self.steps]
        self.anchors = [self.anchors[0], *later]
        left = None if counter.length is None else counter.length - counter.done + counter.surplus
        states = pipeline_states(state, len(self.pipelines), len(state["epoch"]["ahead"]))
        for pipeline, of_pipeline in zip(self.pipelines, states, strict=True):
            if isinstance(pipeline, Pipeline):
                pipeline.leave_epoch(of_pipeline, left)
        if counter.length is not None:
            counter.done = counter.length
        self._ended = self._left_early = True
        return self.end(waits=counter.reader is None)

    def _reset_pipelines(self) -> None:
        for pipeline in self.pipelines:
            pipeline.reset()

    def _draw(self) -> list[Result] | None:
        """One batch of each pipeline; None if a source has ended."""
        outcomes = [_outcome(pipeline) for pipeline in self.pipelines]
        results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
        if len(results) < len(outcomes):
            error = next(outcome for outcome in outcomes if isinstance(outcome, BaseException))
            del outcomes
            if isinstance(error, StopIteration):
                return None
            try:
                raise error
            finally:
                del error
        replaced = [_replaced(result) for result in results]
        if replaced != self._replaced:
            self._replaced = replaced
            self._remember()
        return results

    def _remember(self) -> None:
        self.anchors.append(self.get_state())
        if len(self.anchors) > MOST_ANCHORS:
            del self.anchors[1]
            self.forgot = True

    def refuse_own_thread(self) -> None:
        """Raises RuntimeError in a thread that makes the batches: it would wait for itself."""
        for pipeline in self.pipelines:
            if isinstance(pipeline, Pipeline):
                pipeline.refuse_own_thread()

    # --- again ------------------------------------------------------------------------------
    def twin(self) -> BatchStream:
        """The same stream with a position of its own, for replaying; this one goes on as before."""
        pipelines = [pipeline.twin() for pipeline in self.pipelines if isinstance(pipeline, Pipeline)]
        return BatchStream(pipelines, copy.copy(self.counter), self.assemble.twin())

    def skip(self, steps: int) -> None:
        """Leaves out batches of a twin."""
        while steps:
            if self._ended:
                self._begin_epoch()
            length = self.counter.length
            count = steps if length is None else min(steps, length - self.counter.done)
            self._skip(count)
            self.counter.done += count
            self.steps += count
            steps -= count
            if steps:
                self._skip(self.counter.surplus)
                self._ended = True

    def skip_epoch(self) -> None:
        """Leaves out the rest of an epoch of a twin."""
        if not self._ended:
            length = self.counter.length
            if length is None:
                raise ValueError("batch_at: how long the epochs are is not known; give no epoch, or size")
            self.skip(length - self.counter.done)
            self._skip(self.counter.surplus)
        self._begin_epoch()

    def _skip(self, batches: int) -> None:
        for pipeline in self.pipelines:
            if isinstance(pipeline, PipelineTwin):
                pipeline.skip(batches)

    def _end(self, waits: bool) -> EpochEnd:
        self._ended = True
        return self.end(waits)

    def end(self, waits: bool) -> EpochEnd:
        """The end of the epoch, which the stream has reached."""
        following, state = self.counter.following(), self.get_state()
        next_state = begun_state(state, following)
        return EpochEnd(following.size, following.length, waits, state, next_state)

    def _inside(self, result: Result, count: int) -> np.ndarray:
        """Marks the samples of a batch that belong to the epoch, if the first `count` should."""
        inside: np.ndarray = np.arange(len(result.mask)) < count
        if self.counter.reader is None:
            return inside
        # The reader knows best which of its samples are repeated.
        return ~result.padded & (inside | (self.policy is LastBatchPolicy.PAD))

    def _batch(self, results: Sequence[Result], number: int) -> UserBatch | None:
        counts = self.counter.belonging(number)
        full = self.counter.batch_size
        sizes = [len(result.mask) for result in results]
        pads = self.policy is LastBatchPolicy.PAD
        if any(size != full for size in sizes) and self.counter.length is not None and not pads:
            raise IteratorError(
                f"iterator: a pipeline gave {min(sizes)} samples in place of {full}. Variable batch size is not supported "
                "by the iterator when reader_name is provided or iterator size is set explicitly: a source that gives "
                "smaller batches ends the epoch itself"
            )
        lost = [result.nothing for result in results if result.nothing is not None]
        if len(lost) == len(results):
            return None
        if lost:  # the others' samples cannot make a batch without it
            raise lost[0]
        insides = [self._inside(result, n) for result, n in zip(results, counts, strict=True)]
        rows: list[np.ndarray | None] = [None] * len(results)
        if self.policy is LastBatchPolicy.PARTIAL:
            if any(counts) and not any(inside.any() for inside in insides):
                return None  # nothing but repetitions in place of samples that could not be read
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
        with self.pipelines[0].slabs, self.assembly.lap(), NATIVE:
            arrays = self.assemble([result.outputs for result in results], rows, np.concatenate(real))
            # What next() hands over is there: so the time it waits is all the time a user waits for data.
            with inner("computing"):
                jax.block_until_ready(arrays)
        return UserBatch(
            arrays, np.concatenate(belongs), self.counter.done, self.counter.length, self.get_state()
        )


def _replaced(result: Result) -> dict[str, Any]:
    """For each reader that gives samples ahead of its position its epoch, and by how much."""
    return {name: ahead[:2] for name, ahead in result.state.get("ahead", {}).items()}


def _outcome(pipeline: Pipeline | PipelineTwin) -> Result | BaseException:
    """A batch, or what was raised: all pipelines go on together, also if one of them fails."""
    try:
        return pipeline.run_result()
    except BaseException as error:
        return error


def item_or_failure(make: Callable[[], Item]) -> Item:
    try:
        return make()
    except BaseException as error:
        return BatchFailure(error)
