"""What iterators refuse."""

from __future__ import annotations


class IteratorError(ValueError, RuntimeError, AssertionError):
    """What was given to an iterator, or its pipelines, does not fit together.

    A `ValueError`; and what DALI's iterators raise for it: `AssertionError` for most, `RuntimeError` for batches that
    are not dense.
    """
