"""The life of a pipeline that was built: its threads, how they are halted, and how everything ends.

```
 built ──start──▶ running ──meet_end──▶ ended
                     ▲──────go_on────────┘
 any of them ──close──▶ closed
```
A closed pipeline stays closed. All that live are closed before the interpreter exits, and closed in a forked process.
"""

from __future__ import annotations

import atexit
import contextlib
import enum
import os
import queue
import threading
import time
import weakref
from collections.abc import Iterator

from jdali._threads import NATIVE, begin_exit
from jdali.engine.flow.collector import Collector
from jdali.engine.flow.drawing import Drawing
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.keeper import Abandon, Remains, keep
from jdali.engine.flow.loose_thread import Changes
from jdali.engine.flow.makers import Makers
from jdali.engine.flow.ready_queue import ReadyQueue

_EXIT_SECONDS = 1.5
CLOSED = "the pipeline is closed"
CLOSED_MEANWHILE = "the pipeline was closed while a batch was awaited"
FORKED = (
    "the pipeline was used before this process was forked: its threads are those of the parent; make the pipeline in this "
    'process, or start the process by "spawn"'
)


class Phase(enum.Enum):
    """Phases of the life of a pipeline."""

    BUILT = "nothing was asked for yet"
    RUNNING = "batches are made"
    ENDED = "a source is at its end, and that was taken"
    CLOSED = "everything ends"


