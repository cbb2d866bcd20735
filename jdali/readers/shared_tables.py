"""Shares the tables of a data set (names, offsets of records) among the workers of a machine: computed once, mapped by all.

A reader computes large or slow tables through `shared`. When the user's process opens the reader within `noting`, the
tables are recorded; a worker that opens the same reader within `reusing` gets the recorded tables. They are sent like
other arrays, in memory that the workers map (`_workers/wire.py`).

A table named like an argument of its reader (`files`) replaces this argument, which is `()` in workers. Otherwise a list
of a million names would be copied into each worker.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

Tables: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Tables of readers, by names of the node and of the table."""

_T = TypeVar("_T")
# Tables of the reader that this thread opens: recorded ones (`noted`), received ones (`known`), and a `prefix` of their names.
_HERE = threading.local()


def shared(name: str, compute: Callable[[], _T]) -> _T:
    """Returns a table; computes it unless this is a worker that received it.

    Args:
        name: name of the table, unique within its reader.
        compute: returns the table, which must be picklable and immutable.
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
    """Prefixes the names of tables, where one node opens several readers."""
    before = getattr(_HERE, "prefix", "")
    _HERE.prefix = f"{before}{name}/"
    try:
        yield
    finally:
        _HERE.prefix = before


@contextlib.contextmanager
def noting() -> Iterator[dict[str, Any]]:
    """Records the tables of the reader that this thread opens inside."""
    noted: dict[str, Any] = {}
    _HERE.noted = noted
    try:
        yield noted
    finally:
        _HERE.noted = None


@contextlib.contextmanager
def reusing(tables: Mapping[str, object]) -> Iterator[None]:
    """Passes tables to the reader that this thread opens inside."""
    _HERE.known = tables
    try:
        yield
    finally:
        _HERE.known = {}
