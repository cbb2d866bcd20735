"""Implements the window of a pipeline. Batches are drawn in order, made several at a time, and taken in order.

If sources call user functions, the thread that takes a batch also draws a later batch. So, as in DALI, user functions run in
the user's thread, with its random state and debugger. If data is fed, or batches may not be made ahead, a batch is
made when it is scheduled or taken.

```
 built ──▶ running ──`take` meets the end of a source──▶ ended
               ▲─────────────reset, set_state──────────────┘           any of them ──close──▶ closed
```
"""

from __future__ import annotations

import contextlib
import enum
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from jdali._state import End
from jdali._system.limits import memory_limit
from jdali.engine.engine import Engine
from jdali.engine.executors.scaling import WorkerScaler
from jdali.engine.executors.threads import Threads
from jdali.engine.in_flight import IN_FLIGHT, Follower, InFlight, Room, When
from jdali.engine.life import LIVE, Abandon
from jdali.engine.make import Result

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


class Window:
    """Makes the batches of an engine ahead; any thread may use it.

    `wait` blocks until a batch is ready, without holding a lock. `take` removes the batch; its caller holds `turn`.

    Args:
        before_draw: with `When.AHEAD_BY_CALLS`, returns a function to call before a draw, or None. The function may
            raise StopIteration.

    Attributes:
        turn: lock held while a batch is taken or a state is set, and while the window's owner records the position.
        ahead: True if batches are made before they are asked for.
        calls_user: True if the thread that takes a batch calls the user's functions for a later batch.
    """

    def __init__(
        self, engine: Engine, when: When, room: Room | None,
        before_draw: Callable[[], Callable[[], Any] | None] = lambda: None,
    ):  # fmt: skip
        self.engine, self.room = engine, room
        self._when = when
        self.ahead, self.calls_user = room is not None, when is When.AHEAD_BY_CALLS
        self.phase = Phase.BUILT
        self.turn = threading.RLock()
        self._threads = Threads(IN_FLIGHT, "jdali-executor")
        self._keeper = Threads(1, "jdali-keeper")
        self._over = self._forked = False
        self.abandon = Abandon(self, self._threads, self._keeper)
        self._flight = InFlight(self, when, room, self._threads, self.abandon, before_draw)
        self._scaler: WorkerScaler | None = None
        self._fitted = 0  # number of batches in flight that the workers need
        self._fit_workers()
        LIVE.add(self)

    @classmethod
    def of(
        cls, engine: Engine, *, depth: int, most_bytes: int | None, makes_ahead: bool = True,
        before_draw: Callable[[], Callable[[], object] | None] | None = None,
    ) -> Window:  # fmt: skip
        """Returns the window of an engine; nothing is made before a batch is asked for.

        Args:
            depth: number of batches made ahead; with workers, more are made ahead, so that no worker is idle.
            most_bytes: maximum bytes of all batches that wait or are being made; None: a quarter of the memory. A single
                batch may take more.
        """
        when = When.INLINE
        if makes_ahead and before_draw is not None:
            when = When.AHEAD_BY_CALLS
        elif makes_ahead and engine.cursor.is_fed:
            when = When.BACKGROUND
        elif makes_ahead:
            when = When.AHEAD_BY_CALLS if engine.cursor.calls_user else When.AHEAD
        room = None
        if when in (When.AHEAD, When.AHEAD_BY_CALLS):
            most = memory_limit() // 4 if most_bytes is None else most_bytes
            room = Room(depth, most, is_strict=most_bytes is not None)
        return cls(engine, when, room, before_draw or (lambda: None))

    @property
    def started(self) -> bool:
        """True once a batch was asked for."""
        return self.phase is not Phase.BUILT

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """The threads that make batches, and the thread that closes the window."""
        return (*self._threads.threads, *self._keeper.threads)

    @property
    def ready(self) -> int:
        return self._flight.ready

    @property
    def stopped(self) -> bool:
        return self._flight.stopped

    def resize_workers(self, count: int) -> None:
        """Changes the number of workers; the pipeline must have workers. The contents of batches do not change."""
        assert self.engine.elsewhere is not None
        with self.turn:
            self.refuse_if_closed()
            self.engine.elsewhere.workers.resize(count)
            self._fit_workers()

    def scale_workers(self, least: int, most: int) -> None:
        """Adjusts the number of workers, from `least` to `most`, to how long threads wait for batches.

        Call it before the first batch.
        """
        assert self.engine.elsewhere is not None
        known = weakref.ref(self)  # weak, so that the window and its scaler form no cycle

        def resize(count: int) -> None:
            if (window := known()) is not None:
                window.resize_workers(count)

        self._scaler = WorkerScaler(self.engine.elsewhere, resize, least, most)

    def _fit_workers(self) -> None:
        """Keeps as many batches in flight as the workers need."""
        if self.engine.elsewhere is None or self.room is None:
            return
        self._fitted = self.engine.elsewhere.workers.in_flight
        self._flight.fit(self._fitted)

    def follow(self, follower: Follower) -> None:
        """Sets the follower of the batches drawn from now on, if batches are made ahead.

        The follower assigns each batch to an epoch of an iterator, and turns it into what the iterator returns. With a
        follower, one more batch is made ahead. The window references the follower weakly, and drops it when the sources
        move to another position.
        """
        if self.ahead:
            self._flight.follow(follower)

    def start(self) -> None:
        """Starts to make batches, unless the window has already started."""
        with self.turn:
            if self.phase is Phase.BUILT:
                self.phase = Phase.RUNNING
            if self.phase is Phase.CLOSED or self._when is When.INLINE:
                return
            try:
                self._keeper.start()
                self._threads.start()
            except BaseException:  # the next thread that wants a batch tries again
                self._keeper.end()
                self._keeper.join()
                raise
            with self._flight.changed:
                self._flight.fill()

    def begin(self) -> None:
        if self.ahead:
            self.start()
            self._draw_ahead()

    def schedule(self, scheduled: int = 0) -> bool:
        """Starts to make one more batch, unless threads make batches ahead. Returns False if a source ends before this batch.

        `scheduled` is the number of batches that were scheduled before and are not taken yet.
        """
        self.refuse_own_thread()
        with self.turn:
            self.refuse_if_closed()
            self.start()
            flight = self._flight
            if self._when is When.AHEAD_BY_CALLS:
                if flight.drained and scheduled:
                    return False
                if len(flight) <= scheduled:  # otherwise a batch was drawn ahead
                    flight.draw_one()
            elif self._when is When.BACKGROUND:
                with flight.changed:
                    flight.add()
            elif self._when is When.INLINE:
                flight.make_one()
            return True

    def _draw_ahead(self) -> None:
        """Draws as many batches as there is room for, if threads that take batches also draw them."""
        if self.calls_user:
            with self.turn:
                self.start()
                self._flight.draw_ahead()

    def refuse_own_thread(self) -> None:
        """Raises RuntimeError in a thread that makes the batches, because it would wait for itself."""
        self.engine.pool.serving.refuse_here()

    def refuse_if_closed(self, message: str = CLOSED) -> None:
        if self.phase is Phase.CLOSED:
            raise RuntimeError(FORKED if self._forked else message)

    def wait(self) -> None:
        """Blocks until `take` may return a batch, or raise."""
        self.refuse_own_thread()
        self.refuse_if_closed()
        self._draw_ahead()
        if self._may_take():
            return
        start = time.perf_counter()
        while not self._may_take():
            # Call `start` only if there are no threads, because it takes `turn`. `close` may hold `turn` as long as a
            # user's function runs.
            if self.ahead and not self._threads.threads:
                self.start()
            moved = self._wait_for_change()
            self.refuse_if_closed(CLOSED_MEANWHILE)
            if moved:
                with self.turn:  # wait until the sources have moved
                    pass
                self._draw_ahead()
        if self._scaler is not None:
            self._scaler.note_wait(time.perf_counter() - start)

    def _wait_for_change(self) -> bool:
        """Waits until `take` may return or raise. Returns True if the sources were moved meanwhile, or are being moved."""
        flight = self._flight
        with flight.changed:
            flight.fill()
            before = flight.moves

            def moved() -> bool:
                return flight.halted or flight.moves != before

            flight.changed.wait_for(lambda: self._may_take() or flight.closed or moved())
            return moved()

    def _may_take(self) -> bool:
        return self._flight.first is not None or self._nothing_under_way

    @property
    def _nothing_under_way(self) -> bool:
        """True if no batch will become ready by itself."""
        return self.phase is Phase.ENDED if self._when is When.AHEAD else not len(self._flight)

    def take(self) -> Result | None:
        """Takes the next batch, or raises the exception in its place. Returns None if the thread must wait again."""
        outcome = self._flight.pop()
        if outcome is None:
            if not self._nothing_under_way:
                return None
            if self.phase is Phase.ENDED:
                raise StopIteration
            if self.calls_user:  # another thread took what was drawn
                return None
            return self._take_here()
        if isinstance(outcome, Result):
            if self._scaler is not None:
                self._scaler.note_batch()
            if self.engine.elsewhere is not None and self.engine.elsewhere.workers.in_flight != self._fitted:
                self._fit_workers()  # a cluster's `in_flight` depends on how many small batches share a call
            return outcome
        if isinstance(outcome, StopIteration):
            self._enter(Phase.ENDED)
        try:
            raise outcome
        finally:
            del outcome  # avoids a reference cycle with this frame

    def _take_here(self) -> Result:
        if self.phase is Phase.BUILT:
            self.phase = Phase.RUNNING
        try:
            return self._flight.make_here()
        except StopIteration:
            self._enter(Phase.ENDED)
            raise
        except Exception:
            self.refuse_if_closed(CLOSED_MEANWHILE)
            raise

    def _enter(self, phase: Phase) -> None:
        """Enters a phase, and wakes all threads; `CLOSED` is final."""
        with self._flight.changed:
            if self.phase is not Phase.CLOSED:
                self.phase = phase
            self._flight.changed.notify_all()

    def reset(self) -> bool:
        """Starts the next epoch after the end of an external source. Returns False if the next item is a batch, not an end."""
        flight = self._flight
        if self.phase is Phase.RUNNING and self.ahead and self.engine.cursor.may_end:
            self._draw_ahead()
            with flight.changed:
                flight.fill()
                flight.changed.wait_for(
                    lambda: flight.first is not None or not self._threads.threads or flight.stopped
                )
                if isinstance(flight.first, StopIteration):
                    self._enter(Phase.ENDED)
                    flight.pop()
        if self.phase is not Phase.ENDED:
            return False
        if not self.ahead:
            # Batches already started for the ended epoch also reach its end; wait for them before the next epoch.
            flight.wait_until_drawn()
        flight.drained, flight.begins_again = False, True
        self._enter(Phase.RUNNING)
        return True

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues from a state of the sources; drops batches that were made or scheduled."""
        with self._moving(ended=state.get("end") == End.REACHED):
            self.engine.set_state(state)

    def leave_epoch(self, state: dict[str, Any], batches: int | None) -> None:
        """Ends an epoch early, see `TaskCursor.leave_epoch`; drops the batches made since `state` was taken."""
        with self._moving(ended=False):
            self.engine.cursor.leave_epoch(state, batches, self.engine.batch_size)

    @contextlib.contextmanager
    def _moving(self, *, ended: bool) -> Iterator[None]:
        """Drops all batches; none are made in the `with` block, which moves the sources."""
        with self.turn:
            self.refuse_if_closed()
            flight = self._flight
            flight.halted = True
            try:
                flight.clear()
                yield
                flight.drained, flight.begins_again = ended, False
                if ended or self.phase is Phase.ENDED:
                    self._enter(Phase.ENDED if ended else Phase.RUNNING)
            finally:
                with flight.changed:
                    flight.halted = False
                    flight.changed.notify_all()

    def close(self, seconds: float = float("inf")) -> None:
        """Stops all work and waits until it has ended, at most `seconds`."""
        if self._over:
            return
        self._enter(Phase.CLOSED)
        self._flight.close()
        self.engine.interrupt()
        deadline = time.monotonic() + seconds
        if self.turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                self._keeper.end()
                self._threads.end()
                if self._threads.join(deadline) and self._keeper.join(deadline):
                    self._flight.drop()
                    self.engine.close()
                    self._over = True
            finally:
                self.turn.release()
        LIVE.discard(self)

    def leave(self) -> None:
        """Gives up all work that has not ended, because the interpreter exits."""
        self._over = True

    def forget_parent(self) -> None:
        """Forgets the parent's threads in a forked process, and replaces the locks that they may hold."""
        if self.phase is not Phase.BUILT:
            self._over = self._forked = True
            self.phase = Phase.CLOSED
            self.turn = threading.RLock()
            self._flight.forget_parent()
            self._threads.forget()
            self._keeper.forget()
