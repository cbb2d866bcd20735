"""Processes that answer calls: starting, asking, watching and ending them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from jdali._workers.worker_process import MethodCall, serve


class WorkerError(RuntimeError):
    """A worker process ended though nobody had told it to."""


class Worker:
    """A process, and the way to it.

    Args:
        context: of `multiprocessing`.
        given: arguments of `serve`.
        alone: number of the object that it serves alone; None: it serves all that are not alone.
    """

    thread: threading.Thread | None = None

    def __init__(self, context: Any, given: tuple[Any, ...], alone: int | None):
        self.alone = alone
        self._reaping = threading.Lock()
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *given), name="jdali-worker", daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, call: MethodCall) -> Any:
        """The answer to a call: a `Parcel` or a `Failure`.

        Raises:
            WorkerError: the process ended before it answered.
        """
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(call)
        if self.connection in wait([self.connection, self.process.sentinel]):
            with contextlib.suppress(EOFError, ConnectionResetError):
                return self.connection.recv()
        raise self.death()

    def death(self) -> WorkerError:
        """Describes the end of a process."""
        with self._reaping:  # the exit code is there for one thread to read
            self.process.join()
            code = self.process.exitcode
        how = (
            f"was killed by signal {-code}"
            if code is not None and code < 0
            else f"ended with exit code {code}"
        )
        return WorkerError(
            f"worker process {self.process.pid} {how}, though the pipeline still needs it. If it has not begun at "
            "all, the script that starts it lacks its \"if __name__ == '__main__':\""
        )

    def end(self) -> None:
        """Ends the process, and waits until it and the thread that asks it have ended."""
        self.process.kill()
        self.process.join()
        if self.thread is not None and threading.current_thread() is not self.thread:
            self.thread.join()
        self.connection.close()


class ProcessPool:
    """The processes of a pool, and the thread that notices the end of one while nobody asks it anything.

    Args:
        context: of `multiprocessing`.
        given: arguments of `serve`.
        alone: for each process the number of the object that it serves alone, or None.
    """

    def __init__(self, context: Any, given: tuple[Any, ...], alone: Sequence[int | None]):
        self.workers: list[Worker] = []
        self._owner = os.getpid()
        self._closing = threading.Lock()
        self._observer: Observer | None = None
        try:
            for number in alone:
                self.workers.append(Worker(context, given, number))
        except BaseException:
            self.close()
            raise

    def pids(self) -> list[int]:
        """Identifiers of the processes, in the order in which they were started."""
        return [pid for worker in self.workers if (pid := worker.process.pid) is not None]

    def watch(self, on_death: Callable[[WorkerError], None]) -> None:
        """Calls a function once if a process ends before `close` or `kill`."""
        self._observer = Observer(self.workers, on_death)

    def kill(self) -> None:
        """Ends the processes without taking a lock, so that the garbage collector may call it anywhere."""
        if self._owner != os.getpid():  # a copy of the pool, in a process that was forked
            return
        if self._observer is not None:
            self._observer.is_done = True
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()
        if self._observer is not None:
            self._observer.join_soon()

    def close(self) -> None:
        """Ends the processes and all threads. Harmless twice, in any threads."""
        self.kill()
        with self._closing:
            for worker in self.workers:
                worker.end()
        if self._observer is not None and threading.current_thread() is not self._observer.thread:
            self._observer.thread.join()


class Observer:
    """Watches processes, and ends with the first one that does.

    Args:
        workers: the processes.
        on_death: called with the reason, unless `is_done`.

    Attributes:
        is_done: the processes are being ended on purpose.
        thread: the one that watches.
    """

    def __init__(self, workers: Sequence[Worker], on_death: Callable[[WorkerError], None]):
        self.is_done = False
        self._workers, self._on_death = workers, on_death
        self.thread = threading.Thread(target=self._watch, name="jdali-worker-observer", daemon=True)
        self.thread.start()

    def join_soon(self) -> None:
        """Waits for the thread, which ends once the processes have, but no longer than a second.

        If a process died just before, the thread may wait for a lock that the caller holds.
        """
        if threading.current_thread() is not self.thread:
            self.thread.join(1.0)

    def _watch(self) -> None:
        ended = wait([worker.process.sentinel for worker in self._workers])
        if self.is_done:
            return
        dead = next(worker for worker in self._workers if worker.process.sentinel in ended)
        self._on_death(dead.death())
