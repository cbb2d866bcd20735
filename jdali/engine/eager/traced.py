"""Traces functions on graph nodes. Calls that differ only in their arrays share a trace."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import jax

from jdali.graph import DataNode, Graph, building, trace

Made = TypeVar("Made")


class ObjectCache(Generic[Made]):
    """Makes an object for each key, and caches up to `most` objects. Objects of unhashable keys are not cached."""

    def __init__(self, make: Callable[[Any], Made], most: int):
        self._make = make
        self._kept = functools.lru_cache(maxsize=most)(make)
        self.cache_clear = self._kept.cache_clear

    def __call__(self, key: Any) -> Made:
        try:
            return self._kept(key)
        except TypeError:
            return self._make(key)


@dataclasses.dataclass(frozen=True)
class CallKey:
    """Identifies a call of a function by everything except the arrays.

    Attributes:
        constants: type and value of each argument; None if the argument is an array.
    """

    function: Callable[..., Any]
    structure: Any
    constants: tuple[tuple[type, Any] | None, ...]

    @classmethod
    def of(
        cls, function: Callable[..., Any], args: Sequence[object], kwargs: Mapping[str, object], arrays: Any
    ) -> tuple[CallKey, list[Any]]:
        """Splits a call into its key and its arrays, which are the arguments whose type is in `arrays`."""
        leaves, structure = jax.tree_util.tree_flatten(
            (tuple(args), dict(kwargs)), is_leaf=lambda v: v is None or isinstance(v, arrays)
        )
        constants = tuple(None if isinstance(leaf, arrays) else (type(leaf), leaf) for leaf in leaves)
        return cls(function, structure, constants), [leaf for leaf in leaves if isinstance(leaf, arrays)]

    def __call__(self, *nodes: DataNode) -> Any:
        """Calls the function with nodes in place of the arrays."""
        remaining = iter(nodes)
        leaves = [next(remaining) if constant is None else constant[1] for constant in self.constants]
        args, kwargs = jax.tree_util.tree_unflatten(self.structure, leaves)
        return self.function(*args, **kwargs)


class TracedFunction:
    """Holds a function that was traced as a graph."""

    def __init__(self, define: Callable[..., Any], devices: Sequence[str]):
        """Traces a function, with an input node on each of `devices`."""
        self.graph = Graph()
        self.inputs = [self.graph.add_batch(None, device) for device in devices]
        with building(self.graph):
            result = trace(define, self.inputs, {}, self.graph)
        self._leaves, self._structure = jax.tree_util.tree_flatten(result)
        self.outputs = [leaf for leaf in self._leaves if isinstance(leaf, DataNode)]

    def result(self, values: Sequence[object]) -> Any:
        """Returns the function's result, with a value in place of each output."""
        remaining = iter(values)
        leaves = [next(remaining) if isinstance(leaf, DataNode) else leaf for leaf in self._leaves]
        return jax.tree_util.tree_unflatten(self._structure, leaves)
