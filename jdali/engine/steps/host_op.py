"""Running an operator that works on one sample on the host: samples are tasks of the thread pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._operators.call import PlannedCall
from jdali._operators.record import HostOp, column
from jdali.engine.failure import failing_as
from jdali.engine.sample_ids import SampleIds
from jdali.engine.steps.host_runner import HostRunner, device_name, fixed_and_varying
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.graph import DataNode, Node
from jdali.tensors import TensorList


class HostOpRunner(HostRunner):
    """Runs one `HostOp`."""

    def __init__(self, node: Node, op: HostOp, *, seed: int):
        super().__init__(node, seed)
        self._op = op
        self.at_once = 1 if op.effects else 2
        self._layouts = op.output_layouts(node.args) if op.output_layouts else ("",) * len(node.outputs)

    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
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

        results = context.pool.map(node, one, len(ids), self.policy, in_order=op.effects)
        self._store(env, _transpose(results, len(node.outputs)), plan)

    def _store(self, env: Values, results: Sequence[Sequence[object]], plan: PlannedCall) -> None:
        node = self.node
        made_of = env.made_of(node)
        for o, (value, samples) in enumerate(zip(node.outputs, results, strict=True)):
            spec = plan.outputs[o] if node.op.setup is not None and o < len(plan.outputs) else None
            arrays = [np.asarray(s) for s in samples]
            device = device_name(value)
            if spec is None:
                with failing_as([node]):
                    store = column(arrays, self._layouts[o])
                env[value] = TensorList.from_store(store, device, made_of)
            else:
                empty = None if arrays else spec
                env[value] = TensorList.from_samples(arrays, spec.layout, device, made_of, spec=empty)


def _transpose(results: Sequence[object], outputs: int) -> list[list[Any]]:
    """From one tuple of outputs a sample to one list of samples an output."""
    rows = [r if isinstance(r, tuple) else (r,) for r in results]
    return [[row[o] for row in rows] for o in range(outputs)]
