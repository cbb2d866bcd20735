"""Runners of operators on the host, of any kind: their seeds, and planning a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._batches import BatchSpec
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import CallRequest, PlannedCall, plan_call
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.sample_ids import SampleIds
from jdali.engine.steps.runner import StepRunner
from jdali.engine.steps.stage_calls import seed_of
from jdali.engine.steps.values import Values, argument_values, input_values
from jdali.engine.workers.thread_policy import ThreadPolicy
from jdali.graph import DataNode, Node, request_of


class HostRunner(StepRunner):
    """Runs one operator on the host; what does not change from batch to batch is prepared once."""

    shown = "runs in the thread pool"
    policy: ThreadPolicy

    def __init__(self, node: Node, seed: int, *, may_be_brief: bool = False):
        """Prepares the operator of a node, in a pipeline of this seed.

        Args:
            node: of the operator.
            seed: of the pipeline.
            may_be_brief: see `ThreadPolicy`.
        """
        self.node = node
        self._static = {k: v for k, v in node.args.items() if not isinstance(v, DataNode)}
        self._seed = seed_of(node, seed)
        self.policy = ThreadPolicy(may_be_brief=may_be_brief)

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
            return plan_call(self._request(env, ids, contents))

    def _request(self, env: Values, ids: SampleIds, contents: BatchSpec | None) -> CallRequest:
        node, op = self.node, self.node.op
        specs = {value: env[value].spec for value in node.data_inputs}
        values = {
            op.input(i).name: input_values(env[value], op, op.input(i).name)
            for i, value in enumerate(node.inputs)
            if isinstance(value, DataNode) and op.input(i).argument
        }
        values |= {name: argument_values(env[value], op, name) for name, value in node.arg_inputs.items()}
        keys = SampleKeys(*self._seed, ids.epoch, ids.index) if op.random else None
        return request_of(
            node, len(ids), args=self._static, specs=specs, values=values, keys=keys, contents=contents
        )


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
