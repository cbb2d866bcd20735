"""A loop over the batches of an epoch, by any number of threads: taking batches, ending an epoch, beginning the next."""

from __future__ import annotations

import abc
import contextlib
import threading
import time
import typing
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.profiler import TraceAnnotation

from jdali._system.devices import to_host
from jdali._system.tracebacks import folding, warn_user
from jdali._threads import until_exit
from jdali.iterator.assembled_ahead import UserBatch
from jdali.iterator.stream import BatchStream, EpochEnd, log
from jdali.profiler import Recorder

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    BatchT = TypeVar("BatchT", default=dict[str, jax.Array])
else:
    BatchT = typing.TypeVar("BatchT")

Self = typing.TypeVar("Self", bound="EpochLoop[Any]")


class WaitClock:
    """Adds up the time spent inside of `with clock.wait():`, epoch by epoch; by any number of threads.

    The figures of an epoch stay readable until the first wait of the next one: `waited`, seconds of all threads;
    `first_wait`, those until the first batch came; `batches`, how many came.
    """

    def __init__(self) -> None:
        self.waited = self.first_wait = 0.0
        self.batches = 0
        self._first = self._last = 0.0
        self.over, self._came = True, False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def wait(self) -> Iterator[None]:
        """Counts while a thread waits for a batch, or for the end of the epoch."""
        start = time.perf_counter()
        with self._lock:
            if self.over:
                self.waited, self.batches, self._first, self.over = 0.0, 0, start, False
                self.first_wait, self._came = 0.0, False
        try:
            with TraceAnnotation("jdali wait for data"):
                yield
        finally:
            end = time.perf_counter()
            with self._lock:
                self._last = end
                self.waited += end - start
                if self.batches <= 1 and not self._came:
                    self.first_wait, self._came = self.waited, self.batches == 1

    def end_epoch(self) -> None:
        """Lets the next wait begin a new epoch."""
        self.over = True

    @property
    def elapsed(self) -> float:
        """Seconds from the first wait to the end of the last one."""
        return self._last - self._first

    @property
    def share(self) -> float:
        """Part of the time from the first wait to the end of the last one."""
        return self.waited / self.elapsed if self.elapsed > 0 else 0.0


