"""Loops over the batches of epochs, with any number of threads."""

from __future__ import annotations

import contextlib
import copy
import threading
import time
import typing
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.profiler import TraceAnnotation

from jdali._system.devices import to_host
from jdali._system.tracebacks import folding, warn_user
from jdali._threads import until_exit
from jdali.iterator.assembled_ahead import UserBatch
from jdali.iterator.policy import EpochCounter
from jdali.iterator.stream import BatchStream, EpochEnd, log
from jdali.profiler import Recorder

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    BatchT = TypeVar("BatchT", default=dict[str, jax.Array])
else:
    BatchT = typing.TypeVar("BatchT")

Self = typing.TypeVar("Self", bound="EpochLoop[Any]")


class WaitClock:
    """Sums the time that threads spend inside `with clock.wait():` during an epoch.

    After an epoch, the numbers stay until the first wait of the next epoch.

    Attributes:
        waited: seconds that all threads together waited.
        first_wait: seconds that all threads together waited for the first batch.
        batches: number of batches that threads received.
        over: True from the end of an epoch to the first wait of the next epoch.
    """

    def __init__(self) -> None:
        self.waited = self.first_wait = 0.0
        self.batches = 0
        self._first = self._last = 0.0
        self.over, self._came = True, False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def wait(self) -> Iterator[None]:
        """Measures the time that a thread waits for a batch, or for the end of the epoch."""
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
        """Ends the epoch; the next wait starts the numbers of a new epoch."""
        self.over = True

    @property
    def elapsed(self) -> float:
        """Seconds from the start of the first wait to the end of the last wait."""
        return self._last - self._first

    @property
    def share(self) -> float:
        """`waited` as a fraction of `elapsed`."""
        return self.waited / self.elapsed if self.elapsed > 0 else 0.0


