"""Prepares the answers of a worker: their memory, notes of progress, and exceptions that another process can read.

Arrays that are in the memory of the answer already are not copied.
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

_HERE = threading.local()  # `memory` and `note` of the answer that this thread prepares


def answer_memory() -> Any:
    """Returns the memory for the answer to this thread's task; None if there is none."""
    return getattr(_HERE, "memory", None)


def note_reached(position: int) -> None:
    """Notes how far this thread's task is; if the process dies, its `WorkerDeath` has the last note."""
    note: Callable[[int], None] | None = getattr(_HERE, "note", None)
    if note is not None:
        note(position)


@contextlib.contextmanager
def answering_in(memory: object, note: Callable[[int], None]) -> Iterator[None]:
    """Sets the memory of the answer, and the function that `note_reached` calls, inside the context."""
    _HERE.memory, _HERE.note = memory, note
    try:
        yield
    finally:
        _HERE.memory = _HERE.note = None


NODE = "JDALI_WORKER_NODE"
"""Environment variable of workers that has the node's name."""


def on_node() -> str:
    """Names the node of this worker, for messages; "" if it is unknown."""
    node = os.environ.get(NODE, "")
    return node and f" on node {node}"


def portable(error: Exception) -> Exception:
    """Returns the exception with its traceback as a note, or as a RuntimeError of the same text if it cannot be pickled."""
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
    """Adds a class of the user's main module, which came here by value, to the main module of this process.

    So its exceptions are pickled by name, and the user's process finds its own class.
    """
    main = sys.modules["__main__"]
    if (
        kind.__module__ == "__main__"
        and kind.__qualname__ == kind.__name__
        and not hasattr(main, kind.__name__)
    ):
        setattr(main, kind.__name__, kind)
