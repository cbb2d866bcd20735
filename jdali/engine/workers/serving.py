"""Marks the threads that work for a pipeline: one that asked it for a batch would wait for itself."""

from __future__ import annotations

import threading


class Serving:
    """In `with serving:` a thread works for a pipeline; a thread of its pool enters it once."""

    def __init__(self) -> None:
        self._local = threading.local()

    def __enter__(self) -> None:
        self._local.depth = getattr(self._local, "depth", 0) + 1

    def __exit__(self, *_: object) -> None:
        self._local.depth -= 1

    def refuse_here(self) -> None:
        """Raises RuntimeError in a thread that works for the pipeline."""
        if getattr(self._local, "depth", 0):
            raise RuntimeError(
                "Pipeline.run: a function that runs in a pipeline asked the same pipeline, or an iterator of it, for a "
                "batch, and would wait for itself forever: what the function needs must be an input of it, or come from "
                "another pipeline"
            )
