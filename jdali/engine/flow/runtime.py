"""The life of a pipeline that was built: who makes its batches and when, and how everything ends.

Batches are made ahead, several at a time (`makers`), as many as there is room for (`ready_queue`). Where that needs
functions of the user's, who takes a batch calls them for a later one first (`drawn_ahead`), as in DALI: they see the
thread, the random state and the debugger of the program. Or batches are made one by one when they are asked for,
where data is fed or the user wants it so.
"""

from __future__ import annotations

import atexit
import enum
import functools
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from jdali.engine.flow.drawn_ahead import DrawErrors, DrawFailed, DrawnAhead
from jdali.engine.flow.executor import Engine, Iteration, Result
from jdali.engine.flow.keeper import Abandon, Remains, keep
from jdali.engine.flow.loose_thread import Changes
from jdali.engine.flow.makers import Makers
from jdali.engine.flow.ready_queue import ReadyQueue, Room
from jdali.engine.tasks.feed import End
from jdali.engine.workers.interpreter_exit import begin_exit
from jdali.engine.workers.native_calls import NATIVE

_EXIT_SECONDS = 1.5
_CLOSED = "the pipeline is closed"
_CLOSED_MEANWHILE = "the pipeline was closed while a batch was awaited"
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


class _Life(enum.Enum):
    BUILT = "nothing was asked for yet"
    RUNNING = "batches are made"
    ENDED = "a source is at its end, and that was taken"
    CLOSED = "everything ends"


