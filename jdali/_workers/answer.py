"""Memory and notes for the function that makes a task: arrays in that memory are not copied into the answer."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

_HERE = threading.local()  # `memory`, `note`: of the answer that this thread is about to give


def answer_memory() -> Any:
    """Returns the memory of the answer to the task that this thread makes; None: there is none."""
    return getattr(_HERE, "memory", None)


def note_reached(position: int) -> None:
    """Notes how far the task is that this thread makes: its `WorkerDeath` has the last note, if it dies."""
    note: Callable[[int], None] | None = getattr(_HERE, "note", None)
    if note is not None:
        note(position)


@contextlib.contextmanager
def answering_in(memory: object, note: Callable[[int], None]) -> Iterator[None]:
    """Sets the memory of the answer, and the function that `note_reached` calls, inside of the context."""
    _HERE.memory, _HERE.note = memory, note
    try:
        yield
    finally:
        _HERE.memory = _HERE.note = None
