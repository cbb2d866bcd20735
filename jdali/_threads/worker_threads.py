"""Worker threads that do not keep the interpreter from exiting."""

from __future__ import annotations

import abc
import heapq
import itertools
import queue
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, NamedTuple, Protocol, TypeVar

from jdali._system.jax_modes import usual_modes

A = TypeVar("A")
R = TypeVar("R")


class TaskExecutor(Executor, abc.ABC):
    """Does tasks: single ones, and many that are waited for together."""

    @abc.abstractmethod
    def run_all(self, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        """Calls function(argument) for each argument; returns when all calls are over.

        `map` would wait for one after another, and its thread be woken by each of them, only to sleep again.

        Raises:
            what the first call raised that failed, in the order of the arguments, when those before it are over; calls
            after it that have not begun are left out.
        """


class WorkerThreads(TaskExecutor):
    """As a `ThreadPoolExecutor`, but its threads are daemons, and tasks may go before others.

    At its exit the interpreter waits for the threads of a `ThreadPoolExecutor` to do all that they were
    given: many seconds if samples are large, for ever if a user's function does not return. The owner of
    these threads asks them to end, and decides how long to wait.

    Args:
        threads: at most; started when there is something to do.
        thread_name_prefix: of their names.
        initializer: what each of them calls first.
    """

    def __init__(
        self,
        threads: int,
        thread_name_prefix: str = "",
        initializer: Callable[[], object] = lambda: None,
    ):
        self._most, self._prefix, self._initializer = threads, thread_name_prefix, initializer
        self._tasks = _Queue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._closed = False
        # Threads end with their pool.
        weakref.finalize(self, self._tasks.end).atexit = False

    @property
    def closed(self) -> bool:
        """True once no more tasks are taken."""
        return self._closed

    def submit(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> Future[Any]:
        """Calls the function in one of the threads, before everything that `submit_at` has put behind it."""
        return self.submit_at(0, function, *args, **kwargs)

    def submit_at(
        self, order: int, function: Callable[..., object], /, *args: object, **kwargs: object
    ) -> Future[Any]:
        """Calls the function in one of the threads; of what waits, the lowest `order` goes first."""
        future: Future[Any] = Future()
        self._give(order, [_QueuedCall(future, function, args, kwargs)])
        return future

    def run_all(self, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        """Submits as `TaskExecutor` does, before everything that `submit_at` and `run_all_at` put behind it."""
        return self.run_all_at(0, function, arguments)

    def run_all_at(self, order: int, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        """Submits as `TaskExecutor` does; of what waits, the lowest `order` goes first."""
        if not arguments:
            return []
        calls = _AwaitedCalls(function, arguments)
        self._give(order, [_OneOf(calls, number) for number in range(len(arguments))])
        return calls.wait()

    def _give(self, order: int, tasks: Sequence[_Task]) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError("the pipeline is closed")
            for task in tasks:
                # First the task: a thread that finds none when it starts would count as idle.
                self._tasks.put(order, task)
                if len(self._threads) < self._most and not self._idle.acquire(blocking=False):
                    self._start_thread()

    def _start_thread(self) -> None:
        name = f"{self._prefix}_{len(self._threads)}"
        known = self._initializer, self._tasks, self._idle
        thread = threading.Thread(target=_work, args=known, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks.

        Args:
            wait: for what is under way.
            cancel_futures: do not begin what was not begun.
        """
        with self._lock:
            self._closed = True
            for task in self._tasks.clear() if cancel_futures else ():
                task.cancel()
            self._tasks.end()
        # While the interpreter ends, Python stops daemon threads where they are: from 3.13 on one would wait for ever.
        for thread in self._threads if wait and not sys.is_finalizing() else ():
            try:
                thread.join()
            except RuntimeError:  # it is the one that asks
                continue


class _Task(Protocol):
    def run(self) -> None:
        """Does it, in a thread of the pool."""

    def cancel(self) -> None:
        """Cancels the task."""


class _QueuedCall(NamedTuple):
    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self) -> None:
        if self.future.set_running_or_notify_cancel():
            try:
                result = self.function(*self.args, **self.kwargs)
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
    """Calls of a function that one thread waits for: the last of them wakes it.

    Args:
        function: to call.
        arguments: one for each call; there are some.
    """

    def __init__(self, function: Callable[[Any], Any], arguments: Sequence[Any]):
        self._function, self._arguments = function, arguments
        self._results: list[Any] = [None] * len(arguments)
        self._errors: dict[int, BaseException] = {}
        # Calls from here on need not begin.
        self._end = self._left = len(arguments)
        self._cancelled = False
        self._lock, self._over = threading.Lock(), threading.Lock()
        self._over.acquire()

    def call(self, number: int) -> None:
        """Makes one of the calls."""
        if number < self._end:
            try:
                self._results[number] = self._function(self._arguments[number])
            except BaseException as error:
                with self._lock:
                    self._errors[number] = error
                    self._end = min(self._end, number)
        self._one_less()

    def leave_out(self) -> None:
        """Leaves out one of the calls, and those that have not begun."""
        self._cancelled, self._end = True, 0
        self._one_less()

    def _one_less(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left:
                return
        self._over.release()

    def wait(self) -> list[Any]:
        """Returns the results; raises what the first failed call raised, or CancelledError if some were left out."""
        try:
            self._over.acquire()
        except BaseException:  # an interrupt
            self._end = 0
            raise
        # No cycles: errors hold frames, and those this object.
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
    """A queue in which the lowest order comes first, and of one order what was put first.

    A token for each task, in a queue that knows no order, is what threads wait for: the garbage collector may
    call `end` in the middle of anything, and `SimpleQueue.put` is made for that.
    """

    def __init__(self) -> None:
        self._tokens: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._heap: list[tuple[int, int, _Task]] = []
        self._number = itertools.count()

    def put(self, order: int, task: _Task) -> None:
        with self._lock:
            heapq.heappush(self._heap, (order, next(self._number), task))
        self._tokens.put(True)

    def take(self, *, block: bool) -> _Task | None:
        """Returns the next task; None: there will be no more.

        Raises:
            queue.Empty: there is none now, and `block` is False.
        """
        while self._tokens.get(block):
            with self._lock:
                if self._heap:  # else it was cleared meanwhile
                    return heapq.heappop(self._heap)[-1]
        self.end()  # for the others
        return None

    def clear(self) -> list[_Task]:
        """Takes out everything that waits."""
        with self._lock:
            tasks = [task for *_, task in self._heap]
            self._heap.clear()
        return tasks

    def end(self) -> None:
        """Tells the threads that no task will follow those that wait."""
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
        del task  # what it was given, and what it gave, are not kept by a thread that waits


class Turn(TaskExecutor):
    """A pool of threads for tasks that all have one order among those of others.

    Args:
        threads: the pool.
        order: lower ones go first.
    """

    def __init__(self, threads: WorkerThreads, order: int):
        self._threads, self._order = threads, order

    def submit(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> Future[Any]:
        return self._threads.submit_at(self._order, function, *args, **kwargs)

    def run_all(self, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        return self._threads.run_all_at(self._order, function, arguments)


class Here(TaskExecutor):
    """No pool: the thread that submits a task does it."""

    def submit(self, function: Callable[..., object], /, *args: object, **kwargs: object) -> Future[Any]:
        future: Future[Any] = Future()
        _QueuedCall(future, function, args, kwargs).run()
        return future

    def run_all(self, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
        return [function(argument) for argument in arguments]
