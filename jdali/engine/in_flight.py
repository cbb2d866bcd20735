"""Holds the batches in flight. Batches are drawn in order, made several at a time, and taken in order.

```
 add ─▶ draw ─▶ begin in workers ─▶ make ─▶ finish ─▶ pop
   one at a time, in order     in any order       in order
```

Only this module keeps batches in order and limits their number. Making a batch needs nothing but its task.
"""

from __future__ import annotations

import collections
import enum
import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from jdali._errors import contained
from jdali._threads import NATIVE
from jdali.engine.cursor import Epochs
from jdali.engine.executors.elsewhere import Begun
from jdali.engine.executors.threads import Threads
from jdali.engine.in_order import InOrder, Stopped
from jdali.engine.life import Abandon, Living
from jdali.engine.make import Result
from jdali.engine.task import BatchTask


class Room:
    """Limits the number and the bytes of the batches made ahead; used by one thread at a time.

    Args:
        depth: number of batches that may wait, while one more is made; `fit` never sets a lower value.
        most_bytes: maximum bytes of all batches that wait or are being made; a single batch may take more.
        is_strict: if True, allows only one batch at a time until the size of a first batch is known.
    """

    def __init__(self, depth: int, most_bytes: int, *, is_strict: bool):
        self.depth = self._least = depth
        self.most_bytes, self._is_strict = most_bytes, is_strict
        self.largest = 0  # maximum bytes that a batch took while it was made

    def fit(self, in_flight: int) -> None:
        self.depth = max(self._least, in_flight)

    def note(self, size: int) -> None:
        self.largest = max(self.largest, size)

    def allows(self, under_way: int, waiting: int, waiting_bytes: int, spare: int = 0) -> bool:
        """Returns True if one more batch may be started; `depth + spare` batches may wait."""
        if not under_way + waiting:
            return True
        if under_way + waiting > self.depth + spare:
            return False
        if not self.largest:
            return not self._is_strict
        return waiting_bytes + (under_way + 1) * self.largest <= self.most_bytes


# Number of batches made at the same time: one reads, one decodes, one is in its stages. With a fourth, small batches take at
# least a tenth longer, because threads wake each other.
IN_FLIGHT = 3
_FINISH = -1  # number of the last step, in which the iterator finishes batches in order


class When(enum.Enum):
    """Names the times at which a window makes batches."""

    AHEAD = "before they are asked for"
    AHEAD_BY_CALLS = "before they are asked for; the thread that takes a batch draws the data of a later one"
    BACKGROUND = "when they are scheduled, in threads; a batch that was not scheduled is made by the thread that takes it"
    INLINE = "when they are scheduled or asked for, in the thread that does so"


class Follower(Epochs, Protocol):
    """Assigns each batch to an epoch of an iterator when the batch's task is drawn, and finishes the batch."""

    def finish(self, result: Result) -> Result:
        """Turns a batch into what the iterator returns. It is called from any thread, in the order of the batches."""


class WindowSlot:
    """Tracks a batch from before it is drawn until it is taken. `number` counts batches since the sources last moved."""

    def __init__(self, number: int, follower: Follower | None):
        self.number, self.follower = number, follower
        self.task: BatchTask | None = None
        self.begun: Begun | None = None
        self.makes = False  # True once a thread makes the batch
        self.outcome: Result | BaseException | None = None  # the exception is raised in place of the batch


