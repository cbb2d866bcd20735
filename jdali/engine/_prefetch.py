"""Who drives an engine: a thread that runs ahead, or the caller. Ends every thread, whatever happens."""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import jax

from jdali._batch import PaddedBlock
from jdali.engine._executor import Engine, Iteration, Result
from jdali.engine._native import NATIVE

_POLL_SECONDS = 0.1
_EXIT_SECONDS = 1.5
_CLOSED_MEANWHILE = "the pipeline was closed while a batch was awaited"


class Prefetcher:
    """Runs an engine ahead in threads of its own: at most `depth` results wait, and as many are being made.

    One thread; two if the engine can work on two iterations at once, see `Engine.overlaps`.
    """

    def __init__(self, engine: Engine, depth: int):
        self._engine = engine
        self._results: queue.Queue[Result | BaseException] = queue.Queue(max(depth, 1))
        self._stop = threading.Event()
        self._resume = threading.Event()
        self._begun: queue.Queue[Iteration | BaseException] = queue.Queue(1)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._ended = False
        self._abandoned = False
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

    def next(self) -> Result:
        """The next result, or raises what the iteration raised."""
        if self._stop.is_set():
            raise RuntimeError("the pipeline is closed")
        if self._ended:
            raise StopIteration
        if not self._threads:
            self._start()
        outcome = self._await()
        if isinstance(outcome, Result):
            return outcome
        self._ended = isinstance(outcome, StopIteration)
        try:
            raise outcome
        finally:
            del outcome  # or it would hold this frame, and this frame it

    def _await(self) -> Result | BaseException:
        outcome: Result | BaseException | None = None
        while outcome is None and not self._stop.is_set():
            with contextlib.suppress(queue.Empty):
                outcome = self._results.get(timeout=_POLL_SECONDS)
            if outcome is None and self._ended:  # another thread took the end
                return StopIteration()
        if outcome is None or self._stop.is_set():
            raise RuntimeError(_CLOSED_MEANWHILE)
        return outcome

    def _start(self) -> None:
        with self._lock:
            if self._threads or self._stop.is_set():
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
                self._stop.set()  # no result will come: nobody should wait for one
                raise

    def reset(self) -> None:
        """Goes on after the end of an external source; before that there is nothing to do."""
        if self._ended:
            self._ended = False
            self._resume.set()

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources; what was made ahead is thrown away."""
        if self._stop.is_set():
            raise RuntimeError("the pipeline is closed")
        with self._lock:
            self._halt()
            self._throw_away()
            self._threads, self._ended = [], False
            try:
                self._engine.set_state(state)
            finally:
                self._stop.clear()
                self._resume.clear()

    def _throw_away(self) -> None:
        """Lets go of what waits: an exception among it holds this object, through its frames."""
        for waiting in (self._begun, self._results):
            with contextlib.suppress(queue.Empty):
                while True:
                    waiting.get_nowait()

    def close(self, seconds: float = float("inf")) -> None:
        """Stops the thread and the pool and waits for them, but no longer than `seconds`."""
        self._stop.set()
        self._engine.interrupt()
        deadline = time.monotonic() + seconds
        if self._lock.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                if self._halt(deadline - time.monotonic()):
                    self._throw_away()
                    self._engine.close()
            finally:
                self._lock.release()
        _LIVE.discard(self)

    def _halt(self, seconds: float = float("inf")) -> bool:
        """Stops the thread and waits until it has ended; False if it has not after `seconds`."""
        self._stop.set()
        self._resume.set()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            while thread.is_alive():
                thread.join(_POLL_SECONDS)
                if time.monotonic() > deadline:
                    return False
        return True

    @property
    def _stopped(self) -> bool:
        return self._abandoned or self._stop.is_set()

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
        begun = self._take()
        if isinstance(begun, Iteration):
            return self._engine.finish(begun)
        try:
            raise begun
        finally:
            del begun

    def _produce(
        self, make: Callable[[], Result | Iteration], waiting: queue.Queue[Any], *, draws: bool
    ) -> None:
        """Puts one item after another in a queue, or what was raised in place of it.

        Args:
            make: gives an item.
            waiting: the queue.
            draws: `make` asks the sources: after their end they have to be reset.
        """
        previous: Any = None
        ended = False
        while not self._stopped:
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
            given = self._put(waiting, item)
            # Raised to the user, an exception holds his frames, and those the pipeline: let go of it.
            del item
            if not given:
                return

    def _put(self, waiting: queue.Queue[Any], item: Any) -> bool:
        """Puts an item in a queue as soon as there is room; False if everything was stopped before."""
        while not self._stopped:
            with contextlib.suppress(queue.Full):
                waiting.put(item, timeout=_POLL_SECONDS)
                return True
        return False

    def _take(self) -> Iteration | BaseException:
        while not self._stopped:
            with contextlib.suppress(queue.Empty):
                return self._begun.get(timeout=_POLL_SECONDS)
        raise _Stopped

    def _await_reset(self) -> bool:
        """Waits until the sources may begin again; False if everything was stopped before."""
        while not self._stopped:
            if self._resume.wait(_POLL_SECONDS):
                self._resume.clear()
                return not self._stopped
        return False


class Synchronous:
    """Runs an engine in the caller's thread, one iteration a call: for fed pipelines."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self.started = False
        self._closed = False
        self._ended = False
        self._turn = threading.RLock()  # held during an iteration
        _LIVE.add(self)

    def abandon(self) -> None:
        """Nothing to stop: the pool's threads end with the pool."""

    def next(self) -> Result:
        """The next result, or raises what the iteration raised."""
        if self._closed:
            raise RuntimeError("the pipeline is closed")
        self.started = True
        with self._turn:
            try:
                return self._engine.run()
            except StopIteration:
                self._ended = True
                raise
            except Exception:
                if self._closed:
                    raise RuntimeError(_CLOSED_MEANWHILE) from None
                raise

    def reset(self) -> None:
        """Goes on after the end of an external source; before that there is nothing to do."""
        if self._ended:
            self._ended = False
            self._engine.reset()

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state of the sources."""
        self._ended = False
        self._engine.set_state(state)

    def close(self, seconds: float = float("inf")) -> None:
        """Stops the pool, and waits for an iteration in another thread, but no longer than `seconds`."""
        self._closed = True
        self._engine.interrupt()
        if self._turn.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            try:
                self._engine.close()
            finally:
                self._turn.release()
        _LIVE.discard(self)


class _Stopped(BaseException):
    """There is nothing to wait for any more."""


_LIVE: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Closes all that still run, before the interpreter exits."""
    live = list(_LIVE)
    _close_soon(live)
    # A user's callback that does not return must not keep the interpreter from exiting; a program that is
    # being compiled must.
    if NATIVE.wait():
        _close_soon(live)


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
