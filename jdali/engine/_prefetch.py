"""Who drives an engine: a thread that runs ahead, or the caller. Ends every thread, whatever happens."""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import time
import weakref
from typing import Any

import jax

from jdali._batch import PaddedBlock
from jdali.engine._executor import Engine, Result

_POLL_SECONDS = 0.1
_EXIT_SECONDS = 1.5


class Prefetcher:
    """Runs an engine ahead in a thread of its own, at most `depth` results in flight."""

    def __init__(self, engine: Engine, depth: int):
        self._engine = engine
        self._results: queue.Queue[Result | BaseException] = queue.Queue(max(depth, 1))
        self._stop = threading.Event()
        self._resume = threading.Event()
        self._thread: threading.Thread | None = None
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
        return self._thread is not None

    def next(self) -> Result:
        """The next result, or raises what the iteration raised."""
        if self._stop.is_set():
            raise RuntimeError("the pipeline is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._produce, name="jdali-executor", daemon=True)
            self._thread.start()
        while True:
            try:
                result = self._results.get(timeout=_POLL_SECONDS * 10)
                break
            except queue.Empty:
                if not self._thread.is_alive():
                    raise RuntimeError("the pipeline was closed while a batch was awaited") from None
        if isinstance(result, StopIteration):
            self._ended = True
        if isinstance(result, BaseException):
            raise result
        return result

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
            while not self._results.empty():
                self._results.get_nowait()
            self._thread, self._ended = None, False
            self._engine.set_state(state)
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
        while self._thread is not None and self._thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self._results.get_nowait()
            self._thread.join(_POLL_SECONDS)
            if time.monotonic() > deadline:
                return False
        return True

    @property
    def _stopped(self) -> bool:
        return self._abandoned or self._stop.is_set()

    def _produce(self) -> None:
        self._run_ahead()
        if self._abandoned:
            self._engine.close()

    def _run_ahead(self) -> None:
        previous: Result | None = None
        while not self._stopped:
            try:
                outcome: Result | BaseException = self._engine.run()
            except BaseException as error:
                outcome = error
            # Not more than one batch of device work ahead of the one just handed over.
            if previous is not None:
                _wait(previous)
            previous = outcome if isinstance(outcome, Result) else None
            ended = isinstance(outcome, StopIteration)
            if not self._hand_over(outcome):
                return
            # Raised to the user, an exception holds his frames, and those the pipeline: let go of it.
            del outcome
            if ended:
                self._await_reset()

    def _hand_over(self, outcome: Result | BaseException) -> bool:
        while not self._stopped:
            with contextlib.suppress(queue.Full):
                self._results.put(outcome, timeout=_POLL_SECONDS)
                return True
        return False

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
