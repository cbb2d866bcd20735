"""The window of a pipeline: batches drawn in order, made several at a time, taken in order.

```
 draw ─▶ begin in workers ─▶ make ─▶ finish ─▶ take
  one at a time, in order     in any order       in order, by the user's threads
```

A batch depends on nothing but its task, so the window is the one place that knows of order. Where drawing needs functions of
the user's, the thread that takes a batch draws for a later one. As in DALI, they see the thread, the random state and the
debugger of the program. Or batches are made one by one when they are asked for, where data is fed or the user wants it so.

```
 built ──▶ running ──end of a source taken──▶ ended
               ▲──────reset, set_state────────┘           any of them ──close──▶ closed
```
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import enum
import functools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import jax

from jdali._batches import PaddedBlock
from jdali._errors import contained
from jdali._state import End
from jdali._system.limits import memory_limit
from jdali._threads import NATIVE, begin_exit
from jdali.engine.engine import Engine
from jdali.engine.executors.elsewhere import Begun
from jdali.engine.executors.scaling import WorkerScaler
from jdali.engine.executors.threads import Threads
from jdali.engine.in_order import InOrder, Stopped
from jdali.engine.iteration import Result
from jdali.engine.room import Room
from jdali.engine.task import BatchTask

# Batches that are made at the same time: one is read, one decoded, one in its stages. A fourth one would help finish them,
# but costs small batches a tenth of their time or more: threads wake each other.
IN_FLIGHT = 3
_EXIT_SECONDS = 1.5
_FINISH = -1  # stands for the last step, which batches are in by their order
CLOSED = "the pipeline is closed"
CLOSED_MEANWHILE = "the pipeline was closed while a batch was awaited"
FORKED = (
    "the pipeline was used before this process was forked: its threads are those of the parent; make the pipeline in this "
    'process, or start the process by "spawn"'
)


class When(enum.Enum):
    """Times at which batches are made."""

    AHEAD = "before they are asked for"
    AHEAD_BY_CALLS = "before they are asked for; the thread that takes a batch draws the data of a later one"
    BACKGROUND = "when they are scheduled, in threads; a batch that was not scheduled is made by the thread that takes it"
    INLINE = "when they are scheduled or asked for, in the thread that does so"


class Phase(enum.Enum):
    """Phases of the life of a pipeline."""

    BUILT = "nothing was asked for yet"
    RUNNING = "batches are made"
    ENDED = "a source is at its end, and that was taken"
    CLOSED = "everything ends"


Finish: TypeAlias = Callable[[Result], Result]
"""Returns a batch with what an iterator makes of it."""


class Finisher(Protocol):
    """An iterator that has batches finished before it takes them."""

    def drawn(self, number: int) -> Finish | None:
        """Returns what finishes the batch of this number; None: it stays as it is.

        Batches are drawn and finished in order, in any thread; they count from the last move of the sources on.
        """


class WindowSlot:
    """A batch between its draw and the user.

    Attributes:
        number: counts from the last move of the sources on.
        task: once it is drawn.
        finish: the last step.
        begun: in workers.
        makes: a thread of the window has it.
        outcome: the batch, or what is raised in its place; None: it is under way.
    """

    def __init__(self, number: int):
        self.number = number
        self.task: BatchTask | None = None
        self.finish: Finish | None = None
        self.begun: Begun | None = None
        self.makes = False
        self.outcome: Result | BaseException | None = None


class Window:
    """Makes the batches of an engine ahead; any thread may use it.

    `wait` blocks without holding a lock until a batch is ready; `take` removes it while holding `turn`.

    Args:
        engine: to run.
        when: to make batches.
        room: for batches that are made ahead; None: they are not.
        before_draw: returns what to call before each draw, with `When.AHEAD_BY_CALLS`; it may raise StopIteration.

    Attributes:
        engine, room: as given.
        phase: of the pipeline's life.
        turn: held while a batch is taken or a state is set, with what the owner notes of it.
        abandon: ends everything when the owner is gone.
    """

    def __init__(
        self,
        engine: Engine,
        when: When,
        room: Room | None,
        before_draw: Callable[[], Callable[[], Any] | None] = lambda: None,
    ):
        self.engine, self.room = engine, room
        self._when, self._before_draw = when, before_draw
        self.phase = Phase.BUILT
        self.turn = threading.RLock()
        self._changed = threading.Condition()  # of all that follows
        self._slots: collections.deque[WindowSlot] = collections.deque()  # not taken, in order
        self._undrawn: collections.deque[WindowSlot] = collections.deque()  # of them
        self._asked = self._taken = 0
        self._running = 0  # calls in threads of the window
        self._halted = False  # the sources are being moved
        self._drained = self._resets = False  # a source is at its end; it begins again with the next draw
        self._next: BatchTask | None = None  # drawn, and not made because of an interrupt
        self._over = self._forked = False
        self._drawing = threading.Lock()
        self._finisher: weakref.ref[Finisher] | None = None
        self._order = InOrder([*engine.ordered_steps, _FINISH])
        self._threads = Threads(IN_FLIGHT, "jdali-executor")
        self._keeper = Threads(1, "jdali-keeper")
        self.abandon = Abandon(self)
        self._scaler: WorkerScaler | None = None
        self._fitted = 0  # batches in flight that there is room for, with workers
        self._fit_workers()
        _LIVE.add(self)

    @classmethod
    def of(
        cls,
        engine: Engine,
        *,
        depth: int,
        most_bytes: int | None,
        makes_ahead: bool = True,
        before_draw: Callable[[], Callable[[], object] | None] | None = None,
    ) -> Window:
        """Returns the window of an engine; nothing is made before a batch is asked for.

        Args:
            engine: to run.
            depth: batches that are made ahead; with workers more, so that all of them have some.
            most_bytes: of batches that are made ahead and under way; None: a quarter of the memory, and one batch is
                made however large it is.
            makes_ahead: False: batches are made when they are asked for.
            before_draw: see `Window`.
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
        """The threads that make batches, and the one that ends them."""
        return (*self._threads.threads, *self._keeper.threads)

    @property
    def ready(self) -> int:
        """Batches that are made and not taken."""
        return sum(slot.outcome is not None for slot in list(self._slots))

    @property
    def ahead(self) -> bool:
        """True if batches are made before they are asked for."""
        return self.room is not None

    @property
    def calls_user(self) -> bool:
        """True if the user's functions run in the thread that asks for a batch, for a batch made ahead."""
        return self._when is When.AHEAD_BY_CALLS

    @property
    def stopped(self) -> bool:
        """True if it is closed, or is to stop so that it can go to another position."""
        return self._halted or self.phase is Phase.CLOSED or self.abandon.told

    # --- workers ----------------------------------------------------------------------------
    def resize_workers(self, count: int) -> None:
        """Has so many workers make the batches, of a pipeline that has some; the batches stay what they were."""
        assert self.engine.elsewhere is not None
        with self.turn:
            self.refuse_if_closed()
            self.engine.elsewhere.workers.resize(count)
            self._fit_workers()

    def scale_workers(self, least: int, most: int) -> None:
        """Has the number of workers follow the waiting time, between two bounds; before the first batch."""
        assert self.engine.elsewhere is not None
        known = weakref.ref(self)  # the thread that takes a batch holds this object, the scaler need not

        def resize(count: int) -> None:
            if (window := known()) is not None:
                window.resize_workers(count)

        self._scaler = WorkerScaler(self.engine.elsewhere, resize, least, most)

    def _fit_workers(self) -> None:
        """As many batches are in flight as the workers need."""
        if self.engine.elsewhere is None or self.room is None:
            return
        with self._changed:
            self._fitted = self.engine.elsewhere.in_flight
            self.room.fit(self._fitted)
            self._fill()

    # --- making -----------------------------------------------------------------------------
    def finish_with(self, finisher: Finisher) -> int | None:
        """Has the batches that are drawn from now on finished, as long as the finisher lives; it is held weakly.

        As many batches are made ahead as if it took one of them.

        Returns: the number of the next batch to be taken; None: batches are not made ahead.
        """
        if not self.ahead:
            return None
        with self._changed:
            self._finisher = weakref.ref(finisher)
            return self._taken

    def _finishes(self) -> Finisher | None:
        return None if self._finisher is None else self._finisher()

    def start(self) -> None:
        """Begins to make batches, if it does not yet."""
        with self.turn:
            if self.phase is Phase.BUILT:
                self.phase = Phase.RUNNING
            if self.phase is Phase.CLOSED or self._when is When.INLINE:
                return
            try:
                self._keeper.start()
                self._threads.start()
            except BaseException:  # the next thread that asks for a batch tries again
                self._keeper.end()
                self._keeper.join()
                raise
            with self._changed:
                self._fill()

    def begin(self) -> None:
        """Has the next batches made, where that is done before they are asked for."""
        if self.ahead:
            self.start()
            self._draw_ahead()

    def schedule(self, scheduled: int = 0) -> bool:
        """Begins to make one more batch; of those made ahead, whatever there is room for is made anyway.

        Args:
            scheduled: batches that were scheduled before and not taken.

        Returns: False if there is none: the end of a source was met, and comes next.
        """
        self.refuse_own_thread()
        with self.turn:
            self.refuse_if_closed()
            self.start()
            if self._when is When.AHEAD_BY_CALLS:
                if self._drained and scheduled:
                    return False
                if self._asked - self._taken <= scheduled:  # else one was drawn ahead
                    self._draw_one()
            elif self._when is When.BACKGROUND:
                with self._changed:
                    self._add()
            elif self._when is When.INLINE:
                slot = WindowSlot(self._asked)
                try:
                    slot.outcome = self._make_here()
                except Exception as error:
                    slot.outcome = error
                with self._changed:
                    self._asked += 1
                    self._slots.append(slot)
            return True

    def _fill(self) -> None:
        """Adds the batches made ahead that there is room for; `_changed` is held."""
        if self._when is not When.AHEAD or not self._threads.threads:
            return
        while not (self.stopped or self._drained) and self._has_room():
            self._add()

    def _add(self) -> None:
        """Adds a batch that is to be drawn; `_changed` is held."""
        slot = WindowSlot(self._asked)
        self._asked += 1
        self._slots.append(slot)
        self._undrawn.append(slot)
        self._threads.submit(self._draw_next)

    def _has_room(self, more: int = 0) -> bool:
        """True if there is room for a batch beside those that were added, and so many more."""
        assert self.room is not None
        waiting = [slot.outcome for slot in self._slots if slot.outcome is not None]
        under_way = len(self._slots) - len(waiting) + more
        in_flight = IN_FLIGHT if self.engine.elsewhere is None else self._fitted
        if under_way >= in_flight and self._when is When.AHEAD:
            return False
        nbytes = sum(outcome.nbytes for outcome in waiting if isinstance(outcome, Result))
        spare = int(self._when is When.AHEAD and self._finishes() is not None)
        return self.room.allows(under_way, len(waiting), nbytes, spare)

    def _draw_ahead(self) -> None:
        """Draws as many batches as there is room for, where that is for the thread that takes one."""
        if not self.calls_user:
            return
        with self.turn:
            self.start()
            assert self.room is not None
            # The room is looked at once: how often the user is called does not depend on threads.
            with self._changed:
                most = max(self._taken + self.room.depth - self._asked, 0)
                count = next((n for n in range(most) if not self._has_room(n)), most)
            for _ in range(count):
                if self._drained or self.stopped:
                    break
                self._draw_one()

    def _draw_one(self) -> None:
        """Draws one batch in the thread of the user, and has it made; what is raised comes in its turn."""
        with self._changed:
            slot = WindowSlot(self._asked)
        try:
            self._call_before_draw()
            slot.task = self._draw(slot)
        except StopIteration as end:
            slot.outcome = StopIteration(*end.args)
        except BaseException as error:
            slot.outcome = contained(error)
        with self._changed:
            self._asked += 1
            self._slots.append(slot)
            if slot.outcome is None:
                self._threads.submit(functools.partial(self._call, functools.partial(self._begin, slot)))
            else:
                self._order.leave(slot.number)
            self._changed.notify_all()

    def _call_before_draw(self) -> None:
        if not self._drained and (call := self._before_draw()) is not None:
            try:
                with self.engine.pool.serving:
                    call()
            except StopIteration:
                self._drained = True
                raise

    def _draw(self, slot: WindowSlot | None = None) -> BatchTask:
        """Draws the next task; one thread at a time.

        Raises:
            StopIteration: a source is at its end.
        """
        if slot is not None and (finisher := self._finishes()) is not None:
            slot.finish = finisher.drawn(slot.number)
        if (task := self._next) is not None:
            self._next = None
            return task
        if self._drained:
            raise StopIteration
        try:
            if self._resets:
                self._resets = False
                self.engine.reset()
            return self.engine.draw()
        except StopIteration:
            self._drained = True
            raise

    def _make_here(self) -> Result:
        """Makes a batch in this thread."""
        with self._drawing:
            task = self._draw()
        try:
            return self.engine.make(task)
        except KeyboardInterrupt:
            self._next = task
            raise

    # --- in threads of the window -----------------------------------------------------------
    def _call(self, work: Callable[[], None]) -> None:
        """Counts a call, so that a move waits for it."""
        with self._changed:
            if self.stopped:
                return
            self._running += 1
        try:
            work()
        finally:
            with self._changed:
                self._running -= 1
                if not self._running:
                    self._changed.notify_all()

    def _draw_next(self) -> None:
        self._call(self._draw_and_begin)

    def _draw_and_begin(self) -> None:
        with self._drawing:
            with self._changed:
                if self.stopped or not self._undrawn:
                    return
                slot = self._undrawn.popleft()
            try:
                slot.task = self._draw(slot)
            except BaseException as error:
                self._put(slot, error)
                return
        self._begin(slot)

    def _begin(self, slot: WindowSlot) -> None:
        if self.engine.elsewhere is None:
            self._make(slot)
            return
        assert slot.task is not None
        try:
            slot.begun = self.engine.begin(slot.task, slot.number)
        except BaseException as error:
            self._put(slot, error)
            return
        slot.begun.future.add_done_callback(lambda _: self._make_those_that_came())

    def _make_those_that_came(self) -> None:
        """Goes on with batches that workers have made, in order: steps in order would wait for those that come later."""
        with self._changed:
            for slot in self._slots:
                if slot.makes or slot.outcome is not None:
                    continue
                if slot.begun is None or not slot.begun.future.done():
                    return
                slot.makes = True
                self._threads.submit(functools.partial(self._call, functools.partial(self._make, slot)))

    def _make(self, slot: WindowSlot) -> None:
        assert slot.task is not None
        turn = functools.partial(self._order.turn, slot.number)
        outcome: Result | BaseException
        try:
            outcome = self.engine.make(slot.task, turn=turn, order=slot.number, begun=slot.begun)
            if slot.finish is not None:
                with self._order.turn(slot.number, _FINISH):
                    outcome = slot.finish(outcome)
        except Stopped:
            return
        except BaseException as error:
            outcome = error
        try:
            self._put(slot, outcome)
            if isinstance(outcome, Result):
                # A batch is under way until the device has computed it.
                with self.engine.timing.device.lap(), NATIVE:
                    _wait(outcome)
        finally:
            del outcome  # an exception holds this frame: no cycle

    def _put(self, slot: WindowSlot, outcome: Result | BaseException) -> None:
        """Ends a batch that is under way."""
        self._order.leave(slot.number)
        with self._changed:
            slot.task = slot.begun = slot.finish = None
            if self.stopped:  # nobody takes it, and an error holds a frame that holds the slot
                return
            slot.outcome = outcome
            if self.room is not None and isinstance(outcome, Result):
                self.room.note(outcome.most_bytes)
            if isinstance(outcome, StopIteration) and self._when is When.AHEAD:
                while self._undrawn:  # there is nothing behind the end
                    self._undrawn.pop()
                    self._slots.pop()
                    self._asked -= 1
            if self._when is not When.AHEAD or self._is_first_ready():
                self._changed.notify_all()
            self._fill()

    # --- taking -----------------------------------------------------------------------------
    def refuse_own_thread(self) -> None:
        """Raises RuntimeError in a thread that makes the batches: it would wait for itself."""
        self.engine.pool.serving.refuse_here()

    def refuse_if_closed(self, message: str = CLOSED) -> None:
        """Raises RuntimeError if the pipeline is closed."""
        if self.phase is Phase.CLOSED:
            raise RuntimeError(FORKED if self._forked else message)

    def wait(self) -> None:
        """Blocks until `take` may have something to give."""
        self.refuse_own_thread()
        self.refuse_if_closed()
        self._draw_ahead()
        if self._may_take():
            return
        start = time.perf_counter()
        while not self._may_take():
            # Not while there are threads: `close` holds `turn` as long as a function of the user's runs in one of them.
            if self.ahead and not self._threads.threads:
                self.start()
            with self._changed:
                self._fill()
                self._changed.wait_for(lambda: self._may_take() or self._halted or self.phase is Phase.CLOSED)
            self.refuse_if_closed(CLOSED_MEANWHILE)
            if self._halted:
                with self.turn:  # until the sources are moved
                    pass
                self._draw_ahead()
        if self._scaler is not None:
            self._scaler.note_wait(time.perf_counter() - start)

    def _is_first_ready(self) -> bool:
        first = next(iter(self._slots), None)
        return first is not None and first.outcome is not None

    def _may_take(self) -> bool:
        return self._is_first_ready() or self._nothing_under_way

    @property
    def _nothing_under_way(self) -> bool:
        """True if no batch will come by itself."""
        return self.phase is Phase.ENDED if self._when is When.AHEAD else not self._slots

    def take(self) -> Result | None:
        """Removes the next batch, or raises what was raised in its place; None: it is not there, or not any more."""
        outcome = self._pop()
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
            if self.engine.elsewhere is not None and self.engine.elsewhere.in_flight != self._fitted:
                self._fit_workers()  # workers of a cluster get several small batches in one call
            return outcome
        if isinstance(outcome, StopIteration):
            self._meet_end()
        try:
            raise outcome
        finally:
            del outcome  # or it would hold this frame, and this frame it

    def _pop(self) -> Result | BaseException | None:
        with self._changed:
            if not self._is_first_ready():
                return None
            self._taken += 1
            slot = self._slots.popleft()
            outcome, slot.outcome = slot.outcome, None  # an error holds a frame that holds the slot: no cycle
            self._fill()
            self._changed.notify_all()
            return outcome

    def _take_here(self) -> Result:
        """Makes a batch that nobody has scheduled, in the thread that asks for it."""
        if self.phase is Phase.BUILT:
            self.phase = Phase.RUNNING
        try:
            return self._make_here()
        except StopIteration:
            self._meet_end()
            raise
        except Exception:
            self.refuse_if_closed(CLOSED_MEANWHILE)
            raise

    def _meet_end(self) -> None:
        """Notes that the end of a source was taken; it is everybody's."""
        with self._changed:
            if self.phase is not Phase.CLOSED:
                self.phase = Phase.ENDED
            self._changed.notify_all()

    # --- other positions --------------------------------------------------------------------
    def reset(self) -> bool:
        """Goes on after the end of an external source; False: it was not met.

        Where batches are made ahead, the end counts as met once nothing else is left.
        """
        if self.phase is Phase.RUNNING and self.ahead and self.engine.cursor.may_end:
            self._draw_ahead()
            with self._changed:
                self._fill()
                self._changed.wait_for(
                    lambda: self._is_first_ready() or not self._threads.threads or self.stopped
                )
                if self._slots and isinstance(self._slots[0].outcome, StopIteration):
                    self._meet_end()
                    self._pop()
        if self.phase is not Phase.ENDED:
            return False
        with self._changed:
            # What was scheduled before meets the same end.
            self._changed.wait_for(lambda: self.ahead or not self._undrawn or self.stopped)
            self._drained, self._resets = False, True
            self._go_on()
        return True

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources; what was made, or scheduled, is thrown away."""
        with self._moving(ended=state.get("end") == End.REACHED):
            self.engine.set_state(state)

    def leave_epoch(self, state: dict[str, Any], batches: int | None) -> None:
        """Ends an epoch after a state of the sources, see `TaskCursor.leave_epoch`; what was made since is thrown away."""
        with self._moving(ended=False):
            self.engine.leave_epoch(state, batches)

    @contextlib.contextmanager
    def _moving(self, *, ended: bool) -> Iterator[None]:
        """Stops making batches, and throws away what was made, while the sources are moved."""
        with self.turn:
            self.refuse_if_closed()
            self._halted = True
            try:
                self._clear()
                yield
                self._drained, self._resets = ended, False
                if ended:
                    self._meet_end()
                else:
                    self._go_on()
            finally:
                with self._changed:
                    self._halted = False
                    self._changed.notify_all()

    def _clear(self) -> None:
        """Throws away all batches; waits for those under way, whose tasks would be in the way of others."""
        self._order.stop()
        with self._changed:
            self._changed.notify_all()
            slots = list(self._slots)
            self._slots.clear()
            self._undrawn.clear()
            self._changed.wait_for(lambda: not self._running)
            self._asked = self._taken = 0
        for slot in slots:
            if slot.begun is not None:
                slot.begun.future.exception()
            slot.outcome = None
        self._order.clear()
        self._next = None

    def _go_on(self) -> None:
        """Leaves the end of a source."""
        with self._changed:
            if self.phase is Phase.ENDED:
                self.phase = Phase.RUNNING
            self._changed.notify_all()

    # --- ending -----------------------------------------------------------------------------
    def close(self, seconds: float = float("inf")) -> None:
        """Stops everything and waits for it, but no longer than `seconds`."""
        if self._over:
            return
        with self._changed:
            self.phase = Phase.CLOSED
            self._changed.notify_all()
        self._order.stop()
        self.engine.interrupt()
        deadline = time.monotonic() + seconds
        if self.turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                self._keeper.end()
                self._threads.end()
                if self._threads.join(deadline) and self._keeper.join(deadline):
                    while self._slots:
                        self._slots.pop().outcome = None
                    self._undrawn.clear()
                    self.engine.close()
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
            self.turn, self._changed = threading.RLock(), threading.Condition()
            self._threads.forget()
            self._keeper.forget()


class Abandon:
    """Ends a pipeline soon, without waiting, taking a lock, or holding it: for the garbage collector.

    It may be called in any thread, in the middle of anything: a thread that holds a lock which our own threads wait for
    must not wait for them. It holds nothing of the user's.

    Args:
        window: of the pipeline.

    Attributes:
        told: it was called.
    """

    def __init__(self, window: Window):
        engine = window.engine
        self.told = False
        self._window = weakref.ref(window)
        self._threads, self._keeper = window._threads, window._keeper
        self._pool, self._readers = engine.pool, list(engine.readers.values())
        self._workers = None if engine.elsewhere is None else engine.elsewhere.workers

    def __call__(self) -> None:
        self.told = True
        if self._keeper.threads:
            self._keeper.submit(self._close)

    def _close(self) -> None:
        window = self._window()
        if window is not None:
            window.close()
            return
        self._threads.end()
        self._keeper.end()
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


def _wait(result: Result) -> None:
    """Waits until the arrays of a result are computed; an error in them is its consumer's."""
    for output in result.outputs:
        for block in output.store.blocks:
            if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
                with contextlib.suppress(Exception):
                    block.array.block_until_ready()


_LIVE: weakref.WeakSet[Window] = weakref.WeakSet()


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
    for window in live:
        window.leave()


def _close_soon(windows: list[Window]) -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for window in windows:
        window.close(max(deadline - time.monotonic(), 0.0))


def free_idle_memory() -> None:
    """Frees the memory that the pipelines of this process keep for later batches."""
    for window in list(_LIVE):
        window.engine.pool.slabs.free_idle()


def _forget_parents() -> None:
    """In a forked process: nothing of the parent's is waited for, also not at the exit."""
    NATIVE.forget_parent()
    for window in list(_LIVE):
        window.forget_parent()


os.register_at_fork(after_in_child=_forget_parents)
