"""Pickles functions by value: lambdas, local functions, and functions that `pickle_by_value` marks.

`pickle` writes a function as a name in a module. Lambdas and local functions cannot be found in this way. `dumps`
writes the function itself: the code, the closure, and the global variables that the function uses.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import importlib.util
import inspect
import io
import marshal
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from jdali._system.extras import install
from jdali._workers.jobs import PackedMemory
from jdali._workers.wire import pack, reduced_array

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "_jdali_pickle_by_value"


def pickle_by_value(fun: F) -> F:
    """Marks a function of a module, so that workers get the function itself instead of its name.

    Then workers need not import the module. Lambdas and functions inside functions are always sent this way.

    Args:
        fun: a function written in Python; also used as a decorator.

    Returns: the same function.

    Raises:
        TypeError: `fun` is not a function.
    """
    if not inspect.isfunction(fun):
        raise TypeError(f"pickle_by_value: only functions can be pickled by value, not {type(fun).__name__}")
    setattr(fun, _MARK, True)
    return fun


def dumps(value: object) -> bytes:
    """Pickles a value; functions that cannot be found by name are pickled by value."""
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


loads = pickle.loads


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: object) -> Any:
        if isinstance(obj, types.FunctionType) and _is_by_value(obj):
            return _reduced(obj)
        if isinstance(obj, types.CellType):
            return _new_cell, ()  # the content is sent with the function that uses the cell
        if isinstance(obj, types.ModuleType):
            return importlib.import_module, (obj.__name__,)
        return NotImplemented


def reduced_if_marked(obj: object) -> Any:
    """Reduces a function that `pickle_by_value` has marked; returns NotImplemented for other objects."""
    if isinstance(obj, types.FunctionType) and hasattr(obj, _MARK):
        return _reduced(obj)
    return NotImplemented


def _is_by_value(function: types.FunctionType) -> bool:
    name = function.__qualname__
    return hasattr(function, _MARK) or "<locals>" in name or "<lambda>" in name


def _reduced(function: types.FunctionType) -> tuple[object, ...]:
    """Reduces a function for `pickle`. Closure and globals are set after it is rebuilt, because they may refer to it."""
    cells = function.__closure__ or ()
    made = (marshal.dumps(function.__code__), function.__module__, cells)
    used = {name: function.__globals__[name] for name in set(_global_names(function.__code__))
            if name in function.__globals__}  # fmt: skip
    state = {
        "attributes": {
            "__name__": function.__name__,
            "__qualname__": function.__qualname__,
            "__doc__": function.__doc__,
            "__defaults__": function.__defaults__,
            "__kwdefaults__": function.__kwdefaults__,
            **function.__dict__,
        },
        "globals": used,
        # A cell without content equals only another one.
        "cells": {i: cell.cell_contents for i, cell in enumerate(cells) if cell != types.CellType()},
    }
    return _new_function, made, state, None, None, _set_up


def _global_names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname.endswith(("_GLOBAL", "_NAME")):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def _new_cell() -> types.CellType:
    return types.CellType()


def _new_function(code: bytes, module: str, cells: tuple[types.CellType, ...]) -> types.FunctionType:
    scope = {"__name__": module, "__builtins__": builtins}
    return types.FunctionType(marshal.loads(code), scope, closure=cells)


def _set_up(function: types.FunctionType, state: dict[str, Any]) -> None:
    for name, value in state["attributes"].items():
        setattr(function, name, value)
    function.__globals__.update(state["globals"])
    cells = function.__closure__ or ()
    for i, value in state["cells"].items():
        cells[i].cell_contents = value


def pack_by_value(
    value: object, reduced: Callable[[object], object] = lambda _: NotImplemented
) -> PackedMemory:
    """Packs a value for a pool; arrays in it go to shared memory. `reduced` is as `Pickler.reducer_override`."""
    if importlib.util.find_spec("cloudpickle") is None:
        raise ModuleNotFoundError(
            f"worker processes get the pipeline with cloudpickle, which is not installed: {install('workers')}"
        )
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # without types
        def reducer_override(self, obj: object) -> Any:
            for reducer in (reduced, reduced_array, reduced_if_marked):
                if (found := reducer(obj)) is not NotImplemented:
                    return found
            return super().reducer_override(obj)

    def pickler(file: io.BytesIO, buffer_callback: Callable[[pickle.PickleBuffer], bool]) -> Any:
        return Pickler(file, pickle.HIGHEST_PROTOCOL, buffer_callback)

    return PackedMemory.of(*pack(value, pickler))
