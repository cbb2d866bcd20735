"""Runs the tasks of a `TaskPool` in one of its processes, one after another, until the parent process is gone.

A task can ask for the memory of its result; arrays of the result that are already in this memory are not copied.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import multiprocessing
import os
import pickle
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from typing import Any, NoReturn, TypeAlias

from jdali._workers.memory import Memory, allocate_slab
from jdali._workers.messages import (
    Channel,
    ReadyAnswer,
    SlabName,
    StartOrder,
    TaskAnswer,
    TaskNote,
    TaskOrder,
    take_descriptor,
)
from jdali._workers.wire import PackedValue, pack, unpack, write

_Order: TypeAlias = "tuple[StartOrder | TaskOrder, list[int]]"
_Start: TypeAlias = Callable[[], Callable[[Any], Any]]
_LOOK_SECONDS = 1.0  # between checks of the parent, whose end the system may not report
_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
_HERE = threading.local()  # `memory` and `note` for the task that this thread runs


def answer_memory() -> Any:
    """Returns the shared memory for the result of this thread's task; None if there is none."""
    return getattr(_HERE, "memory", None)


def note_reached(position: int) -> None:
    """Notes that this thread's task has reached `position` in its batch; `WorkerDeath.reached` is the last note."""
    note: Callable[[int], None] | None = getattr(_HERE, "note", None)
    if note is not None:
        note(position)


@contextlib.contextmanager
def answering_in(memory: object, note: Callable[[int], None]) -> Iterator[None]:
    """Sets, within this context, the memory for the result and the function that `note_reached` calls."""
    _HERE.memory, _HERE.note = memory, note
    try:
        yield
    finally:
        _HERE.memory = _HERE.note = None


NODE = "JDALI_WORKER_NODE"
"""Environment variable of workers that has the node's name."""


def on_node() -> str:
    """Returns " on node NAME" for messages of this worker; "" if the node is unknown."""
    node = os.environ.get(NODE, "")
    return node and f" on node {node}"


