"""Names of DALI's captured loops. jdali compiles operators as they are called; nothing is captured."""

from typing import TypeVar

T = TypeVar("T")

__all__ = ["invariant"]


def invariant(value: T) -> T:
    """Returns the value: DALI's mark of what is the same in all iterations."""
    return value
