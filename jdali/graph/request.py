"""Builds the request for a call of a node, from its constants and the specs of its inputs."""

from __future__ import annotations

import types as pytypes
from collections.abc import Mapping

import numpy as np

from jdali._batches import BatchSpec
from jdali._numerics.random import SampleKeys
from jdali._operators.call import CallRequest, PerBatch
from jdali._operators.record import Scaled
from jdali.graph.node import DataNode, Node


def request_of(
    node: Node,
    batch_size: int,
    *,
    args: Mapping[str, object],
    specs: Mapping[DataNode, BatchSpec],
    values: Mapping[str, np.ndarray] = pytypes.MappingProxyType({}),
    keys: SampleKeys | None = None,
    constants: Mapping[str, object] = pytypes.MappingProxyType({}),
    scaled: Scaled | None = None,
    contents: BatchSpec | None = None,
) -> CallRequest:
    """Builds the request of a node's call.

    Args:
        specs: specs of the node's inputs, and of arguments that `values` lacks.
        values: values [N, ...] of arguments, and of inputs that act as arguments, by name. Other arguments are traced.
        constants: further inputs that are one array for all samples, by name, besides the constants of the node.
        contents: replaces the spec of the first input.
    """
    op, count = node.op, batch_size
    in_specs, input_values, constants = [], {}, dict(constants)
    for i, value in enumerate(node.inputs):
        name = op.input(i).name
        if not isinstance(value, DataNode):
            shape = np.broadcast_to(np.array(value.shape, np.int64), (count, value.ndim))
            in_specs.append(BatchSpec(shape, value.dtype))
            input_values[name] = np.broadcast_to(value, (count, *value.shape))
            constants[name] = value
            continue
        in_specs.append(specs[value])
        if name in values:
            input_values[name] = values[name]
    if contents is not None:
        in_specs[0] = contents
    given = {name: PerBatch(values[name]) for name in node.arg_inputs if name in values}
    by_frame = [
        name for name, value in node.arg_inputs.items()
        if value in specs and op.args[name].is_by_frame(specs[value].layout)
    ]  # fmt: skip
    return CallRequest(
        op, in_specs, {**args, **given}, batch_size=count, keys=keys, input_values=input_values,
        traced={name: specs[value].extents for name, value in node.arg_inputs.items() if name not in given},
        constants=constants, scaled=scaled, by_frame=by_frame,
    )  # fmt: skip
