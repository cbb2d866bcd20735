"""Provides the names of DALI's captured loops; jdali does not capture, but compiles operators at their first call."""

from typing import TypeVar

T = TypeVar("T")

__all__ = ["invariant"]


def invariant(value: T) -> T:
    """Returns the value unchanged; DALI marks values that stay the same in all iterations by it."""
    return value
