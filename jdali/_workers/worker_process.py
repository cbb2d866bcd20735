"""Main function of a worker: calls methods of the user's objects, one after the other."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from jdali._errors import contained
from jdali._workers import memory as _memory
from jdali._workers.exceptions import portable
from jdali._workers.memory import Memory
from jdali._workers.parcel import pack
from jdali._workers.sending import receive
from jdali._workers.stopped import end_with_starter


@dataclasses.dataclass(frozen=True)
class MethodCall:
    """A method of an object to be called.

    Attributes:
        number: of the object.
        method: its name. It returns nested lists of arrays, and something small to go with them.
        arguments: its arguments.
        lent: size of the memory for the arrays whose descriptor follows, in bytes; 0: none does.
        least: see `pack`.
    """

    number: int
    method: str
    arguments: tuple[Any, ...]
    lent: int
    least: int


@dataclasses.dataclass(frozen=True)
class CallFailure:
    """Exception that a call raised."""

    error: Exception


def serve(
    connection: Connection, objects: Any, loads: Callable[[bytes], Any] | None, seed: int, number: int,
    is_of_main: bool,
) -> None:  # fmt: skip
    """Answers calls until the process that started this one is gone; if it only wants no more, it kills.

    Args:
        connection: gives `MethodCall`s, takes `Parcel`s and `CallFailure`s, and the descriptors of memory that they announce.
        objects: those that the calls are for; what `send` gave, if there is `loads`.
        loads: unpickles their callbacks.
        seed, number: of the pool, and of this worker in it; see `_seed_random`.
        is_of_main: the main thread of the program started it; others may end before the program does.
    """
    if is_of_main:
        end_with_starter()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides what ends
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # "fork" copies a handler that is meant for the program
    parent = multiprocessing.parent_process()
    assert parent is not None
    assert parent.pid is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    made: Any = None
    with contextlib.suppress(EOFError, OSError):  # it ended
        while True:
            call = connection.recv()
            lent = Memory(_memory.receive(connection), call.lent) if call.lent else None
            new: Memory | None = None
            try:
                if made is None:
                    made = objects if loads is None else receive(objects, loads)
                    # Not before: modules of the user's that are imported for the callbacks may seed them.
                    _seed_random(seed, number)
                answer, new = _answer(made, call, lent)
            except BaseException as error:
                answer = ForkingPickler.dumps(CallFailure(portable(contained(error))))
            connection.send_bytes(answer)
            if new is not None:
                _memory.send(connection, new.descriptor, parent.pid)
                new.close()
            if lent is not None:
                lent.close()
    os._exit(1)  # nothing of the user's is waited for


def _seed_random(seed: int, number: int) -> None:
    """Seeds the random numbers of Python and NumPy: copies of one process would draw the same."""
    words = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(4)
    np.random.seed(words)  # noqa: NPY002  callbacks draw from it
    random.seed(words.tobytes())


def _end_with(parent: int) -> None:
    """Ends this process as soon as its parent is gone, also while a callback runs."""
    wait([parent])
    os._exit(1)


def _answer(objects: Sequence[object], call: MethodCall, lent: Memory | None) -> tuple[Any, Memory | None]:
    """A pickled `Parcel`, and the memory that its arrays are in, if that is new."""
    content, extra = getattr(objects[call.number], call.method)(*call.arguments)
    parcel, memory = pack(content, extra, lent, call.least)
    try:
        return ForkingPickler.dumps(parcel), memory if parcel.is_new else None
    except BaseException:
        if parcel.is_new:
            memory.close()
        raise
