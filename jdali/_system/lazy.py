"""Makes attributes of modules on first use (PEP 562).

So `import jdali` does not load the operators and their libraries; each module is loaded when the program first uses it.
Each attribute is made once. `dir` and `from module import *` include all attributes.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Maker = Callable[[], Any]
_entries: dict[str, str] = {}  # {entry: name of its module}


def attribute(module: ModuleType, name: str, make: Maker) -> None:
    """Adds a lazy attribute to a module; replaces any other attribute of that name.

    Args:
        module: the module, whose `__getattr__` and `__dir__` are set.
        make: makes the value on first use; several threads may call it at the same time.
    """
    makers = vars(module).get("__lazy__")
    if makers is None:
        makers = vars(module)["__lazy__"] = {}
        vars(module).update(_hooks(module, makers))
    vars(module).pop(name, None)
    makers[name] = make


def imported(package: str, where: Mapping[str, str]) -> None:
    """Adds lazy attributes to a package. Each is imported on first use.

    Args:
        where: {attribute: name of the module that defines it}; for a submodule, its own full name.
    """
    module = sys.modules[package]
    for name, source in where.items():
        attribute(module, name, lambda name=name, source=source: _import(module, name, source))  # type: ignore[misc]


def register(entry: str, module: str) -> None:
    """Registers the module that defines the function `entry`, so that lower layers can call this function."""
    _entries[entry] = module


def entry(name: str) -> Callable[..., Any]:
    """Imports the function that is registered under a name; raises ImportError if an optional package is missing."""
    function: Callable[..., Any] = getattr(importlib.import_module(_entries[name]), name)
    return function


def _import(module: ModuleType, name: str, source: str) -> object:
    found = importlib.import_module(source)
    return found if source == f"{module.__name__}.{name}" else getattr(found, name)


def _hooks(module: ModuleType, makers: dict[str, Maker]) -> dict[str, Any]:
    """Makes `__getattr__` and `__dir__` of a module."""

    def names() -> list[str]:
        return sorted({*vars(module), *makers})

    def find(name: str) -> object:
        if name == "__all__":
            return [n for n in names() if not n.startswith("_")]
        make = makers.get(name)
        if make is None:
            raise AttributeError(
                f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module
            )
        return vars(module).setdefault(name, make())  # if several threads made a value, all get the first one

    return {"__getattr__": find, "__dir__": names}
