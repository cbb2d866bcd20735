"""Memory of the answer to a task: arrays that a maker puts there are not copied once more."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_HERE = threading.local()  # `memory`: of the answer that this thread is about to give


def answer_memory() -> Any:
    """The memory of the answer to the task that this thread makes; None: there is none."""
    return getattr(_HERE, "memory", None)


@contextlib.contextmanager
def answering_in(memory: object) -> Iterator[None]:
    """Inside, this is the memory of the answer."""
    _HERE.memory = memory
    try:
        yield
    finally:
        _HERE.memory = None
