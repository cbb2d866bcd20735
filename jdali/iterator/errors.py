"""Errors of iterators."""

from __future__ import annotations


class IteratorError(ValueError, RuntimeError, AssertionError):
    """Arguments of an iterator, or its pipelines, do not fit together.

    A `ValueError`; and what DALI's iterators raise for it: `AssertionError` for most, `RuntimeError` for batches that
    are not dense.
    """
