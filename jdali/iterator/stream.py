"""The batches of an iterator one after another, with the ends of the epochs between them."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jdali.engine import EpochShare, Result
from jdali.iterator.assemble import Assembler
from jdali.iterator.assembled_ahead import Assembly, UserBatch, follow, found
from jdali.iterator.policy import EpochCounter
from jdali.iterator.state import begun_state, pipeline_states, restore, restore_counter, state_of
from jdali.pipeline import Pipeline

log = logging.getLogger("jdali")

# States kept for finding batches again, each some hundred bytes: a run may last for months.
MOST_ANCHORS = 4096


@dataclasses.dataclass(frozen=True)
class TakenBatch:
    """A batch as the pipelines gave it."""

    results: Sequence[Result]
    share: EpochShare


@dataclasses.dataclass(frozen=True)
class EpochEnd:
    """The end of an epoch, where `state` was taken; all else is of the next epoch, `next_state` at its beginning."""

    size: int
    length: int | None
    state: dict[str, Any]
    next_state: dict[str, Any]


Item = UserBatch | EpochEnd | BaseException
"""A batch, the end of an epoch, or what was raised while a batch was made."""


class BatchStream:
    """Takes batches from pipelines and cuts what comes into epochs.

    `wait` blocks without a lock; everything else is for one thread at a time.
    """

    def __init__(self, pipelines: Sequence[Pipeline], counter: EpochCounter, assemble: Assembler):
        self.pipelines, self.counter, self.assemble = tuple(pipelines), counter, assemble
        self.assembly = Assembly(assemble, counter, self.pipelines[0].slabs)
        self._ended = False  # the end of the epoch has been told
        self._leaves = False  # then: the user wants the next one
        self._stands = False  # then: no batch is made before the next one begins
        self._left_early = False  # and it was not reached
        self._outcomes: dict[int, Result | BaseException] = {}  # of pipelines, until all have one
        # States from which any batch can be found by counting alone: of the start, the last one that was
        # restored, and those at which a source began again.
        self.anchors = [self.get_state()]
        self.forgot = False  # some of them, the oldest after the first
        self.restored: dict[str, Any] | None = None
        self._follow(counter)

    def _follow(self, counter: EpochCounter) -> None:
        """Has the pipelines' next batches assembled ahead, from where the counter is."""
        self._parts = follow(self.pipelines, self.assembly, counter)

    def get_state(self) -> dict[str, Any]:
        """Returns where the pipelines and the counter are; JSON-able."""
        return state_of(
            self.counter, ended=self._ended, pipelines=[pipeline.get_state() for pipeline in self.pipelines]
        )

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._outcomes.clear()
        restore(state, [pipeline.set_state for pipeline in self.pipelines], self.counter)
        self._ended = self._stands = bool(state["ended"])
        self._leaves = False
        self.restored = self.get_state()
        self.anchors, self.forgot = [self.anchors[0], self.restored], False
        self._follow(self.counter.following() if self._ended else self.counter)

    # --- making -----------------------------------------------------------------------------
    def start(self) -> None:
        """Has the next batches made, where that is done before they are asked for."""
        for pipeline in self.pipelines:
            pipeline.begin()

    def go_on(self) -> None:
        """Leaves the end of an epoch; the first batches of the next one are made, if the user need not be called for them."""
        self._leaves = True
        if all(pipeline.runs_ahead for pipeline in self.pipelines):
            if self._ended and self._stands:
                self._begin_epoch()
            self.start()

    def refuse_if_closed(self) -> None:
        """Raises RuntimeError if a pipeline is closed, or this is a forked process; takes no lock."""
        for pipeline in self.pipelines:
            pipeline.refuse_if_closed()

    # --- taking -----------------------------------------------------------------------------
    def wait(self) -> None:
        """Blocks until `take` may have something to give."""
        if self._ended or self.counter.is_over:
            return
        for number, pipeline in enumerate(self.pipelines):
            if number not in self._outcomes:
                pipeline.wait_result()

    def take(self) -> Item | None:
        """Takes the next batch, or the end of the epoch; None: `wait` first."""
        taken = self.take_results()
        if not isinstance(taken, TakenBatch):
            return taken
        if taken.share.is_surplus:
            return None
        try:
            return self._assembled(taken.results, taken.share)
        except Exception as error:
            return error

    def take_results(self) -> TakenBatch | EpochEnd | BaseException | None:
        """Takes a batch that is not put together, also one behind the last of the epoch; else as `take`."""
        if self._ended:
            if not self._leaves:  # the user was interrupted before he came to know of it
                return self.end()
            self._begin_epoch()
            return None
        if self.counter.is_over:
            return self._end(stands=False)
        if not self._take_parts():
            return None
        outcomes = [self._outcomes.pop(number) for number in range(len(self.pipelines))]
        results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
        error = next((outcome for outcome in outcomes if isinstance(outcome, BaseException)), None)
        if isinstance(error, StopIteration) and self.counter.left != 0:
            return self._meet_end()
        share = self.counter.draw()  # counts a failed batch as well: its samples are gone
        if error is None:
            return TakenBatch(results, share)
        return None if share.is_surplus else error

    def _take_parts(self) -> bool:
        """Takes a batch of each pipeline, or what was raised: all go on together; False: one is not there yet."""
        for number, pipeline in enumerate(self.pipelines):
            if number not in self._outcomes:
                outcome = outcome_of(pipeline.take_result)
                if outcome is None:
                    return False
                self._outcomes[number] = outcome
        return True

    def _meet_end(self) -> EpochEnd | None:
        """Returns the end of the epoch, where a source ended; None: it ended where the epoch before did, and begins again."""
        if self.counter.meet_end():
            return self._end(stands=True)
        self._reset_pipelines()
        return None

    def _assembled(self, results: Sequence[Result], share: EpochShare) -> UserBatch | None:
        made = found(results, share)
        if made is None:
            made = self.assembly(results, share)
            if any(result.share != share for result in results):  # the user took a batch of a pipeline
                self._follow(self.counter)
        return made

    def _begin_epoch(self) -> None:
        self._reset_pipelines()
        self.counter.advance()
        self._ended = self._leaves = False
        if self.counter.length is None or self._left_early:
            self._remember()
        self._left_early = False

    def leave_epoch(self, state: Mapping[str, Any]) -> EpochEnd:
        """Ends the epoch after the batch that a state followed: the others of it are left out, nothing is kept of them."""
        counter = self.counter
        self._outcomes.clear()
        restore_counter(state, counter)
        self._ended = False
        later = [anchor for anchor in self.anchors[1:] if anchor["steps"] <= counter.step]
        self.anchors = [self.anchors[0], *later]
        left = None if counter.left is None else counter.left + counter.surplus
        states = pipeline_states(state, len(self.pipelines), len(state["epoch"]["ahead"]))
        for pipeline, of_pipeline in zip(self.pipelines, states, strict=True):
            pipeline.leave_epoch(of_pipeline, left)
        if counter.length is not None:
            counter.done = counter.length
        self._ended = self._stands = self._left_early = True
        self._leaves = False
        self._follow(counter.following())
        return self.end()

    def _reset_pipelines(self) -> None:
        for pipeline in self.pipelines:
            pipeline.reset()

    def _remember(self) -> None:
        self.anchors.append(self.get_state())
        if len(self.anchors) > MOST_ANCHORS:
            del self.anchors[1]
            self.forgot = True

    def _end(self, *, stands: bool) -> EpochEnd:
        self._ended, self._leaves, self._stands = True, False, stands
        return self.end()

    def end(self) -> EpochEnd:
        """Returns the end of the epoch, which the stream has reached."""
        following, state = self.counter.following(), self.get_state()
        return EpochEnd(following.size, following.length, state, begun_state(state, following))


def outcome_of(take: Callable[[], Result | None]) -> Result | BaseException | None:
    """Takes a batch; returns it, or what was raised, or None if there is none yet."""
    try:
        return take()
    except Exception as error:  # an interrupt takes nothing
        return error
