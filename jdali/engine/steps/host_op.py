"""Runs host operators that work on one sample, and operators that only move samples.

`HostRunner` plans the calls of all host operators.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec
from jdali._numerics.random import SampleKeys
from jdali._operators import argument_rules
from jdali._operators.call import PlannedCall, plan_call
from jdali._operators.record import HostOp, IndexOp, column
from jdali.engine.failure import NodeFailure, failing_as
from jdali.engine.steps.stage_calls import prepared_args, seed_of
from jdali.engine.steps.values import StepRunner, Values, argument_values, input_values
from jdali.engine.task import SampleIds
from jdali.engine.workers import Pool, ThreadPolicy
from jdali.graph import DataNode, Node, request_of
from jdali.tensors import TensorList


class HostRunner(StepRunner):
    """Runs one operator on the host. Everything that is the same for all batches is prepared once."""

    shown = "runs in the thread pool"
    policy: ThreadPolicy

    def __init__(self, node: Node, seed: int, *, may_be_brief: bool = False):
        self.node = node
        self._static = prepared_args(node)
        self._seed = seed_of(node, seed)
        self.policy = ThreadPolicy(may_be_brief=may_be_brief)
        self._kept: tuple[Hashable, Any] = None, None  # key of the last plan, and the plan

    def set_seed(self, seed: int, stream: int | None = None) -> None:
        self._seed = seed_of(self.node, seed, stream)

    def _plan(self, env: Values, ids: SampleIds, contents: BatchSpec | None = None) -> PlannedCall:
        """Plans a call; `contents` replaces the spec of the first input."""
        node, op = self.node, self.node.op
        with failing_as([node]):
            specs = {value: env[value].spec for value in node.data_inputs}
            values = {
                op.input(i).name: input_values(env[value], op, op.input(i).name)
                for i, value in enumerate(node.inputs)
                if isinstance(value, DataNode) and op.input(i).argument
            }
            values |= {name: argument_values(env[value], op, name) for name, value in node.arg_inputs.items()}
            # A plan is kept if the operator has no setup, or a decoder's setup, which sees headers only. Any other setup
            # may read a file that changes.
            seen = [] if contents is None else [contents, *[*specs.values()][1:]]
            known = (op.setup is None or contents is not None) and not values and not op.random
            key = (len(ids), *(spec.key for spec in seen)) if known else None
            if key is not None and key == (kept := self._kept)[0]:
                plan: PlannedCall = kept[1]
                return plan
            keys = SampleKeys(*self._seed, ids.epoch, ids.index) if op.random else None
            plan = plan_call(request_of(
                node, len(ids), args=self._static, specs=specs, values=values, keys=keys, contents=contents
            ))  # fmt: skip
            if key is not None:
                self._kept = key, plan
            return plan


def fixed_and_varying(plan: PlannedCall) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Splits the arguments of `run` into values for all samples, and arrays [N, ...] with a value for each sample."""
    fixed = dict(plan.call.static) | {k: None if c is None else c.value for k, c in plan.call.constants}
    return fixed, {k: np.asarray(v) for k, v in plan.traced.items()}


def raise_if_any(node: Node, failures: dict[int, Exception]) -> None:
    """Raises NodeFailure if samples failed; moves the errors from `failures` to the exception.

    An error references the frames that it passed and their callers. If a local variable of such a frame kept the error,
    the cycle would keep the whole batch until the garbage collector runs.
    """
    if failures:
        ordered: dict[int | None, Exception] = {i: failures.pop(i) for i in sorted(failures)}
        raise NodeFailure(node, ordered) from next(iter(ordered.values()))


class HostOpRunner(HostRunner):
    """Runs one `HostOp`."""

    def __init__(self, node: Node, op: HostOp, *, seed: int):
        super().__init__(node, seed)
        self._op = op
        self.at_once = 1 if op.effects else 2
        self._layouts = op.output_layouts(node.args) if op.output_layouts else ("",) * len(node.outputs)

    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        node, op = self.node, self._op
        inputs: list[Sequence[Any]] = [
            env[v].to_samples() if isinstance(v, DataNode) else [v] * len(ids) for v in node.inputs
        ]
        plan = self._plan(env, ids)
        fixed, varying = fixed_and_varying(plan)
        head = (None,) if op.random else ()

        def one(i: int) -> Any:
            arguments = fixed | {k: v[i] for k, v in varying.items()}
            return op.run(*head, *(samples[i] for samples in inputs), **arguments)

        results, failures = pool.attempt(one, len(ids), self.policy, in_order=op.effects)
        raise_if_any(node, failures)
        rows = [result if isinstance(result, tuple) else (result,) for result in results]
        made_of = env.made_of(node)
        for o, value in enumerate(node.outputs):
            arrays = [np.asarray(row[o]) for row in rows]
            if op.setup is not None and o < len(plan.outputs):
                spec = plan.outputs[o]
                empty = None if arrays else spec
                env[value] = TensorList.from_samples(arrays, spec.layout, value.device, made_of, spec=empty)
            else:
                with failing_as([node]):
                    store = column(arrays, self._layouts[o])
                env[value] = TensorList.from_store(store, value.device, made_of)


def _constant(value: np.ndarray, size: int) -> TensorList:
    return TensorList.from_samples([value] * max(size, 1)).select(np.arange(size))


class IndexOpRunner(StepRunner):
    """Runs one `IndexOp`, which does not read the elements of samples."""

    shown = "moves samples"

    def __init__(self, node: Node, op: IndexOp):
        self.node, self._op = node, op

    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        node, op = self.node, self._op
        values = [env[v] if isinstance(v, DataNode) else _constant(v, len(ids)) for v in node.inputs]
        args = {k: env[v] if isinstance(v, DataNode) else v for k, v in node.args.items()}
        with failing_as([node]):
            for name, value in node.arg_inputs.items():
                argument_rules.check_dtype(op.name, op.args[name], env[value].spec.dtype)
                argument_rules.sample_shape(op.name, op.args[name], env[value].spec.extents)
            results = op.run(*values, **args)
        results = results if isinstance(results, tuple) else (results,)
        env.update(zip(node.outputs, results, strict=True))
