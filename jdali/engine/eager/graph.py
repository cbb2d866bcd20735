"""Runs a traced function on the caller's batches, immediately and without a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from jdali._system.devices import host_device
from jdali.engine.eager import call as _eager
from jdali.engine.eager.traced import ObjectCache, TracedFunction
from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedPlan, user_error
from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.engine.workers.pool import Pool
from jdali.graph import WHOLE_BATCH, Domain, make_plan
from jdali.tensors import TensorList

KEPT_GRAPHS = 256  # maximum number; the least recently used is dropped first
_MASK64 = 0xFFFF_FFFF_FFFF_FFFF


class InputKind(NamedTuple):
    """Identifies an input by its device ("cpu" or "gpu"), layout and number of axes."""

    device: str
    layout: str
    ndim: int


class GraphKey(NamedTuple):
    """Identifies a graph by everything except the samples."""

    define: Callable[..., Any]
    inputs: tuple[InputKind, ...]
    room: int  # rows of a program
    accelerator: jax.Device


class EagerGraph:
    """Holds a function traced as a graph, with its plan. Calls from several threads take turns."""

    def __init__(self, key: GraphKey):
        self._function = TracedFunction(key.define, [kind.device for kind in key.inputs])
        devices = {"cpu": host_device(), "gpu": key.accelerator}
        plan = make_plan(
            self._function.graph.nodes, self._function.outputs, one_device=devices["cpu"] == devices["gpu"]
        )
        self._plan = PreparedPlan(
            plan, devices, max_batch=key.room, budget=_eager.BUDGET, shares_rows=key.room > 1
        )

    def run(self, batches: Sequence[TensorList], count: int, draw: _eager.RandomDraw, pool: Pool) -> Any:
        """Returns the function's result, with a `TensorList` for each node. Devices may still be computing."""
        ids = _eager.call_ids(count, draw.number)
        env = Values(zip(self._function.inputs, batches, strict=True))
        parts: dict[Domain, SampleIds] = {WHOLE_BATCH: ids}
        # A sample's identity has room for the lower 32 bits of `draw.number`, so the upper bits go into the seed.
        seed = (draw.seed + (draw.number >> 32)) & _MASK64
        try:
            self._plan.make(env, parts, pool, seed=seed)
        except NodeFailure as failure:
            raise user_error(failure, env, parts) from failure.first
        return self._function.result([env[value] for value in self._function.outputs])


graph_of = ObjectCache(EagerGraph, KEPT_GRAPHS)
