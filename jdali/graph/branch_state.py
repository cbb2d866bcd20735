"""Saves and merges the state that the branches of a conditional set in a function."""

from __future__ import annotations

import enum
import numbers
from collections.abc import Callable, Iterator, Sequence
from types import CellType, FunctionType
from typing import Any, TypeAlias

import jax
import numpy as np


class _Missing(enum.Enum):
    MISSING = "not set"


MISSING = _Missing.MISSING
# Constants that become graph values even if they are the same in both branches, as in DALI.
_NUMBERS = (numbers.Number, np.ndarray, np.generic, jax.Array)
_Finish: TypeAlias = Callable[[Sequence[Any]], Any]  # makes a value from the merged leaves


class Return:
    """Marks the end of a branch by `return value`."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


class _Single:
    """Represents a target with one value."""

    name: str

    def add_to(self, merge: Merge, if_true: object, if_false: object) -> None:
        merge.add(self.name, if_true, if_false, key=self.name.rpartition(".")[2])


class Variable(_Single):
    """Represents a variable that branches share with the function around them."""

    def __init__(self, name: str, cell: CellType):
        self.name, self._cell = name, cell

    def get(self) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:
            return MISSING

    def set(self, value: Any) -> None:
        if value is MISSING:
            del self._cell.cell_contents
        else:
            self._cell.cell_contents = value


class GlobalVariable(_Single):
    """Represents a variable that the function declares as global."""

    def __init__(self, name: str, namespace: dict[str, Any]):
        self.name, self._namespace = name, namespace

    def get(self) -> Any:
        return self._namespace.get(self.name, MISSING)

    def set(self, value: Any) -> None:
        if value is MISSING:
            self._namespace.pop(self.name, None)
        else:
            self._namespace[self.name] = value


class Attribute(_Single):
    """Represents an attribute of an object."""

    def __init__(self, name: str, owner: Any, attribute: str):
        self.name, self._owner, self._attribute = name, owner, attribute

    def get(self) -> Any:
        return getattr(self._owner, self._attribute, MISSING)

    def set(self, value: Any) -> None:
        if value is not MISSING:
            setattr(self._owner, self._attribute, value)
        elif hasattr(self._owner, self._attribute):
            delattr(self._owner, self._attribute)


class ContainerItems:
    """Represents the items of a dict or list. Only running a branch shows which items it sets."""

    def __init__(self, name: str, container: Any):
        self.name, self._container = name, container

    def get(self) -> Any:
        return self._container.copy()

    def set(self, value: Any) -> None:
        if isinstance(self._container, list):
            self._container[:] = value
        else:
            self._container.clear()
            self._container.update((k, v) for k, v in value.items() if v is not MISSING)

    def add_to(self, merge: Merge, if_true: object, if_false: object) -> None:
        merge.add_items(self.name, if_true, if_false)


Target: TypeAlias = "Variable | GlobalVariable | Attribute | ContainerItems"
"""A target of an assignment in a branch. `get` returns its value or a copy of the container, and MISSING if it is not set."""


def variables(branches: Sequence[FunctionType | None], names: Sequence[str]) -> Iterator[Target]:
    """Yields a `Target` for each of these variables, which the branches set."""
    shared: dict[str, CellType] = {}
    for branch in branches:
        if branch is not None:
            shared |= zip(branch.__code__.co_freevars, branch.__closure__ or (), strict=True)
    for name in names:
        if name in shared:
            yield Variable(name, shared[name])
        else:
            function = next(b for b in branches if b is not None)
            yield GlobalVariable(name, function.__globals__)


def existing_targets(targets: Sequence[tuple[str, Callable[[], object], str | None]]) -> Iterator[Target]:
    """Yields the attributes and items that branches set on objects that existed before the branches."""
    for name, owner, attribute in targets:
        try:
            found = owner()
        except (NameError, AttributeError, LookupError):
            continue  # made in the branch
        if attribute is not None:
            yield Attribute(name, found, attribute)
        elif isinstance(found, (dict, list)):
            yield ContainerItems(name, found)


class Merge:
    """Merges values from the branches of a conditional; the values may be in containers."""

    def __init__(self, hooks: Any, condition: Any):
        self._hooks, self._condition = hooks, condition
        self._names: list[str] = []
        self._pairs: list[tuple[Any, Any]] = []
        self._finish: list[_Finish] = []
        # By key: full name, and the branch that does not set it.
        self.missing: dict[str, tuple[str, str]] = {}

    def add(self, name: str, if_true: Any, if_false: Any, key: str = "") -> None:
        """Adds a target's values after the two branches. A value is MISSING if its branch does not set the target.

        `key` is the name of the target in Python's own errors.
        """
        self._finish.append(self._value(name, if_true, if_false, key))

    def add_items(self, name: str, if_true: Any, if_false: Any) -> None:
        """Adds a dict or list, item by item."""
        if isinstance(if_true, dict):
            keys = [*if_true, *(k for k in if_false if k not in if_true)]
            parts = [
                self._value(f"{name}[{k!r}]", if_true.get(k, MISSING), if_false.get(k, MISSING), str(k))
                for k in keys
            ]
            self._finish.append(lambda merged: {k: part(merged) for k, part in zip(keys, parts, strict=True)})
            return
        if len(if_true) != len(if_false):
            raise ValueError(
                f"{name} has {len(if_true)} items after the `if` branch of a conditional and {len(if_false)}"
                " after the `else` branch: a condition that is a graph value needs as many in both"
            )
        both = enumerate(zip(if_true, if_false, strict=True))
        parts = [self._value(f"{name}[{i}]", a, b, "") for i, (a, b) in both]
        self._finish.append(lambda merged: [part(merged) for part in parts])

    def _value(self, name: str, if_true: Any, if_false: Any, key: str) -> _Finish:
        if if_true is MISSING or if_false is MISSING:
            if if_true is not if_false:
                self.missing[key] = name, "if" if if_true is MISSING else "else"
            return lambda merged: MISSING
        if if_true is if_false and not isinstance(if_true, _NUMBERS):
            return lambda merged: if_true  # no branch has changed it
        structure: Any
        other: Any
        paths, structure = jax.tree_util.tree_flatten_with_path(if_true, is_leaf=self._hooks.is_graph_value)
        leaves, other = jax.tree_util.tree_flatten(if_false, is_leaf=self._hooks.is_graph_value)
        if structure != other:
            raise ValueError(
                f"{name} is {outline(structure)} after the `if` branch of a conditional and"
                f" {outline(other)} after the `else` branch: a condition that is a graph value needs the"
                " same structure of tuples, lists and dicts (or None) in both"
            )
        built = [
            self._leaf(name + jax.tree_util.keystr(path), true, false)
            for (path, true), false in zip(paths, leaves, strict=True)
        ]
        return lambda merged: structure.unflatten([leaf(merged) for leaf in built])

    def _leaf(self, name: str, if_true: object, if_false: object) -> _Finish:
        if if_true is if_false and not isinstance(if_true, _NUMBERS):
            return lambda merged: if_true
        index = len(self._names)
        self._names.append(name)
        self._pairs.append((if_true, if_false))
        return lambda merged: merged[index]

    def run(self) -> list[Any]:
        """Merges the values, and returns them in the order in which they were added."""
        merged: Sequence[Any] = ()
        if self._names:
            true, false = zip(*self._pairs, strict=True)
            merged = self._hooks.merge(self._condition, self._names, true, false)
        return [finish(merged) for finish in self._finish]


def outline(structure: Any) -> str:
    """Writes a structure with a star for each leaf: "(*, [*])"."""
    return str(structure.unflatten(["*"] * structure.num_leaves)).replace("'*'", "*")
