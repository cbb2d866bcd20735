"""Sending objects with the user's callbacks to processes that do not share memory with this one."""

from __future__ import annotations

import copy
import functools
import importlib.util
import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from jdali._system.extras import install
from jdali._workers import by_value as _by_value

_Loads: TypeAlias = Callable[[bytes], Any]


def send(objects: Sequence[Any], pickler: Any) -> tuple[bytes, _Loads]:
    """The objects pickled, their attribute `callback` by the pickler and all else by `pickle`.

    Args:
        objects: see `WorkerPool`.
        pickler: see `WorkerPool`.

    Returns: what `receive` takes.

    Raises:
        Exception: what the pickler raised, with a note.
    """
    dumps, loads = _dumps_and_loads(pickler)
    parts = []
    for one in objects:
        rest = copy.copy(one)
        rest.callback = None
        try:
            parts.append((rest, dumps(one.callback)))
        except Exception as error:
            error.add_note(f"a callback that runs in a worker process must be pickled{_advice(pickler)}")
            raise
    return pickle.dumps(parts), loads


def receive(payload: bytes, loads: _Loads) -> list[Any]:
    """The objects that were sent."""
    objects = []
    for one, callback in pickle.loads(payload):
        one.callback = loads(callback)
        objects.append(one)
    return objects


def _advice(pickler: object) -> str:
    if pickler is not None or importlib.util.find_spec("cloudpickle") is not None:
        return ""
    return f"; with cloudpickle also objects of local classes can be: {install('workers')}"


def _dumps_and_loads(pickler: Any) -> tuple[Callable[[Any], bytes], _Loads]:
    if pickler is None:
        return _dumps, pickle.loads
    parts = [*pickler] if isinstance(pickler, (tuple, list)) else [pickler]
    module: Any
    module, saving, loading = (part or {} for part in [*parts, {}, {}][:3])
    try:
        return functools.partial(module.dumps, **saving), functools.partial(module.loads, **loading)
    except AttributeError:
        raise ValueError(
            "Pipeline: unsupported py_callback_pickler: it must be a module or an object with dumps and loads, or a "
            f"tuple of that and the keyword arguments of both, not {pickler!r}"
        ) from None


def _dumps(value: object) -> bytes:
    """By jdali's own pickler; by cloudpickle, if there is one, what workers cannot import."""
    main = sys.modules["__main__"]
    if hasattr(
        main, "__file__"
    ):  # else a prompt or a notebook, whose classes and functions no worker can import
        try:
            return _by_value.dumps(value)
        except Exception:
            if importlib.util.find_spec("cloudpickle") is None:
                raise
    if importlib.util.find_spec("cloudpickle") is None:
        return _by_value.dumps(value)
    import cloudpickle

    return bytes(cloudpickle.dumps(value))