class Life:
    """Owns the threads of a pipeline and ends them.

    Args:
        engine: of the pipeline.
        made: batches on their way, thrown away when the pipeline is moved or closed.
        drawing: drawn batches, likewise.

    Attributes:
        phase: see the drawing above.
        turn: held while a batch is taken or a state is set, with what the owner notes of it.
        abandon: ends everything when the owner is gone.
        halted: threads end so that the sources can be moved.
        threads: those that run.
    """

    def __init__(self, engine: Engine, made: ReadyQueue, drawing: Drawing):
        self._engine, self._made, self._drawing = engine, made, drawing
        self.phase = Phase.BUILT
        self.turn = threading.RLock()
        self.abandon = Abandon()
        self.halted = False
        self.threads: list[threading.Thread] = []
        self._makers: Makers | Collector | None = None  # of these threads
        self._over = False  # closed to the end, or the interpreter exits: nothing is left to wait for
        self._forked = False  # this is the copy of a parent's, without its threads
        _LIVE.add(self)

    @property
    def changed(self) -> Changes:
        """Tells of new phases, and of batches made, asked for and taken."""
        return self._made.changed

    def stopped(self) -> bool:
        """True if threads are to end."""
        return self.phase is Phase.CLOSED or self.halted

    def refuse_if_closed(self, message: str = CLOSED) -> None:
        """Raises RuntimeError if the pipeline is closed."""
        if self.phase is Phase.CLOSED:
            raise RuntimeError(FORKED if self._forked else message)

    # --- running ----------------------------------------------------------------------------
    def begin(self) -> None:
        """Leaves the phase in which nothing was asked for; the caller holds `turn`."""
        if self.phase is Phase.BUILT:
            self.phase = Phase.RUNNING

    def start(self, makers: Makers | Collector) -> None:
        """Starts the threads that make batches, and one that ends them when the owner is gone."""
        known = self.abandon.orders, weakref.ref(self), Remains(self._engine, self.changed)
        keeper = threading.Thread(target=keep, args=known, name="jdali-keeper", daemon=True)
        self._makers = makers
        self.threads = threads = [keeper, *makers.threads()]
        try:
            with self.changed:
                self.halted = True  # no batch is begun before all threads are there
                for thread in threads:
                    thread.start()
                self.halted = False
        finally:
            if self.halted:  # the next thread that asks for a batch tries again
                self.threads = [t for t in threads if t.ident is not None]
                self._join()
                self._run_on()

    def grow(self) -> None:
        """Starts more threads, if more batches should be in flight than before."""
        with self.turn:
            if self._makers is None or self.stopped():
                return
            there = len(self.threads) - 1  # one is the keeper
            more = self._makers.threads(there)
            for thread in more:
                thread.start()
            self.threads = [*self.threads, *more]

    def meet_end(self) -> None:
        """Notes that the end of a source was taken; it is everybody's."""
        with self.changed:
            if self.phase is not Phase.CLOSED:
                self.phase = Phase.ENDED
            self.changed.notify_all()

    def go_on(self) -> None:
        """Leaves the end of a source."""
        with self.changed:
            if self.phase is Phase.ENDED:
                self.phase = Phase.RUNNING
            self.changed.notify_all()

    @contextlib.contextmanager
    def halt(self) -> Iterator[None]:
        """Ends the threads for a while in which the sources are moved, and throws away what was made."""
        with self.turn:
            self.refuse_if_closed()
            self.halted = True
            try:
                self._join()
                self._forget_made()
                yield
            finally:
                self._run_on()

    def _run_on(self) -> None:
        with self.changed:
            self.halted = False
            self.changed.notify_all()

    # --- ending -----------------------------------------------------------------------------
    def close(self, seconds: float = float("inf")) -> None:
        """Stops the threads and the pool and waits for them, but no longer than `seconds`."""
        if self._over:
            return
        self._close_now()
        deadline = time.monotonic() + seconds
        if self.turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                if self._join(deadline):
                    self._forget_made()
                    self._engine.close()
                    self._over = True
            finally:
                self.turn.release()
        _LIVE.discard(self)

    def leave(self) -> None:
        """The interpreter exits: what has not ended by now is not waited for again."""
        self._over = True

    def forget_parent(self) -> None:
        """Forgets the threads in a forked process: it has none of them, and one of them may have held a lock."""
        if self.phase is not Phase.BUILT:
            self._over = self._forked = True
            self.phase = Phase.CLOSED
            self.turn, self.threads, self._makers = threading.RLock(), [], None
            self._made.changed = Changes()

    def free_idle_memory(self) -> None:
        """Frees the memory that the pipeline keeps for later batches."""
        self._engine.pool.slabs.free_idle()

    def _close_now(self) -> None:
        with self.changed:
            self.phase = Phase.CLOSED
            self.changed.notify_all()
        self._engine.interrupt()

    def _join(self, deadline: float = float("inf")) -> bool:
        """Waits until the threads, which were told to stop, have ended; False if not before the deadline."""
        self.abandon()
        self._made.wake()
        if self._makers is not None:
            self._makers.wake()
        for thread in self.threads:
            if thread is not threading.current_thread():
                left = deadline - time.monotonic()
                thread.join(None if left == float("inf") else max(left, 0.0))
                if thread.is_alive():
                    return False
        self.threads, self._makers, self.abandon.orders = [], None, queue.SimpleQueue()
        return True

    def _forget_made(self) -> None:
        self._made.clear()
        self._drawing.clear()


_LIVE: weakref.WeakSet[Life] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Closes all that still run, before the interpreter exits."""
    begin_exit()
    live = list(_LIVE)
    _close_soon(live)
    # A user's callback that does not return must not keep the interpreter from exiting; a program that is
    # being compiled must.
    if NATIVE.wait():
        _close_soon(live)
    # Later, when modules are taken down, a generator or `__del__` of the user's may close once more.
    for life in live:
        life.leave()


def _close_soon(lives: list[Life]) -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for life in lives:
        life.close(max(deadline - time.monotonic(), 0.0))


def free_idle_memory() -> None:
    """Frees the memory that the pipelines of this process keep for later batches."""
    for life in list(_LIVE):
        life.free_idle_memory()


def _forget_parents() -> None:
    """In a forked process: nothing of the parent's is waited for, also not at the exit."""
    NATIVE.forget_parent()
    for life in list(_LIVE):
        life.forget_parent()


os.register_at_fork(after_in_child=_forget_parents)
