"""Making the functions of `jdali.fn` from the operators' records."""

from __future__ import annotations

import inspect
from typing import Any

from jdali._operators.record import Operator
from jdali._operators.surface import describe, document, public_signature
from jdali.graph._call import call_operator
from jdali.graph._node import DataNode

# Taken by every operator, described here once; `seed` only by random operators.
GENERIC: dict[str, tuple[Any, str]] = {
    "device": (None, '"cpu", "gpu" or "mixed"; None: where the inputs are.'),
    "name": (None, "name of the node in the graph; None: one is made up."),
    "bytes_per_sample_hint": (0, "without effect."),
    "preserve": (False, "the operator runs also if none of its outputs is used."),
    "seed": (-1, "seed of this operator alone; -1: it follows from the pipeline's."),
}

# Taken by every operator without effect, and not shown: DALI's deprecated ones.
IGNORED = ("memory_stats", "seed")


def generic_arguments(op: Operator) -> dict[str, tuple[Any, str]]:
    """Default and description of the generic arguments that an operator takes."""
    return {
        name: value for name, value in GENERIC.items()
        if name not in op.public_args and (name != "seed" or op.random)
    }  # fmt: skip


def finish(function: Any, op: Operator) -> Any:
    """Gives a function of `jdali.fn` its signature and docs."""
    generic = generic_arguments(op)
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, (default, _) in generic.items()
    ]
    signature = public_signature(op, DataNode, DataNode)
    signature = signature.replace(parameters=[*signature.parameters.values(), *extra])
    describe(
        function, op, "jdali.fn", signature, document(op, {name: text for name, (_, text) in generic.items()})
    )
    return function


def take_generic(op: Operator, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Takes the generic arguments out of `kwargs`; returns those that have an effect."""
    taken = {name: kwargs.pop(name, default) for name, (default, _) in generic_arguments(op).items()}
    for name in IGNORED:
        if name not in op.public_args:
            kwargs.pop(name, None)
    seed = taken.get("seed")
    return {
        "device": taken["device"],
        "name": taken.get("name"),
        "preserve": bool(taken.get("preserve")),
        "seed": None if seed is None or seed < 0 else int(seed),
    }


def make_function(op: Operator) -> Any:
    """The function of `jdali.fn` for an operator."""

    def function(*inputs: Any, **kwargs: Any) -> Any:
        generic = take_generic(op, kwargs)
        return call_operator(op, inputs, kwargs, **generic)

    return finish(function, op)
