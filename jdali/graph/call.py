"""Makes nodes from calls of operators, with checks at the user's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from jdali import types
from jdali._errors import OperatorError
from jdali._operators import argument_rules
from jdali._operators.record import ArgKind, Operator
from jdali._system.devices import to_host
from jdali._system.tracebacks import warn_user
from jdali.graph.arithmetic import constant_node, operand
from jdali.graph.node import DataNode, apply, current_graph, device_of, new_node

Outputs: TypeAlias = "DataNode | tuple[DataNode, ...]"


def call_operator(
    op: Operator, inputs: Sequence[Any], args: Mapping[str, Any], *, name: str | None = None, **options: Any
) -> Outputs | list[Any]:
    """Checks a call of a function of `jdali.fn` and makes a node, in the current graph if there is one.

    Args:
        inputs: DataNodes and constants. A list of DataNodes means several input sets; the operator is called once for each.
            All lists must have the same length. Inputs that are not lists are the same in all calls.
        name: name of the node; with several input sets, of the first node.

    Returns: the output, or a tuple of the outputs. For several input sets: a list with the output of each set; if the
        operator has several outputs, one such list for each output.

    Raises:
        InputCountError, UnknownArgumentError, MissingArgumentError: the number of inputs is wrong, or arguments are unknown
            or missing; the error shows the line of the call.
        TypeError: a DataNode in place of a constant, or a constant of a wrong type.
        ValueError: input sets of different lengths, or a constant of the right type and a wrong value.
        OperatorError: an unknown device; it is a ValueError, too.
    """
    graph = current_graph()
    if graph is not None:
        inputs, args = graph.taken(op, inputs, args)
    lists = [i for i in inputs if _is_input_sets(i)]
    if not lists:
        made = _call_once(op, inputs, args, name=name, **options)
        if graph is None and inputs and not any(isinstance(v, DataNode) for v in (*inputs, *args.values())):
            warn_user(
                f"fn.{op.name} of an array outside of a pipeline makes a node for a graph and computes nothing: "
                f"jdali.dynamic.{op.name} computes at once, and jdali.ops has functions for jax.jit"
            )
        return made
    count = len(lists[0])
    if any(len(values) != count for values in lists):
        raise ValueError(
            f"All argument lists for Multiple Input Sets used with operator '{op.shown_name}' must have the same "
            f"length. They have {', '.join(str(len(values)) for values in lists)}."
        )
    results = [
        _call_once(
            op, [i[k] if _is_input_sets(i) else i for i in inputs], args, name=None if k else name, **options
        )
        for k in range(count)
    ]
    if count == 1:
        return results[0]
    if isinstance(results[0], tuple):
        return [list(output) for output in zip(*results, strict=True)]
    return results


def _is_input_sets(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(v, DataNode) for v in value)


def _call_once(
    op: Operator,
    inputs: Sequence[object],
    args: Mapping[str, object],
    *,
    device: str | None = None,
    **options: object,
) -> Outputs:
    inputs = op.counted(inputs)
    passed = {k: v for k, v in args.items() if v is not None}
    op.bind(passed)
    for key, value in passed.items():
        arg = op.args[key]
        if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
            value = passed[key] = expression_stack(value, arg.element_type)
        if isinstance(value, types.ArrayConstant):
            array = types.constant_array(value)
            number = arg.is_number and array.size == 1  # then checked as a Python number
            value = passed[key] = array.item() if number else constant_node(value)
        if isinstance(value, DataNode) and arg.kind is ArgKind.STATIC:
            raise TypeError(
                f"{op.name}: The argument `{key}` for operator `{op.shown_name}` should not be a 'DataNode' but a "
                "constant: it cannot differ by sample"
            )
        if not isinstance(value, DataNode):
            check = argument_rules.converted if arg.kind is ArgKind.STATIC else argument_rules.constant
            check(op.name, arg, value)
    inputs = [i if isinstance(i, DataNode) else _constant_input(op, k, i) for k, i in enumerate(inputs)]
    if device is None:
        device = device_of(inputs)
        device = device if device in ("gpu", *op.devices) else op.devices[0]
    # Operators that DALI has on a single device accept both devices here, because both are backends of JAX.
    if device not in ("cpu", "gpu", "mixed"):
        error = ValueError(
            f'{op.name}: Unsupported device type: "{device}". It must be "cpu", "gpu" or "mixed"'
        )
        raise OperatorError.of(error, op.name)
    node = new_node(op, inputs, passed, device=device, **options)
    return node.outputs[0] if len(node.outputs) == 1 else node.outputs


def _constant_input(op: Operator, number: int, value: object) -> np.ndarray:
    try:
        return types.constant_array(value)
    except (TypeError, ValueError):
        advice = ""
        if isinstance(value, tuple) and any(isinstance(v, DataNode) for v in value):
            advice = f" It has {len(value)} outputs of an operator: take one, as in `jpegs, labels = ...`"
        elif isinstance(value, jax.core.Tracer):
            advice = f" Under jit, vmap or grad use the pure function jdali.ops.{op.name}"
        raise TypeError(
            f"{op.name}: expected inputs of type 'DataNode', list of 'DataNode' or convertible to constant nodes. "
            f"Received input `{number}` of type '{type(value).__name__}'.{advice}"
        ) from None


def expression_stack(values: Sequence[Any], dtype: Any) -> DataNode:
    """Stacks the elements of a vector argument, some of which are DataNodes; numbers get the type `dtype`."""
    elements = [
        v if isinstance(v, DataNode) or dtype is None else np.asarray(to_host(v), dtype) for v in values
    ]
    return apply("stack", [operand(v) for v in elements], {})
