"""Runs the user's callbacks in workers that `multiprocessing` starts. They import the user's main module.

```
 CallbackWorkers ──▶ objects with `alone` False share one TaskPool: any worker may make any call
                 └─▶ each object with `alone` True has a TaskPool of one process
```
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib.util
import multiprocessing
import os
import pickle
import random
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from multiprocessing import forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from types import SimpleNamespace
from typing import Any, NoReturn, TypeAlias

import numpy as np

from jdali._errors import contained
from jdali._system.extras import install
from jdali._system.jax_internals import jax_has_started
from jdali._workers import by_value as _by_value
from jdali._workers.jobs import MadeTask, PackedMemory
from jdali._workers.messages import Channel
from jdali._workers.pool import TaskPool
from jdali._workers.process import TaskProcess
from jdali._workers.serve import end_with_starter, serve
from jdali._workers.wire import pack

PROCESS_NAME = "jdali-worker"

_START_METHODS = ("fork", "spawn", "forkserver")
_FORK_SERVER = "jdali._workers.fork_server"  # imports this module, too
# An argument of fewer bytes is sent within the message. For several arguments of 48 KiB, this saves the caller a quarter of
# its time.
_SMALL = 1 << 16
_Call: TypeAlias = tuple[int, str, tuple[Any, ...]]
_Loads: TypeAlias = Callable[[bytes], Any]
_Start: TypeAlias = Callable[[int], Callable[[_Call], Any]]  # takes the number of the worker


class CallbackWorkers:
    """Runs methods of objects in other processes. After a process has died, waiting and later calls fail.

    Args:
        objects: objects with two attributes. If `alone` is True, the object has a worker to itself, which makes all its
            calls in order; if False, any worker may make any call. `callback` is the user's part of the object.
        workers: number of processes for the objects that are not alone.
        start_method: "fork", "spawn" or "forkserver"; None: "fork" if JAX has not started yet, else "spawn".
        pickler: module or object whose `dumps` and `loads` pickle the callbacks, or a tuple (module, keyword arguments
            of `dumps`, keyword arguments of `loads`). None: `jdali.pickling`; cloudpickle, if it is installed, pickles
            objects that `jdali.pickling` cannot pickle. Not used with "fork".
        timeout: seconds that a call may take; None: no limit, except for workers that a signal (SIGSTOP) has stopped.
        seed: each worker seeds `random` and `numpy.random` from this seed and the worker's number.

    Raises:
        RuntimeError: "fork" after JAX has started.
    """

    def __init__(
        self, objects: Sequence[Any], *, workers: int, start_method: str | None = None, pickler: Any = None,
        timeout: float | None = None, seed: int = 0,
    ):  # fmt: skip
        if workers < 1:
            raise RuntimeError(
                "The external source cannot run in parallel mode without Python workers pool: py_num_workers of the "
                f"Pipeline must be at least 1, not {workers}"
            )
        self.start_method = _start_method(start_method)
        context = multiprocessing.get_context(self.start_method)
        if self.start_method == "forkserver":
            modules = sorted({type(one).__module__ for one in objects})
            context.set_forkserver_preload(["__main__", _FORK_SERVER, *modules])  # imported once for all
        sent, loads = (objects, None) if self.start_method == "fork" else _sent(objects, pickler)
        alone = [number for number, one in enumerate(objects) if one.alone]
        self.size = workers if len(alone) < len(objects) else 0
        shared = [number for number in range(len(objects)) if number not in alone]
        # All processes are started before the first thread of a pool, because "fork" is safe only without threads.
        start = functools.partial(_start_calls, sent, loads, seed)
        processes = _started(context, self.size + len(alone), start)
        self._pools: list[TaskPool] = []
        self._by_object: dict[int, TaskPool] = {}
        for count, served in [(self.size, shared), *((1, [number]) for number in alone)]:
            if served:
                own, processes = processes[:count], processes[count:]
                pool = TaskPool(count, None, processes=own, most_idle=sys.maxsize, timeout=timeout)
                self._pools.append(pool)
                self._by_object |= dict.fromkeys(served, pool)

    def __repr__(self) -> str:
        is_closed = any(pool.has_failed for pool in self._pools)
        state = "closed" if is_closed else f"{len(self.pids())} processes"
        return f"<CallbackWorkers: {state}, start method {self.start_method!r}>"

    @property
    def pool(self) -> SimpleNamespace:
        """The thread that watches the processes, where DALI's private pool has it; DALI's tests look for it."""
        return SimpleNamespace(_observer=SimpleNamespace(thread=self._pools[0].thread))

    def pids(self) -> list[int]:
        return [pid for pool in self._pools for pid in pool.pids()]

    def submit(
        self, number: int, method: str, *arguments: object, samples: int = 0, bytes_per_sample: int = 0
    ) -> Future[MadeTask]:
        """Calls a method of an object.

        The future returns what the method returned. It raises the method's exception, with the worker's traceback as a note,
        or the reason why the workers have ended. Arrays in the result are views of shared memory, which is reused when they
        are gone.

        Args:
            samples: maximum number of samples in the result.
            bytes_per_sample: room for each sample in newly allocated memory, in bytes.
        """
        call: _Call = number, method, arguments
        try:
            content = PackedMemory.of(*pack(call, small=_SMALL))
        except Exception as error:  # the arguments could not be pickled
            failed: Future[MadeTask] = Future()
            failed.set_exception(error)
            return failed
        room = samples * bytes_per_sample
        return self._by_object[number].submit(content, samples=samples, room=room)

    def slab_sizes(self) -> list[tuple[int, int]]:
        return [sizes for pool in self._pools for sizes in pool.slab_sizes()]

    def interrupt(self) -> None:
        for pool in self._pools:
            pool.interrupt()

    def close(self, seconds: float | None = None) -> None:
        """Ends the processes, even during calls; unfinished calls fail. Closing again does nothing. See `TaskPool.close`."""
        self.interrupt()
        for pool in self._pools:
            pool.close(seconds)


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


def _started(context: Any, count: int, start: _Start) -> list[TaskProcess]:
    processes: list[TaskProcess] = []
    try:
        while len(processes) < count:
            processes.append(_started_one(context, len(processes), start))
    except BaseException:
        for process in processes:
            process.kill()
            process.close()
        raise
    return processes


def _started_one(context: Any, number: int, start: _Start) -> TaskProcess:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    # A worker that the main thread starts ends with that thread. Other threads may end while their worker is needed.
    is_of_main = threading.current_thread() is threading.main_thread()
    arguments = theirs, number, start, is_of_main
    process = context.Process(target=_serve, args=arguments, name=PROCESS_NAME, daemon=True)
    try:
        _start(process, context.get_start_method())
    except BaseException:
        ours.close()  # which ends the process, if it has started
        raise
    finally:
        theirs.close()
    return TaskProcess(number, Channel(ours), _PythonProcess(process))


def _start(process: BaseProcess, method: str) -> None:
    """Starts a process that has SIGINT blocked until it ignores the signal, see `serve`."""
    if method != "fork":
        resource_tracker.ensure_running()  # here, because it unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        if method == "forkserver":
            forkserver.ensure_running()  # without waiting until it has imported its modules
        else:
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if method == "forkserver":
        process.start()  # by the server, which has the signal blocked


class _PythonProcess:
    """Adapts a process of `multiprocessing` to `StartedProcess`."""

    def __init__(self, process: BaseProcess):
        self._process, self.pid, self.kill = process, int(process.pid or 0), process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self._process.exitcode


# --- in a worker ----------------------------------------------------------------------------
def _serve(connected: socket.socket, number: int, start: _Start, is_of_main: bool) -> NoReturn:
    if is_of_main:
        end_with_starter()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked worker must not run the program's handler
    serve(Channel(connected), os.getppid(), number, functools.partial(start, number))


def _start_calls(objects: Any, loads: _Loads | None, seed: int, number: int) -> Callable[[_Call], Any]:
    """Loads the callbacks in worker `number`, and returns the function that calls them."""
    if loads is not None:
        objects = _contained(_received, objects, loads)
    # Seed after the callbacks are loaded, because modules that they import may seed, too.
    _seed_random(seed, number)
    return functools.partial(_called, objects)


def _called(objects: Sequence[Any], call: _Call) -> Any:
    number, method, arguments = call
    return _contained(getattr(objects[number], method), *arguments)


def _contained(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the user's code; its SystemExit, for example, must not end the worker."""
    try:
        return function(*arguments)
    except BaseException as error:
        raise contained(error)  # noqa: B904  it has its cause


