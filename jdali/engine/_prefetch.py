"""Who drives an engine: a thread that runs ahead, or the caller. Ends every thread, whatever happens."""

from __future__ import annotations

import atexit
import collections
import contextlib
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import jax

from jdali._batch import PaddedBlock
from jdali.engine._executor import Engine, Iteration, Result
from jdali.engine._exit import begin_exit
from jdali.engine._feed import End
from jdali.engine._handover import Handover
from jdali.engine._native import NATIVE
from jdali.engine._threads import WorkerThreads

_POLL_SECONDS = 0.1
_EXIT_SECONDS = 1.5
_CLOSED_MEANWHILE = "the pipeline was closed while a batch was awaited"


class Prefetcher:
    """Runs an engine ahead in threads of its own: at most `depth` results wait, and as many are being made.

    One thread; two if the engine can work on two iterations at once, see `Engine.overlaps`. Any thread may
    use it: who wants a result waits without a lock (`wait`), then takes it under `turn` (`take`).

    Attributes:
        turn: held while a result is taken or a state is set, with what the owner notes of it.
    """

    def __init__(self, engine: Engine, depth: int):
        self._engine = engine
        self._results: Handover[Result | BaseException] = Handover(max(depth, 1))
        self._begun: Handover[Iteration | BaseException] = Handover(1)
        self._resume = threading.Event()
        self._threads: list[threading.Thread] = []
        self.turn = threading.RLock()
        self._halted = False  # for a state to be set
        self._closed = self._ended = self._abandoned = False
        self._over = False  # closed to the end, or the interpreter exits: nothing is left to wait for
        _LIVE.add(self)

    def abandon(self) -> None:
        """Ends everything soon, without waiting or taking a lock: for the garbage collector.

        It may run in any thread, in the middle of anything: a thread that holds a lock which our own
        threads wait for must not wait for them.
        """
        self._abandoned = True

    @property
    def started(self) -> bool:
        return bool(self._threads)

    def start(self) -> None:
        """Begins to run ahead, if it does not yet."""
        with self.turn:
            if self._threads or self._closed:
                return
            works = [self._begin_ahead, self._finish_begun] if self._engine.overlaps else [self._run_ahead]
            names = ["jdali-executor-ahead", "jdali-executor"][-len(works) :]
            self._threads = [
                threading.Thread(target=self._work, args=(work,), name=name, daemon=True)
                for work, name in zip(works, names, strict=True)
            ]
            try:
                for thread in self._threads:
                    thread.start()
            except BaseException:
                self._closed = True  # no result will come: nobody should wait for one
                raise

    def schedule(self) -> None:
        """Begins to make one more result: here whatever there is room for is made anyway."""
        self.start()

    def wait(self) -> None:
        """Returns when `take` may have something to give."""
        if self._closed:
            raise RuntimeError("the pipeline is closed")
        if not self._ended:
            self.start()
            self._results.wait(lambda: self._closed or self._halted or self._ended)
            if self._closed:
                raise RuntimeError(_CLOSED_MEANWHILE)

    def take(self) -> Result | None:
        """The next result, or raises what the iteration raised; None: it is not there, or not any more."""
        if self._ended:
            raise StopIteration
        outcome = self._results.take()
        if outcome is None or isinstance(outcome, Result):
            return outcome
        self._ended = isinstance(outcome, StopIteration)
        self._results.wake()  # the end is everybody's
        try:
            raise outcome
        finally:
            del outcome  # or it would hold this frame, and this frame it

    def reset(self) -> bool:
        """Goes on after the end of an external source; False: before that there is nothing to do."""
        if not self._ended:
            return False
        if self._threads:
            self._resume.set()
        else:
            self._engine.reset()
        self._ended = False
        return True

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources; what was made ahead is thrown away."""
        with self.turn:
            if self._closed:
                raise RuntimeError("the pipeline is closed")
            self._halted = True
            try:
                self._halt()
                self._throw_away()
                self._threads, self._ended = [], False
                self._engine.set_state(state)
                self._ended = state.get("end") == End.REACHED
            finally:
                self._halted = False
                self._resume.clear()

    def _throw_away(self) -> None:
        """Lets go of what waits: an exception among it holds this object, through its frames."""
        self._begun.clear()
        self._results.clear()

    def close(self, seconds: float = float("inf")) -> None:
        """Stops the thread and the pool and waits for them, but no longer than `seconds`."""
        if self._over:
            return
        self._closed = True
        self._results.wake()
        self._engine.interrupt()
        deadline = time.monotonic() + seconds
        if self.turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                if self._halt(deadline - time.monotonic()):
                    self._throw_away()
                    self._engine.close()
                    self._over = True
            finally:
                self.turn.release()
        _LIVE.discard(self)

    def leave(self) -> None:
        """The interpreter exits: what has not ended by now is not waited for again."""
        self._over = True

    def _halt(self, seconds: float = float("inf")) -> bool:
        """Waits until the threads, which were told to stop, have ended; False if not after `seconds`."""
        self._resume.set()
        self._begun.wake()
        self._results.wake()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            while thread.is_alive():
                thread.join(_POLL_SECONDS)
                if time.monotonic() > deadline:
                    return False
        return True

    def _stopped(self) -> bool:
        return self._abandoned or self._closed or self._halted

    def _work(self, work: Callable[[], None]) -> None:
        work()
        first, last = self._threads[0], self._threads[-1]
        if self._abandoned and threading.current_thread() is last:
            if first is not last:
                first.join()
            self._throw_away()
            self._engine.close()

    def _run_ahead(self) -> None:
        self._produce(self._engine.run, self._results, draws=True)

    def _begin_ahead(self) -> None:
        self._produce(self._engine.begin, self._begun, draws=True)

    def _finish_begun(self) -> None:
        self._produce(self._finish, self._results, draws=False)

    def _finish(self) -> Result:
        self._begun.wait(self._stopped)
        begun = self._begun.take()
        if begun is None:
            raise _Stopped
        if isinstance(begun, Iteration):
            return self._engine.finish(begun)
        try:
            raise begun
        finally:
            del begun

    def _produce(
        self, make: Callable[[], Result | Iteration], waiting: Handover[Any], *, draws: bool
    ) -> None:
        """Puts one item after another in a queue, or what was raised in place of it.

        Args:
            make: gives an item.
            waiting: the queue.
            draws: `make` asks the sources: after their end they have to be reset.
        """
        previous: Any = None
        ended = False
        while not self._stopped():
            if ended and not self._await_reset():
                return
            try:
                if ended:
                    self._engine.reset()
                item: Any = make()
            except _Stopped:
                return
            except BaseException as error:
                item = error
            # Not more than one batch of device work ahead of the one just handed over.
            if isinstance(previous, Result):
                with self._engine.timing.device.lap(), NATIVE:
                    _wait(previous)
            previous = item if isinstance(item, Result) else None
            ended = draws and isinstance(item, StopIteration)
            given = waiting.put(item, self._stopped)
            # Raised to the user, an exception holds his frames, and those the pipeline: let go of it.
            del item
            if not given:
                return

    def _await_reset(self) -> bool:
        """Waits until the sources may begin again; False if everything was stopped before."""
        while not self._stopped():
            if self._resume.wait(_POLL_SECONDS):
                self._resume.clear()
                return not self._stopped()
        return False


class Synchronous:
    """Runs an engine one iteration a call, in the caller's thread: for pipelines that are fed.

    Args:
        engine: to run.
        background: what is scheduled is made in a thread of its own; else at once, in the caller's.

    Attributes:
        turn: held during an iteration, and while a state is set, with what the owner notes of it.
    """

    def __init__(self, engine: Engine, *, background: bool):
        self._engine, self._background = engine, background
        self.started = False
        self._closed = self._over = False
        self._drawn_out = self._ended = False  # a source has ended; and its end was taken
        self.turn = threading.RLock()
        self._scheduled: collections.deque[Future[Result]] = collections.deque()
        self._worker = WorkerThreads(1, "jdali-executor")
        _LIVE.add(self)

    def abandon(self) -> None:
        """Nothing to stop: the pools' threads end with the pools."""

    def schedule(self) -> None:
        """Begins to make one more result, for `take`."""
        with self.turn:
            if self._closed:
                raise RuntimeError("the pipeline is closed")
            self.started = True
            if self._background:
                self._scheduled.append(self._worker.submit(self._run))
                return
            future: Future[Result] = Future()
            try:
                future.set_result(self._run())
            except Exception as error:
                future.set_exception(error)
            self._scheduled.append(future)

    def _run(self) -> Result:
        if self._drawn_out:
            raise StopIteration
        try:
            return self._engine.run()
        except StopIteration:
            self._drawn_out = True
            raise

    def wait(self) -> None:
        """Nothing to wait for: `take` makes the result."""
        if self._closed:
            raise RuntimeError("the pipeline is closed")

    def take(self) -> Result | None:
        """The oldest scheduled result, or a new one; raises what the iteration raised."""
        self.started = True
        with self.turn:
            try:
                return self._scheduled.popleft().result() if self._scheduled else self._run()
            except StopIteration:
                self._ended = True
                raise
            except Exception:
                if self._closed:
                    raise RuntimeError(_CLOSED_MEANWHILE) from None
                raise

    def reset(self) -> bool:
        """Goes on after the end of an external source; False: before that there is nothing to do."""
        if not self._ended:
            return False
        wait(self._scheduled)
        self._engine.reset()
        self._drawn_out = self._ended = False
        return True

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources; what was scheduled is thrown away."""
        with self.turn:
            self._throw_away()
            self._drawn_out = self._ended = False
            self._engine.set_state(state)
            self._drawn_out = self._ended = state.get("end") == End.REACHED

    def _throw_away(self, seconds: float | None = None) -> bool:
        for future in self._scheduled:
            future.cancel()
        done = not wait(self._scheduled, seconds).not_done
        self._scheduled.clear()
        return done

    def close(self, seconds: float = float("inf")) -> None:
        """Stops the pool, and waits for an iteration in another thread, but no longer than `seconds`."""
        if self._over:
            return
        self._closed = True
        self._engine.interrupt()
        deadline = time.monotonic() + seconds
        if self.turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                left = deadline - time.monotonic()
                if self._throw_away(None if left == float("inf") else max(left, 0.0)):
                    self._worker.shutdown()
                    self._engine.close()
                    self._over = True
            finally:
                self.turn.release()
        _LIVE.discard(self)

    def leave(self) -> None:
        """The interpreter exits: what has not ended by now is not waited for again."""
        self._over = True


class _Stopped(BaseException):
    """There is nothing to wait for any more."""


_LIVE: weakref.WeakSet[Any] = weakref.WeakSet()


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
    for executor in live:
        executor.leave()


def _close_soon(executors: list[Any]) -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for executor in executors:
        executor.close(max(deadline - time.monotonic(), 0.0))


def _wait(result: Result) -> None:
    """Waits until the arrays of a result are computed; an error in them is its consumer's."""
    for output in result.outputs:
        for block in output.store.blocks:
            if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
                with contextlib.suppress(Exception):
                    block.array.block_until_ready()
