"""Processes that run methods of the user's objects, and what happens when one of them dies."""

from __future__ import annotations

import collections
import contextlib
import functools
import importlib.util
import multiprocessing
import pickle
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from multiprocessing.connection import Connection, wait
from typing import Any

from jdali._system.devices import jax_has_started
from jdali._system.extras import install
from jdali._workers._parcel import Files, new_folders, remove
from jdali._workers._process import Call, Failure, serve

_START_METHODS = ("fork", "spawn", "forkserver")


class WorkerError(RuntimeError):
    """A worker process ended though nobody had told it to."""


class WorkerPool:
    """Runs methods of objects in other processes.

    Args:
        objects: the user's. Each has an attribute `alone`: whether a worker of its own makes all its calls, in
            their order; else any worker makes any call.
        workers: number of processes for the objects that are not alone.
        start_method: "fork", "spawn" or "forkserver"; None: "fork" if JAX has not started yet, else "spawn".
        pickler: module or object with `dumps` and `loads`, or a tuple of it and the keyword arguments of both;
            None: cloudpickle where it is installed, else pickle. Not used with "fork".

    Attributes:
        folders: with the files that arrays travel in.

    Raises:
        RuntimeError: "fork" after JAX has started.
    """

    def __init__(
        self, objects: Sequence[Any], *, workers: int, start_method: str | None = None, pickler: Any = None
    ):
        if workers < 1:
            raise ValueError(f"Pipeline: py_num_workers must be at least 1, not {workers}")
        self.start_method = _start_method(start_method)
        self.folders, self._files = new_folders(), Files()
        self._remove = weakref.finalize(self, remove, self.folders)
        self._changed = threading.Condition()
        self._calls: collections.deque[_Order] = collections.deque()
        self._failure: Exception | None = None
        payload, loads = (objects, None) if self.start_method == "fork" else _pickled(objects, pickler)
        self._alone = [n for n, one in enumerate(objects) if one.alone]
        self._workers: list[_Worker] = []
        shared = workers if len(self._alone) < len(objects) else 0
        context = multiprocessing.get_context(self.start_method)
        if self.start_method == "forkserver":
            context.set_forkserver_preload(["__main__", serve.__module__])  # JAX is imported once, there
        try:
            for number in [*[None] * shared, *self._alone]:
                self._workers.append(_Worker(context, (payload, loads, self.folders), number))
        except BaseException:
            self.close()
            raise
        for worker in self._workers:
            worker.thread = threading.Thread(
                target=self._serve, args=(worker,), name="jdali-worker-feeder", daemon=True
            )
            worker.thread.start()

    def __repr__(self) -> str:
        state = "closed" if self._failure is not None else f"{len(self._workers)} processes"
        return f"<WorkerPool: {state}, start method {self.start_method!r}>"

    @property
    def pids(self) -> list[int]:
        """Identifiers of the processes."""
        return [pid for worker in self._workers if (pid := worker.process.pid) is not None]

    @property
    def size(self) -> int:
        """How many processes serve the objects that are not alone."""
        return len(self._workers) - len(self._alone)

    def submit(self, number: int, method: str, *arguments: Any) -> Future[tuple[Any, Any]]:
        """Calls a method of an object; it returns nested lists of arrays, and something small.

        The future has both, or what the method raised, with the worker's traceback as a note; `WorkerError`, if a
        worker died. Arrays look at shared memory that is used again when they are gone.
        """
        order = _Order(number if number in self._alone else None, number, method, arguments)
        with self._changed:
            if self._failure is None:
                self._calls.append(order)
                self._changed.notify_all()
            else:
                order.future.set_exception(self._failure)
        return order.future

    def abandon(self) -> None:
        """Closes without waiting or taking a lock: for the garbage collector."""
        threading.Thread(target=self.close, daemon=True).start()

    def close(self) -> None:
        """Ends the processes, whatever they do; calls that were not answered fail."""
        self._fail(RuntimeError("the pipeline's worker processes were closed"))
        for worker in self._workers:
            worker.end()
        self._remove()

    def _fail(self, error: Exception) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = error
            waiting = list(self._calls)
            self._calls.clear()
            self._changed.notify_all()
        for order in waiting:
            order.future.set_exception(self._failure)

    # --- a worker's thread ------------------------------------------------------------------
    def _serve(self, worker: _Worker) -> None:
        while (order := self._next(worker.alone)) is not None:
            self._run(worker, order)
            del order

    def _next(self, alone: int | None) -> _Order | None:
        """The next call for a worker; None: there will be none."""
        with self._changed:
            while self._failure is None:
                for order in self._calls:
                    if order.alone == alone:
                        self._calls.remove(order)
                        return order
                self._changed.wait()
        return None

    def _run(self, worker: _Worker, order: _Order) -> None:
        file = self._files.lend()
        try:
            answer = worker.ask(Call(order.number, order.method, order.arguments, file))
        except WorkerError as error:
            self._fail(error)
            order.future.set_exception(self._failure or error)
            return
        except Exception as error:  # the arguments could not be pickled
            order.future.set_exception(error)
            return
        if isinstance(answer, Failure):
            order.future.set_exception(answer.error)
            return
        if file is not None and answer.path != file[0]:
            self._files.drop(file)
        order.future.set_result((self._files.unpack(answer), answer.extra))


