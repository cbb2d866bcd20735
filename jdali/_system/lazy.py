"""Attributes of modules that are made when they are first asked for (PEP 562).

So `import jdali` loads nothing that the program does not use: neither the modules of operators nor the libraries that
these need. An attribute is kept once it was made. `dir` and `from module import *` know all of them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Maker = Callable[[], Any]
_entries: dict[str, str] = {}  # module of each entry, by its name


def attribute(module: ModuleType, name: str, make: Maker) -> None:
    """Gives a module an attribute, in place of any other of that name.

    Args:
        module: its `__getattr__` and `__dir__` are set.
        name: of the attribute.
        make: gives its value; called once, or, if threads ask at the same time, once in each.
    """
    makers = vars(module).get("__lazy__")
    if makers is None:
        makers = vars(module)["__lazy__"] = {}
        vars(module).update(_hooks(module, makers))
    vars(module).pop(name, None)
    makers[name] = make


def imported(package: str, where: Mapping[str, str]) -> None:
    """Gives a package attributes that are imported.

    Args:
        package: its name.
        where: the module that defines each name, or, for a submodule of that name, its own.
    """
    module = sys.modules[package]
    for name, source in where.items():
        attribute(module, name, lambda name=name, source=source: _import(module, name, source))  # type: ignore[misc]


def register(entry: str, module: str) -> None:
    """Registers the module that defines the function `entry`, which modules below it call."""
    _entries[entry] = module


def entry(name: str) -> Callable[..., Any]:
    """Imports the function that is registered under a name.

    Raises:
        ImportError: an optional package is missing.
    """
    function: Callable[..., Any] = getattr(importlib.import_module(_entries[name]), name)
    return function


def _import(module: ModuleType, name: str, source: str) -> object:
    found = importlib.import_module(source)
    return found if source == f"{module.__name__}.{name}" else getattr(found, name)


def _hooks(module: ModuleType, makers: dict[str, Maker]) -> dict[str, Any]:
    """Makes the two functions by which Python asks a module for what it does not hold."""

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
        return vars(module).setdefault(name, make())  # of threads that made it, all get the first one's

    return {"__getattr__": find, "__dir__": names}
