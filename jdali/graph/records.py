"""Graphs as plain data, of which copies, workers, serialized pipelines and exported folders make a graph again.

Values go by number. Nodes keep their numbers, which are part of random keys.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

from jdali._operators.record import REGISTRY, Operator

NO_BRANCH = -1  # number of the whole batch among the domains


@dataclasses.dataclass(frozen=True)
class ValueNumber:
    """An output of a node: number of the node, and of the output."""

    node: int
    index: int


@dataclasses.dataclass(frozen=True)
class DomainRecord:
    """A branch, see `Domain`; the parent is a number."""

    parent: int
    predicate: ValueNumber
    branch: bool | int
    share: float = 1.0
    where: str = ""


@dataclasses.dataclass(frozen=True)
class NodeRecord:
    """A node, see `Node`.

    Attributes:
        inputs, args: with a `ValueNumber` in place of each value.
        runtime: makes the node's `runtime`; None: it has none. An argument that is this very object stands for the
            result.
        outputs: how many.
        domain: its number, or `NO_BRANCH`.
    """

    op: Operator
    name: str
    named: bool
    device: str
    inputs: tuple[Any, ...]
    args: dict[str, Any]
    seed: int | None
    runtime: Callable[[], Any] | None
    outputs: int
    domain: int
    where: str
    preserve: bool


@dataclasses.dataclass(frozen=True)
class GraphRecord:
    """All nodes of a graph in their order, and the branches that they work on."""

    nodes: tuple[NodeRecord, ...]
    domains: tuple[DomainRecord, ...]


def reduced_operator(value: object) -> Any:
    """Reduces an operator, for `pickle`, to its name and module; NotImplemented for one of `__main__`, and all else."""
    if not isinstance(value, Operator) or REGISTRY.loaded().get(value.name) is not value:
        return NotImplemented
    module = value.run.__module__
    file = getattr(sys.modules.get(module), "__file__", None)
    return (
        NotImplemented
        if module == "__main__" or file is None
        else (_loaded_operator, (value.name, module, file))
    )


def _loaded_operator(name: str, module: str, file: str) -> Operator:
    if name not in REGISTRY:
        _import(module, file)
    return REGISTRY[name]


def _import(module: str, file: str) -> None:
    """Imports a module that registers operators; one that `plugin_manager` has loaded may be in no folder of the path."""
    try:
        importlib.import_module(module)
        return
    except ModuleNotFoundError:
        within = [os.path.dirname(file)] if os.path.basename(file) == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(module, file, submodule_search_locations=within)
        if spec is None or spec.loader is None:
            raise
    loaded = sys.modules[module] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
