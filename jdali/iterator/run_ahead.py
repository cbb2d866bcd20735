"""Making the next item while the user works with the last one."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence

from jdali.engine.flow.gate import Stopped
from jdali.engine.flow.loose_thread import Changes, loose_thread
from jdali.engine.flow.runtime import FORKED, close_all
from jdali.engine.workers.interpreter_exit import begin_exit
from jdali.iterator.stream import BatchStream, EpochEnd, Item, item_or_failure
from jdali.pipeline import Pipeline

# At interpreter exit, once the pipelines are closed, a thread is not waited for any longer.
_EXIT_SECONDS = 0.5
_CLOSED = "iterator: it is closed"


class _Ending:
    """Says if a `RunAhead` was closed; it holds nothing of that, so its thread and the garbage collector may
    have it.
    """

    def __init__(self) -> None:
        self.changed = Changes()
        self.closed = False
        self.left = False  # the interpreter exits, or this is a forked process
        self.why = _CLOSED

    def stop(self) -> None:
        """Tells the thread to end, and those who wait, without waiting for it."""
        if not self.left:
            with self.changed:
                self.closed = True
                self.changed.notify_all()


class RunAhead:
    """Runs a stream in a thread, one item ahead.

    Who wants an item waits without a lock of his own (`wait`), then takes it under one (`take`). The thread holds
    nothing of the stream while the item waits to be taken.
    """

    def __init__(self, stream: BatchStream):
        self._stream = stream
        self._ending = _Ending()
        self._item: Item | None = None
        self._halts = False
        self._thread: threading.Thread | None = None
        _LIVE.add(self)

    def ends_with(self, owner: object) -> None:
        """Ends when the owner is collected."""
        weakref.finalize(owner, self._ending.stop).atexit = False

    @property
    def _changed(self) -> Changes:
        return self._ending.changed

    def start(self) -> None:
        """Begins with the next item, if that is not done yet."""
        with self._changed:
            if self._thread is None and not self._stopped():
                thread = loose_thread(self, self._changed, RunAhead._next_task, "jdali-iterator")
                thread.start()
                self._thread = thread  # only if there is one: nobody should wait for one that did not start

    def wait(self) -> None:
        """Returns when there is an item."""
        self._stream.refuse_own_thread()
        with self._changed:
            while self._item is None and not self._ending.closed:
                self.start()  # also after a state was set
                self._changed.wait()
            if self._ending.closed:
                raise RuntimeError(self._ending.why)

    def take(self) -> Item | None:
        """The item, if there is one."""
        with self._changed:
            if self._ending.closed:
                raise RuntimeError(self._ending.why)
            item = self._item
            # An end that waits stays there for `resume`. If it were gone, and the user had not come to
            # know of it, since he was interrupted just here, both sides would wait for ever.
            if not _waits(item):
                self._item = None
                self._changed.notify_all()
            return item

    def resume(self) -> None:
        """Goes on after the end of an epoch."""
        with self._changed:
            if _waits(self._item):
                self._item = None
                self._changed.notify_all()
            self.start()  # if the epoch was ended early

    @contextlib.contextmanager
    def halted(self) -> Iterator[None]:
        """Meanwhile nothing is made; what was made is thrown away. Who waits, waits on."""
        with self._changed:
            self._halts = True
            self._changed.notify_all()
        try:
            self.join()
            self._item, self._thread = None, None
            yield
        finally:
            with self._changed:
                self._halts = False
                self._changed.notify_all()

    def stop(self) -> None:
        """Tells the thread to end, and those who wait, without waiting for it."""
        self._ending.stop()

    def join(self, timeout: float | None = None) -> None:
        if self._thread is None or self._thread is threading.current_thread() or self._ending.left:
            return
        self._thread.join(timeout)

    def leave(self) -> None:
        """The interpreter exits: what has not ended by now is not waited for again."""
        self._ending.left = True

    def forget_parent(self) -> None:
        """In a forked process: there is no thread, and nobody may hold a lock."""
        if self._thread is not None:
            self._ending.changed = Changes()
            self._ending.closed = self._ending.left = True
            self._ending.why = FORKED

    def _stopped(self) -> bool:
        return self._ending.closed or self._halts

    def _next_task(self) -> Callable[[], None] | None:
        if self._stopped():
            raise Stopped
        return self._produce if self._item is None else None

    def _produce(self) -> None:
        item = item_or_failure(self._stream.next)
        with self._changed:
            self._item = item
            self._changed.notify_all()
        del item  # an exception holds the frames of who gets it, and those the iterator


def _waits(item: Item | None) -> bool:
    return isinstance(item, EpochEnd) and item.waits


class Inline:
    """Runs a stream when somebody waits for it: for pipelines that are fed, or call functions of the user's.

    Args:
        stream: to run.
        pipelines: of the stream.
    """

    def __init__(self, stream: BatchStream, pipelines: Sequence[Pipeline]):
        self._stream, self._pipelines = stream, pipelines
        self._making = threading.RLock()  # held while an item is made
        self._item: Item | None = None
        self._closed = False

    def ends_with(self, owner: object) -> None:
        """See `RunAhead`; here is nothing to be ended."""

    def start(self) -> None:
        """Has the pipelines begin, where they are not fed."""
        with self._making:
            if not self._closed:
                for pipeline in self._pipelines:
                    pipeline.begin()

    def wait(self) -> None:
        """Makes an item, if there is none."""
        with self._making:
            if self._closed:
                raise RuntimeError(_CLOSED)
            if self._item is None:
                self._item = item_or_failure(self._stream.next)

    def take(self) -> Item | None:
        """The item, if there is one; by one thread at a time."""
        item = self._item
        if item is not None:  # else another thread may just put one there
            self._item = None
        return item

    def resume(self) -> None:
        pass

    @contextlib.contextmanager
    def halted(self) -> Iterator[None]:
        """Meanwhile nothing is made; what was made is thrown away."""
        with self._making:
            self._item = None
            yield

    def stop(self) -> None:
        self._closed = True

    def join(self, timeout: float | None = None) -> None:
        pass


_LIVE: weakref.WeakSet[RunAhead] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    begin_exit()
    live = list(_LIVE)
    for ahead in live:
        ahead.stop()
    close_all()  # what the threads wait for
    deadline = time.monotonic() + _EXIT_SECONDS
    for ahead in live:
        ahead.join(max(deadline - time.monotonic(), 0.0))
        ahead.leave()


def _forget_parents() -> None:
    for ahead in list(_LIVE):
        ahead.forget_parent()


os.register_at_fork(after_in_child=_forget_parents)
