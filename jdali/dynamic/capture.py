"""Names of DALI's captured loops. jdali compiles operators as they are called; nothing is captured."""

from typing import TypeVar

T = TypeVar("T")

__all__ = ["invariant"]


def invariant(value: T) -> T:
    """The value itself: what tells DALI that it is the same in all iterations."""
    return value
