"""Running an operator that only moves samples."""

from __future__ import annotations

import numpy as np

from jdali._operators import argument_rules
from jdali._operators.record import IndexOp
from jdali.engine.failure import failing_as
from jdali.engine.sample_ids import SampleIds
from jdali.engine.steps.runner import StepContext, StepRunner
from jdali.engine.steps.values import Values
from jdali.graph import DataNode, Node
from jdali.tensors import TensorList


def _constant(value: np.ndarray, size: int) -> TensorList:
    """An array that is the same for all samples, as a batch."""
    return TensorList.from_samples([value] * max(size, 1)).select(np.arange(size))


class IndexOpRunner(StepRunner):
    """Runs one `IndexOp`; it looks at no sample."""

    shown = "moves samples"

    def __init__(self, node: Node, op: IndexOp):
        self.node, self._op = node, op

    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
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
