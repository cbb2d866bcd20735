"""The last step of a batch: what an iterator does with it before it is handed over."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeAlias

from jdali.engine.flow.iteration import Result

Finish: TypeAlias = "Callable[[int, Result], Result]"
"""Finishes a batch; the number counts the batches since the sources were last moved."""


class Finishing:
    """Finishes batches as long as somebody wants it; else they stay as they are.

    The method is held weakly: an iterator that is dropped asks for nothing more, and a pipeline holds no iterator.
    """

    def __init__(self) -> None:
        self._method: weakref.WeakMethod[Finish] | None = None

    def set(self, method: Finish) -> None:
        """Finishes the batches from now on by a bound method."""
        self._method = weakref.WeakMethod(method)

    @property
    def wanted(self) -> bool:
        """True if somebody wants batches to be finished."""
        return self._method is not None and self._method() is not None

    def __call__(self, number: int, result: Result) -> Result:
        """Finishes a batch, in the thread that made it."""
        method = None if self._method is None else self._method()
        return result if method is None else method(number, result)
