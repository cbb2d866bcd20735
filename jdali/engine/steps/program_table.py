"""Shares the compiled functions of a process among pipelines and eager calls that compute the same.

A key has everything that a function depends on, so two pipelines with equal operators, arguments, shapes and element types
run one program, wherever they are defined. A function is kept as long as it is in use. The most recently used functions are
kept longer, in case their pipeline is defined again, but not if their keys would keep objects of the user alive. JAX's cache
on disk shares programs with other processes.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np

from jdali._operators.call import Constant
from jdali._operators.record import Operator, is_built_in
from jdali._system.cache_folder import cache_folder
from jdali._system.jax_modes import unchecked

# Maximum number of functions that are kept; the least recently used are dropped first. Programs of one operator take a few
# hundred kilobytes each, large programs some megabytes.
KEPT_FUNCTIONS = 128
# A function is not kept if a constant in its key has more bytes.
_MOST_CONSTANT_BYTES = 1 << 20
_PLAIN = (
    type(None), bool, int, float, complex, str, bytes, enum.Enum, np.dtype, np.generic, jax.sharding.Mesh,
)  # fmt: skip


class Compiled:
    """Holds a function of `jax.jit`, which several programs may share; `lock` is held during a first call."""

    __slots__ = ("__weakref__", "compiled_for", "function", "lock")

    def __init__(self, function: Any):
        self.function, self.lock = function, threading.Lock()
        self.compiled_for: set[Hashable] = set()  # devices and meshes

    def __call__(self, *operands: Any) -> Any:
        with unchecked():
            return self.function(*operands)


class ProgramTable:
    """Holds compiled functions by keys that describe what they compute."""

    def __init__(self, most: int = KEPT_FUNCTIONS):
        self._most = most
        self._lock = threading.Lock()
        self._used: weakref.WeakValueDictionary[Hashable, Compiled] = weakref.WeakValueDictionary()
        self._kept: collections.OrderedDict[Hashable, Compiled] = collections.OrderedDict()

    def get(self, wanted: Hashable, make: Callable[[], Any]) -> Compiled:
        """Returns the function of a key. If there is none, makes it with `make` and `jax.jit`."""
        key = _typed(wanted)
        with self._lock:
            found = self._used.get(key)
            if found is None:
                found = self._used[key] = Compiled(make())
            if key in self._kept:
                self._kept.move_to_end(key)
            elif _is_plain(wanted):
                self._kept[key] = found
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            return found

    def clear(self) -> None:
        """Drops all functions; functions in use remain usable, but new programs do not share them."""
        with self._lock:
            self._kept.clear()
            self._used.clear()

    def __len__(self) -> int:
        return len(self._used)


def _typed(value: Any) -> Hashable:
    """Distinguishes values that are equal in Python (1, 1.0, True; 0.0, -0.0), because their programs may differ."""
    if isinstance(value, Operator):
        return value
    if isinstance(value, tuple):
        return (type(value), *map(_typed, value))
    if _is_compared_by_fields(value):
        return (type(value), *(_typed(getattr(value, field.name)) for field in dataclasses.fields(value)))
    if isinstance(value, (float, complex, np.generic)):
        return type(value), np.asarray(value).tobytes()
    return type(value), value


def _is_plain(value: Any) -> bool:
    """Returns True if a key holds neither the user's objects nor much memory."""
    if isinstance(value, Operator):
        return is_built_in(value)
    if isinstance(value, Constant):
        return value.value.nbytes <= _MOST_CONSTANT_BYTES
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    if _is_compared_by_fields(value):
        return all(_is_plain(getattr(value, field.name)) for field in dataclasses.fields(value))
    return isinstance(value, _PLAIN)


def _is_compared_by_fields(value: Any) -> bool:
    if isinstance(value, type) or not dataclasses.is_dataclass(value):
        return False
    kind: Any = type(value)
    return bool(kind.__dataclass_params__.eq)


PROGRAMS = ProgramTable()


# Programs that compile faster than this are not worth a file.
MIN_COMPILE_SECONDS = 0.05


def enable_compilation_cache() -> None:
    """Turns on JAX's cache on disk, unless the user has configured it or set JDALI_COMPILATION_CACHE=0."""
    configured = getattr(jax.config, "jax_compilation_cache_dir", None)
    if os.environ.get("JDALI_COMPILATION_CACHE") == "0" or configured is not None:
        return
    folder = cache_folder() / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a read-only home: compile again next time
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)
