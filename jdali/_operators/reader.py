"""Operators that make samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from jdali._operators.base import Operator, Outputs


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ReaderOp(Operator):
    """A function of arguments that returns a `Reader`, which is asked for samples by their index.

    Of data from outside of the pipeline it is only the signature: the engine has the object that gives them.
    """


def reader(
    *,
    name: str | None = None,
    outputs: Outputs = 1,
    devices: tuple[str, ...] = ("cpu", "gpu"),
    source: str = "",
) -> Callable[[Callable[..., Any]], ReaderOp]:
    """Makes a `ReaderOp` of a function that opens a reader, and registers it; the options are its fields."""

    def decorate(run: Callable[..., Any]) -> ReaderOp:
        return ReaderOp.of(run, name, outputs=outputs, devices=devices, source=source)

    return decorate
