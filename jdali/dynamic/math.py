"""Provides element-wise functions of tensors, batches and numbers; most return float32 for integers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from jdali import math as _of_nodes
from jdali.dynamic._invoke import expression

__all__ = list(_of_nodes.__all__)


def _at_once(function: Callable[..., object]) -> Callable[..., Any]:
    """Makes a function of tensors, which runs immediately, from a function of nodes in `jdali.math`."""
    name, signature = function.__name__, inspect.signature(function)

    @functools.wraps(function)
    def computed(*operands: object, **named: object) -> Any:
        if named or len(operands) != len(signature.parameters):
            operands = signature.bind(*operands, **named).args
        return expression(name, *operands)

    computed.__module__ = __name__
    vars(computed)["__signature__"] = signature.replace(return_annotation="Tensor | Batch")
    return computed


globals().update({name: _at_once(getattr(_of_nodes, name)) for name in __all__})
