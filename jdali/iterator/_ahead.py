"""Making the next item while the user works with the last one."""

from __future__ import annotations

import atexit
import threading
import time
import weakref

from jdali.engine._prefetch import close_all
from jdali.iterator._stream import BatchStream, EpochEnd, Item, item_or_failure

# At interpreter exit, once the pipelines are closed, a thread is not waited for any longer.
_EXIT_SECONDS = 0.5


class RunAhead:
    """Runs a stream in a thread, one item ahead."""

    def __init__(self, stream: BatchStream):
        self._stream = stream
        self._changed = threading.Condition()
        self._item: Item | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        _LIVE.add(self)

    def start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._produce, name="jdali-iterator", daemon=True)
            thread.start()
            self._thread = thread  # only if there is one: nobody should wait for a thread that did not start

    def next(self) -> Item:
        """The next item; waits for it."""
        self.start()
        with self._changed:
            self._changed.wait_for(lambda: self._item is not None or self._stopped)
            if self._item is None:
                raise RuntimeError("iterator: it is closed")
            item = self._item
            # An end that waits stays there for `resume`. If it were gone, and the user had not come to
            # know of it, since he was interrupted just here, both sides would wait for ever.
            if not _waits(item):
                self._item = None
                self._changed.notify_all()
            return item

    def resume(self) -> None:
        """Goes on after an `EpochEnd` that waits."""
        with self._changed:
            if _waits(self._item):
                self._item = None
                self._changed.notify_all()

    def halt(self) -> None:
        """Stops, and throws away what was made; `next` starts again."""
        self.stop()
        self.join()
        self._item, self._stopped, self._thread = None, False, None

    def stop(self) -> None:
        """Tells the thread to end, without waiting for it."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def join(self, timeout: float | None = None) -> None:
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _produce(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._item is None)
                if self._stopped:
                    return
            item = item_or_failure(self._stream.next)
            with self._changed:
                self._item = item
                self._changed.notify_all()
            del item  # an exception holds the frames of who gets it, and those the iterator


def _waits(item: Item | None) -> bool:
    return isinstance(item, EpochEnd) and item.waits


class Inline:
    """Runs a stream when it is asked: for pipelines that are fed and cannot run ahead."""

    def __init__(self, stream: BatchStream):
        self._stream = stream
        self._stopped = False

    def start(self) -> None:
        pass

    def next(self) -> Item:
        if self._stopped:
            raise RuntimeError("iterator: it is closed")
        return item_or_failure(self._stream.next)

    def resume(self) -> None:
        pass

    def halt(self) -> None:
        pass

    def stop(self) -> None:
        self._stopped = True

    def join(self, timeout: float | None = None) -> None:
        pass


_LIVE: weakref.WeakSet[RunAhead] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    live = list(_LIVE)
    for ahead in live:
        ahead.stop()
    close_all()  # what the threads wait for
    deadline = time.monotonic() + _EXIT_SECONDS
    for ahead in live:
        ahead.join(max(deadline - time.monotonic(), 0.0))
