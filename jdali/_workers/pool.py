"""Processes that run methods of the user's objects, and what happens when one of them dies."""

from __future__ import annotations

import collections
import copy
import multiprocessing
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from jdali._system.jax_internals import jax_has_started
from jdali._workers.parcel import Received
from jdali._workers.processes import ProcessPool, Worker, WorkerError
from jdali._workers.sending import send
from jdali._workers.worker_process import CallFailure, MethodCall, serve

_START_METHODS = ("fork", "spawn", "forkserver")


class WorkerPool:
    """Runs methods of objects in other processes.

    Args:
        objects: the user's. Each has an attribute `alone`: whether a worker of its own makes all its calls, in
            their order; else any worker makes any call. And `callback`: what of it is the user's.
        workers: number of processes for the objects that are not alone.
        start_method: "fork", "spawn" or "forkserver"; None: "fork" if JAX has not started yet, else "spawn".
        pickler: of the callbacks: module or object with `dumps` and `loads`, or a tuple of it and the keyword
            arguments of both; None: that of `jdali.pickling`, and cloudpickle, where it is installed, for what only it
            can pickle. Not used with "fork".
        timeout: seconds that a call may take; None: any time, unless the worker is stopped.
        seed: each worker seeds `random` and `numpy.random` by it and its number.

    Attributes:
        pool: the processes.

    Raises:
        RuntimeError: "fork" after JAX has started.
    """

    def __init__(
        self,
        objects: Sequence[Any],
        *,
        workers: int,
        start_method: str | None = None,
        pickler: Any = None,
        timeout: float | None = None,
        seed: int = 0,
    ):
        if workers < 1:
            raise RuntimeError(
                "The external source cannot run in parallel mode without Python workers pool: py_num_workers of the "
                f"Pipeline must be at least 1, not {workers}"
            )
        self.start_method = _start_method(start_method)
        self._memory = Received()
        self._changed = threading.Condition()
        self._calls: collections.deque[_Order] = collections.deque()
        self._failure: Exception | None = (
            None  # copied for each call: an exception that is raised holds the frames of its caller
        )
        payload, loads = (objects, None) if self.start_method == "fork" else send(objects, pickler)
        self._alone = [n for n, one in enumerate(objects) if one.alone]
        shared = workers if len(self._alone) < len(objects) else 0
        context = multiprocessing.get_context(self.start_method)
        if self.start_method == "forkserver":
            context.set_forkserver_preload(["__main__", serve.__module__])  # JAX is imported once, there
        self.pool = ProcessPool(context, (payload, loads, seed), [*[None] * shared, *self._alone], timeout)
        for worker in self.pool.workers:
            worker.thread = threading.Thread(
                target=self._serve, args=(worker,), name="jdali-worker-feeder", daemon=True
            )
            worker.thread.start()
        self.pool.watch(self._fail)

    def __repr__(self) -> str:
        state = "closed" if self._failure is not None else f"{len(self.pool.workers)} processes"
        return f"<WorkerPool: {state}, start method {self.start_method!r}>"

    def pids(self) -> list[int]:
        """Identifiers of the processes."""
        return self.pool.pids()

    @property
    def size(self) -> int:
        """Number of processes that serve the objects that are not alone."""
        return len(self.pool.workers) - len(self._alone)

    def submit(
        self, number: int, method: str, *arguments: object, samples: int = 0, bytes_per_sample: int = 0
    ) -> Future[tuple[Any, Any]]:
        """Calls a method of an object; it returns nested lists of arrays, and something small.

        The future has both, or what the method raised, with the worker's traceback as a note; `WorkerError`, if a
        worker died. Arrays are views of shared memory that is reused when they are gone.

        Args:
            number: of the object.
            method: its name.
            arguments: its arguments.
            samples: how many samples the arrays are, at most.
            bytes_per_sample: room for each of them in memory that is new, in bytes.
        """
        alone = number if number in self._alone else None
        order = _Order(alone, number, method, arguments, samples, samples * bytes_per_sample)
        with self._changed:
            if self._failure is None:
                self._calls.append(order)
                self._changed.notify_all()
            else:
                order.future.set_exception(copy.copy(self._failure))
        return order.future

    def file_sizes(self) -> list[tuple[int, int]]:
        """The size of each piece of shared memory in bytes, and the most samples that were in it so far."""
        return self._memory.sizes()

    def abandon(self) -> None:
        """Ends the processes without taking a lock, and all else in a thread: for the garbage collector."""
        if not self.pool.is_own:
            return
        self.pool.kill()
        threading.Thread(target=self.close, daemon=True).start()

    def close(self) -> None:
        """Ends the processes, whatever they do; calls that were not answered fail."""
        if not self.pool.is_own:
            return
        self._fail(RuntimeError("the pipeline's worker processes were closed"))
        self.pool.close()
        self._memory.close()

    def _fail(self, error: Exception) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = error
            waiting = list(self._calls)
            self._calls.clear()
            self._changed.notify_all()
        for order in waiting:
            order.future.set_exception(copy.copy(self._failure))

    # --- a worker's thread ------------------------------------------------------------------
    def _serve(self, worker: Worker) -> None:
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

    def _run(self, worker: Worker, order: _Order) -> None:
        lent = self._memory.lend()
        size = 0 if lent is None else lent.size
        try:
            answer, new = worker.ask(
                MethodCall(order.number, order.method, order.arguments, size, order.least), lent
            )
        except WorkerError as error:
            self._fail(error)
            order.future.set_exception(copy.copy(self._failure or error))
            return
        except Exception as error:  # the arguments could not be pickled
            answer, new = CallFailure(error), None
        memory = new or lent
        if isinstance(answer, CallFailure) or memory is None:
            if lent is not None:
                self._memory.give_back(lent)
            order.future.set_exception(answer.error)
            return
        try:
            if lent is not None and memory is not lent:
                self._memory.drop(lent)
            order.future.set_result((self._memory.unpack(answer, memory, order.samples), answer.extra))
        except Exception as error:  # it cannot be mapped
            order.future.set_exception(error)


class _Order:
    """A call that was asked for.

    Args:
        alone: number of the object if only its own worker makes its calls.
        samples: how many samples it answers with, at most.
        least: size of new memory for its answer, in bytes.
    """

    def __init__(
        self,
        alone: int | None,
        number: int,
        method: str,
        arguments: tuple[Any, ...],
        samples: int,
        least: int,
    ):
        self.alone, self.number, self.method, self.arguments = alone, number, method, arguments
        self.samples, self.least = samples, least
        self.future: Future[tuple[Any, Any]] = Future()


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
