"""Main function of a process of a `TaskPool`: makes tasks, one after another, until its parent is gone."""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any, NoReturn, TypeAlias

from jdali._workers.exceptions import portable
from jdali._workers.memory import Memory
from jdali._workers.stopped import end_with_starter
from jdali._workers.task_pool.answer import answering_in
from jdali._workers.task_pool.channel import Channel
from jdali._workers.task_pool.messages import (
    ReadyAnswer,
    SlabName,
    StartOrder,
    TaskAnswer,
    TaskNote,
    TaskOrder,
)
from jdali._workers.task_pool.shared_slabs import allocate_slab
from jdali._workers.task_pool.wire import PackedValue, pack, unpack, write

_Order: TypeAlias = "tuple[StartOrder | TaskOrder, list[int]]"
_LOOK_SECONDS = 1.0  # at the parent, where the system does not tell of its end


def main(descriptor: int, parent: int) -> NoReturn:
    """Serves a pool.

    Args:
        descriptor: of the socket to it.
        parent: its process.
    """
    # Ctrl-C in a terminal reaches all processes of the group; the parent decides what ends. It blocked the signal, so
    # that none comes before this line.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    end_with_starter()  # the thread of the pool, which ends all processes before it ends
    channel = Channel(socket.socket(fileno=descriptor))
    orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(channel, orders, parent), daemon=True).start()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the parent is gone
        _serve(channel, orders)
    os._exit(1)  # nothing of the user's is waited for


def _listen(channel: Channel, orders: queue.SimpleQueue[_Order], parent: int) -> None:
    """Receives orders while the main thread is busy, and ends the process as soon as the parent is gone."""
    with contextlib.suppress(EOFError, OSError):
        while _has_message(channel, parent):
            orders.put(channel.receive())
    os._exit(1)


def _has_message(channel: Channel, parent: int) -> bool:
    """Blocks until there is a message; False: the parent is gone.

    The socket alone does not tell: a process that the parent has forked holds its other end as well.
    """
    while os.getppid() == parent:
        if wait([channel.fileno()], _LOOK_SECONDS):
            return True
    return False


def _serve(channel: Channel, orders: queue.SimpleQueue[_Order]) -> None:
    order, descriptors = orders.get()
    assert isinstance(order, StartOrder)
    gc.disable()  # what is imported stays: looking through it for garbage is a sixth of the time that it takes
    try:
        make = _unpacked(order.start, descriptors)()
    except Exception as error:
        channel.send(ReadyAnswer(portable(error)))
        return
    gc.freeze()
    gc.enable()
    channel.send(ReadyAnswer())
    worker = _TaskMaker(channel, order.number, make)
    while True:
        task, descriptors = orders.get()
        assert isinstance(task, TaskOrder)
        worker.run(task, descriptors)
        for stream in (sys.stdout, sys.stderr):  # what callbacks print: nothing is flushed at the end
            if stream is not None:
                stream.flush()


def _unpacked(packed: PackedValue, descriptors: list[int]) -> Any:
    """The value that was sent; takes the descriptor of its memory, if it has some, from the front."""
    if not packed.size:
        return unpack(packed, None)
    memory = Memory(descriptors.pop(0), packed.size)
    mapped = memory.map()
    memory.close()
    return unpack(packed, mapped)


class _TaskMaker:
    """Makes tasks, and writes the results to slabs.

    Args:
        channel: takes the answers.
        number: of this process.
        make: makes a task.
    """

    def __init__(self, channel: Channel, number: int, make: Callable[[Any], Any]):
        self._channel, self._number, self._make = channel, number, make
        self._mapped: dict[SlabName, Any] = {}
        self._allocated = 0

    def run(self, order: TaskOrder, descriptors: list[int]) -> None:
        """Makes a task and sends the answer."""
        start, cpu = time.perf_counter(), time.process_time()
        try:
            task = _unpacked(order.task, descriptors)
            for name in order.forgotten:
                self._mapped.pop(name, None)
            if order.lent is not None and order.lent_size:
                memory = Memory(descriptors.pop(0), order.lent_size)
                self._mapped[order.lent] = memory.map()
                memory.close()
            memory_of_answer = None if order.lent is None else self._mapped[order.lent]
            with answering_in(
                memory_of_answer, lambda reached: self._channel.send(TaskNote(order.number, reached))
            ):
                result = self._make(task)
            packed, slab, new = self._written(result, order.lent)
            del result
            is_error = False
        except Exception as error:
            packed, slab, new = self._written(portable(error), order.lent)
            is_error = True
        spent = time.perf_counter() - start, time.process_time() - cpu
        answer = TaskAnswer(order.number, packed, is_error, slab, 0 if new is None else new.size, *spent)
        self._channel.send(answer, [] if new is None else [new.descriptor])
        if new is not None:
            new.close()

    def _written(
        self, value: object, lent: SlabName | None
    ) -> tuple[PackedValue, SlabName | None, Memory | None]:
        """Packs a value, with its arrays in the lent slab, or in a new one if they do not fit.

        Returns: the value, the name of the slab, and the memory of a new one.
        """
        packed, buffers = pack(value, memory=None if lent is None else self._mapped[lent])
        if not packed.size:
            return packed, None, None
        if lent is not None and len(self._mapped[lent]) >= packed.size:
            write(packed, buffers, self._mapped[lent])
            return packed, lent, None
        new = allocate_slab(packed.size)
        self._allocated += 1
        name = self._number, self._allocated
        self._mapped[name] = new.map()
        write(packed, buffers, self._mapped[name])
        return packed, name, new
