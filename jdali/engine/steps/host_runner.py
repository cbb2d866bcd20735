"""Runners of operators on the host, of any kind: their seeds, and planning a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import PerBatch, PlannedCall, plan_call
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.recovery.memo import follows_its_position
from jdali.engine.steps.runner import StepRunner
from jdali.engine.steps.stage import seed_of
from jdali.engine.steps.values import Values, argument_values, input_values
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.workers.pool import Cost
from jdali.graph.node import DataNode, Node


class HostRunner(StepRunner):
    """Runs one operator on the host; what does not change from batch to batch is prepared once."""

    shown = "runs in the thread pool"

    def __init__(self, node: Node, seed: int):
        """Prepares the operator of a node, in a pipeline of this seed."""
        self.node = node
        self._static = {k: v for k, v in node.args.items() if not isinstance(v, DataNode)}
        self._seed = seed_of(node, seed)
        self._cost = Cost()
        self._memoised = follows_its_position(node)

    def set_pipeline_seed(self, seed: int) -> None:
        self._seed = seed_of(self.node, seed)

    def reseed(self, seed: int, stream: int) -> None:
        self._seed = (seed_words(seed), stream)

    def _plan(self, env: Values, ids: SampleIds, contents: BatchSpec | None = None) -> PlannedCall:
        """Plans a call.

        Args:
            env: values so far.
            ids: the samples.
            contents: in place of the spec of the first input.

        Raises:
            NodeFailure: `setup` refused a sample or an argument.
        """
        with failing_as([self.node]):
            return self._plan_call(env, ids, contents)

    def _plan_call(self, env: Values, ids: SampleIds, contents: BatchSpec | None) -> PlannedCall:
        node, op = self.node, self.node.op
        specs = [] if contents is None else [contents]
        values = {}
        for i, value in enumerate(node.inputs[len(specs) :], len(specs)):
            name = op.input(i).name
            if isinstance(value, DataNode):
                specs.append(env[value].spec)
                if op.input(i).argument:
                    values[name] = input_values(env[value], op, name)
            else:
                shape = np.broadcast_to(np.array(value.shape, np.int64), (len(ids), value.ndim))
                specs.append(BatchSpec(shape, value.dtype))
                values[name] = np.broadcast_to(value, (len(ids), *value.shape))
        args = dict(self._static)
        for name, argument in node.arg_inputs.items():
            args[name] = PerBatch(argument_values(env[argument], op, name))
        keys = SampleKeys(*self._seed, ids.epoch, ids.index) if op.random else None
        return plan_call(op, specs, args, batch_size=len(ids), keys=keys, input_values=values)


def fixed_and_varying(plan: PlannedCall) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Arguments of `run` that are the same for all samples, and those that are an array [N, ...]."""
    fixed = dict(plan.call.static) | {k: None if c is None else c.value for k, c in plan.call.constants}
    return fixed, {k: np.asarray(v) for k, v in plan.traced.items()}


def raise_if_any(node: Node, failures: dict[int, Exception]) -> None:
    """Raises NodeFailure if some samples failed, which are then in that alone.

    The errors hold the frames in which samples were worked on, and so those of their callers: no local variable
    there may hold the errors, or all of the batch would wait for the garbage collector.
    """
    if failures:
        ordered: dict[int | None, Exception] = {i: failures.pop(i) for i in sorted(failures)}
        raise NodeFailure(node, ordered) from next(iter(ordered.values()))


def device_name(value: DataNode) -> str:
    """DALI's name of where a value is."""
    return "gpu" if value.device == "gpu" else "cpu"
