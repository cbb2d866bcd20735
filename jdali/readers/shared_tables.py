"""Shares the tables of a data set (names, offsets of records) with all workers of a machine, which map them into memory.

A reader computes large or slow tables through `shared`. The user's process opens the reader within `noting`, which
records the tables. A worker opens the same reader within `reusing`, and gets the recorded tables. They are sent like
other arrays, in memory that the workers map (`_workers/wire.py`).

A table may have the name of an argument of its reader, such as `files`. Workers then use the table, and get `()` for the
argument. Otherwise each worker would get a copy of the argument, for instance of a list of a million names.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

Tables: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Tables of readers, by names of the node and of the table."""

_T = TypeVar("_T")
# State of the reader that this thread opens: recorded tables (`noted`), received tables (`known`), `prefix` of their
# names.
_HERE = threading.local()


def shared(name: str, compute: Callable[[], _T]) -> _T:
    """Returns a table: in a worker, the table that it received; otherwise the result of `compute`.

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
    """Prefixes the names of tables, so that they differ if one node of the pipeline opens several readers."""
    before = getattr(_HERE, "prefix", "")
    _HERE.prefix = f"{before}{name}/"
    try:
        yield
    finally:
        _HERE.prefix = before


@contextlib.contextmanager
def noting() -> Iterator[dict[str, Any]]:
    """Records the tables of the reader that this thread opens inside the context."""
    noted: dict[str, Any] = {}
    _HERE.noted = noted
    try:
        yield noted
    finally:
        _HERE.noted = None


@contextlib.contextmanager
def reusing(tables: Mapping[str, object]) -> Iterator[None]:
    """Passes tables to the reader that this thread opens inside the context."""
    _HERE.known = tables
    try:
        yield
    finally:
        _HERE.known = {}
