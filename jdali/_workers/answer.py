"""Prepares what a worker sends for a task: the memory of the result, notes of progress, and exceptions.

Arrays of the result that are already in this memory are not copied.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

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