class _Order:
    """A call that was asked for.

    Args:
        alone: number of the object if only its own worker makes its calls.
    """

    def __init__(self, alone: int | None, number: int, method: str, arguments: tuple[Any, ...]):
        self.alone, self.number, self.method, self.arguments = alone, number, method, arguments
        self.future: Future[tuple[Any, Any]] = Future()


class _Worker:
    """A process, and the way to it.

    Args:
        context: of `multiprocessing`.
        given: arguments of `serve`.
        alone: number of the object that it serves alone.
    """

    thread: threading.Thread | None = None

    def __init__(self, context: Any, given: tuple[Any, ...], alone: int | None):
        self.alone = alone
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, *given), name="jdali-worker", daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, call: Call) -> Any:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(call)
        if self.connection in wait([self.connection, self.process.sentinel]):
            with contextlib.suppress(EOFError, ConnectionResetError):
                return self.connection.recv()
        self.process.join()
        code = self.process.exitcode
        how = (
            f"was killed by signal {-code}"
            if code is not None and code < 0
            else f"ended with exit code {code}"
        )
        raise WorkerError(
            f"worker process {self.process.pid} {how} in the middle of its work. If it has not begun at all, the "
            "script that starts it lacks its \"if __name__ == '__main__':\""
        )

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        if self.thread is not None and threading.current_thread() is not self.thread:
            self.thread.join()
        self.connection.close()


def _start_method(wanted: str | None) -> str:
    if wanted is None:
        return (
            "spawn" if jax_has_started() or "fork" not in multiprocessing.get_all_start_methods() else "fork"
        )
    if wanted not in _START_METHODS:
        raise ValueError(
            f"Pipeline: py_start_method must be one of {', '.join(_START_METHODS)}, not {wanted!r}"
        )
    if wanted == "fork" and jax_has_started():
        raise RuntimeError(
            'Pipeline: py_start_method="fork" copies a process in the middle of whatever its threads do, and JAX '
            'has started its own: the copy may hang. Use "spawn", or call start_py_workers() of the pipeline '
            "before the first use of JAX"
        )
    return wanted


def _pickled(objects: Sequence[Any], pickler: Any) -> tuple[bytes, Callable[[bytes], Any]]:
    dumps, loads = _dumps_and_loads(pickler)
    try:
        return dumps(list(objects)), loads
    except Exception as error:
        advice = (
            ""
            if importlib.util.find_spec("cloudpickle")
            else f"; cloudpickle can write more: {install('workers')}"
        )
        raise TypeError(
            f"external_source: what runs in a worker process must be pickled, and cannot be: {error}{advice}"
        ) from error


def _dumps_and_loads(pickler: Any) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    if isinstance(pickler, (tuple, list)):
        module, *keywords = pickler
        saving, loading = [*keywords, {}, {}][:2]
        return functools.partial(module.dumps, **saving), functools.partial(module.loads, **loading)
    if pickler is not None:
        return pickler.dumps, pickler.loads
    if importlib.util.find_spec("cloudpickle") is not None:
        import cloudpickle

        return cloudpickle.dumps, pickle.loads
    return pickle.dumps, pickle.loads