def portable(error: Exception) -> Exception:
    """Returns the exception with its traceback as a note. If it cannot be pickled, returns a RuntimeError of the same text."""
    note = f"in a worker process{on_node()}:\n{''.join(traceback.format_exception(error))}"
    error.add_note(note)
    _name_in_main(type(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(note)
    return error


def _name_in_main(kind: type) -> None:
    """Adds a class to this process's `__main__`, if it was sent by value from the user's `__main__`.

    Then exceptions of this class are pickled by name, and the user's process finds the original class.
    """
    main = sys.modules["__main__"]
    if (
        kind.__module__ == "__main__"
        and kind.__qualname__ == kind.__name__
        and not hasattr(main, kind.__name__)
    ):
        setattr(main, kind.__name__, kind)


def main(descriptor: int, parent: int) -> NoReturn:
    """Serves a pool in a fresh process, whose first message is a `StartOrder`."""
    # The thread that started this process is the pool's thread, which stops all processes before it exits.
    end_with_starter()
    serve(Channel(socket.socket(fileno=descriptor)), parent)


def serve(channel: Channel, parent: int, number: int = 0, start: _Start | None = None) -> NoReturn:
    """Runs tasks of a pool until the pool kills this process, or the pool's process is gone.

    Without `start`, the first message is a `StartOrder`, which contains `start` and the number.
    """
    # A terminal sends Ctrl-C to all processes of the group, but the parent decides which processes end. The signal is blocked
    # when this process starts, so that it does not arrive before this line.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(channel, orders, parent), daemon=True).start()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the parent is gone
        _make_tasks(channel, orders, number, start)
    os._exit(1)  # without waiting for the user's threads or handlers


def end_with_starter() -> None:
    """Makes Linux kill this process when the thread that started it ends.

    This works even while the process is stopped or a thread holds the GIL.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _listen(channel: Channel, orders: queue.SimpleQueue[_Order], parent: int) -> None:
    """Receives orders while the main thread is busy, and ends the process as soon as the parent is gone."""
    with contextlib.suppress(EOFError, OSError):
        while _has_message(channel, parent):
            orders.put(channel.receive())
    os._exit(1)


def _has_message(channel: Channel, parent: int) -> bool:
    """Blocks until there is a message; returns False if the parent is gone.

    Watches both the socket and the parent, because each check alone can miss the parent's end. The socket stays open
    while another child of the parent holds its other end. After a fork by Python's fork server, `getppid` returns the
    server.
    """
    starter = multiprocessing.parent_process()
    ends = [] if starter is None else [starter.sentinel]
    while os.getppid() == parent:
        found = wait([channel.fileno(), *ends], _LOOK_SECONDS)
        if found:
            return channel.fileno() in found
    return False


def _make_tasks(
    channel: Channel, orders: queue.SimpleQueue[_Order], number: int, start: _Start | None
) -> None:
    gc.disable()  # imported objects stay alive, and searching them for garbage takes a sixth of the import time
    try:
        if start is None:
            order, descriptors = orders.get()
            assert isinstance(order, StartOrder)
            number, start = order.number, _unpacked(order.start, descriptors)
        make = start()
    except Exception as error:
        channel.send(ReadyAnswer(portable(error)))
        return
    gc.freeze()
    gc.enable()
    channel.send(ReadyAnswer())
    worker = _TaskMaker(channel, number, make)
    while True:
        task, descriptors = orders.get()
        assert isinstance(task, TaskOrder)
        worker.run(task, descriptors)
        for stream in (sys.stdout, sys.stderr):  # the process will end without flushing them
            if stream is not None:
                stream.flush()


def _unpacked(packed: PackedValue, descriptors: list[int]) -> Any:
    """Unpacks a value that was sent. If it has memory, takes the first of the descriptors."""
    if not packed.size:
        return unpack(packed, None)
    return unpack(packed, _mapped(descriptors, packed.size))


def _mapped(descriptors: list[int], size: int) -> mmap.mmap:
    """Maps memory that was sent, and takes the first of the descriptors."""
    memory = Memory(take_descriptor(descriptors), size)
    mapped = memory.map()
    memory.close()
    return mapped


class _TaskMaker:
    """Runs tasks, and writes the results to slabs."""

    def __init__(self, channel: Channel, number: int, make: Callable[[Any], Any]):
        self._channel, self._number, self._make = channel, number, make
        self._mapped: dict[SlabName, Any] = {}
        self._allocated = 0

    def run(self, order: TaskOrder, descriptors: list[int]) -> None:
        """Runs a task, and sends its result or the error that it raised."""
        start, cpu = time.perf_counter(), time.process_time()
        try:
            for name in order.forgotten:
                self._mapped.pop(name, None)
            task = _unpacked(order.task, descriptors)
            if order.lent is not None and order.lent_size:
                self._mapped[order.lent] = _mapped(descriptors, order.lent_size)
            memory_of_answer = None if order.lent is None else self._mapped[order.lent]
            with answering_in(
                memory_of_answer, lambda reached: self._channel.send(TaskNote(order.number, reached))
            ):
                result = self._make(task)
            packed, slab, new = self._written(result, order.lent, order.room)
            del result
            is_error = False
        except Exception as error:
            lent = order.lent
            if lent is not None and order.lent_size:
                # Perhaps the new slab is not mapped. The pool assumes so after an error, and sends it again.
                self._mapped.pop(lent, None)
                lent = None
            packed, slab, new = self._written(portable(error), lent, 0)
            is_error = True
        for descriptor in descriptors:  # those of a task that could not be unpacked
            os.close(descriptor)
        spent = time.perf_counter() - start, time.process_time() - cpu
        answer = TaskAnswer(order.number, packed, is_error, slab, 0 if new is None else new.size, *spent)
        self._channel.send(answer, [] if new is None else [new.descriptor])
        if new is not None:
            new.close()

    def _written(
        self, value: object, lent: SlabName | None, room: int
    ) -> tuple[PackedValue, SlabName | None, Memory | None]:
        """Packs a value. Writes its arrays to the lent slab or, if they do not fit, to a new one of at least `room` bytes.

        Also returns the name of the slab and the memory of a new slab, if any.
        """
        packed, buffers = pack(value, memory=None if lent is None else self._mapped[lent])
        if not packed.size and (lent is not None or not room):
            return packed, None, None
        if lent is not None and len(self._mapped[lent]) >= packed.size:
            write(packed, buffers, self._mapped[lent])
            return packed, lent, None
        new = allocate_slab(packed.size, room)
        self._allocated += 1
        name = self._number, self._allocated
        self._mapped[name] = new.map()
        write(packed, buffers, self._mapped[name])
        return packed, name, new
