"""`DataIterator`: what a training loop in JAX goes through."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Sharding

from jdali._state import StateError
from jdali._system.devices import to_host
from jdali.engine.workers.interpreter_exit import until_exit
from jdali.iterator import replay as replay
from jdali.iterator.arguments import check_arguments, check_sharding, epoch_counter
from jdali.iterator.assemble import Assembler
from jdali.iterator.policy import LastBatchPolicy
from jdali.iterator.run_ahead import Inline, RunAhead
from jdali.iterator.state import checkpoints, restored_state
from jdali.iterator.stream import BatchFailure, BatchStream, EpochEnd, UserBatch, log
from jdali.iterator.take import FirstBatches
from jdali.iterator.waiting_clock import WaitClock
from jdali.pipeline import Pipeline
from jdali.profiler import Recorder, Report

_AUTO_RESET = {False: False, None: False, "no": False, True: True, "yes": True}

Self = TypeVar("Self", bound="DataIterator")


class DataIterator(Iterator[dict[str, jax.Array]]):
    """Goes through the batches of pipelines: dicts of dense `jax.Array`s [N, ...].

    The next batch is made, and brought to its devices, while the training step works on the last one.
    64-bit outputs arrive as 32-bit ones unless `jax_enable_x64` is set, as everything does in JAX.

    An epoch ends with StopIteration; `reset`, or the next `for` loop, begins another one. A loop that is left early
    is continued by the next one, and `reset` in the middle of an epoch is ignored, as in DALI; `take(n)` and
    `reset(force=True)` end it.

    Several threads may use one iterator: each batch, and each end of an epoch, goes to one of those that
    call `next`; after the end all others get StopIteration too, up to the `reset`. `set_state` in another
    thread takes effect between two batches, a `next` that waits goes on from there; after `close` it raises.

    Args:
        pipelines: one, or several of the same outputs and batch size, whose rows are put one after
            another.
        output_map: a name for each output.
        size: samples in an epoch, of all pipelines together; for sources that do not end. Without `size`
            and `reader_name` the epoch lasts until a source ends, whatever the size of its batches.
        reader_name: name of the reader (its argument `name`) that says how long an epoch is.
        auto_reset: True or "yes": the next epoch begins without a call of `reset`.
        last_batch_padded: with `size`: the source repeats its last sample at the end of the epoch; a
            reader says so itself.
        last_batch_policy: what to do with samples that do not fill a batch.
        prepare_first_batch: begin with the first batch (and its compilation) at once, in the background; functions
            of external sources are called for it here.
        sharding: for all outputs, or for each by name: outputs become global arrays. The compiled stages
            that give them run on all those devices, each on its own samples, and the results stay there;
            slices of what is made on the host go straight to their devices (`Pipeline.plan` says which
            stages are spread). In a program of several processes every process gives its part of the
            batch: its pipelines read other shards than those of other processes, with the same seed (where
            several hold the same part: the same shard). `reader_name` makes all of them go the same
            number of steps.
        mask_name: name of the mask, bool [N]: False for samples that only fill up the batch (with
            `LastBatchPolicy.PAD`) and for those that another one replaces (of pipelines with
            `on_error="mask"`). There is no mask otherwise.
        ragged: names of outputs whose samples may differ in size, or "pad" for all: they are padded by
            zeros and `<name>_extent`, int32 [N, ndim], has their sizes. "error": such samples raise.
        pmap_shape: with `sharding`: outputs are [parts, N / parts, ...], with an axis for the parts of the
            batch, as functions under `jax.pmap` take them.

    Attributes:
        output_map: the names.
        batch_size: samples in a batch of one pipeline.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: bool | str | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: Sharding | Mapping[str, Sharding] | None = None,
        *,
        mask_name: str = "mask",
        ragged: str | Sequence[str] = "error",
        pmap_shape: bool = False,
    ):
        pipes = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines or ())
        self.output_map = list(output_map)
        check_arguments(pipes, self.output_map, size, reader_name, last_batch_padded, last_batch_policy)
        if auto_reset not in _AUTO_RESET:
            raise ValueError(
                f'iterator: Unsupported value for `auto_reset` {auto_reset}: it must be a bool, "yes" or "no"'
            )
        self._auto_reset = _AUTO_RESET[auto_reset]
        self.batch_size = pipes[0].batch_size
        self._pipelines = pipes
        names = self._ragged_names(ragged)
        masked = last_batch_policy is LastBatchPolicy.PAD or any(p.on_error == "mask" for p in pipes)
        if masked and mask_name in self.output_map:
            raise ValueError(
                f"iterator: {mask_name!r} is the name of an output; give the mask another mask_name"
            )
        check_sharding(sharding, [*self.output_map, mask_name], last_batch_policy)
        assemble = self._assembler(sharding, names, mask_name if masked else None, pmap_shape)
        for pipe, splits in zip(pipes, assemble.splits(len(pipes)), strict=True):
            pipe.build()
            if len(splits) == pipe.num_outputs:
                pipe.split_outputs(splits)
        counter = epoch_counter(
            pipes, size, reader_name, last_batch_padded, last_batch_policy, prepare_first_batch
        )
        self._stream = BatchStream(pipes, counter, assemble)
        is_ahead = all(p.runs_ahead for p in pipes)
        self._ahead = RunAhead(self._stream) if is_ahead else Inline(self._stream, pipes)
        self._size, self._length = counter.size, counter.length
        self._state = self._stream.get_state()
        self._belongs = np.ones(self.batch_size * len(pipes), bool)
        self._done = 0
        self._end: EpochEnd | None = None  # the end of the epoch was reached, and not yet left
        self._kept: UserBatch | None = None  # looked at, and still the next one
        # Held while a batch is noted or a state is set; a `next` that waits for data does not hold it.
        self._lock = threading.RLock()
        self._clock = WaitClock()
        self._recorder = Recorder(pipes, self._stream.assembly)
        self._prepare_first_batch = prepare_first_batch
        self._ahead.ends_with(self)
        if any(pipe.is_restored_from_checkpoint for pipe in pipes):
            self._go_on_from_checkpoints()
        elif prepare_first_batch:
            self._ahead.start()

    def _ragged_names(self, ragged: str | Sequence[str]) -> list[str]:
        if isinstance(ragged, str):
            if ragged not in ("error", "pad"):
                raise ValueError(
                    f'iterator: ragged must be "error", "pad" or names of outputs, not {ragged!r}'
                )
            return self.output_map if ragged == "pad" else []
        unknown = sorted(set(ragged) - set(self.output_map))
        if unknown:
            raise ValueError(f"iterator: ragged names {unknown}, the outputs are {self.output_map}")
        return list(ragged)

    def _assembler(
        self, sharding: Sharding | Mapping[str, Sharding] | None, padded: Sequence[str], mask_name: str | None,
        leading: bool,
    ) -> Assembler:  # fmt: skip
        return Assembler(self.output_map, sharding, padded, mask_name, leading=leading)

    # --- iterating --------------------------------------------------------------------------
    def __iter__(self: Self) -> Self:
        with self._lock:
            if self._kept is None and (self._end is not None or self._done == self._length):
                self.reset()
        return self

    def __next__(self) -> dict[str, jax.Array]:
        return self._draw().arrays

    def _draw(self, *, keep: bool = False) -> UserBatch:
        """The next batch; raises StopIteration at the end of the epoch.

        Args:
            keep: the batch is only looked at: it stays the next one.
        """
        batch = self._kept_batch(keep)
        if batch is not None:
            return batch
        with until_exit(), self._clock.wait():
            while (batch := self._taken(keep)) is None:
                self._ahead.wait()
            return batch

    def _kept_batch(self, keep: bool) -> UserBatch | None:
        """The batch that was looked at; None: the next one has to be waited for."""
        with self._lock:
            if self._kept is not None:
                return self._give(self._kept, keep)
            if self._end is not None:
                raise StopIteration
            if self._clock.over and self._clock.batches:  # counting begins anew with each epoch
                self._recorder.mark()
            return None

    def _taken(self, keep: bool) -> UserBatch | None:
        """The next batch if it is there: taken and noted in one step, so each goes to one thread."""
        with self._lock:
            if self._kept is not None:
                return self._give(self._kept, keep)
            if self._end is not None:
                raise StopIteration
            item = self._item()
            if isinstance(item, EpochEnd):
                self._reach_end(item)
                if self._auto_reset:
                    self.reset()
                raise StopIteration
            return None if item is None else self._give(self._accepted(item), keep)

    def _accepted(self, batch: UserBatch) -> UserBatch:
        """For iterators that expect something of their batches."""
        return batch

    def _give(self, batch: UserBatch, keep: bool) -> UserBatch:
        """Takes note that the user has the batch now, or has looked at it."""
        self._kept = batch if keep else None
        if not keep:
            self._done, self._length = batch.done, batch.length
            self._state, self._belongs = batch.state, batch.belongs
        return batch

    def next(self) -> dict[str, jax.Array]:
        """The next batch; the same as `next(iterator)`."""
        return self.__next__()

    def peek(self) -> dict[str, jax.Array]:
        """The batch that `next` will return; `get_state` does not count it."""
        return self._draw(keep=True).arrays

    def take(self, batches: int) -> FirstBatches[Any]:
        """The first batches of an epoch, which ends after them: `for batch in iterator.take(100):`.

        A loop over what is left of them goes on where an earlier one, or a state that was restored, was left. The
        rest of the data is not read: the next epoch is the one that would have followed the whole of this one. Where
        the epochs last until a source ends, one with a `cycle` begins again; one without goes on with what it gives
        next, and loses what it gave ahead if it cannot go back.

        Args:
            batches: how many, at most.
        """
        if batches < 1:
            raise ValueError(f"iterator: take needs at least 1 batch, not {batches}")

        return FirstBatches(batches, self._begin_within, self._next_within, self.__len__)

    def _is_over_within(self, batches: int) -> bool:
        """True if so many batches of an epoch were given, and there are more."""
        return self._end is None and self._done >= batches and self._done != self._length

    def _begin_within(self, batches: int) -> None:
        with self._lock:
            if self._is_over_within(batches):
                self._leave_epoch()
            self.__iter__()

    def _next_within(self, batches: int) -> Any:
        with self._lock:
            if self._is_over_within(batches):
                self._leave_epoch()
                if self._auto_reset:
                    self.reset()
                raise StopIteration
        return self.__next__()

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The batches of this epoch as NumPy arrays, read-only; no copy of what is in host memory."""
        return (jax.tree.map(to_host, batch) for batch in self)

    def start_prefetch(self) -> None:
        """Begins to make the next batch, as Grain's iterators do; see `prepare_first_batch`."""
        self._ahead.start()

    def _item(self) -> UserBatch | EpochEnd | None:
        """Takes the next item of the stream, or raises its error."""
        item = self._ahead.take()
        if isinstance(item, (UserBatch, BatchFailure)):
            self._clock.batches += 1
        if isinstance(item, BatchFailure):
            self._done += 1
            try:
                raise item.error
            finally:
                del item  # or the error would hold this frame, and this frame the error
        return item

    def _reach_end(self, end: EpochEnd) -> None:
        self._end, self._state = end, end.state
        self._clock.end_epoch()

    def _leave_epoch(self) -> None:
        """Ends the epoch before its end."""
        with self._ahead.halted():
            self._kept = None
            self._reach_end(self._stream.leave_epoch(self._state))

    def reset(self, force: bool = False) -> None:
        """Begins the next epoch; ignored in the middle of one, as in DALI.

        Args:
            force: in the middle of an epoch, end it: the rest of it is left out, see `take`.
        """
        with self._lock:
            if self._end is None:
                if self._done == self._length:
                    while (item := self._item()) is None:  # all batches were taken, only the end was not
                        self._ahead.wait()
                    assert isinstance(item, EpochEnd)
                    self._reach_end(item)
                elif not self._done:
                    return
                elif force:
                    self._leave_epoch()
                else:
                    log.warning(
                        "iterator: reset in the middle of an epoch is ignored; reset(force=True) is not"
                    )
                    return
            assert self._end is not None
            self._size, self._length, self._done = self._end.size, self._end.length, 0
            self._state = self._end.next_state
            self._end = None
            self._ahead.resume()

    # --- facts ------------------------------------------------------------------------------
    def __len__(self) -> int:
        """Batches in this epoch (the next one may have one more or less, see `LastBatchPolicy`)."""
        if self._length is None:
            raise TypeError("iterator: the number of batches is not known; give size or reader_name")
        return self._length

    @property
    def size(self) -> int:
        """Samples in this epoch as DALI counts them (of one shard, with `reader_name`); -1: not known."""
        return self._size

    @property
    def wait_seconds(self) -> float:
        """Returns the time that `next` waited for data in this epoch (until the next one begins: in the
        last).
        """
        return self._clock.waited

    @property
    def wait_share(self) -> float:
        """`wait_seconds` as a share of the time since the epoch's first `next` was called."""
        return self._clock.share

    def report(self) -> Report:
        """Reports where the time of this epoch went (until the next one begins: of the last), for a person to
        read.

        `print(iterator.report())` says whether the loop waited for data, which part of the pipeline sets
        the pace, and what to change.
        """
        clock = self._clock
        return self._recorder.report(clock.batches, clock.elapsed, clock.waited)

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """Returns the position of the iterator after the batch that `next` returned last; small, and fit for
        JSON.
        """
        return self._state

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on after the batch that `get_state` followed, in this or in a like iterator.

        The batch size and the number of pipelines and shards may be others: then what was left of the
        epoch is divided anew. All processes may take the state of any one of them. The pipelines' seeds
        must be the same for that.

        Raises:
            StateError: the state is of other pipelines, and what differs. The iterator stays where it was.
        """
        with self._lock:
            with self._ahead.halted():
                self._kept = None
                try:
                    self._stream.set_state(state)
                except StateError:
                    with contextlib.suppress(StateError):  # what can only be gone through once cannot go back
                        self._stream.set_state(self._state)
                    raise
                counter = self._stream.counter
                self._state, self._done, self._end = self._stream.get_state(), counter.done, None
                self._size, self._length = counter.size, counter.length
                self._clock = WaitClock()
                self._recorder.mark()
                if state["ended"]:
                    self._end = self._stream.end(waits=False)
            if self._end is not None and self._auto_reset:
                self.reset()
            if self._end is None and self._prepare_first_batch:
                self._ahead.start()

    def checkpoints(self) -> list[bytes]:
        """DALI's way: for each pipeline where it and the iterator are; its argument `checkpoint` takes it.

        Raises:
            ValueError: the pipelines were made without `enable_checkpointing=True`.
        """
        if not all(pipe.enable_checkpointing for pipe in self._pipelines):
            raise ValueError(
                "iterator: Cannot access checkpoints with checkpointing disabled: give the pipelines "
                "enable_checkpointing=True (`get_state` does not need it)"
            )
        return checkpoints(self._state)

    # --- again ------------------------------------------------------------------------------
    def batch_at(self, step: int, epoch: int | None = None) -> dict[str, jax.Array]:
        """A batch once more, bitwise as it was or will be in training; the iterator goes on as before.

        For pipelines that read, and external sources that are lists or callbacks told what to give.

        Args:
            step: number of the batch, from 0; in a program that was resumed the numbers go on.
            epoch: count `step` from the beginning of this epoch (the first is 0); None: from the beginning
                of the training. In an epoch that was resumed with another batch size or number of
                shards, the batches are counted from there.

        Raises:
            IndexError: there is no such batch.
            ValueError: it is not known which samples were in it.
            RuntimeError: an external source cannot be asked again.
        """
        return replay.batch_at(self._stream, step, epoch)

    def sample(self, index: int, epoch: int = 0) -> dict[str, jax.Array]:
        """A sample once more, without the batch axis, with the augmentations of an epoch.

        Args:
            index: of the sample in the reader's data set.
            epoch: in which it is read, the first is 0.
        """
        return replay.sample(self._stream, self.output_map, index, epoch)

    def _go_on_from_checkpoints(self) -> None:
        state = restored_state(self._pipelines)
        if state is None:
            log.warning(
                "iterator: the pipelines were not restored from the checkpoints of one iterator: what they "
                "give goes on, the count of the batches of the epoch begins anew"
            )
            state = self._stream.get_state()
        self.set_state(state)

    # --- the end ----------------------------------------------------------------------------
    def close(self) -> None:
        """Stops the iterator and its pipelines, and waits for their threads; harmless twice."""
        self._ahead.stop()
        for pipe in self._pipelines:
            pipe.close()
        self._ahead.join()

    def __reduce__(self) -> Any:
        raise TypeError(
            "iterator: it cannot be pickled or copied, it has threads and waiting batches: make another one like "
            "it where it is wanted, and give its set_state what get_state() returns here"
        )

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
