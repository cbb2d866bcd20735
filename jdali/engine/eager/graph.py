"""Running a graph now, without a pipeline: on batches that somebody holds, and not on those of a reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from jdali._system.devices import host_device
from jdali.engine.eager import call as _eager
from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedPlan, user_error
from jdali.engine.steps.values import Values
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.workers.pool import Pool
from jdali.graph import WHOLE_BATCH, DataNode, Domain, Graph, building, make_plan, trace
from jdali.ops.flow._source import external_source
from jdali.tensors import TensorList

_MASK64 = 0xFFFF_FFFF_FFFF_FFFF


class InputKind(NamedTuple):
    """Key of a planned graph, for one input: its device ("cpu" or "gpu"), layout and number of axes."""

    device: str
    layout: str
    ndim: int


class EagerGraph:
    """A function traced as a graph, with its runners; calls from several threads take turns.

    Args:
        define: takes a node for each input and returns any structure of containers with nodes in it.
        inputs: of which kind they are.
        room: samples that a program has rows for.
        accelerator: where operators on "gpu" run.
    """

    def __init__(
        self,
        define: Callable[..., Any],
        inputs: Sequence[InputKind],
        *,
        room: int,
        accelerator: jax.Device,
    ):
        graph = Graph()
        nodes = [
            graph.add(external_source, (), {}, device=kind.device, num_outputs=1, where="a call").outputs[0]
            for kind in inputs
        ]
        with building(graph):
            result = trace(define, nodes, {}, graph)
        self._inputs = nodes
        self._leaves, self._structure = jax.tree_util.tree_flatten(result)
        outputs = [leaf for leaf in self._leaves if isinstance(leaf, DataNode)]
        devices = {"cpu": host_device(), "gpu": accelerator}
        plan = make_plan(graph.nodes, outputs, one_device=devices["cpu"] == devices["gpu"])
        self._plan = PreparedPlan(
            plan, devices, max_batch=room, compiler=_eager.COMPILER, shares_rows=room > 1
        )
        self._seed = 0

    def run(self, batches: Sequence[TensorList], count: int, draw: _eager.RandomDraw, pool: Pool) -> Any:
        """Returns the function's result, with a `TensorList` for each node; they may still be being computed.

        Args:
            batches: one for each input, of `count` samples each.
            count: number of samples.
            draw: of the random operators.
            pool: threads of operators that are not compiled.

        Raises:
            OperatorError: an operator failed.
        """
        ids = _eager.call_ids(count, draw.number)
        env = Values(zip(self._inputs, batches, strict=True))
        parts: dict[Domain, SampleIds] = {WHOLE_BATCH: ids}
        # A generator counts its draws with more bits than a sample's identity has: the rest changes the seed.
        seed = (draw.seed + (draw.number >> 32)) & _MASK64
        try:
            with self._plan.turn:
                if seed != self._seed:
                    for runner in self._plan.runners:
                        runner.set_pipeline_seed(seed)
                    self._seed = seed
                self._plan.make(env, parts, pool)
        except NodeFailure as failure:
            raise user_error(failure, env, parts) from failure.first
        results = [env[v] if isinstance(v, DataNode) else v for v in self._leaves]
        return jax.tree_util.tree_unflatten(self._structure, results)
