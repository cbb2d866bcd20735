"""Worker threads that do not keep the interpreter from exiting."""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple


class WorkerThreads(Executor):
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
        self._tasks = _Tasks()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._closed = False
        # Threads end with their pool.
        weakref.finalize(self, self._tasks.end).atexit = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Calls the function in one of the threads, before everything that `submit_at` has put behind it."""
        return self.submit_at(0, function, *args, **kwargs)

    def submit_at(
        self, order: int, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Calls the function in one of the threads; of what waits, the lowest `order` goes first."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pipeline is closed")
            if len(self._threads) < self._most and not self._idle.acquire(blocking=False):
                name = f"{self._prefix}_{len(self._threads)}"
                known = self._initializer, self._tasks, self._idle
                thread = threading.Thread(target=_work, args=known, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
            self._tasks.put(order, _Task(future, function, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks.

        Args:
            wait: for what is under way.
            cancel_futures: do not begin what was not begun.
        """
        with self._lock:
            self._closed = True
            for task in self._tasks.clear() if cancel_futures else ():
                task.future.cancel()
            self._tasks.end()
        for thread in self._threads if wait else ():
            try:
                thread.join()
            except (
                RuntimeError
            ):  # it is the one that asks; while the interpreter ends, no module is there to compare
                continue


class _Task(NamedTuple):
    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class _Tasks:
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
        """The next task; None: there will be no more.

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
        """Lets all who take tasks know that there will be no more, once those that wait are taken."""
        self._tokens.put(False)


def _work(initializer: Callable[[], object], tasks: _Tasks, idle: threading.Semaphore) -> None:
    initializer()
    while True:
        try:
            task = tasks.take(block=False)
        except queue.Empty:
            idle.release()
            task = tasks.take(block=True)
        if task is None:
            return
        _run(task)
        del task  # what it was given, and what it gave, are not kept by a thread that waits


def _run(task: _Task) -> None:
    if task.future.set_running_or_notify_cancel():
        try:
            result = task.function(*task.args, **task.kwargs)
        except BaseException as error:
            task.future.set_exception(error)
        else:
            task.future.set_result(result)


class Turn(Executor):
    """A pool of threads for tasks that all have one order among those of others.

    Args:
        threads: the pool.
        order: lower ones go first.
    """

    def __init__(self, threads: WorkerThreads, order: int):
        self._threads, self._order = threads, order

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._threads.submit_at(self._order, function, *args, **kwargs)


class Here(Executor):
    """No pool: the thread that submits a task does it."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        _run(_Task(future, function, args, kwargs))
        return future