class Runtime:
    """Makes the batches of an engine; any thread may use it.

    Who wants a batch waits without a lock (`wait`), then takes it under `turn` (`take`).

    Args:
        engine: to run.
        room: for batches that are made ahead.
        when: to make them.
        errors: of draws; who owns the pipeline keeps them.
        before_draw: gives what to call before each draw, with `When.AHEAD_BY_CALLS`; it may raise StopIteration.

    Attributes:
        turn: held while a batch is taken or a state is set, with what the owner notes of it.
        abandon: ends everything when the owner is gone.
    """

    def __init__(
        self,
        engine: Engine,
        room: Room,
        when: When,
        errors: DrawErrors,
        before_draw: Callable[[], Callable[[], Any] | None] = lambda: None,
    ):
        self._engine, self._when, self._before_draw = engine, when, before_draw
        self._errors = weakref.ref(errors)
        self.turn = threading.RLock()
        self._room = room if self.ahead else None
        # Of what the sources gave, where it is not drawn by those who make the batches.
        self._drawn = DrawnAhead() if when is When.AHEAD_BY_CALLS else None
        self._made = ReadyQueue(self._room, when_asked=when is not When.AHEAD)
        self._changed = self._made.changed  # also of everything below
        self._life = _Life.BUILT
        self._halted = False  # for a state to be set
        self._drained = False  # a source is at its end: nothing is drawn before `reset`
        self._resets = False  # the sources begin again with the next draw
        self._over = False  # closed to the end, or the interpreter exits: nothing is left to wait for
        self._threads: list[threading.Thread] = []
        self.abandon = Abandon()
        self._forked = False  # this is the copy of a parent's, without its threads
        self._makers: Makers | None = None  # of these threads
        _LIVE.add(self)

    @property
    def started(self) -> bool:
        """True once a batch was asked for."""
        return self._life is not _Life.BUILT

    @property
    def room(self) -> Room | None:
        """Of batches that are made ahead; None: they are not."""
        return self._room

    @property
    def ahead(self) -> bool:
        """True if batches are made before they are asked for."""
        return self._when in (When.AHEAD, When.AHEAD_BY_CALLS)

    @property
    def calls_user(self) -> bool:
        """True if the user's functions run in the thread that asks for a batch, for a batch made ahead."""
        return self._when is When.AHEAD_BY_CALLS

    # --- taking -----------------------------------------------------------------------------
    def start(self) -> None:
        """Begins to make batches, if it does not yet."""
        with self.turn:
            if self._life is _Life.BUILT:
                self._life = _Life.RUNNING
            if self._threads or self._life is _Life.CLOSED or self._when is When.INLINE:
                return
            known = self.abandon.orders, weakref.ref(self), Remains(self._engine, self._changed)
            keeper = threading.Thread(target=keep, args=known, name="jdali-keeper", daemon=True)
            draw = self._draw if self._drawn is None else self._drawn.next
            self._makers = Makers(self._engine, self._made, draw, self._may_draw, self._stopped)
            self._threads = threads = [keeper, *self._makers.threads()]
            try:
                for thread in threads:
                    thread.start()
            except BaseException:
                self._threads = [t for t in threads if t.ident is not None]
                self._close_now()  # no batch will come: nobody should wait for one
                raise

    def begin(self) -> None:
        """Has the next batches made, where that is done before they are asked for."""
        if self.ahead:
            self.start()
            self._draw_ahead()

    def schedule(self) -> None:
        """Begins to make one more batch; of those made ahead, whatever there is room for is made anyway."""
        self.refuse_own_thread()
        with self.turn:
            self._refuse_if_closed(_CLOSED)
            self.start()
            if self._drawn is not None:
                self._draw_one()
                return
            if self._when is not When.INLINE:
                self._made.ask()
                return
            try:
                self._made.add(self._run_here())
            except Exception as error:
                self._made.add(error)

    def wait(self) -> None:
        """Returns when `take` may have something to give."""
        self.refuse_own_thread()
        self._refuse_if_closed(_CLOSED)
        self._draw_ahead()
        while not (self._made or self._nothing_under_way):
            if self.ahead:
                self.start()  # also after a state was set
            with self._changed:
                self._changed.wait_for(
                    lambda: self._made or self._nothing_under_way or not self._threads or self._stopped()
                )
            self._refuse_if_closed(_CLOSED_MEANWHILE)
            if self._halted:
                with self.turn:  # until the state is set
                    pass
                self._draw_ahead()

    def _draw_ahead(self) -> None:
        """Draws as many batches as may be there, the one that is asked for among them."""
        if self._drawn is None:
            return
        with self.turn:
            self.start()
            # What is there by now is looked at once: how often the user is called does not depend on threads.
            for _ in range(self._made.room_to_ask()):
                if self._drained or self._stopped():
                    break
                self._draw_one()

    def _draw_one(self) -> None:
        errors = self._errors()
        assert self._drawn is not None
        assert errors is not None
        self._drawn.add(self._draw_for_user, errors)
        self._made.ask()

    def _draw_for_user(self) -> Iteration:
        if not self._drained and (call := self._before_draw()) is not None:
            try:
                with self._engine.pool.serving:
                    call()
            except StopIteration:
                self._drained = True
                raise
        return self._draw()

    def _refuse_if_closed(self, message: str) -> None:
        if self._life is _Life.CLOSED:
            raise RuntimeError(FORKED if self._forked else message)

    def refuse_own_thread(self) -> None:
        """Raises RuntimeError in a thread that makes the batches: it would wait for itself."""
        self._engine.pool.serving.refuse_here()

    @property
    def _nothing_under_way(self) -> bool:
        """True if no batch will come by itself."""
        if self._when is When.AHEAD:
            return self._life is _Life.ENDED
        return self._made.taken == self._made.asked

    def take(self) -> Result | None:
        """The next batch, or raises what was raised in its place; None: it is not there, or not any more."""
        outcome = self._made.take()
        if outcome is None:
            if not self._nothing_under_way:
                return None
            if self._life is _Life.ENDED:
                raise StopIteration
            if self._drawn is not None:  # another thread took what was drawn
                return None
            return self._taken_here()
        if isinstance(outcome, Result):
            return outcome
        if isinstance(outcome, DrawFailed) and (errors := self._errors()):
            outcome = errors.popleft()
        self._note_end(outcome)
        try:
            raise outcome
        finally:
            del outcome  # or it would hold this frame, and this frame it

    def _taken_here(self) -> Result:
        """A batch that nobody has scheduled: whoever asks for it makes it."""
        if self._life is _Life.BUILT:
            self._life = _Life.RUNNING
        try:
            return self._run_here()
        except StopIteration as end:
            self._note_end(end)
            raise
        except Exception:
            if self._life is _Life.CLOSED:
                raise RuntimeError(_CLOSED_MEANWHILE) from None
            raise

    def _note_end(self, outcome: BaseException) -> None:
        if isinstance(outcome, StopIteration):
            with self._changed:
                if self._life is not _Life.CLOSED:
                    self._life = _Life.ENDED
                self._changed.notify_all()  # the end is everybody's

    def _run_here(self) -> Result:
        iteration = self._draw()
        self._engine.advance(iteration)
        return self._engine.settle(iteration)

    # --- other positions -----------------------------------------------------------------
    def reset(self) -> bool:
        """Goes on after the end of an external source; False: before that there is nothing to do.

        Where batches are made ahead, the end counts as met once nothing else is left.
        """
        if self._life is _Life.RUNNING and self.ahead and self._engine.feed.may_end:
            self._draw_ahead()
            with self._changed:
                self._changed.wait_for(lambda: self._made or not self._threads or self._stopped())
                if self._made.at_end:
                    self._note_end(StopIteration())
                    self._made.take()
        if self._life is not _Life.ENDED:
            return False
        with self._changed:  # what was scheduled before meets the same end
            made = self._made
            self._changed.wait_for(lambda: self.ahead or made.begun == made.asked or self._stopped())
            self._drained, self._resets, self._life = False, True, _Life.RUNNING
            self._changed.notify_all()
        return True

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources; what was made, or scheduled, is thrown away."""
        self._move(functools.partial(self._engine.set_state, state), ended=state.get("end") == End.REACHED)

    def leave_epoch(self, state: dict[str, Any], batches: int | None) -> None:
        """Ends an epoch after a state of the sources, see `Feed.leave_epoch`; what was made since is thrown away."""
        self._move(functools.partial(self._engine.leave_epoch, state, batches), ended=False)

    def _move(self, move: Callable[[], None], *, ended: bool) -> None:
        """Moves the sources, while nothing is made; `ended`: they are at their end then."""
        with self.turn:
            self._refuse_if_closed(_CLOSED)
            self._halted = True
            try:
                self._halt()
                self._forget_made()
                move()
                self._drained, self._resets = ended, False
                if self._drained:
                    self._life = _Life.ENDED
                elif self._life is _Life.ENDED:
                    self._life = _Life.RUNNING
            finally:
                with self._changed:
                    self._halted = False
                    self._changed.notify_all()

    # --- ending -----------------------------------------------------------------------------
    def close(self, seconds: float = float("inf")) -> None:
        """Stops the threads and the pool and waits for them, but no longer than `seconds`."""
        if self._over:
            return
        self._close_now()
        deadline = time.monotonic() + seconds
        if self.turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                if self._halt(deadline):
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
        """In a forked process: there are none of the threads, and who held a lock may be one of them."""
        if self.started:
            self._over = self._forked = True
            self._life = _Life.CLOSED
            self.turn, self._threads, self._makers = threading.RLock(), [], None
            self._changed = self._made.changed = Changes()

    def _close_now(self) -> None:
        with self._changed:
            self._life = _Life.CLOSED
            self._changed.notify_all()
        self._engine.interrupt()

    def _halt(self, deadline: float = float("inf")) -> bool:
        """Waits until the threads, which were told to stop, have ended; False if not before the deadline."""
        self.abandon()
        self._made.wake()
        if self._makers is not None:
            self._makers.wake()
        for thread in self._threads:
            if thread is not threading.current_thread():
                left = deadline - time.monotonic()
                thread.join(None if left == float("inf") else max(left, 0.0))
                if thread.is_alive():
                    return False
        self._threads, self._makers, self.abandon.orders = [], None, queue.SimpleQueue()
        return True

    def _forget_made(self) -> None:
        self._made.clear()
        if self._drawn is not None:
            self._drawn.clear()
        if (errors := self._errors()) is not None:
            errors.clear()

    def _stopped(self) -> bool:
        return self._life is _Life.CLOSED or self._halted

    def _may_draw(self) -> bool:
        """True if a batch can be begun: of those made ahead none is after the end of a source, up to the
        `reset`.
        """
        return self._when is not When.AHEAD or not self._drained

    def _draw(self) -> Iteration:
        """Draws the next batch of the sources."""
        if self._drained:
            raise StopIteration
        try:
            if self._resets:
                self._resets = False
                self._engine.reset()
            return self._engine.draw()
        except StopIteration:
            self._drained = True
            raise


_LIVE: weakref.WeakSet[Runtime] = weakref.WeakSet()


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
    for runtime in live:
        runtime.leave()


def _close_soon(runtimes: list[Runtime]) -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for runtime in runtimes:
        runtime.close(max(deadline - time.monotonic(), 0.0))


def free_idle_memory() -> None:
    """Frees the memory that the pipelines of this process keep for later batches."""
    for runtime in list(_LIVE):
        runtime._engine.pool.slabs.free_idle()


def _forget_parents() -> None:
    """In a forked process: nothing of the parent's is waited for, also not at the exit."""
    NATIVE.forget_parent()
    for runtime in list(_LIVE):
        runtime.forget_parent()


os.register_at_fork(after_in_child=_forget_parents)
