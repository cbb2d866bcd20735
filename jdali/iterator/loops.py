"""Finds the iterator that goes over a pipeline, for who shows its report while the loop runs."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Protocol

from jdali.pipeline import Pipeline
from jdali.profiler import Report


class Reporting(Protocol):
    """An iterator, as far as its report goes."""

    def report(self) -> Report: ...


# Neither pipelines nor iterators live longer for being in here.
_LOOPS: weakref.WeakKeyDictionary[Pipeline, weakref.ref[Reporting]] = weakref.WeakKeyDictionary()


def note_loop(pipelines: Iterable[Pipeline], loop: Reporting) -> None:
    """Notes that an iterator goes over pipelines; the last one counts."""
    for pipe in pipelines:
        _LOOPS[pipe] = weakref.ref(loop)


def loop_over(pipe: Pipeline) -> Reporting | None:
    """Returns the iterator over a pipeline; None: there is none, or no longer."""
    found = _LOOPS.get(pipe)
    return None if found is None else found()
