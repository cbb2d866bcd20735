"""Computes the length of epochs by DALI's rules for the last batch.

This module does not use pipelines. From the metadata of a reader, an `EpochCounter` computes the share of each batch:
the place of the batch in the epochs, and the number of its samples that belong to the epoch.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from jdali._state import StateError
from jdali.engine import EpochShare


class IteratorError(ValueError, RuntimeError, AssertionError):
    """Raised if the arguments or the pipelines of an iterator do not fit together.

    It is a `ValueError`, and also an `AssertionError` and a `RuntimeError`: DALI's iterators raise AssertionError
    for most of these errors, and RuntimeError for batches that are not dense.
    """


__all__ = ["LastBatchPolicy"]


class LastBatchPolicy(enum.Enum):
    """Selects the rule for the last batch of an epoch, if the samples do not fill it.

    FILL: the batch is filled with the reader's next samples: samples of the next epoch, or repetitions of
        the last sample if the reader has `pad_last_batch=True`.
    DROP: the batch is left out.
    PARTIAL: the batch is shorter.
    PAD: the batch is filled up, and every batch has a mask that is True for real samples. All batches have one
        shape, so a training step compiles once, and no sample counts twice. (Not in DALI.)
    """

    FILL = 0
    DROP = 1
    PARTIAL = 2
    PAD = 3


@dataclasses.dataclass(frozen=True)
class ReaderFacts:
    """Describes the readers of an iterator's pipelines.

    Attributes:
        epoch_size: samples in the data set.
        epoch_size_padded: `epoch_size` rounded up so that all shards are equal.
        shards: number of shards of the data set.
        shard_ids: for each pipeline, the shard with which it began.
        pads: True if a reader repeats its last sample to fill its last batch.
        sticks: True if a reader stays at its shard; False if it moves to the next shard every epoch.
    """

    epoch_size: int
    epoch_size_padded: int
    shards: int
    shard_ids: tuple[int, ...]
    pads: bool
    sticks: bool

    @classmethod
    def of(cls, metas: Sequence[Mapping[str, Any]]) -> ReaderFacts:
        """Returns the `ReaderFacts` of a reader; `metas` has its `Pipeline.reader_meta` from each pipeline."""

        def common(key: str) -> Any:
            values = [meta[key] for meta in metas]
            if any(value != values[0] for value in values):
                what = (
                    "size value"
                    if key.startswith("epoch_size")
                    else f"`{'num_shards' if key == 'number_of_shards' else key}` argument set"
                )
                raise IteratorError(
                    f"iterator: Reader Operator should have the same {what} in all the pipelines. {key} is {values}"
                )
            return values[0]

        return cls(
            int(common("epoch_size")),
            int(common("epoch_size_padded")),
            int(common("number_of_shards")),
            tuple(int(meta["shard_id"]) for meta in metas),
            bool(common("pad_last_batch")),
            bool(common("stick_to_shard")),
        )

    def shard_sizes(self) -> list[int]:
        return _divided(self.epoch_size, self.shards)


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


class EpochCounter:
    """Tracks the position of an iterator in its epochs.

    Args:
        batch_size: samples in a batch of each pipeline.
        size: samples in an epoch of all pipelines together; -1 if `reader` or the end of a source decides.
        reader: sets the size of an epoch. Without `reader` and `size`, an epoch lasts until a source ends.
        padded: with `size`, True if the source repeats its last sample at the end of an epoch.

    Attributes:
        step, epoch: batches drawn and epochs ended so far.
        done: batches of this epoch drawn so far.
    """

    def __init__(
        self,
        policy: LastBatchPolicy,
        *,
        batch_size: int,
        pipelines: int = 1,
        size: int = -1,
        reader: ReaderFacts | None = None,
        padded: bool = False,
    ):
        self.policy, self.batch_size, self.pipelines = policy, batch_size, pipelines
        self.given_size, self.reader = size, reader
        # Without a size the policy has no effect, as in DALI, and batches are returned as they come.
        self._wraps = policy is LastBatchPolicy.FILL and not (reader.pads if reader is not None else padded)
        self.step = self.epoch = self.done = 0
        self._thrown_away = 0  # number of batches dropped after the last one of the epoch
        self._began_again = False  # True if a source has restarted before the first batch of the epoch
        self._moved = 0  # number of shards by which the readers have moved
        # Numbers of samples of this epoch that were already used to fill up the last batch of the previous epoch. With a
        # reader, entry i is for the pipeline that began with shard i; without a reader, there is one number for all pipelines.
        self._ahead = [0] * (1 if reader is None else reader.shards)
        # Numbers of samples left in each shard, for this epoch and for later epochs that some shard had begun. Set if a
        # state with batches of another size, or with another number of shards, was restored. Empty: epochs are whole.
        self._rest: list[list[int]] = []

    def _sizes(self) -> list[int]:
        """Returns the number of samples in this epoch for each shard. Entry i is for the pipeline that began with shard i."""
        if self._rest:
            return self._rest[0]
        if self.reader is None:
            return [self.given_size]
        sizes = self.reader.shard_sizes()
        return [sizes[(i + self._moved) % len(sizes)] for i in range(len(sizes))]

    @property
    def samples_per_step(self) -> int:
        """Samples of a batch that count towards `size`: with a reader, of one pipeline; else of all pipelines."""
        return self.batch_size * (1 if self.reader is not None else self.pipelines)

    @property
    def size(self) -> int:
        """Samples in the epoch as DALI counts them (of one shard, if there is a reader); -1 if not known."""
        reader = self.reader
        if reader is None:
            return self._sizes()[0]
        total = sum(self._sizes())
        if self.policy is LastBatchPolicy.DROP:
            return total // reader.shards
        if reader.pads:
            return _ceil_div(total, reader.shards)
        if self._wraps:
            left = max(size - ahead for size, ahead in zip(self._sizes(), self._ahead, strict=True))
            return _ceil_div(max(left, 0), self.batch_size) * self.batch_size
        return _ceil_div(_ceil_div(total, reader.shards), self.batch_size) * self.batch_size

    @property
    def length(self) -> int | None:
        """Batches in this epoch; None if not known."""
        size = self.size
        if size < 0:
            return None
        if self.policy is LastBatchPolicy.DROP:
            return size // self.samples_per_step
        ahead = self._ahead[0] if self.reader is None else 0  # with a reader, `size` excludes these
        return _ceil_div(size - ahead, self.samples_per_step)

    def samples_from(self, batch: int) -> int:
        """Counts the samples in the epoch's batches from number `batch` on; -1 if not known.

        With PARTIAL and PAD, samples that only fill up a batch are not counted.
        """
        length = self.length
        if length is None:
            return -1
        if self.policy in (LastBatchPolicy.FILL, LastBatchPolicy.DROP):
            return (length - batch) * self.batch_size * self.pipelines
        begun = batch * self.samples_per_step
        if self.reader is None:
            return self.size - self._ahead[0] - begun
        return sum(max(self._sizes()[i] - self._ahead[i] - begun, 0) for i in self.reader.shard_ids)

    @property
    def gives_nothing(self) -> bool:
        """True if no epoch has any batch, because the policy is DROP and a shard has fewer samples than a batch."""
        return self.policy is LastBatchPolicy.DROP and self.length == 0 and self.is_whole

    @property
    def is_whole(self) -> bool:
        """False if this epoch is the rest of one that was begun with batches of another size, or with other shards."""
        return not self._rest

    @property
    def surplus(self) -> int:
        """Number of batches to draw and drop at the end of the epoch: 1 with DROP and an incomplete last batch, otherwise 0."""
        size = self.size
        return int(self.policy is LastBatchPolicy.DROP and size > 0 and size % self.samples_per_step != 0)

    @property
    def left(self) -> int | None:
        """Batches of the epoch that are not drawn yet; None if not known."""
        length = self.length
        return None if length is None else length - self.done

    @property
    def is_over(self) -> bool:
        """True if all batches of the epoch were drawn, including batches to be dropped."""
        return self.left == 0 and self._thrown_away == self.surplus

    def belonging(self, batch: int) -> tuple[int, ...]:
        """Returns, for each pipeline, the number of samples of batch number `batch` that belong to the epoch."""
        full = self.batch_size
        if self.reader is None:
            if self.given_size < 0:
                return (full,) * self.pipelines
            left = self.size - self._ahead[0] - batch * self.samples_per_step
            return tuple(min(max(left - i * full, 0), full) for i in range(self.pipelines))
        sizes, ahead = self._sizes(), self._ahead
        lefts = [sizes[first] - ahead[first] - batch * full for first in self.reader.shard_ids]
        return tuple(min(max(left, 0), full) for left in lefts)

    def draw(self) -> EpochShare:
        """Advances by one batch, into the next epoch if this one is over; returns the batch's share."""
        while self.is_over:
            self.advance()
        share = EpochShare(self.epoch, self.done, self.length, self.belonging(self.done))
        if share.is_surplus:
            self._thrown_away += 1
        else:
            self.skip(1)
        self._began_again = False
        return share

    def skip(self, batches: int) -> None:
        self.done += batches
        self.step += batches

    def meet_end(self) -> bool:
        """Notes that a source ended; returns True if this ends the epoch.

        If this epoch has no batch yet, the end belongs to the previous epoch, and the caller restarts the source. If
        the source ends again without a batch, this epoch is empty.
        """
        if self.done or self._began_again:
            return True
        self._began_again = True
        return False

    def following(self) -> EpochCounter:
        """Returns a new counter at the start of the next epoch."""
        counter = copy.copy(self)
        counter.advance()
        return counter

    def advance(self) -> None:
        if self._wraps and self.size >= 0:
            drawn = self.samples_per_step * (self.length or 0)
            if self.reader is None:
                self._ahead = [(self._ahead[0] + drawn - self.size) % self.given_size]
            else:
                self._ahead = [a + drawn - s for a, s in zip(self._ahead, self._sizes(), strict=True)]
        self._move_on()
        if self._wraps and self.reader is not None and self.length == 0:
            # The last batch of the previous epoch took all samples of this epoch, so this epoch is skipped, as in DALI.
            self._ahead = [0] * len(self._ahead)
            self._move_on()
        self.epoch += 1
        self.done = self._thrown_away = 0
        self._began_again = False

    def _move_on(self) -> None:
        self._rest = self._rest[1:]
        if self.reader is not None and not self.reader.sticks:
            self._moved += 1

    def get_state(self) -> dict[str, Any]:
        return {
            "batch_size": self.batch_size,
            "pipelines": self.pipelines,
            "done": self.done,
            "turn": self._moved,
            "ahead": list(self._ahead),
            "rest": [list(sizes) for sizes in self._rest],
        }

    def set_state(self, state: Mapping[str, Any], *, ended: bool = False) -> None:
        """Continues where a state was taken; the batch size and the number of shards may differ.

        If they differ, the rest of the epoch, and of later epochs that some shards have begun, is divided into new batches,
        which are counted from 0. Epochs that no shard has begun stay whole, as in the readers.

        Args:
            ended: True if the epoch has ended, so that `advance` is the next call.
        """
        self._thrown_away, self._began_again = 0, False
        before = self._of(state)
        same_batches = before.samples_per_step == self.samples_per_step
        if same_batches and len(before._ahead) == len(self._ahead):
            self.done, self._moved = before.done, before._moved
            self._ahead, self._rest = before._ahead, before._rest
            return
        left = before._left() if not ended else [[0] * len(before._ahead), *before.following()._left()]
        if len(before._ahead) != len(self._ahead):
            left = [_divided(sum(sizes), len(self._ahead)) for sizes in left]
        self._rest, self._moved, self._ahead = left, before._moved, [0] * len(self._ahead)
        self.done = 0 if left else before.done

    def _of(self, state: Mapping[str, Any]) -> EpochCounter:
        """Makes a counter that equals the counter from which the state was taken."""
        before = copy.copy(self)
        before.batch_size, before.pipelines = int(state["batch_size"]), int(state["pipelines"])
        before.done, before._moved = int(state["done"]), int(state["turn"])
        before._ahead, before._rest = list(state["ahead"]), [list(sizes) for sizes in state["rest"]]
        if self.reader is not None:
            before.reader = dataclasses.replace(self.reader, shards=len(before._ahead), shard_ids=(0,))
        elif len(before._ahead) != 1:
            raise StateError(
                f"iterator: the state is of {len(before._ahead)} shards of a reader; give reader_name here too"
            )
        return before

    def _left(self) -> list[list[int]]:
        """Counts the samples left in each shard, for the epochs from this one to the last that some shard has begun."""
        if self.size < 0:
            return []
        epochs: list[list[int]] = []
        counter = copy.copy(self)
        taken = [ahead + self.done * self.samples_per_step for ahead in self._ahead]
        while any(taken) or counter._rest:
            sizes = counter._sizes()
            epochs.append([max(size - t, 0) for size, t in zip(sizes, taken, strict=True)])
            beyond = [max(t - size, 0) for size, t in zip(sizes, taken, strict=True)]
            # Without wrapping, all shards end an epoch together.
            taken = beyond if self._wraps else [0] * len(sizes)
            counter._move_on()
        return epochs


def _divided(count: int, parts: int) -> list[int]:
    """Divides `count` samples evenly, and returns the number in each part."""
    return [count * (i + 1) // parts - count * i // parts for i in range(parts)]
