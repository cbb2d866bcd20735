"""Functions on the nodes of a pipeline that work on the batches of dynamic mode, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax

from jdali.dynamic._graph import run_as_graph
from jdali.dynamic._value import EagerValue
from jdali.graph import current_graph

F = TypeVar("F", bound=Callable[..., Any])


def in_either_mode(function: F) -> F:
    """Lets a function that calls operators of `jdali.fn` take tensors and batches of dynamic mode.

    With some, and outside of a pipeline definition, it is traced as a small pipeline, which runs at once and is
    kept for calls of the same kind.
    """

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        if current_graph() is None and any(isinstance(v, EagerValue) for v in _leaves((args, kwargs))):
            return run_as_graph(function, args, kwargs)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def _leaves(values: object) -> list[Any]:
    return jax.tree_util.tree_leaves(values, is_leaf=lambda v: isinstance(v, EagerValue))