class InFlight:
    """Holds the batches of a window from their start until they are taken; any thread may use it."""

    def __init__(
        self, owner: Living, when: When, room: Room | None, threads: Threads, abandon: Abandon,
        before_draw: Callable[[], Callable[[], Any] | None],
    ):  # fmt: skip
        self._owner, self._engine = weakref.ref(owner), owner.engine
        self._when, self._room, self._threads = when, room, threads
        self._abandon, self._before_draw = abandon, before_draw
        self.changed = threading.Condition()  # guards the batches, and is notified when they change
        self._slots: collections.deque[WindowSlot] = collections.deque()  # batches not taken yet, in order
        self._undrawn: collections.deque[WindowSlot] = collections.deque()  # the slots without a task
        self._added = 0
        self._running = 0  # calls that run in threads
        self.drained = False  # True if a source is at its end
        self.begins_again = False  # True if the sources restart with the next draw
        self.halted = False  # True while the sources move to another position
        self.moves = 0  # number of such moves so far
        self.closed = False  # True once no more batches are made
        self._next: BatchTask | None = None  # task that was drawn, but not made because of an interrupt
        self._drawing = threading.Lock()
        self._follower: Callable[[], Follower | None] = lambda: None
        self._order = InOrder([*self._engine.ordered_steps, _FINISH])
        self._most = IN_FLIGHT

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def ready(self) -> int:
        """Number of batches that are made and not taken."""
        return sum(slot.outcome is not None for slot in list(self._slots))

    @property
    def first(self) -> Result | BaseException | None:
        """The outcome of the next batch; None if it is still being made, or there is no batch."""
        try:
            return self._slots[0].outcome
        except IndexError:
            return None

    @property
    def stopped(self) -> bool:
        """True if no more batches may be made: the window closes, or the sources are being moved."""
        return self.halted or self.closed or self._abandon.told

    def fit(self, workers: int) -> None:
        """Lets as many batches be made at the same time as there are `workers`."""
        assert self._room is not None
        with self.changed:
            self._most = workers
            self._room.fit(workers)
            self.fill()

    def follow(self, follower: Follower) -> None:
        """Sets the follower of the batches drawn from now on, and keeps only a weak reference to the follower."""
        with self.changed:
            self._follower = weakref.ref(follower)
            for slot in self._undrawn:
                slot.follower = follower
            for _ in range(len(self._slots) - len(self._undrawn)):
                follower.draw()  # counts the batches drawn before

    # --- adding -----------------------------------------------------------------------------
    def fill(self) -> None:
        """Adds batches ahead while there is room; the caller holds `changed`."""
        if self._when is not When.AHEAD or not self._threads.threads:
            return
        while not (self.stopped or self.drained) and self._has_room():
            self.add()

    def add(self) -> None:
        """Adds a batch, which a thread draws; the caller holds `changed`."""
        slot = WindowSlot(self._added, self._follower())
        self._added += 1
        self._slots.append(slot)
        self._undrawn.append(slot)
        self._submit(self._draw_and_begin)

    def _has_room(self, more: int = 0) -> bool:
        """Returns True if there is room for `more` + 1 further batches."""
        assert self._room is not None
        waiting = [slot.outcome for slot in self._slots if slot.outcome is not None]
        under_way = len(self._slots) - len(waiting) + more
        if under_way >= self._most and self._when is When.AHEAD:
            return False
        nbytes = sum(outcome.nbytes for outcome in waiting if isinstance(outcome, Result))
        # If an iterator takes the batches, one more may wait here: an iterator of jdali keeps no batch ready itself.
        spare = int(self._when is When.AHEAD and self._follower() is not None)
        return self._room.allows(under_way, len(waiting), nbytes, spare)

    # --- in the thread of the user ----------------------------------------------------------
    def draw_ahead(self) -> None:
        assert self._room is not None
        # Check the room only once, so that the number of calls of the user's source does not depend on timing.
        with self.changed:
            most = max(self._room.depth - len(self._slots), 0)
            count = next((n for n in range(most) if not self._has_room(n)), most)
        for _ in range(count):
            if self.drained or self.stopped:
                break
            self.draw_one()

    def draw_one(self) -> None:
        """Draws one batch and submits it to the threads. An exception is raised only when the batch is taken."""
        with self.changed:
            slot = WindowSlot(self._added, self._follower())
        try:
            if not self.drained and (call := self._before_draw()) is not None:
                with self._engine.pool.serving:
                    call()
            slot.task = self._draw(slot.follower)
        except StopIteration as end:
            self.drained = True
            slot.outcome = StopIteration(*end.args)
        except BaseException as error:
            slot.outcome = contained(error)
        with self.changed:
            self._added += 1
            self._slots.append(slot)
            if slot.outcome is None:
                self._submit(self._begin, slot)
            else:
                self._order.leave(slot.number)
            self.changed.notify_all()

    def make_one(self) -> None:
        """Makes a batch now and adds it. An exception is added in its place."""
        slot = WindowSlot(self._added, None)
        try:
            slot.outcome = self.make_here()
        except Exception as error:
            slot.outcome = error
        with self.changed:
            self._added += 1
            self._slots.append(slot)

    def make_here(self) -> Result:
        """Draws and makes a batch now, without adding it."""
        with self._drawing:
            task = self._draw(None)
        try:
            return self._engine.make(task)
        except KeyboardInterrupt:
            self._next = task
            raise

    def _draw(self, epochs: Epochs | None) -> BatchTask:
        """Draws the next task; one thread at a time."""
        if (task := self._next) is not None:
            self._next = None
            return task
        if self.drained:
            raise StopIteration
        try:
            if self.begins_again:
                self.begins_again = False
                self._engine.cursor.reset()
            self._engine.cursor.epochs = epochs
            return self._engine.draw()
        except StopIteration:
            self.drained = True
            raise
        finally:
            self._engine.cursor.epochs = None  # or the cursor would keep a dropped iterator alive

    # --- in threads of the window -----------------------------------------------------------
    def _submit(self, work: Callable[..., None], *slot: WindowSlot) -> None:
        self._threads.submit(functools.partial(self._call, work, *slot))

    def _call(self, work: Callable[..., None], *slot: WindowSlot) -> None:
        """Makes a call. Counts running calls, because these must end before the sources are moved."""
        owner = self._owner()  # keeps the window alive during the call; it may be collected afterwards
        with self.changed:
            if owner is None or self.stopped:
                return
            self._running += 1
        try:
            work(*slot)
        finally:
            with self.changed:
                self._running -= 1
                if not self._running:
                    self.changed.notify_all()

    def _draw_and_begin(self) -> None:
        with self._drawing:
            with self.changed:
                if self.stopped or not self._undrawn:
                    return
                slot = self._undrawn.popleft()
            try:
                slot.task = self._draw(slot.follower)
            except BaseException as error:
                self._put(slot, error)
                return
        self._begin(slot)

    def _begin(self, slot: WindowSlot) -> None:
        if self._engine.elsewhere is None:
            self._make(slot)
            return
        assert slot.task is not None
        try:
            slot.begun = self._engine.begin(slot.task, slot.number)
        except BaseException as error:
            self._put(slot, error)
            return
        slot.begun.future.add_done_callback(lambda _: self._make_received())

    def _make_received(self) -> None:
        """Passes the workers' batches to the threads, in order, so that no thread blocks at an ordered step."""
        with self.changed:
            for slot in self._slots:
                if slot.makes or slot.outcome is not None:
                    continue
                if slot.begun is None or not slot.begun.future.done():
                    return
                slot.makes = True
                self._submit(self._make, slot)

    def _make(self, slot: WindowSlot) -> None:
        assert slot.task is not None
        turn = functools.partial(self._order.turn, slot.number)
        outcome: Result | BaseException
        try:
            outcome = self._engine.make(slot.task, turn=turn, order=slot.number, begun=slot.begun)
            if slot.follower is not None:
                with self._order.turn(slot.number, _FINISH):
                    outcome = slot.follower.finish(outcome)
        except Stopped:
            return
        except BaseException as error:
            outcome = error
        try:
            self._put(slot, outcome)
            if isinstance(outcome, Result):
                # Wait for the device, so that this thread makes no other batch until this batch is computed.
                with self._engine.timing.device.lap(), NATIVE:
                    outcome.wait()
        finally:
            del outcome  # no reference cycle: an exception references this frame

    def _put(self, slot: WindowSlot, outcome: Result | BaseException) -> None:
        self._order.leave(slot.number)
        with self.changed:
            slot.task = slot.begun = slot.follower = None
            if self.stopped:  # nobody takes the outcome, and an error would form a cycle with the slot
                return
            slot.outcome = outcome
            if self._room is not None and isinstance(outcome, Result):
                self._room.note(outcome.most_bytes)
            if isinstance(outcome, StopIteration) and self._when is When.AHEAD:
                while self._undrawn:  # no batch follows the end
                    self._undrawn.pop()
                    self._slots.pop()
                    self._added -= 1
            if self._when is not When.AHEAD or self.first is not None:
                self.changed.notify_all()
            self.fill()

    # --- taking -----------------------------------------------------------------------------
    def pop(self) -> Result | BaseException | None:
        """Takes the next batch, or the exception in its place. Returns None if no batch is ready."""
        with self.changed:
            if self.first is None:
                return None
            slot = self._slots.popleft()
            outcome, slot.outcome = slot.outcome, None  # an error would form a cycle with the slot
            self.fill()
            self.changed.notify_all()
            return outcome

    def wait_until_drawn(self) -> None:
        with self.changed:
            self.changed.wait_for(lambda: not self._undrawn or self.stopped)

    # --- ending -----------------------------------------------------------------------------
    def clear(self) -> None:
        """Drops all batches and the follower; waits for batches being made. The caller has set `halted`."""
        self._order.stop()
        with self.changed:
            self.moves += 1
            self.changed.notify_all()
            slots = list(self._slots)
            self._slots.clear()
            self._undrawn.clear()
            self.changed.wait_for(lambda: not self._running)
            self._added = 0
            self._follower = lambda: None
        for slot in slots:
            if slot.begun is not None:
                slot.begun.future.exception()
            slot.outcome = None
        self._order.clear()
        self._next = None

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self._order.stop()

    def drop(self) -> None:
        """Drops all batches, once the threads have ended."""
        while self._slots:
            self._slots.pop().outcome = None
        self._undrawn.clear()

    def forget_parent(self) -> None:
        """Makes no more batches in a forked process; replaces the lock, which a thread of the parent may hold."""
        self.closed, self.changed = True, threading.Condition()
