"""Provides private attributes of DALI's base iterator that programs use: `_counter`, `_get_outputs` and others.

The iterator updates the attributes after each batch and at the end of each epoch. A subclass may override two methods:

* `reset` may set the attributes to the start of an epoch, as in DALI. The next epoch then begins.
* `__next__` may take the pipelines' batches with `_get_outputs`, `_schedule_runs` and `_advance_and_check_drop_last`.

Setting `_counter`, `_size` or `_counter_per_gpu` to any other value raises an error. So does overriding a method
that nothing calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from jax.sharding import Sharding

from jdali._system.tracebacks import warn_user
from jdali._threads import until_exit
from jdali.iterator import DataIterator, IteratorError, LastBatchPolicy
from jdali.iterator.assemble import Assembler
from jdali.iterator.assembled_ahead import UserBatch
from jdali.iterator.epoch_loop import BatchT
from jdali.iterator.stream import EpochEnd, TakenBatch
from jdali.pipeline import Pipeline
from jdali.tensors import TensorList

__all__ = ["BatchesOfPipelines", "DaliNames"]

# Attributes that determine the end of an epoch; a `reset` may set them only to the start of the next epoch.
_POSITION = ("_counter", "_size", "_counter_per_gpu")
# Methods that `__next__` does not call; overriding them makes sense only together with `__next__`.
_NOT_CALLED = ("_get_outputs", "_schedule_runs", "_end_iteration", "_remove_padded")


class DaliNames(DataIterator[BatchT]):
    """Adds the private attributes of DALI's base iterator to a `DataIterator`.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding: see `DataIterator`.
        fill_last_batch: deprecated form of `last_batch_policy`: True means FILL, False PARTIAL.
    """

    _counter: Any
    _counter_per_gpu: np.ndarray
    _shard_sizes_per_gpu: np.ndarray
    _shards_id: np.ndarray
    _first_batch: Any = None
    _ever_scheduled = _ever_consumed = False
    # Values of the attributes after the last batch that the user took; None during construction.
    _noted: dict[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        found = [name for name in _NOT_CALLED if getattr(cls, name) is not getattr(DaliNames, name)]
        if found and getattr(cls.__next__, "__module__", "").startswith("jdali."):
            raise TypeError(
                f"{cls.__name__} overrides {', '.join(found)}, which nothing calls here: override __next__ as well, and "
                "call it there"
            )

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int,
        reader_name: str | None,
        auto_reset: bool | str | None,
        last_batch_padded: bool,
        last_batch_policy: LastBatchPolicy,
        prepare_first_batch: bool,
        sharding: Sharding | Mapping[str, Sharding] | None = None,
        *,
        fill_last_batch: bool | None = None,
    ):
        if fill_last_batch is not None:
            warn_user(
                "fill_last_batch is deprecated. Please do not use `fill_last_batch` and use `last_batch_policy` instead."
            )
            last_batch_policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        self._reader_name = reader_name
        super().__init__(
            pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding,
        )  # fmt: skip
        reader, endless = self._stream.counter.reader, size < 0 and not reader_name
        self._pipes, self._num_gpus = list(self._pipelines), len(self._pipelines)
        self._auto_reset = "yes" if self._resets_itself else "no"
        self._output_categories = set(self.output_map)
        self._enable_checkpointing = self._pipes[0].enable_checkpointing
        self._last_batch_policy = LastBatchPolicy.FILL if endless else last_batch_policy
        self._last_batch_padded = bool(last_batch_padded and not endless) if reader is None else reader.pads
        if reader is not None:
            self._size_no_pad, self._shards_num = reader.epoch_size, reader.shards
            self._is_stick_to_shard = reader.sticks
            self._shard_sizes_per_gpu_initial = np.array(reader.shard_sizes(), np.int64)
            self._turned_at = _turned_at(self._shard_sizes_per_gpu_initial)
        self._noted = {}
        self._note()

    def _names(self) -> dict[str, Any]:
        counter = self._reached()
        of_counter = counter.get_state()
        ahead, turn = np.array(of_counter["ahead"], np.int64), int(of_counter["turn"])
        done = self._done if self._end is None else counter.done + counter.surplus
        names = {"_counter": int(ahead.min()) + done * counter.samples_per_step, "_size": counter.size}
        if counter.reader is None:
            return names
        sizes, count = self._shard_sizes_per_gpu_initial, counter.reader.shards
        moves = 0 if counter.reader.sticks else turn
        runs_on = self._last_batch_policy is LastBatchPolicy.FILL and not self._last_batch_padded
        return names | {
            # As in DALI, `_shard_sizes_per_gpu` and `_shards_id` move in opposite directions. In each epoch, entry k
            # of the sizes is for the pipeline that began with shard `_turned_at` - k, and so is entry k here.
            "_counter_per_gpu": ahead[(self._turned_at - np.arange(count)) % count],
            "_shard_sizes_per_gpu": np.roll(sizes, moves if runs_on else 0),
            "_shards_id": (np.array(counter.reader.shard_ids, np.int64) + moves) % count,
        }

    def _note(self) -> None:
        if self._noted is not None:
            self._noted = self._names()
            vars(self).update(self._noted)

    def _follow(self) -> None:
        """Begins the next epoch if a subclass has set DALI's attributes of the position to the start of an epoch.

        Raises:
            RuntimeError: the attributes match neither the current position nor the start of the next epoch.
        """
        with self._lock:
            assert self._noted is not None
            own = vars(self)
            if all(own[name] is value for name, value in self._noted.items()):
                return
            found = {name: own.get(name) for name in _POSITION}
            if not (wrong := self._set_otherwise(found)):
                return
            if self._end is not None or self._done == self._length:
                super().reset()
                wrong = self._set_otherwise(found)
            self._note()
        if wrong:
            raise RuntimeError(f"iterator: it cannot go where it was sent by setting {'; '.join(wrong)}")

    def _set_otherwise(self, found: Mapping[str, Any]) -> list[str]:
        """Describes the attributes in `found` that do not match the position."""
        return [
            f"{name} to {found[name]}, it is {value}"
            for name, value in self._names().items()
            if name in _POSITION and not np.array_equal(found[name], value)
        ]

    def _give(self, batch: UserBatch, keep: bool) -> UserBatch:
        given = super()._give(batch, keep)
        self._note()
        return given

    def _reach_end(self, end: EpochEnd) -> None:
        super()._reach_end(end)
        self._note()

    def _item(self, take: Callable[[], Any] | None = None) -> Any:
        try:
            return super()._item(take)
        except BaseException:  # a failed batch also advances the position
            self._note()
            raise

    def set_state(self, state: Mapping[str, Any]) -> None:
        with self._lock:
            super().set_state(state)
            self._note()

    def reset(self, force: bool = False) -> None:
        with self._lock:
            super().reset(force)
            self._note()

    def __iter__(self) -> Any:
        self._follow()
        return super().__iter__()

    def __len__(self) -> int:
        """Returns the number of batches in the whole epoch, as in DALI."""
        self._follow()
        if self._length is None:
            return super().__len__()
        return self._length

    @property
    def size(self) -> int:
        """Returns DALI's number of samples in an epoch; with `reader_name`, of one shard. -1 if it is not known."""
        return self._size

    def __next__(self) -> BatchT:
        if self._first_batch is not None:
            batch, self._first_batch = self._first_batch, None
            return batch
        self._follow()
        self._ever_consumed = True
        batch = super().__next__()
        if type(self)._advance_and_check_drop_last is not DaliNames._advance_and_check_drop_last:
            self._counter -= self._stream.counter.samples_per_step
            self._advance_and_check_drop_last()
        return batch

    def _get_outputs(self) -> list[tuple[TensorList, ...]]:
        """Takes the next batch of each pipeline; call `_advance_and_check_drop_last` to count it.

        Raises:
            StopIteration: the epoch has ended.
        """
        self._follow()
        self._ever_consumed = True
        if 0 < self._size <= self._counter:
            self._end_iteration()
        try:
            return self._taken_outputs()
        except StopIteration:
            if self._size < 0 and self._resets_itself:
                self.reset()
            raise

    def _taken_outputs(self) -> list[tuple[TensorList, ...]]:
        stream = self._stream
        with until_exit():
            while True:
                stream.wait()
                with self._lock:
                    if self._kept is not None:
                        raise IteratorError("iterator: after peeking at a batch, take it with next()")
                    taken = self._item(stream.take_results)
                    if isinstance(taken, EpochEnd):
                        self._reach_end(taken)
                        raise StopIteration
                    if isinstance(taken, TakenBatch) and self._note_taken(taken):
                        return [result.outputs for result in taken.results]

    def _note_taken(self, taken: TakenBatch) -> bool:
        """Advances past a batch of the pipelines; returns False if the batch has no samples."""
        stream = self._stream
        self._done, self._length, self._state = stream.counter.done, stream.counter.length, stream.get_state()
        if taken.share.is_surplus:  # the batch is dropped, and the epoch ends
            end = stream.take()
            assert isinstance(end, EpochEnd)
            super()._reach_end(end)
        self._noted = self._names()  # `_advance_and_check_drop_last` updates the attributes
        return all(result.nothing is None for result in taken.results)

    def _schedule_runs(self, release_outputs: bool = True) -> None:
        """Schedules the next batches."""
        self._ever_scheduled = True
        self.start_prefetch()

    def _advance_and_check_drop_last(self, dry_run: bool = False, end_iteration: bool = True) -> bool:
        """Counts the batch taken by `_get_outputs`; returns True if `LastBatchPolicy.DROP` drops it.

        Args:
            dry_run: return the result without counting the batch.
            end_iteration: end the epoch at a dropped batch.
        """
        counter = self._counter + self._stream.counter.samples_per_step
        ends = False
        if self._last_batch_policy is LastBatchPolicy.DROP:
            per_shard = self._reader_name is not None
            ends = bool(
                np.any(self._counter_per_gpu + counter > self._shard_sizes_per_gpu)
                if per_shard
                else counter > self._size
            )
        if not dry_run:
            self._counter = counter
            if ends and end_iteration:
                self._end_iteration()
        return ends

    def _end_iteration(self) -> NoReturn:
        """Ends the epoch by raising StopIteration; with `auto_reset`, resets the iterator first."""
        if self._resets_itself:
            self.reset()
        raise StopIteration

    def _remove_padded(self) -> tuple[Any, Any]:
        """Returns, for each pipeline, whether `LastBatchPolicy.PARTIAL` shortens the batch, and how many samples are left."""
        if self._last_batch_policy is not LastBatchPolicy.PARTIAL:
            return False, -1
        left = self.batch_size - (self._counter - self._shard_sizes_per_gpu_initial[self._shards_id])
        return left < self.batch_size, left


def _turned_at(sizes: np.ndarray) -> int:
    """Returns an r with sizes[r - k] == sizes[k] for all k (indices modulo the length)."""
    backwards = sizes[::-1]
    return next(r for r in range(len(sizes)) if np.array_equal(np.roll(backwards, r + 1), sizes))


class BatchesOfPipelines(Assembler):
    """Assembles empty dicts, because subclasses of `_DaliBaseIterator` get batches from `_get_outputs` instead."""

    def __call__(self, *_: object) -> dict[str, Any]:
        return {}
