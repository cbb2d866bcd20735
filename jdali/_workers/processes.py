"""Processes that answer calls: starting, asking, watching and ending them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from jdali._workers import memory as _memory
from jdali._workers.memory import Memory
from jdali._workers.parcel import Parcel
from jdali._workers.stopped import STOPPED_SECONDS, is_stopped
from jdali._workers.worker_process import MethodCall, serve

LOOK_SECONDS = 2.0  # a worker is looked at this often while its answer is awaited


class WorkerError(RuntimeError):
    """A worker process ended though nobody had told it to, or does not answer."""


class Worker:
    """A process, and the way to it.

    Args:
        context: of `multiprocessing`.
        serve_arguments: arguments of `serve`.
        alone: number of the object that it serves alone; None: it serves all that are not alone.
        timeout: seconds that an answer may take; None: any time, unless the process is stopped.
    """

    thread: threading.Thread | None = None

    def __init__(
        self, context: Any, serve_arguments: tuple[Any, ...], alone: int | None, timeout: float | None
    ):
        self.alone, self._timeout = alone, timeout
        self._reaping = threading.Lock()
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, *serve_arguments), name="jdali-worker", daemon=True
        )
        self.process.start()
        theirs.close()

    def ask(self, call: MethodCall, lent: Memory | None) -> tuple[Any, Memory | None]:
        """The answer to a call: a `Parcel` or a `Failure`; and new memory, if the parcel came in some.

        Args:
            call: to make.
            lent: memory for the answer.

        Raises:
            WorkerError: the process ended before it answered, or it takes too long.
        """
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(call)
            if lent is not None:
                _memory.send(self.connection, lent.descriptor, self.pid)
        self._wait()
        with contextlib.suppress(EOFError, ConnectionResetError):
            answer = self.connection.recv()
            if isinstance(answer, Parcel) and answer.is_new:
                return answer, Memory(_memory.receive(self.connection), answer.size)
            return answer, None
        raise self.death()

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    def _wait(self) -> None:
        """Returns when there is an answer, or the process has ended."""
        waited = stopped = 0.0
        seconds = LOOK_SECONDS if self._timeout is None else min(LOOK_SECONDS, self._timeout)
        while not wait([self.connection, self.process.sentinel], seconds):
            waited += seconds
            stopped = stopped + seconds if is_stopped(self.pid) else 0.0
            if self._timeout is not None and waited >= self._timeout:
                raise WorkerError(
                    f"worker process {self.pid} has not answered a call for {self._timeout:g} s, which is py_timeout of "
                    f"the pipeline; it {'is stopped (SIGSTOP)' if stopped else 'runs the callback, or waits in it'}"
                )
            if stopped >= STOPPED_SECONDS:
                raise WorkerError(
                    f"worker process {self.pid} has been stopped (SIGSTOP) for {stopped:g} s; kill -CONT {self.pid} "
                    "would have had it go on"
                )

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
        serve_arguments: arguments of `serve`, without those that the processes do not share.
        alone: for each process the number of the object that it serves alone, or None.
        timeout: see `Worker`.
    """

    def __init__(
        self,
        context: object,
        serve_arguments: tuple[Any, ...],
        alone: Sequence[int | None],
        timeout: float | None,
    ):
        self.workers: list[Worker] = []
        self._owner = os.getpid()
        self._closing = threading.Lock()
        self._observer: Observer | None = None
        try:
            for number in alone:
                is_main = threading.current_thread() is threading.main_thread()
                arguments = *serve_arguments, len(self.workers), is_main
                self.workers.append(Worker(context, arguments, number, timeout))
        except BaseException:
            self.close()
            raise

    @property
    def is_own(self) -> bool:
        """True if this process started them; else this is a copy of the pool, in a process that was forked."""
        return self._owner == os.getpid()

    def pids(self) -> list[int]:
        """Identifiers of the processes, in the order in which they were started."""
        return [pid for worker in self.workers if (pid := worker.process.pid) is not None]

    def watch(self, on_death: Callable[[WorkerError], None]) -> None:
        """Calls a function once if a process ends before `close` or `kill`."""
        self._observer = Observer(self.workers, on_death)

    def kill(self) -> None:
        """Ends the processes without taking a lock, so that the garbage collector may call it anywhere."""
        if not self.is_own:
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
        if not self.is_own:
            return
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
        # Not kept: what is called has the pool, and that the observer.
        known = list(workers), on_death
        self.thread = threading.Thread(
            target=self._watch, args=known, name="jdali-worker-observer", daemon=True
        )
        self.thread.start()

    def join_soon(self) -> None:
        """Waits for the thread, which ends once the processes have, but no longer than a second.

        If a process died just before, the thread may wait for a lock that the caller holds.
        """
        if threading.current_thread() is not self.thread:
            self.thread.join(1.0)

    def _watch(self, workers: Sequence[Worker], on_death: Callable[[WorkerError], None]) -> None:
        ended = wait([worker.process.sentinel for worker in workers])
        if self.is_done:
            return
        dead = next(worker for worker in workers if worker.process.sentinel in ended)
        on_death(dead.death())
