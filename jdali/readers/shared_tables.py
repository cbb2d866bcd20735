"""Shares the tables of a data set (names, offsets of records) among the workers of a machine: computed once, mapped by all.

A reader has what is large, and slow to find, computed by `shared`. While the process of the user opens it, in `noting`,
the results are noted; a worker that opens the same reader, in `reusing`, gets these in place of its own. They travel
as the arrays of any value do, in memory that the workers map (`_workers/wire.py`).

A table with the name of an argument of its reader (`files`) travels in place of that argument, which is `()` in workers:
a list of a million names would be copied into each of them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

Tables: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Tables of readers, by the name of the node and that of the table."""

_T = TypeVar("_T")
_HERE = threading.local()  # `noted`, `known`, `prefix`: of the reader that this thread opens


def shared(name: str, compute: Callable[[], _T]) -> _T:
    """Returns a table: computes it, unless this is a worker that was sent it.

    Args:
        name: of the table among those of its reader.
        compute: returns it: something that can be pickled, and that nobody changes.
    """
    name = getattr(_HERE, "prefix", "") + name
    known: Mapping[str, Any] = getattr(_HERE, "known", {})
    if name in known:
        found: _T = known[name]
        return found
    table = compute()
    noted: dict[str, Any] | None = getattr(_HERE, "noted", None)
    if noted is not None:
        noted[name] = table
    return table


@contextlib.contextmanager
def apart(name: str) -> Iterator[None]:
    """Keeps the tables of a reader that is opened inside apart from those of other readers of the node."""
    before = getattr(_HERE, "prefix", "")
    _HERE.prefix = f"{before}{name}/"
    try:
        yield
    finally:
        _HERE.prefix = before


@contextlib.contextmanager
def noting() -> Iterator[dict[str, Any]]:
    """Notes the tables of the reader that this thread opens inside."""
    noted: dict[str, Any] = {}
    _HERE.noted = noted
    try:
        yield noted
    finally:
        _HERE.noted = None


@contextlib.contextmanager
def reusing(tables: Mapping[str, object]) -> Iterator[None]:
    """Gives these tables to the reader that this thread opens inside."""
    _HERE.known = tables
    try:
        yield
    finally:
        _HERE.known = {}
