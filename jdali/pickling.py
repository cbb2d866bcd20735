"""Pickling of callbacks for worker processes: `pickle_by_value`, and `dumps` and `loads` that know of it.

This is what a `Pipeline` uses if it has no `py_callback_pickler`.
"""

from jdali._workers import dumps, loads, pickle_by_value

__all__ = ["dumps", "loads", "pickle_by_value"]


class _DaliPickle:
    """The two functions as an object, for picklers of users' that go on to DALI's."""

    dumps, loads = staticmethod(dumps), staticmethod(loads)
