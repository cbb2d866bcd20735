"""Pickles callbacks for worker processes; `dumps` sends functions marked with `pickle_by_value` as code, not by name.

A `Pipeline` without `py_callback_pickler` uses these functions.
"""

from jdali._workers import dumps, loads, pickle_by_value

__all__ = ["dumps", "loads", "pickle_by_value"]


class _DaliPickle:
    """Holds `dumps` and `loads` as attributes, as in DALI; users' own picklers may call them."""

    dumps, loads = staticmethod(dumps), staticmethod(loads)
