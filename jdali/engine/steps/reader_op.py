"""Running what makes samples: readers, and sources of the user's."""

from __future__ import annotations

from collections.abc import Sequence

from jdali._operators import argument_rules
from jdali._operators.offers import IsEnough
from jdali._operators.record import ReaderOp
from jdali._sources import batch_of
from jdali.engine.failure import failing_as
from jdali.engine.steps.reading import policy_of, read
from jdali.engine.steps.runner import StepContext, StepRunner
from jdali.engine.steps.values import Values, argument_values
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.workers.thread_policy import ThreadPolicy
from jdali.graph import Node
from jdali.readers.base import Reader
from jdali.tensors import TensorList


class ReaderRunner(StepRunner):
    """Reads the samples that were drawn for a batch.

    Args:
        node: of the reader.
        op: of the node.
        reader: to read with.
        enough: which beginnings of samples the consumers can do with; empty: they get whole samples.
    """

    policy: ThreadPolicy

    def __init__(self, node: Node, op: ReaderOp, reader: Reader, enough: Sequence[IsEnough] = ()):
        self.node, self._op, self._reader, self._enough = node, op, reader, enough
        self.shown = f"reads {'beginnings of files ' if enough else ''}in the thread pool"
        self.policy = policy_of(reader)

    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
        node, op, task = self.node, self._op, context.task
        assert task is not None
        epochs, indices, _ = task.refs[node.name]
        arguments = {}
        with failing_as([node]):
            for name, value in node.arg_inputs.items():
                values = argument_values(env[value], op, name)
                arguments[name] = argument_rules.batch(op.name, op.args[name], values, len(indices))
        columns = read(
            node,
            self._reader,
            epochs,
            indices,
            context.pool,
            self.policy,
            context.memo,
            arguments,
            self._enough,
        )
        for value, column in zip(node.outputs, columns, strict=True):
            env[value] = TensorList.from_store(column, value.device, env.drawn[node])


class SourceRunner(StepRunner):
    """Hands over what a source of the user's gave when the batch was drawn."""

    shown = "hands over what the user gave"

    def __init__(self, node: Node):
        self.node = node

    def run(self, env: Values, ids: SampleIds, context: StepContext) -> None:
        node, task = self.node, context.task
        assert task is not None
        given = task.data[node.name]
        for value, samples, layout in zip(node.outputs, given.outputs, given.layouts, strict=True):
            env[value] = batch_of(samples, layout, value.device, env.drawn[node])
