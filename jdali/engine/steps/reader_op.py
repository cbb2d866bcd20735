"""Running what makes samples: readers, and sources of the user's."""

from __future__ import annotations

from jdali._operators import argument_rules
from jdali._operators.record import ReaderOp
from jdali.engine.failure import failing_as
from jdali.engine.steps.reading import cost_of, read
from jdali.engine.steps.runner import StepContext, StepRunner
from jdali.engine.steps.values import Values, argument_values
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.tasks.user_batches import batch_of
from jdali.graph.node import Node
from jdali.readers.base import Reader
from jdali.tensors import TensorList


class ReaderRunner(StepRunner):
    """Reads the samples that were drawn for a batch."""

    shown = "reads in the thread pool"

    def __init__(self, node: Node, op: ReaderOp, reader: Reader):
        self.node, self._op, self._reader = node, op, reader
        self._cost = cost_of(reader)
        self.may_be_brief = self._cost is not None

    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
        node, op, draw = self.node, self._op, context.draw
        assert draw is not None
        epochs, indices, _ = draw.refs[node]
        arguments = {}
        with failing_as([node]):
            for name, value in node.arg_inputs.items():
                values = argument_values(env[value], op, name)
                arguments[name] = argument_rules.batch(op.name, op.args[name], values, len(indices))
        cost = None if context.pool.is_here else self._cost
        columns = read(node, self._reader, epochs, indices, context.pool, context.memo, arguments, cost)
        for value, column in zip(node.outputs, columns, strict=True):
            env[value] = TensorList.from_store(column, value.device, env.drawn[node])


class SourceRunner(StepRunner):
    """Hands over what a source of the user's gave when the batch was drawn."""

    shown = "hands over what the user gave"

    def __init__(self, node: Node):
        self.node = node

    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
        node, draw = self.node, context.draw
        assert draw is not None
        for value, samples, layout in zip(node.outputs, draw.data[node], draw.layouts[node], strict=True):
            env[value] = batch_of(samples, layout, value.device, env.drawn[node])
