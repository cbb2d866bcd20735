"""Provides DALI's functions for captured loops. They capture nothing, because jdali compiles operators when they are called."""

from typing import TypeVar

T = TypeVar("T")

__all__ = ["invariant"]


def invariant(value: T) -> T:
    """Returns the value unchanged; DALI uses this to mark values that stay the same in all iterations."""
    return value
