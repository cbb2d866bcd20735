"""Runs tasks in daemon threads, which do not keep the interpreter from exiting."""

from __future__ import annotations

import functools
import heapq
import itertools
import queue
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, NamedTuple, TypeVar

from jdali._system.jax_modes import usual_modes

A = TypeVar("A")
R = TypeVar("R")


class WorkerThreads(Executor):
    """Replaces `ThreadPoolExecutor`, with daemon threads and task priorities.

    At exit, the interpreter waits until the threads of a `ThreadPoolExecutor` have done all tasks. This takes many seconds
    if samples are large, and forever if a user's function does not return. The threads of this class are ended by their
    owner, which decides how long to wait. A thread starts when a task needs it, and calls `initializer` first.
    """

    def __init__(self, threads: int, name: str = "", initializer: Callable[[], object] = lambda: None):
        self._most, self._prefix, self._initializer = threads, name, initializer
        self._tasks = _Queue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self.closed = False  # set by `shutdown`; then new tasks raise an error
        # The threads end when the pool is freed.
        weakref.finalize(self, self._tasks.end).atexit = False

    def submit(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> Future[Any]:
        """Calls the function in one of the threads, with the highest priority (order 0)."""
        future: Future[Any] = Future()
        self._give(0, [_QueuedCall(future, functools.partial(function, *args, **kwargs))])
        return future

    def run_all(self, function: Callable[[A], R], arguments: Sequence[A], order: int = 0) -> list[R]:
        """Calls function(argument) for each argument; returns the results when all calls are done.

        Waiting tasks with a lower `order` run first. Unlike `map`, it wakes the waiting thread once, not after each call. Of
        calls that fail, it raises the error of the first, once all calls before it are done; later calls may be skipped.
        """
        if not arguments:
            return []
        calls = _AwaitedCalls(function, arguments)
        self._give(order, [_OneOf(calls, number) for number in range(len(arguments))])
        return calls.wait()

    def _give(self, order: int, tasks: Sequence[_QueuedCall | _OneOf]) -> None:
        with self._lock:
            if self.closed:
                raise RuntimeError("the pipeline is closed")
            for task in tasks:
                # Queue the task before starting a thread, because a thread that starts without a task would count as idle.
                self._tasks.put(order, task)
                if len(self._threads) < self._most and not self._idle.acquire(blocking=False):
                    name = f"{self._prefix}_{len(self._threads)}"
                    known = self._initializer, self._tasks, self._idle
                    thread = threading.Thread(target=_work, args=known, name=name, daemon=True)
                    thread.start()
                    self._threads.append(thread)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Closes the pool to new tasks."""
        with self._lock:
            self.closed = True
            for task in self._tasks.clear() if cancel_futures else ():
                task.cancel()
            self._tasks.end()
        # The interpreter stops daemon threads while it ends. From Python 3.13 on, `join` would then block forever.
        for thread in self._threads if wait and not sys.is_finalizing() else ():
            try:
                thread.join()
            except RuntimeError:  # a thread cannot join itself
                continue


class _QueuedCall(NamedTuple):
    future: Future[Any]
    function: Callable[[], Any]

    def run(self) -> None:
        if self.future.set_running_or_notify_cancel():
            try:
                result = self.function()
            except BaseException as error:
                self.future.set_exception(error)
            else:
                self.future.set_result(result)

    def cancel(self) -> None:
        self.future.cancel()


class _OneOf(NamedTuple):
    calls: _AwaitedCalls
    number: int

    def run(self) -> None:
        self.calls.call(self.number)

    def cancel(self) -> None:
        self.calls.leave_out()


class _AwaitedCalls:
    """Holds calls of a function. One thread waits for all of them; the last call to end wakes this thread."""

    def __init__(self, function: Callable[[Any], Any], arguments: Sequence[Any]):
        self._function, self._arguments = function, arguments
        self._results: list[Any] = [None] * len(arguments)
        self._errors: dict[int, BaseException] = {}
        # Calls from number `_end` on are skipped.
        self._end = self._left = len(arguments)
        self._cancelled = False
        self._lock, self._over = threading.Lock(), threading.Lock()
        self._over.acquire()

    def call(self, number: int) -> None:
        """Runs call `number`. Skips it if a call with a lower number has failed."""
        if number < self._end:
            try:
                self._results[number] = self._function(self._arguments[number])
            except BaseException as error:
                with self._lock:
                    self._errors[number] = error
                    self._end = min(self._end, number)
        self._one_less()

    def leave_out(self) -> None:
        """Cancels a call. Since `wait` can then return no results, all other calls that have not started are skipped, too."""
        self._cancelled, self._end = True, 0
        self._one_less()

    def _one_less(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left:
                return
        self._over.release()

    def wait(self) -> list[Any]:
        """Returns the results; raises the error of the first failed call, or CancelledError if some were cancelled."""
        try:
            self._over.acquire()
        except BaseException:  # an interrupt
            self._end = 0
            raise
        # Avoid a reference cycle: the frames of the errors reference this object, so it must not reference the errors.
        errors, self._errors = self._errors, {}
        try:
            if errors:
                raise errors[min(errors)]
        finally:
            del errors
        if self._cancelled:
            raise CancelledError
        return self._results


class _Queue:
    """Queues tasks, the lowest `order` first. Tasks of equal order keep the sequence in which they were added.

    Threads wait for a token in a `SimpleQueue`, which has one token per task. A `SimpleQueue` is used because the garbage
    collector may call `end` at any point in any thread, and `SimpleQueue.put` is reentrant.
    """

    def __init__(self) -> None:
        self._tokens: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._heap: list[tuple[int, int, _QueuedCall | _OneOf]] = []
        self._number = itertools.count()

    def put(self, order: int, task: _QueuedCall | _OneOf) -> None:
        with self._lock:
            heapq.heappush(self._heap, (order, next(self._number), task))
        self._tokens.put(True)

    def take(self, *, block: bool) -> _QueuedCall | _OneOf | None:
        """Returns the next task, or None after `end`; raises `queue.Empty` if no task waits and `block` is False."""
        while self._tokens.get(block):
            with self._lock:
                if self._heap:  # `clear` removes tasks, but not their tokens
                    return heapq.heappop(self._heap)[-1]
        self.end()  # passes the end on to the other threads
        return None

    def clear(self) -> list[_QueuedCall | _OneOf]:
        with self._lock:
            tasks = [task for *_, task in self._heap]
            self._heap.clear()
        return tasks

    def end(self) -> None:
        """Ends the threads once the waiting tasks are done."""
        self._tokens.put(False)


@usual_modes()
def _work(initializer: Callable[[], object], tasks: _Queue, idle: threading.Semaphore) -> None:
    initializer()
    while True:
        try:
            task = tasks.take(block=False)
        except queue.Empty:
            idle.release()
            task = tasks.take(block=True)
        if task is None:
            return
        task.run()
        del task  # a waiting thread must not keep arguments and results alive
