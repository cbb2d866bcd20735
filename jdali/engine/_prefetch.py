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

_POLL_SECONDS = 0.1
_EXIT_SECONDS = 1.5


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
        if not self._threads:
            self._start()
        while True:
            try:
                result = self._results.get(timeout=_POLL_SECONDS * 10)
                break
            except queue.Empty:
                if not self._threads[-1].is_alive():
                    raise RuntimeError("the pipeline was closed while a batch was awaited") from None
        if isinstance(result, StopIteration):
            self._ended = True
        if isinstance(result, BaseException):
            raise result
        return result

    def _start(self) -> None:
        works = [self._begin_ahead, self._finish_begun] if self._engine.overlaps else [self._run_ahead]
        names = ["jdali-executor-ahead", "jdali-executor"][-len(works) :]
        self._threads = [
            threading.Thread(target=self._work, args=(work,), name=name, daemon=True)
            for work, name in zip(works, names, strict=True)
        ]
        for thread in self._threads:
            thread.start()

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
            for waiting in (self._begun, self._results):
                while not waiting.empty():
                    waiting.get_nowait()
            self._threads, self._ended = [], False
            try:
                self._engine.set_state(state)
            finally:
                self._stop.clear()
                self._resume.clear()

    def close(self, seconds: float = float("inf")) -> None:
        """Stops the thread and the pool and waits for them, but no longer than `seconds`."""
        self._engine.interrupt()
        with self._lock:
            if self._halt(seconds):
                self._engine.close()
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
            self._engine.close()

    def _run_ahead(self) -> None:
        self._deliver(self._engine.run)

    def _finish_begun(self) -> None:
        def following() -> Result:
            begun = self._take()
            if isinstance(begun, BaseException):
                raise begun
            return self._engine.finish(begun)

        self._deliver(following)

    def _deliver(self, following: Callable[[], Result]) -> None:
        """Hands over one result after another, or what was raised in place of it."""
        previous: Result | None = None
        while not self._stopped:
            try:
                outcome: Result | BaseException = following()
            except _Stopped:
                return
            except BaseException as error:
                outcome = error
            # Not more than one batch of device work ahead of the one just handed over.
            if previous is not None:
                with self._engine.timing.device.lap():
                    _wait(previous)
            previous = outcome if isinstance(outcome, Result) else None
            ended = isinstance(outcome, StopIteration)
            if not self._put(self._results, outcome):
                return
            # Raised to the user, an exception holds his frames, and those the pipeline: let go of it.
            del outcome
            if ended and not self._engine.overlaps:
                self._await_reset()

    def _begin_ahead(self) -> None:
        while not self._stopped:
            try:
                begun: Iteration | BaseException = self._engine.begin()
            except BaseException as error:
                begun = error
            ended = isinstance(begun, StopIteration)
            if not self._put(self._begun, begun):
                return
            del begun
            if ended:
                self._await_reset()

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

    def _await_reset(self) -> None:
        while not self._resume.wait(_POLL_SECONDS):
            if self._abandoned:
                return
        self._resume.clear()
        if not self._stopped:
            self._engine.reset()


class Synchronous:
    """Runs an engine in the caller's thread, one iteration a call: for fed pipelines."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self.started = False
        self._closed = False
        self._ended = False
        _LIVE.add(self)

    def abandon(self) -> None:
        """Nothing to stop: the pool's threads end with the pool."""

    def next(self) -> Result:
        if self._closed:
            raise RuntimeError("the pipeline is closed")
        self.started = True
        try:
            return self._engine.run()
        except StopIteration:
            self._ended = True
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
        if not self._closed:
            self._closed = True
            self._engine.close()
            _LIVE.discard(self)


class _Stopped(BaseException):
    """There is nothing to wait for any more."""


_LIVE: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A user's callback that does not return must not keep the interpreter from exiting.
    for executor in list(_LIVE):
        executor.close(_EXIT_SECONDS)


def _wait(result: Result) -> None:
    """Waits until the arrays of a result are computed; an error in them is its consumer's."""
    for output in result.outputs:
        for block in output.store.blocks:
            if isinstance(block, PaddedBlock) and isinstance(block.array, jax.Array):
                with contextlib.suppress(Exception):
                    block.array.block_until_ready()
