"""Members of `jdali.ops` for each operator."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from jdali._operators.record import REGISTRY, CompiledOp, kind_of
from jdali._operators.surface import HIDDEN, class_name, is_deprecated
from jdali.ops._pure import make_pure


def shown(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields a pure function, if the operator is compiled, and a class, if users call it."""
    if issubclass(kind_of(name), CompiledOp) and not name.startswith("_"):
        yield name, lambda: make_pure(REGISTRY[name])
    if not name.startswith(HIDDEN):
        yield class_name(name), lambda: class_of(name)


def class_of(name: str) -> Any:
    """Returns the class of an operator."""
    made = classes().make_class(REGISTRY[name])
    return deprecated(made, name) if is_deprecated(name) else made


def deprecated(made: object, name: str) -> Any:
    """Makes the same class with a deprecated name, whose calls warn."""
    return classes().deprecated_class(made, name)


def classes() -> ModuleType:
    """Imports the module of the classes: it stands on the graph, and the graph on the operators of this package."""
    return importlib.import_module("jdali.fn._classes")