class EpochLoop(Iterator[BatchT]):
    """Iterates over the batches of a stream, epoch by epoch; see `DataIterator`.

    Threads wait for a batch without a lock, then one of them takes it under `_lock`.

    Args:
        samples: samples in a batch of all pipelines together.
    """

    def __init__(self, stream: BatchStream, samples: int, *, auto_reset: bool):
        self._stream, self._resets_itself = stream, auto_reset
        self._size, self._length = stream.counter.size, stream.counter.length
        self._state = stream.get_state()
        self._belongs = np.ones(samples, bool)
        self._done = 0
        self._first = 0  # number of batches of this epoch that were returned before this loop
        self._end: EpochEnd | None = None  # set from the end of an epoch to the start of the next epoch
        self._kept: UserBatch | None = None  # batch that was peeked at; `next` returns it
        # Guards the position and the state. A `next` that waits for data does not hold this lock.
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

    def __bool__(self) -> bool:
        return True  # Python would ask `len`, which may be unknown or 0

    def _draw(self, *, keep: bool = False) -> UserBatch:
        """Returns the next batch. With `keep`, the position does not change. Raises StopIteration at the end of the epoch."""
        with until_exit():
            if self._kept is None and self._end is None:
                self._stream.refuse_if_closed()  # before the lock, which a fork may leave locked
            with self._lock:
                if (kept := self._peeked(keep)) is not None:
                    return kept
                if self._clock.over and self._clock.batches:  # the report covers only one epoch
                    self._recorder.mark()
            with self._clock.wait():
                while True:
                    self._stream.wait()
                    with self._lock:  # taking and counting are one step, so each batch goes to one thread
                        if (batch := self._peeked(keep) or self._taken(keep)) is not None:
                            return batch

    def _peeked(self, keep: bool) -> UserBatch | None:
        """Returns the batch that was peeked at, if any; raises StopIteration at the end of the epoch."""
        if self._kept is not None:
            return self._give(self._kept, keep)
        if self._end is not None:
            raise StopIteration
        return None

    def _taken(self, keep: bool) -> UserBatch | None:
        """Takes the next batch if it is ready; raises StopIteration at the end of the epoch."""
        item = self._item()
        if isinstance(item, EpochEnd):
            self._reach_end(item)
            if self._resets_itself:
                self.reset()
            raise StopIteration
        return None if item is None else self._give(self._accepted(item), keep)

    def _accepted(self, batch: UserBatch) -> UserBatch:
        """Returns the batch; subclasses check it here."""
        return batch

    def _give(self, batch: UserBatch, keep: bool) -> UserBatch:
        """Moves the position past the batch, unless the user only peeks at it (`keep`)."""
        self._kept = batch if keep else None
        if not keep:
            self._done, self._length = batch.share.number + 1, batch.share.length
            self._state, self._belongs = self._stream.get_state(), batch.belongs
        return batch

    def take(self, batches: int) -> FirstBatches[BatchT]:
        """Iterates over the first batches of an epoch, then ends it: `for batch in iterator.take(100):`.

        If some of these batches were returned earlier (by another loop, or before a restored state), the loop continues with
        the remaining ones. The rest of the epoch is not read, and the next epoch is the same as after a whole epoch. If
        epochs last until a source ends, a source with a `cycle` restarts. A source without a `cycle` continues with its next
        data; if it cannot move back, data that was read ahead is lost.

        Args:
            batches: maximum number of batches.
        """
        if batches < 1:
            raise ValueError(f"iterator: take needs at least 1 batch, not {batches}")

        return FirstBatches(self, batches)

    def _reached(self) -> EpochCounter:
        """Returns the epoch counter after the last batch that the user took; the stream's counter may be ahead."""
        counter = copy.copy(self._stream.counter)
        counter.set_state(self._state["epoch"])
        return counter

    def _is_over_within(self, batches: int) -> bool:
        """Returns True if a loop of `batches` batches is over, although the epoch has further batches."""
        return self._end is None and self._done >= batches and self._done != self._length

    def _begin_within(self, batches: int) -> None:
        with self._lock:
            if self._is_over_within(batches):
                self._leave_epoch()
            self.__iter__()

    def _length_within(self, batches: int) -> int:
        """Counts the batches of a `take(batches)` loop that begins now."""
        with self._lock:
            goes_on = self._end is None and self._done < (batches if self._length is None else self._length)
            goes_on &= not self._is_over_within(batches)
            counter = self._reached()
            length = counter.length if goes_on else counter.following().length
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
        """Yields the batches of this epoch as read-only NumPy arrays; arrays in host memory are not copied."""
        return (jax.tree.map(to_host, batch) for batch in self)

    def start_prefetch(self) -> None:
        """Starts making the next batch in the background, as in Grain; see `prepare_first_batch`."""
        self._stream.start()

    def _item(self, take: Callable[[], Any] | None = None) -> Any:
        """Takes the next item of the stream, by `BatchStream.take` or another of its methods, or raises its error."""
        item = (take or self._stream.take)()
        if isinstance(item, (UserBatch, BaseException)):
            self._clock.batches += 1
        if isinstance(item, BaseException):
            self._done += 1
            try:
                raise item
            finally:
                del item  # otherwise this frame and the error's traceback would form a cycle
        return item

    def _reach_end(self, end: EpochEnd) -> None:
        self._end, self._state = end, end.state
        self._clock.end_epoch()
        if self._done == 0 and self._length is None:
            warn_user(
                "iterator: an epoch without a batch, because a source is at its end: an external source begins again "
                'with each epoch if it has cycle="raise"'
            )

    def _leave_epoch(self) -> None:
        self._kept = None
        self._reach_end(self._stream.leave_epoch(self._state))

    @folding
    def reset(self, force: bool = False) -> None:
        """Begins the next epoch; has no effect in the middle of an epoch, as in DALI.

        Args:
            force: if True and in the middle of an epoch, ends the epoch early, see `take`.
        """
        with self._lock:
            if self._end is None:
                if self._done == self._length:
                    while (item := self._item()) is None:  # only the end of the epoch is left to take
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
    """Iterates over the first batches of an epoch, then ends it; see `DataIterator.take`.

    Several threads may share this iterator. Each batch goes to one thread; all threads get StopIteration at the end.
    """

    def __init__(self, loop: EpochLoop[BatchT], count: int):
        self._loop, self._count = loop, count
        self._begun = self._ended = False
        self._batches = 0  # batches of this loop so far
        self._turn = threading.RLock()

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

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """Counts the batches of this loop; there are fewer if a source ends earlier."""
        return self._batches if self._begun else self._loop._length_within(self._count)
