"""Makes the functions of `jdali.dynamic` from the operators' records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from jax import Array

from jdali._operators.record import REGISTRY, Operator, ReaderOp, kind_of
from jdali._operators.surface import HIDDEN, class_name, describe, document, public_signature
from jdali._system.tracebacks import folding
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._invoke import invoke
from jdali.dynamic._readers import make_reader
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

GENERIC: dict[str, tuple[Any, str]] = {
    "batch_size": (int | None, "size of the resulting batch if no input is a batch; None: a tensor."),
    "device": (Device | str | None, '"cpu" or "gpu"; None: where the inputs are.'),
    "rng": (RNG | None, "generator of random values; None: the thread's default one."),
    "key": (
        Array | None,
        "JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.",
    ),
}


# Without inputs and without `batch_size`, an operator makes one sample, which is no batch to these.
_OF_WHOLE_BATCHES = ("batch_permutation",)


def make_function(op: Operator) -> Any:

    def function(
        *inputs: object,
        batch_size: int | None = None,
        device: object = None,
        rng: RNG | None = None,
        **args: object,
    ) -> object:
        if batch_size is None and op.name in _OF_WHOLE_BATCHES:
            raise ValueError(
                f"{op.name}: `batch_size` must be specified for dynamic `{op.name}`, because it has no inputs with a batch size"
            )
        if rng is not None and not op.random:
            args["rng"] = rng
        key = args.pop("key", None) if op.random else None
        return invoke(op, inputs, args, batch_size=batch_size, device=device, rng=rng, key=key)

    return finish(function, op)


def finish(function: Any, op: Operator) -> Any:
    """Gives a function of `jdali.dynamic` its docstring and its signature, with the arguments in DALI's order."""
    function = folding(function)
    signature = public_signature(op, Tensor | Batch | Any, Tensor | Batch)
    parameters = list(signature.parameters.values())
    inputs = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    first = [_generic(name) for name in ("batch_size", "device") if name not in op.public_args]
    last = [_generic("rng"), _generic("key")] if op.random else []
    arguments = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "seed"]
    signature = signature.replace(parameters=[*inputs, *first, *arguments, *last])
    extra = {p.name: GENERIC[p.name][1] for p in (*first, *last)}
    describe(function, op, "jdali.dynamic", signature, document(op, extra))
    return function


def _generic(name: str) -> inspect.Parameter:
    annotation, _ = GENERIC[name]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


# Dynamic mode does not need these operators, because a source is an object (`ExternalSource`), and users call Python
# functions directly.
_ONLY_IN_GRAPHS = ("external_source", "python_function", "dl_tensor_python_function", "experimental.inputs.")


def shown(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields an operator's name in `jdali.dynamic` and a factory of its function or class, if dynamic mode has it."""
    if name.startswith(HIDDEN + _ONLY_IN_GRAPHS):
        return
    if issubclass(kind_of(name), ReaderOp):
        yield class_name(name), lambda: make_reader(REGISTRY[name])
    else:
        yield name, lambda: make_function(REGISTRY[name])
