from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jdali.dynamic._context import EvalContext
from jdali.dynamic._device import Device
from jdali.dynamic._invoke import batch_size_of, repeated, wait_if_asked
from jdali.dynamic._rng import draw_of
from jdali.dynamic._value import EagerKind, EagerValue, wrap
from jdali.engine import eager
from jdali.tensors import TensorList


def run_as_graph(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object], key: object = None
) -> Any:
    """Traces a function of pipeline nodes as a graph, and runs the graph on tensors and batches.

    One draw, from the key or from the thread's default generator, determines all random values of a call. The values of
    sample i do not depend on the batch size.

    Args:
        function: takes and returns nodes, in any structure of containers.
        args: tensors and batches in place of nodes; other arguments are constants.
        kwargs: keyword arguments, handled like `args`.
        key: JAX key; None: the default generator.

    Returns: the function's result with a `Batch` in place of each node, or a `Tensor` if no argument is a batch.
    """
    call, values = eager.CallKey.of(function, args, kwargs, EagerValue)
    name = getattr(function, "__name__", "function")
    size = batch_size_of(name, values, None)
    count = 1 if size is None else size
    batches = [repeated(value, count) for value in values]
    inputs = tuple(
        eager.InputKind(v.device.device_type, b.spec.layout, b.spec.ndim)
        for v, b in zip(values, batches, strict=True)
    )
    gpu = next((v.device for v in values if v.device.device_type == "gpu"), None) or Device("gpu")
    graph = eager.graph_of(eager.GraphKey(call, inputs, eager.room_for(count), gpu.jax_device))
    results = graph.run(batches, count, draw_of(name, None, key), EvalContext.current().thread_pool.pool)
    kind = EagerKind.TENSOR if size is None else EagerKind.BATCH

    def wrapped(leaf: object) -> object:
        if not isinstance(leaf, TensorList):
            return leaf
        wait_if_asked([leaf])
        return wrap(kind, leaf, Device.CPU if leaf.device == "cpu" else gpu)

    return jax.tree_util.tree_map(wrapped, results, is_leaf=lambda leaf: isinstance(leaf, TensorList))
