"""Taking the batches of a pipeline that was built: any thread may do it.

Batches are made ahead, several at a time (`makers`), as many as there is room for (`ready_queue`). Where that needs
functions of the user's, the thread that takes a batch calls them for a later one first (`drawing`). Or batches are made
one by one when they are asked for, where data is fed or the user wants it so. `life` owns the threads, `moves` brings
the sources to other positions.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from jdali._system.limits import memory_limit
from jdali._threads import Times
from jdali.engine.flow import report
from jdali.engine.flow.collector import Collector
from jdali.engine.flow.drawing import Drawing, When
from jdali.engine.flow.drawn_ahead import DrawErrors
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.finishing import Finish, Finishing
from jdali.engine.flow.iteration import Result
from jdali.engine.flow.keeper import Abandon
from jdali.engine.flow.life import CLOSED_MEANWHILE, Life, Phase, free_idle_memory
from jdali.engine.flow.makers import Makers
from jdali.engine.flow.moves import Moves
from jdali.engine.flow.ready_queue import ReadyQueue, Room
from jdali.engine.flow.scaling import WorkerScaler
from jdali.engine.flow.twin import PipelineTwin


class Runtime:
    """Makes the batches of an engine; any thread may use it.

    `wait` blocks without holding a lock until a batch is ready; `take` removes it while holding `turn`.

    Args:
        engine: to run.
        room: for batches that are made ahead.
        when: to make them.
        before_draw: returns what to call before each draw, with `When.AHEAD_BY_CALLS`; it may raise StopIteration.
    """

    def __init__(
        self,
        engine: Engine,
        room: Room,
        when: When,
        before_draw: Callable[[], Callable[[], Any] | None] = lambda: None,
    ):
        self.engine, self._when = engine, when
        # They belong to this object, which no thread holds; see `DrawErrors`.
        self._errors = DrawErrors()
        self._room = room if self.ahead else None
        self._finishing = Finishing()
        self._made = ReadyQueue(self._room, when_asked=when is not When.AHEAD, finishing=self._finishing)
        self._drawing = Drawing(engine, when, self._errors, before_draw)
        self.life = Life(engine, self._made, self._drawing)
        self._moves = Moves(engine, self.life, self._made, self._drawing, is_ahead=self.ahead)
        self._scaler: WorkerScaler | None = None
        self._fitted = 0  # batches in flight that there is room for, with workers
        self._fit_workers()

    @classmethod
    def start_engine(
        cls,
        engine: Engine,
        *,
        depth: int,
        most_bytes: int | None,
        makes_ahead: bool = True,
        before_draw: Callable[[], Callable[[], object] | None] | None = None,
    ) -> Runtime:
        """Returns what runs an engine; nothing is made before a batch is asked for.

        Args:
            engine: to run.
            depth: batches that are made ahead; with workers more, so that all of them have some.
            most_bytes: of batches that are made ahead and under way; None: a quarter of the memory, and one batch is
                made however large it is.
            makes_ahead: False: batches are made when they are asked for.
            before_draw: see `Drawing`.
        """
        most = memory_limit() // 4 if most_bytes is None else most_bytes
        when = When.INLINE if not makes_ahead else _when(engine, calls_before=before_draw is not None)
        return cls(
            engine, Room(depth, most, is_strict=most_bytes is not None), when, before_draw or (lambda: None)
        )

    @property
    def turn(self) -> threading.RLock:
        """Lock that is held while a batch is taken or a state is set, with what the owner notes of it."""
        return self.life.turn

    @property
    def abandon(self) -> Abandon:
        """Ends everything when the owner is gone."""
        return self.life.abandon

    @property
    def phase(self) -> Phase:
        """Of the pipeline's life."""
        return self.life.phase

    @property
    def started(self) -> bool:
        """True once a batch was asked for."""
        return self.phase is not Phase.BUILT

    @property
    def stopped(self) -> bool:
        """True if it is closed, or its threads are to end so that it can go to another position."""
        return self.life.stopped()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """The threads that make batches, and the one that ends them."""
        return tuple(self.life.threads)

    @property
    def ready(self) -> int:
        """Batches that are made and not taken."""
        return len(self._made)

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
        return self._drawing.calls_user

    # --- workers ----------------------------------------------------------------------------
    def resize_workers(self, count: int) -> None:
        """Has so many workers make the batches, of a pipeline that has some; the batches stay what they were."""
        assert self.engine.elsewhere is not None
        with self.turn:
            self.life.refuse_if_closed()
            self.engine.elsewhere.workers.resize(count)
            self._fit_workers()

    def scale_workers(self, least: int, most: int) -> None:
        """Has the number of workers follow the waiting time, between two bounds; before the first batch."""
        assert self.engine.elsewhere is not None
        known = weakref.ref(self)  # the thread that takes a batch holds this object, the scaler need not

        def resize(count: int) -> None:
            if (runtime := known()) is not None:
                runtime.resize_workers(count)

        self._scaler = WorkerScaler(self.engine.elsewhere, resize, least, most)

    def _fit_workers(self) -> None:
        """As many batches are in flight as the workers need."""
        if self.engine.elsewhere is None or self._room is None:
            return
        self._fitted = self.engine.elsewhere.in_flight
        with self.life.changed:
            self._room.fit(self._fitted)
            self.life.changed.notify_all()
        self.life.grow()

    # --- making -----------------------------------------------------------------------------
    def finish_with(self, method: Finish) -> int | None:
        """Has batches finished by a method before they are handed over, as long as its object lives.

        It is called in the threads that make batches, in order; where there are none, it is not called. As many batches
        are made ahead as if it took one of them.

        Returns: the number of the next batch to be taken; None: there are no such threads.
        """
        if not self.ahead:
            return None
        with self.life.changed:
            self._finishing.set(method)
            return self._made.taken

    def start(self) -> None:
        """Begins to make batches, if it does not yet."""
        life, drawing = self.life, self._drawing
        with self.turn:
            life.begin()
            if life.threads or life.phase is Phase.CLOSED or self._when is When.INLINE:
                return
            # A draw that waits for an external source must not keep batches that are made from being handed over.
            one_thread = self.engine.only_receives and not self.engine.feed.may_end
            kind = Collector if one_thread else Makers
            life.start(
                kind(self.engine, self._made, drawing.next, drawing.may_begin, life.stopped, self._finishing)
            )

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
            self.life.refuse_if_closed()
            self.start()
            if self.calls_user:
                if self._drawing.drained and scheduled:
                    return False
                if self._made.asked - self._made.taken <= scheduled:  # else one was drawn ahead
                    self._drawing.one_more(self._made)
            elif self._when is not When.INLINE:
                self._made.ask()
            else:
                try:
                    self._made.add(self._run_here())
                except Exception as error:
                    self._made.add(error)
            return True

    def _draw_ahead(self) -> None:
        """Draws as many batches as may be there, where that is for the thread that takes one."""
        if self.calls_user:
            with self.turn:
                self.start()
                self._drawing.fill(self._made, self.life.stopped)

    def refuse_own_thread(self) -> None:
        """Raises RuntimeError in a thread that makes the batches: it would wait for itself."""
        self.engine.pool.serving.refuse_here()

    def refuse_if_closed(self) -> None:
        """Raises RuntimeError if it is closed."""
        self.life.refuse_if_closed()

    # --- taking -----------------------------------------------------------------------------
    def wait(self) -> None:
        """Blocks until `take` may have something to give."""
        life = self.life
        self.refuse_own_thread()
        life.refuse_if_closed()
        self._draw_ahead()
        if self._made or self._nothing_under_way:
            return
        start = time.perf_counter()
        self._wait_for_one()
        if self._scaler is not None:
            self._scaler.note_wait(time.perf_counter() - start)

    def _wait_for_one(self) -> None:
        life = self.life
        while not (self._made or self._nothing_under_way):
            # Not while there are threads: `close` holds `turn` as long as a function of the user's runs in one of them.
            if self.ahead and not life.threads:
                self.start()  # also after a state was set
            with life.changed:
                life.changed.wait_to_take(
                    lambda: self._made or self._nothing_under_way or not life.threads or life.stopped()
                )
            life.refuse_if_closed(CLOSED_MEANWHILE)
            if life.halted:
                with self.turn:  # until the state is set
                    pass
                self._draw_ahead()

    @property
    def _nothing_under_way(self) -> bool:
        """True if no batch will come by itself."""
        if self._when is When.AHEAD:
            return self.life.phase is Phase.ENDED
        return self._made.taken == self._made.asked

    def take(self) -> Result | None:
        """Removes the next batch, or raises what was raised in its place; None: it is not there, or not any more."""
        outcome = self._made.take()
        if outcome is None:
            if not self._nothing_under_way:
                return None
            if self.life.phase is Phase.ENDED:
                raise StopIteration
            if self.calls_user:  # another thread took what was drawn
                return None
            return self._taken_here()
        if isinstance(outcome, Result):
            if self._scaler is not None:
                self._scaler.note_batch()
            if self.engine.elsewhere is not None and self.engine.elsewhere.in_flight != self._fitted:
                self._fit_workers()  # workers of a cluster get several small batches in one call
            return outcome
        outcome = self._drawing.error_of(outcome)
        if isinstance(outcome, StopIteration):
            self.life.meet_end()
        try:
            raise outcome
        finally:
            del outcome  # or it would hold this frame, and this frame it

    def _taken_here(self) -> Result:
        """Makes a batch that nobody has scheduled, in the thread that asks for it."""
        self.life.begin()
        try:
            return self._run_here()
        except StopIteration:
            self.life.meet_end()
            raise
        except Exception:
            if self.life.phase is Phase.CLOSED:
                raise RuntimeError(CLOSED_MEANWHILE) from None
            raise

    def _run_here(self) -> Result:
        task = self._drawing.now()
        try:
            return self.engine.make(task)
        except KeyboardInterrupt:
            self._drawing.put_back(task)
            raise

    # --- facts ------------------------------------------------------------------------------
    def describe(self) -> str:
        """Returns the plan for a person to read, see `Pipeline.plan`."""
        return report.describe(self.engine, self.room)

    def statistics(self) -> dict[str, Any]:
        """See `Pipeline.executor_statistics`."""
        return report.statistics(self.engine)

    def times(self) -> Times:
        """Returns the time that the parts of the pipeline have spent so far."""
        return report.times(self.engine, ahead=self.ahead)

    def warm_up(self, *, progress: bool) -> int:
        """Compiles ahead, see `Pipeline.warmup`; returns the number of programs."""
        return report.warm_up(self.engine, progress=progress)

    def dot(self, *, show_tensors: bool, show_ids: bool, colors: bool) -> str:
        """Returns the graph in Graphviz's DOT format."""
        return report.dot(self.engine.plan, show_tensors=show_tensors, show_ids=show_ids, colors=colors)

    def twin(self) -> PipelineTwin:
        """Returns another stream of batches, made by the same programs, with a position of its own."""
        return PipelineTwin(self.engine)

    @staticmethod
    def free_idle_memory() -> None:
        """Frees the memory that all pipelines of this process keep for later batches."""
        free_idle_memory()

    # --- other positions --------------------------------------------------------------------
    def reset(self) -> bool:
        """Goes on after the end of an external source; False: before that there is nothing to do."""
        return self._moves.after_end(self._draw_ahead)

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources; what was made, or scheduled, is thrown away."""
        self._moves.to_state(state)

    def leave_epoch(self, state: dict[str, Any], batches: int | None) -> None:
        """Ends an epoch after a state of the sources, see `Feed.leave_epoch`; what was made since is thrown away."""
        self._moves.behind_epoch(state, batches)

    def close(self, seconds: float = float("inf")) -> None:
        """Stops the threads and the pool and waits for them, but no longer than `seconds`."""
        self.life.close(seconds)


def _when(engine: Engine, *, calls_before: bool) -> When:
    """Says when the batches of an engine are made that may be made before they are asked for."""
    if calls_before:
        return When.AHEAD_BY_CALLS
    if engine.feed.is_fed:
        return When.BACKGROUND
    return When.AHEAD_BY_CALLS if engine.feed.calls_user else When.AHEAD
