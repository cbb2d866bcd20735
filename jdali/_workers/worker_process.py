"""Main function of a worker: calls methods of the user's objects, one after the other."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

from jdali._workers.parcel import Parcel, pack, remove
from jdali._workers.sending import receive


@dataclasses.dataclass(frozen=True)
class MethodCall:
    """A method of an object to be called.

    Attributes:
        number: of the object.
        method: its name. It returns nested lists of arrays, and something small to go with them.
        arguments: its arguments.
        file, least: for the arrays, see `used` and `least` of `pack`.
    """

    number: int
    method: str
    arguments: tuple[Any, ...]
    file: tuple[str, int] | None
    least: int


@dataclasses.dataclass(frozen=True)
class CallFailure:
    """Exception that a call raised."""

    error: Exception


def serve(
    connection: Connection, objects: Any, loads: Callable[[bytes], Any] | None, folders: Sequence[str]
) -> None:
    """Answers calls until the process that started this one is gone; if it only wants no more, it kills.

    Args:
        connection: gives `MethodCall`s, takes `Parcel`s and `CallFailure`s.
        objects: those that the calls are for; what `send` gave, if there is `loads`.
        loads: unpickles their callbacks.
        folders: for files of arrays.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides what ends
    parent = multiprocessing.parent_process()
    assert parent is not None
    made: Any = None
    while connection in wait([connection, parent.sentinel]):
        try:
            call = connection.recv()
        except EOFError:
            break
        try:
            if made is None:
                made = objects if loads is None else receive(objects, loads)
            answer = ForkingPickler.dumps(_answer(made, call, folders))
        except Exception as error:
            answer = ForkingPickler.dumps(CallFailure(portable(error)))
        connection.send_bytes(answer)
    remove(folders)
    os._exit(1)  # nothing of the user's is waited for


def _answer(objects: Sequence[Any], call: MethodCall, folders: Sequence[str]) -> Parcel:
    content, extra = getattr(objects[call.number], call.method)(*call.arguments)
    return pack(content, extra, call.file, folders, call.least)


def portable(error: Exception) -> Exception:
    """The exception with a note of where it was raised, or one that says the same if it cannot be pickled."""
    note = f"in a worker process:\n{traceback.format_exc()}"
    error.add_note(note)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(note)
    return error
