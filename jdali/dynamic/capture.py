"""Names of DALI's captured loops; jdali captures nothing, but compiles operators when they are called."""

from typing import TypeVar

T = TypeVar("T")

__all__ = ["invariant"]


def invariant(value: T) -> T:
    """Returns the value unchanged; in DALI it marks values that stay the same in all iterations."""
    return value
