"""The batches of an iterator one after another, with the ends of the epochs between them."""

from __future__ import annotations

import copy
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jdali._state import check_version
from jdali.engine import PipelineTwin, Result
from jdali.iterator.assemble import Assembler
from jdali.iterator.assembled_ahead import Ahead, Assembly
from jdali.iterator.policy import EpochCounter
from jdali.iterator.selection import select
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
class TakenBatch:
    """A batch as the pipelines gave it.

    Attributes:
        results: of the pipelines.
        number: of the batch in the epoch; None: it is behind the last one, and left out.
    """

    results: Sequence[Result]
    number: int | None


@dataclasses.dataclass(frozen=True)
class EpochEnd:
    """The end of an epoch.

    Attributes:
        size, length: of the next one.
        state: at the end.
        next_state: at the beginning of the next one.
    """

    size: int
    length: int | None
    state: dict[str, Any]
    next_state: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class BatchFailure:
    """Exception raised while a batch was made."""

    error: BaseException


Item = UserBatch | EpochEnd | BatchFailure


class BatchStream:
    """Takes batches from pipelines and cuts what comes into epochs.

    `wait` blocks without a lock; everything else is for one thread at a time.
    """

    def __init__(
        self, pipelines: Sequence[Pipeline | PipelineTwin], counter: EpochCounter, assemble: Assembler
    ):
        self.pipelines, self.counter, self.assemble = tuple(pipelines), counter, assemble
        self.assembly = Assembly(assemble, self.pipelines[0].slabs)
        self.own = tuple(pipeline for pipeline in self.pipelines if isinstance(pipeline, Pipeline))
        self._ahead = Ahead(self.own, self.assembly)
        self.steps = 0  # batches given, in all epochs
        self.epochs = 0  # ended and left
        self._ended = False  # the end of the epoch has been told
        self._leaves = False  # then: the user wants the next one
        self._stands = False  # then: no batch is made before the next one begins
        self._left_early = False  # and it was not reached
        self._began_again = False  # a source has, in front of the first batch of the epoch
        self._surplus = 0  # batches thrown away behind the last one
        self._outcomes: dict[int, Result | BaseException] = {}  # of pipelines, until all have one
        # States from which any batch can be found by counting alone: of the start, the last one that was
        # restored, and those at which a source began again.
        self.anchors = [self.get_state()]
        self.forgot = False  # some of them, the oldest after the first
        self.restored: dict[str, Any] | None = None
        self._ahead.expect(counter)

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
        self._forget_taken()
        for pipeline, of_pipeline in zip(self.pipelines, states, strict=True):
            pipeline.set_state(of_pipeline)
        self.counter.set_state(state["epoch"], ended=bool(state["ended"]))
        self.steps, self.epochs = int(state["steps"]), int(state["epochs"])
        self._ended = self._stands = bool(state["ended"])
        self._leaves = False
        self.restored = self.get_state()
        self.anchors, self.forgot = [self.anchors[0], self.restored], False
        self._ahead.expect(self.counter.following() if self._ended else self.counter)

    def _forget_taken(self) -> None:
        """The pipelines are moved: nothing is kept of what they gave, and no batch is expected meanwhile."""
        self._ahead.forget()
        self._outcomes.clear()
        self._began_again, self._surplus = False, 0

    # --- making -----------------------------------------------------------------------------
    def start(self) -> None:
        """Has the next batches made, where that is done before they are asked for."""
        for pipeline in self.own:
            pipeline.begin()

    def go_on(self) -> None:
        """Leaves the end of an epoch; the first batches of the next one are made, if the user need not be called for them."""
        self._leaves = True
        if all(pipeline.runs_ahead for pipeline in self.own):
            if self._ended and self._stands:
                self._begin_epoch()
            self.start()

    def refuse_if_closed(self) -> None:
        """Raises RuntimeError if a pipeline is closed, or this is a forked process; takes no lock."""
        for pipeline in self.own:
            pipeline.refuse_if_closed()

    # --- taking -----------------------------------------------------------------------------
    def wait(self) -> None:
        """Blocks until `take` may have something to give."""
        if self._ended or self._is_at_length():
            return
        for number, pipeline in enumerate(self.pipelines):
            if number not in self._outcomes:
                pipeline.wait_result()

    def _is_at_length(self) -> bool:
        """True if all batches of the epoch were taken, and those behind them that nobody gets."""
        return self.counter.done == self.counter.length and self._surplus == self.counter.surplus

    def take(self) -> Item | None:
        """The next batch, or the end of the epoch; None: `wait` first."""
        taken = self.take_results()
        if not isinstance(taken, TakenBatch):
            return taken
        if taken.number is None:
            return None
        try:
            return self._batch(taken.results, taken.number)
        except Exception as error:
            return BatchFailure(error)

    def take_results(self) -> TakenBatch | EpochEnd | BatchFailure | None:
        """As `take`, of batches that are not put together; also of those behind the last one."""
        if self._ended:
            if not self._leaves:  # the user was interrupted before he came to know of it
                return self.end()
            self._begin_epoch()
            return None
        if self._is_at_length():
            return self._end(stands=False)
        if not self._take_parts():
            return None
        outcomes = [self._outcomes.pop(number) for number in range(len(self.pipelines))]
        results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
        if self.counter.done == self.counter.length:
            self._surplus += 1  # nobody gets the errors of these batches
            if len(results) < len(outcomes):
                return None
            return TakenBatch(results, None)
        if len(results) < len(outcomes):
            return self._without_batch(next(o for o in outcomes if isinstance(o, BaseException)))
        return TakenBatch(results, self._count_batch())

    def _take_parts(self) -> bool:
        """Takes a batch of each pipeline, or what was raised: all go on together; False: one is not there yet."""
        for number, pipeline in enumerate(self.pipelines):
            if number not in self._outcomes:
                outcome = _outcome(pipeline)
                if outcome is None:
                    return False
                self._outcomes[number] = outcome
        return True

    def _count_batch(self) -> int:
        """Counts a batch, also if it fails: its samples are gone. Returns its number in the epoch."""
        number = self.counter.done
        self.counter.done += 1
        self.steps += 1
        self._began_again = False
        return number

    def _without_batch(self, error: BaseException) -> EpochEnd | BatchFailure | None:
        """Returns what comes in place of a batch; None: the source begins again."""
        if not isinstance(error, StopIteration):
            self._count_batch()
            return BatchFailure(error)
        if self.counter.done or self._began_again:
            return self._end(stands=True)
        # The source ended just where the epoch before did: nobody has told it to begin again.
        self._began_again = True
        self._reset_pipelines()
        self._ahead.expect(self.counter)
        return None

    def _begin_epoch(self) -> None:
        self._reset_pipelines()
        self.counter.advance()
        self.epochs += 1
        self._ended = self._leaves = self._began_again = False
        self._surplus = 0
        if self.counter.length is None or self._left_early:
            self._remember()
        self._left_early = False
        if self.counter.reader is None:  # the end of a source may have been taken
            self._ahead.expect(self.counter)

    def leave_epoch(self, state: Mapping[str, Any]) -> EpochEnd:
        """Ends the epoch after the batch that a state followed: the others of it are left out, nothing is kept of them.

        Raises:
            StateError: a source cannot go there.
        """
        counter = self.counter
        self._forget_taken()
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
        self._ended = self._stands = self._left_early = True
        self._leaves = False
        self._ahead.expect(counter.following())
        return self.end()

    def _reset_pipelines(self) -> None:
        for pipeline in self.pipelines:
            pipeline.reset()

    def _remember(self) -> None:
        self.anchors.append(self.get_state())
        if len(self.anchors) > MOST_ANCHORS:
            del self.anchors[1]
            self.forgot = True

    # --- again ------------------------------------------------------------------------------
    def twin(self) -> BatchStream:
        """The same stream with a position of its own, for replaying; this one goes on as before."""
        pipelines = [pipeline.twin() for pipeline in self.pipelines if isinstance(pipeline, Pipeline)]
        return BatchStream(pipelines, copy.copy(self.counter), self.assemble.twin())

    def next(self) -> UserBatch | EpochEnd:
        """The next batch of a twin, or the end of the epoch."""
        self._leaves = True
        while (item := self.take()) is None:
            self.wait()
        if isinstance(item, BatchFailure):
            raise item.error
        return item

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

    def _end(self, *, stands: bool) -> EpochEnd:
        self._ended, self._leaves, self._stands = True, False, stands
        return self.end()

    def end(self) -> EpochEnd:
        """The end of the epoch, which the stream has reached."""
        following, state = self.counter.following(), self.get_state()
        return EpochEnd(following.size, following.length, state, begun_state(state, following))

    def _batch(self, results: Sequence[Result], number: int) -> UserBatch | None:
        counter = self.counter
        counts = counter.belonging(number)
        found = self._ahead.found(results, counts)
        if found is not None:
            selection, arrays = found.selection, found.arrays
        else:
            selection = select(counter, counts, results)
            if selection is None:
                return None
            arrays = self.assembly(results, selection)
            self._ahead.expect(counter)
        assert selection is not None
        return UserBatch(arrays, selection.belongs, counter.done, counter.length, self.get_state())


def _outcome(pipeline: Pipeline | PipelineTwin) -> Result | BaseException | None:
    """A batch, or what was raised; None: there is none yet."""
    try:
        return pipeline.take_result()
    except Exception as error:  # an interrupt takes nothing
        return error
