"""Operators that make samples."""

from __future__ import annotations

import dataclasses

from jdali._operators.base import Operator, decorator
from jdali._operators.options import OutputOptions


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ReaderOptions(OutputOptions):
    """Options of `reader`.

    Attributes:
        beginnings: its readers can leave the rest of a sample of the first output unread, see `Reader.load_beginnings`.
    """

    beginnings: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ReaderOp(Operator, ReaderOptions):
    """A function of arguments that returns a `Reader`, which is asked for samples by their index.

    Of data from outside of the pipeline it is only the signature: the engine has the object that yields them.
    """


reader = decorator(
    "reader",
    ReaderOp,
    ReaderOptions,
    "Makes a `ReaderOp` of a function that opens a reader, and registers it.",
)
