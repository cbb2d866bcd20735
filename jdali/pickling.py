"""Pickles callbacks for worker processes: `pickle_by_value`, and `dumps` and `loads` that obey it.

A `Pipeline` without `py_callback_pickler` uses these functions.
"""

from jdali._workers import dumps, loads, pickle_by_value

__all__ = ["dumps", "loads", "pickle_by_value"]


class _DaliPickle:
    """`dumps` and `loads` as attributes of one object, for users' picklers that call DALI's."""

    dumps, loads = staticmethod(dumps), staticmethod(loads)