class EpochLoop(Iterator[BatchT], abc.ABC):
    """Goes through the batches of a stream, epoch by epoch; see `DataIterator`.

    Threads that want a batch wait without a lock, then one of them takes it under `_lock`.

    Args:
        samples: in a batch of all pipelines together.
    """

    def __init__(self, stream: BatchStream, samples: int, *, auto_reset: bool):
        self._stream, self._resets_itself = stream, auto_reset
        self._size, self._length = stream.counter.size, stream.counter.length
        self._state = stream.get_state()
        self._belongs = np.ones(samples, bool)
        self._done = 0
        self._first = 0  # batches of this epoch that were given before this loop
        self._end: EpochEnd | None = None  # the end of the epoch was reached, and not yet left
        self._kept: UserBatch | None = None  # looked at, and still the next one
        # Held while a batch is noted or a state is set; a `next` that waits for data does not hold it.
        self._lock = threading.RLock()
        self._clock = WaitClock()
        self._recorder = Recorder(stream.pipelines, stream.assembly.timer)

    def __iter__(self: Self) -> Self:
        with self._lock:
            if self._kept is None and (self._end is not None or self._done == self._length):
                self.reset()
            self._first = self._done
        return self

    @folding
    def __next__(self) -> BatchT:
        return self._draw().arrays

    @abc.abstractmethod
    def __len__(self) -> int:
        """Counts the batches in this epoch."""

    def _draw(self, *, keep: bool = False) -> UserBatch:
        """Returns the next batch, which stays the next one if `keep`; raises StopIteration at the end of the epoch."""
        with until_exit():
            if self._kept is None and self._end is None:
                self._stream.refuse_if_closed()  # in a forked process a thread of the parent's may hold the lock
            with self._lock:
                if (kept := self._known(keep)) is not None:
                    return kept
                if self._clock.over and self._clock.batches:  # counting begins anew with each epoch
                    self._recorder.mark()
            with self._clock.wait():
                while True:
                    self._stream.wait()
                    with self._lock:  # taken and noted in one step, so each batch goes to one thread
                        if (batch := self._known(keep) or self._taken(keep)) is not None:
                            return batch

    def _known(self, keep: bool) -> UserBatch | None:
        """Returns the batch that was looked at, if any; raises StopIteration at the end of the epoch."""
        if self._kept is not None:
            return self._give(self._kept, keep)
        if self._end is not None:
            raise StopIteration
        return None

    def _taken(self, keep: bool) -> UserBatch | None:
        """Takes the next batch if it is there; raises StopIteration at the end of the epoch."""
        item = self._item()
        if isinstance(item, EpochEnd):
            self._reach_end(item)
            if self._resets_itself:
                self.reset()
            raise StopIteration
        return None if item is None else self._give(self._accepted(item), keep)

    def _accepted(self, batch: UserBatch) -> UserBatch:
        """Checks a batch, in iterators that expect something of theirs."""
        return batch

    def _give(self, batch: UserBatch, keep: bool) -> UserBatch:
        """Takes note that the user has the batch now, or has looked at it."""
        self._kept = batch if keep else None
        if not keep:
            self._done, self._length = batch.share.number + 1, batch.share.length
            self._state, self._belongs = self._stream.get_state(), batch.belongs
        return batch

    def take(self, batches: int) -> FirstBatches[BatchT]:
        """Goes through the first batches of an epoch, then ends it: `for batch in iterator.take(100):`.

        A loop over what is left of them goes on where an earlier one, or a state that was restored, was left. The
        rest of the data is not read: the next epoch is the one that would have followed the whole of this one. Where
        the epochs last until a source ends, one with a `cycle` begins again; one without goes on with what it gives
        next, and loses what it gave ahead if it cannot go back.

        Args:
            batches: how many, at most.
        """
        if batches < 1:
            raise ValueError(f"iterator: take needs at least 1 batch, not {batches}")

        return FirstBatches(self, batches)

    def _is_over_within(self, batches: int) -> bool:
        """Returns whether so many batches of an epoch were given, and there are more."""
        return self._end is None and self._done >= batches and self._done != self._length

    def _begin_within(self, batches: int) -> None:
        with self._lock:
            if self._is_over_within(batches):
                self._leave_epoch()
            self.__iter__()

    def _length_within(self, batches: int) -> int:
        """Counts the batches of a loop that begins now and ends after so many of an epoch, or with it."""
        with self._lock:
            goes_on = self._end is None and self._done < (batches if self._length is None else self._length)
            goes_on &= not self._is_over_within(batches)
            length = self._length if self._end is None else self._end.length
            most = batches if length is None else min(batches, length)
            return most - self._done if goes_on else most

    def _next_within(self, batches: int) -> BatchT:
        with self._lock:
            if self._is_over_within(batches):
                self._leave_epoch()
                if self._resets_itself:
                    self.reset()
                raise StopIteration
        return self.__next__()

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Yields the batches of this epoch as NumPy arrays, read-only; what is in host memory is not copied."""
        return (jax.tree.map(to_host, batch) for batch in self)

    def start_prefetch(self) -> None:
        """Begins to make the next batch, as Grain's iterators do; see `prepare_first_batch`."""
        self._stream.start()

    def _item(self) -> UserBatch | EpochEnd | None:
        """Takes the next item of the stream, or raises its error."""
        item = self._stream.take()
        if isinstance(item, (UserBatch, BaseException)):
            self._clock.batches += 1
        if isinstance(item, BaseException):
            self._done += 1
            try:
                raise item
            finally:
                del item  # or the error would hold this frame, and this frame the error
        return item

    def _reach_end(self, end: EpochEnd) -> None:
        self._end, self._state = end, end.state
        self._clock.end_epoch()
        if self._done == 0 and self._length is None:
            warn_user(
                "iterator: an epoch without a batch, for a source is at its end: an external source begins again with "
                'each epoch if it has cycle="raise"'
            )

    def _leave_epoch(self) -> None:
        """Ends the epoch before its end."""
        self._kept = None
        self._reach_end(self._stream.leave_epoch(self._state))

    @folding
    def reset(self, force: bool = False) -> None:
        """Begins the next epoch; ignored in the middle of one, as in DALI.

        Args:
            force: in the middle of an epoch, end it: the rest of it is left out, see `take`.
        """
        with self._lock:
            if self._end is None:
                if self._done == self._length:
                    while (item := self._item()) is None:  # all batches were taken, only the end was not
                        self._stream.wait()
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
            self._first = 0
            self._state = self._end.next_state
            self._stream.go_on()
            self._end = None


class FirstBatches(Iterator[BatchT]):
    """Goes through the first batches of an epoch, then ends it; see `DataIterator.take`.

    Threads that share it take turns: each batch goes to one of them, the end to all.
    """

    def __init__(self, loop: EpochLoop[BatchT], count: int):
        self._loop, self._count = loop, count
        self._begun = self._ended = False
        self._batches = 0  # of this loop
        self._turn = threading.RLock()

    def __iter__(self) -> FirstBatches[BatchT]:
        return self

    def __next__(self) -> BatchT:
        with self._turn:
            if self._ended:
                raise StopIteration
            if not self._begun:
                self._loop._begin_within(self._count)
                self._begun, self._batches = True, self._loop._length_within(self._count)
            try:
                return self._loop._next_within(self._count)
            except StopIteration:
                self._ended = True
                raise

    def __len__(self) -> int:
        """Counts the batches of this loop: of the epoch, without those given before, unless the source ends earlier."""
        return self._batches if self._begun else self._loop._length_within(self._count)
