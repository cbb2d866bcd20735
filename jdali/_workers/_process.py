"""What runs in a worker: methods of the user's objects, one call after the other."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from jdali._workers._parcel import Parcel, pack, remove


@dataclasses.dataclass(frozen=True)
class Call:
    """A method of an object to be called.

    Attributes:
        number: of the object.
        method: its name. It returns nested lists of arrays, and something small to go with them.
        arguments: its arguments.
        file: for the arrays, see `pack`.
    """

    number: int
    method: str
    arguments: tuple[Any, ...]
    file: tuple[str, int] | None


@dataclasses.dataclass(frozen=True)
class Failure:
    """An exception, and where it was raised, as text."""

    error: Exception
    traceback: str


def serve(
    connection: Connection, objects: Any, loads: Callable[[bytes], Any] | None, folders: Sequence[str]
) -> None:
    """Answers calls until the other side is closed or gone.

    Args:
        connection: gives `Call`s, takes `Parcel`s and `Failure`s.
        objects: those that the calls are for; pickled, if there is `loads`.
        loads: unpickles them.
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
            return
        try:
            if made is None:
                made = objects if loads is None else loads(objects)
            answer: Parcel | Failure = _answer(made, call, folders)
        except Exception as error:
            answer = Failure(_portable(error), traceback.format_exc())
        connection.send(answer)
    remove(folders)
    os._exit(1)  # the process that started this one is gone: nothing of the user's is waited for


def _answer(objects: Sequence[Any], call: Call, folders: Sequence[str]) -> Parcel:
    content, extra = getattr(objects[call.number], call.method)(*call.arguments)
    return pack(content, extra, call.file, folders)


def _portable(error: Exception) -> Exception:
    """The exception, or one that says the same if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
