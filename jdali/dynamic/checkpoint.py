"""Saves states of readers and random generators, to continue in another process."""

from jdali.dynamic._checkpoint import Checkpoint
from jdali.dynamic._context import EvalContext

__all__ = ["Checkpoint", "current"]


def current() -> Checkpoint:
    """Returns the checkpoint of the current `EvalContext`."""
    return EvalContext.current().checkpoint
