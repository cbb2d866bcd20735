"""Sends code and data by value: a process imports what it finds, and gets all else itself, of `__main__` as well."""

from __future__ import annotations

import importlib.util
import io
import pickle
from collections.abc import Callable
from typing import Any

from jdali._system.extras import install
from jdali._workers import by_value
from jdali._workers.jobs import PackedMemory
from jdali._workers.wire import pack, reduced_array


def pack_by_value(
    value: object, reduced: Callable[[object], object] = lambda _: NotImplemented
) -> PackedMemory:
    """Packs a value for a pool; arrays in it go to shared memory.

    Args:
        value: to send.
        reduced: returns what `pickle` should reduce an object to, see `Pickler.reducer_override`, or NotImplemented.

    Raises:
        ModuleNotFoundError: there is no cloudpickle.
        Exception: something cannot be pickled.
    """
    if importlib.util.find_spec("cloudpickle") is None:
        raise ModuleNotFoundError(
            f"worker processes get the pipeline with cloudpickle, which is not installed: {install('workers')}"
        )
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # without types
        def reducer_override(self, obj: object) -> Any:
            for reducer in (reduced, reduced_array, by_value.reduced_if_marked):
                if (found := reducer(obj)) is not NotImplemented:
                    return found
            return super().reducer_override(obj)

    def pickler(file: io.BytesIO, buffer_callback: Callable[[pickle.PickleBuffer], bool]) -> Any:
        return Pickler(file, pickle.HIGHEST_PROTOCOL, buffer_callback)

    return PackedMemory.of(*pack(value, pickler))