def _seed_random(seed: int, number: int) -> None:
    """Seeds the random numbers of Python and NumPy, because forks of one process would draw the same numbers."""
    words = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(4)
    np.random.seed(words)  # noqa: NPY002  callbacks draw from it
    random.seed(words.tobytes())


# --- pickling -------------------------------------------------------------------------------
def _sent(objects: Sequence[Any], pickler: Any) -> tuple[bytes, _Loads]:
    """Pickles objects for `_received`. The attribute `callback` is pickled with `pickler`, everything else with `pickle`."""
    dumps, loads = _dumps_and_loads(pickler)
    parts = []
    for one in objects:
        rest = copy.copy(one)
        rest.callback = None
        try:
            parts.append((rest, dumps(one.callback)))
        except Exception as error:
            error.add_note(f"a callback that runs in a worker process must be pickled{_advice(pickler)}")
            raise
    return pickle.dumps(parts), loads


def _received(payload: bytes, loads: _Loads) -> list[Any]:
    objects = []
    for one, callback in pickle.loads(payload):
        one.callback = loads(callback)
        objects.append(one)
    return objects


def _advice(pickler: object) -> str:
    if pickler is not None or importlib.util.find_spec("cloudpickle") is not None:
        return ""
    return f"; with cloudpickle also objects of local classes can be: {install('workers')}"


def _dumps_and_loads(pickler: Any) -> tuple[Callable[[Any], bytes], _Loads]:
    if pickler is None:
        return _dumps, pickle.loads
    parts = [*pickler] if isinstance(pickler, (tuple, list)) else [pickler]
    module: Any
    module, saving, loading = (part or {} for part in [*parts, {}, {}][:3])
    try:
        return functools.partial(module.dumps, **saving), functools.partial(module.loads, **loading)
    except AttributeError:
        raise ValueError(
            "Pipeline: unsupported py_callback_pickler: it must be a module or an object with dumps and loads, or a "
            f"tuple of that and the keyword arguments of both, not {pickler!r}"
        ) from None


def _dumps(value: object) -> bytes:
    """Pickles with jdali's pickler; after a failure, or in a notebook, with cloudpickle if it is installed."""
    if importlib.util.find_spec("cloudpickle") is None:
        return _by_value.dumps(value)
    # A prompt or a notebook has no file, so workers could not import its classes and functions by name.
    if hasattr(sys.modules["__main__"], "__file__"):
        with contextlib.suppress(Exception):
            return _by_value.dumps(value)
    import cloudpickle

    return bytes(cloudpickle.dumps(value))
