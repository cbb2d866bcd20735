"""Closes a pipeline that nobody uses any more, and holds nothing of the user's until then."""

from __future__ import annotations

import contextlib
import queue
import weakref
from typing import Protocol

from jdali.engine.flow.executor import Engine
from jdali.engine.flow.loose_thread import Changes


class Closing(Protocol):
    """The life of a pipeline, which can be ended."""

    def stopped(self) -> bool:
        """True if it is closed, or its threads are to end for another reason."""

    def close(self) -> None:
        """Ends everything."""


class Abandon:
    """Ends a pipeline soon, without waiting, taking a lock, or holding it: for the garbage collector.

    It may be called in any thread, in the middle of anything: a thread that holds a lock which our own threads wait for
    must not wait for them.
    """

    def __init__(self) -> None:
        self.orders: queue.SimpleQueue[None] = queue.SimpleQueue()  # of the keeper's thread

    def __call__(self) -> None:
        self.orders.put(None)


class Remains:
    """Parts of an engine that was collected and that are still to be closed: nothing in them is the user's."""

    def __init__(self, engine: Engine, changed: Changes):
        self._pool, self._readers, self._changed = engine.pool, list(engine.readers.values()), changed
        self._workers = None if engine.elsewhere is None else engine.elsewhere.workers

    def close(self) -> None:
        with self._changed:
            self._changed.notify_all()  # the threads that made batches find nobody to work for
        self._pool.interrupt()
        if self._workers is not None:
            self._workers.interrupt()
        for reader in self._readers:
            reader.interrupt()
        if self._workers is not None:
            self._workers.close()
        self._pool.close()
        for reader in self._readers:
            with contextlib.suppress(AttributeError):
                reader.close()


def keep(orders: queue.SimpleQueue[None], life: weakref.ref[Closing], remains: Remains) -> None:
    """Closes a pipeline, or what is left of it, when it is abandoned; the work of a thread."""
    orders.get()
    living = life()
    if living is None:
        remains.close()
    elif not living.stopped():
        living.close()
