"""Defines the stream of an iterator, whose items are batches and ends of epochs."""

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

log = logging.getLogger("jdali")

# Maximum number of states kept for `batch_at`, a few hundred bytes each. Without a limit, memory would grow as long as
# training lasts.
MOST_ANCHORS = 4096


@dataclasses.dataclass(frozen=True)
class TakenBatch:
    """Holds the results of all pipelines for one batch."""

    results: Sequence[Result]
    share: EpochShare


@dataclasses.dataclass(frozen=True)
class EpochEnd:
    """Describes the end of an epoch.

    Attributes:
        size: samples in the next epoch, see `EpochCounter.size`.
        length: batches in the next epoch; None if not known.
        state: state at the end of this epoch.
        next_state: state at the beginning of the next epoch.
    """

    size: int
    length: int | None
    state: dict[str, Any]
    next_state: dict[str, Any]


Item = UserBatch | EpochEnd | BaseException
"""A batch, the end of an epoch, or the error of a failed batch."""


class BatchStream:
    """Takes batches from pipelines and divides them into epochs.

    `wait` and `refuse_if_closed` need no lock; only one thread at a time may call the other methods.

    Args:
        pipelines: `Pipeline`s, or their twins, see `replay`.
    """

    def __init__(self, pipelines: Sequence[Any], counter: EpochCounter, assemble: Assembler):
        self.pipelines, self.counter, self.assemble = tuple(pipelines), counter, assemble
        self.assembly = Assembly(assemble, counter, self.pipelines[0].slabs)
        self._ended = False  # `take` has returned the end of the epoch
        # The next three attributes have a meaning only while `_ended` is True.
        self._leaves = False  # the user wants the next epoch
        self._stands = False  # the pipelines make no more batches before the next epoch begins
        self._left_early = False  # the user left the epoch before its end
        # Current batch or error of each pipeline, by number of the pipeline; kept until all pipelines have one.
        self._outcomes: dict[int, Result | BaseException] = {}
        # `batch_at` counts batches from one of these states: the start, the last restored state, and the start of each
        # epoch after the end of a source or after an epoch left early.
        self.anchors = [self.get_state()]
        self.forgot = False  # True if some anchors were dropped; the first one is always kept
        self.restored: dict[str, Any] | None = None
        self._follow(counter)

    def _follow(self, counter: EpochCounter) -> None:
        """Starts assembling the pipelines' batches ahead, from the counter's position."""
        self._parts = follow(self.pipelines, self.assembly, counter)

    def get_state(self) -> dict[str, Any]:
        """Returns the positions of the pipelines and of the counter as JSON-serializable data."""
        return state_of(
            self.counter,
            ended=self._ended,
            pipelines=[pipeline.shared_state() for pipeline in self.pipelines],
        )

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._outcomes.clear()
        restore(state, self.pipelines, self.counter)
        self._ended = self._stands = bool(state["ended"])
        self._leaves = False
        self.restored = self.get_state()
        self.anchors, self.forgot = [self.anchors[0], self.restored], False
        self._follow(self.counter.following() if self._ended else self.counter)

    def start(self) -> None:
        """Starts making the next batches in pipelines that run ahead."""
        for pipeline in self.pipelines:
            pipeline.begin()

    def go_on(self) -> None:
        """Continues after the end of an epoch. Pipelines that run ahead start to make the batches of the next epoch."""
        self._leaves = True
        if all(pipeline.runs_ahead for pipeline in self.pipelines):
            if self._ended and self._stands:
                self._begin_epoch()
            self.start()

    def refuse_if_closed(self) -> None:
        """Raises RuntimeError if a pipeline is closed, or this is a forked process; takes no lock."""
        for pipeline in self.pipelines:
            pipeline.refuse_if_closed()

    def wait(self) -> None:
        """Blocks until `take` may return an item."""
        if self._ended or self.counter.is_over:
            return
        for number, pipeline in enumerate(self.pipelines):
            if number not in self._outcomes:
                pipeline.wait_result()

    def take(self) -> Item | None:
        """Takes the next batch or the end of the epoch; returns None if the caller must `wait` first."""
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
        """Takes an item like `take`, but returns batches before their arrays are made, also those that `take` drops."""
        if self._ended:
            if not self._leaves:  # an interrupt (Ctrl-C) came before the user got the end
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
            if self.counter.meet_end():
                return self._end(stands=True)
            self._reset_pipelines()  # this end belongs to the previous epoch, so the source restarts
            return None
        share = self.counter.draw()  # also counts a failed batch, because its samples are gone
        if error is None:
            return TakenBatch(results, share)
        return None if share.is_surplus else error

    def _take_parts(self) -> bool:
        """Takes a batch or an error from each pipeline, so that all stay in step; returns False if one is not ready."""
        for number, pipeline in enumerate(self.pipelines):
            if number not in self._outcomes:
                outcome = outcome_of(pipeline.take_result)
                if outcome is None:
                    return False
                self._outcomes[number] = outcome
        return True

    def _assembled(self, results: Sequence[Result], share: EpochShare) -> UserBatch | None:
        made = found(results, share)
        if made is None:
            made = self.assembly(results, share)
            if any(result.share != share for result in results):  # the user took a batch from a pipeline
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
        """Ends the epoch at the position of a state, and drops the batches made after it."""
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
        """Returns the end of the epoch that the stream has reached."""
        following, state = self.counter.following(), self.get_state()
        return EpochEnd(following.size, following.length, state, begun_state(state, following))


def outcome_of(take: Callable[[], Result | None]) -> Result | BaseException | None:
    """Takes a batch. Returns it, or the error raised in its place; None if no batch is ready."""
    try:
        return take()
    except Exception as error:  # but not KeyboardInterrupt: then no batch was taken
        return error
