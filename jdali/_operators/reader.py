"""Operators that make samples."""

from __future__ import annotations

import dataclasses

from jdali._operators.base import Operator, decorator
from jdali._operators.options import OutputOptions


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ReaderOp(Operator):
    """A function of arguments that returns a `Reader`, which is asked for samples by their index.

    Of data from outside of the pipeline it is only the signature: the engine has the object that yields them.
    """


reader = decorator(
    "reader",
    ReaderOp,
    OutputOptions,
    "Makes a `ReaderOp` of a function that opens a reader, and registers it.",
)
