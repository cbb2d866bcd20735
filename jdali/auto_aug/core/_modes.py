"""Lets functions of pipeline nodes also take batches of dynamic mode, or one array with a JAX key."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import numpy as np
from jax import Array

from jdali._operators.random_key import take_first_key
from jdali.data_node import DataNode
from jdali.dynamic._invoke import run_as_graph
from jdali.dynamic._value import EagerValue
from jdali.engine.function import call_on_sample
from jdali.graph import current_graph

F = TypeVar("F", bound=Callable[..., Any])


def in_either_mode(function: F) -> F:
    """Decorates a function of pipeline nodes: it then also takes arrays, and tensors and batches of dynamic mode.

    Outside of a pipeline definition, the function is traced as a small pipeline, which is cached for later calls of the same
    kind. Called with tensors and batches, the function runs at once. Called with arrays, it is a pure function of one sample
    and a key, which comes first or as `key=`. Calls with tensors and batches may have a key, too. A method may be decorated if
    its object has a `name`, for messages.
    """
    owners = int(next(iter(inspect.signature(function).parameters)) == "self")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        name = args[0].name if owners else function.__name__
        if current_graph() is not None:
            return function(*args, **kwargs)
        leaves = jax.tree_util.tree_leaves((args, kwargs), is_leaf=lambda v: isinstance(v, EagerValue))
        kinds = set(map(_kind, leaves))
        if DataNode in kinds or not kinds & {EagerValue, Array}:
            if kwargs.pop("key", None) is not None:
                raise TypeError(
                    f"{name}: a key goes with arrays, tensors and batches; a pipeline draws from its seed"
                )
            return function(*args, **kwargs)
        key, values = take_first_key(name, args[owners:], kwargs.pop("key", None))
        values = [*args[:owners], *values]
        if key is not None and kwargs.get("seed") is not None:
            raise TypeError(f"{name}: a call has a key or a seed=, not both")
        if EagerValue in kinds:
            return run_as_graph(function, values, kwargs, key)
        return call_on_sample(function, values, kwargs, key, name)

    return call  # type: ignore[return-value]


def _kind(leaf: object) -> type | None:
    """Returns EagerValue, DataNode or Array, which decide the mode of a call; None for values of other types."""
    if isinstance(leaf, np.ndarray):
        return Array
    return next((kind for kind in (EagerValue, DataNode, Array) if isinstance(leaf, kind)), None)
