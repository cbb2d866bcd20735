"""Operators that only move samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from jdali._operators.base import Given, Operator


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndexOp(Operator):
    """A function of `TensorList`s that returns one with other indices over the same blocks, or what is known of them.

    Per-sample arguments are `TensorList`s as well, or one value. No sample is touched, wherever it is.
    """

    def by_sample(self, given: Given) -> bool:
        return False


def index_operator(
    *,
    name: str | None = None,
    devices: tuple[str, ...] = ("cpu", "gpu"),
    source: str = "",
) -> Callable[[Callable[..., Any]], IndexOp]:
    """Makes an `IndexOp` of a function of batches, and registers it; the options are its fields."""

    def decorate(run: Callable[..., Any]) -> IndexOp:
        return IndexOp.of(run, name, devices=devices, source=source)

    return decorate
