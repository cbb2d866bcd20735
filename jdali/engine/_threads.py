"""Worker threads that do not keep the interpreter from exiting."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple


class WorkerThreads(Executor):
    """As a `ThreadPoolExecutor`, but its threads are daemons.

    At its exit the interpreter waits for the threads of a `ThreadPoolExecutor` to do all that they were
    given: many seconds if samples are large, for ever if a user's function does not return. The owner of
    these threads asks them to end, and decides how long to wait.

    Args:
        threads: at most; started when there is something to do.
        thread_name_prefix: of their names.
    """

    def __init__(self, threads: int, thread_name_prefix: str = ""):
        self._most, self._prefix = threads, thread_name_prefix
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._closed = False
        # Threads end with their pool. The garbage collector may come in anywhere: `put` is made for that.
        weakref.finalize(self, self._tasks.put, None).atexit = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Calls the function in one of the threads."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pipeline is closed")
            if len(self._threads) < self._most and not self._idle.acquire(blocking=False):
                name = f"{self._prefix}_{len(self._threads)}"
                thread = threading.Thread(
                    target=_work, args=(self._tasks, self._idle), name=name, daemon=True
                )
                thread.start()
                self._threads.append(thread)
            self._tasks.put(_Task(future, function, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks.

        Args:
            wait: for what is under way.
            cancel_futures: do not begin what was not begun.
        """
        with self._lock:
            self._closed = True
            while cancel_futures:
                try:
                    task = self._tasks.get_nowait()
                except queue.Empty:
                    break
                if task is not None:
                    task.future.cancel()
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            if thread is not threading.current_thread():
                thread.join()


class _Task(NamedTuple):
    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _work(tasks: queue.SimpleQueue[_Task | None], idle: threading.Semaphore) -> None:
    while True:
        try:
            task = tasks.get_nowait()
        except queue.Empty:
            idle.release()
            task = tasks.get()
        if task is None:
            tasks.put(None)  # for the others
            return
        if task.future.set_running_or_notify_cancel():
            try:
                result = task.function(*task.args, **task.kwargs)
            except BaseException as error:
                task.future.set_exception(error)
            else:
                task.future.set_result(result)
                del result
        del task  # what it was given, and what it gave, are not kept by a thread that waits
