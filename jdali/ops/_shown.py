"""Makes the members of `jdali.ops`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from jdali._operators.record import REGISTRY, CompiledOp, kind_of
from jdali._operators.surface import HIDDEN, class_name, is_deprecated
from jdali.ops._pure import make_pure


def shown(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields (name, loader) for the pure function, if the operator is compiled, and for the class, if it is public."""
    if issubclass(kind_of(name), CompiledOp) and not name.startswith("_"):
        yield name, lambda: make_pure(REGISTRY[name])
    if not name.startswith(HIDDEN):
        yield class_name(name), lambda: class_of(name)


def class_of(name: str) -> Any:
    made = classes().make_class(REGISTRY[name])
    return deprecated(made, name) if is_deprecated(name) else made


def deprecated(made: object, name: str) -> Any:
    """Makes a class whose calls warn of a deprecated name."""
    return classes().deprecated_class(made, name)


def classes() -> ModuleType:
    """Imports the module of operator classes on first use, because that module imports the graph, which imports `ops`."""
    return importlib.import_module("jdali.fn._classes")
