"""Brings exceptions out of a worker process."""

from __future__ import annotations

import os
import pickle
import sys
import traceback

NODE = "JDALI_WORKER_NODE"
"""Environment variable of workers that has the node's name."""


def on_node() -> str:
    """Names the node of this worker, for messages; "": none was told."""
    node = os.environ.get(NODE, "")
    return node and f" on node {node}"


def portable(error: Exception) -> Exception:
    """Adds a note of where the exception was raised; returns another one that says the same if it cannot be pickled."""
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
    """Gives a class of the user's main module, which came here by value, its name in the main module of this process.

    So its exceptions are pickled by that name, and the user's process finds its own class by it.
    """
    main = sys.modules["__main__"]
    if (
        kind.__module__ == "__main__"
        and kind.__qualname__ == kind.__name__
        and not hasattr(main, kind.__name__)
    ):
        setattr(main, kind.__name__, kind)
