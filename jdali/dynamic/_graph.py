"""Running a function on graph nodes now, on what dynamic mode works on."""

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

<<<<<<< HEAD
=======
KEPT_GRAPHS = 256  # the least used go first


class _GraphKey(NamedTuple):
    """Key of a graph: everything but the samples.

    Attributes:
        function: to be traced.
        structure: of its arguments.
        constants: arguments that are no tensors or batches, each with its type; None in place of those that are.
        inputs: which these are.
        room: samples that a program has rows for.
        gpu: where operators on "gpu" run.
    """

    function: Callable[..., Any]
    structure: Any
    constants: tuple[tuple[type, Any] | None, ...]
    inputs: tuple[eager.InputKind, ...]
    room: int
    gpu: Device

>>>>>>> h/words

def run_as_graph(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object], key: object = None
) -> Any:
    """Calls `function(*args, **kwargs)`, where the function calls operators of `jdali.fn`.

    Its random values are one draw from the key, or else the default generator of the thread: sample i gets the same
    whatever the batch size.

    Args:
        function: takes and returns nodes, in any structure of containers.
        args: tensors and batches where it takes nodes; other arguments are constants.
        kwargs: likewise.
        key: of JAX; None: the default generator.

    Returns: what the function does, with a `Batch` in place of each node; a `Tensor` if no argument is a batch.
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
<<<<<<< HEAD
    graph = eager.graph_of(eager.GraphKey(call, inputs, eager.room_for(count), gpu.jax_device))
    results = graph.run(batches, count, draw_of(name, None, key), EvalContext.current().thread_pool.pool)
=======
    graph_key = _GraphKey(function, structure, constants, inputs, eager.room_for(count), gpu)
    results = _graph(graph_key).run(
        batches, count, draw_of(name, None, key), EvalContext.current().thread_pool.pool
    )
>>>>>>> h/words
    kind = EagerKind.TENSOR if size is None else EagerKind.BATCH

    def wrapped(leaf: object) -> object:
        if not isinstance(leaf, TensorList):
            return leaf
        wait_if_asked([leaf])
        return wrap(kind, leaf, Device.CPU if leaf.device == "cpu" else gpu)

    return jax.tree_util.tree_map(wrapped, results, is_leaf=lambda leaf: isinstance(leaf, TensorList))
<<<<<<< HEAD
=======


def _traced(graph_key: _GraphKey) -> eager.EagerGraph:
    def define(*nodes: DataNode) -> object:
        remaining = iter(nodes)
        leaves = [next(remaining) if constant is None else constant[1] for constant in graph_key.constants]
        args, kwargs = jax.tree_util.tree_unflatten(graph_key.structure, leaves)
        return graph_key.function(*args, **kwargs)

    return eager.EagerGraph(
        define, graph_key.inputs, room=graph_key.room, accelerator=graph_key.gpu.jax_device
    )


_kept = functools.lru_cache(maxsize=KEPT_GRAPHS)(_traced)


def _graph(graph_key: _GraphKey) -> eager.EagerGraph:
    try:
        return _kept(graph_key)
    except TypeError:  # an argument that cannot be hashed, such as an array
        return _traced(graph_key)
>>>>>>> h/words
