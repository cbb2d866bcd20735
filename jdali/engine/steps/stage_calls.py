"""Plans the calls of a stage's operators: arguments, seeds, and the sizes and types of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jdali._batches import BatchSpec
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators import argument_rules
from jdali._operators.call import Constant, Converted, PlannedCall, plan_call
from jdali._operators.record import ArgKind, Traced
from jdali.engine.failure import failing_as
from jdali.engine.steps.plan_cache import ArgumentValues
from jdali.engine.steps.program import random_nodes
from jdali.engine.steps.values import Values
from jdali.engine.task import SampleIds
from jdali.graph import DataNode, Node, Stage, request_of


class StageCalls:
    """Plans the calls of a stage's operators. Everything that is the same for all batches is prepared once.

    If it `remembers`, a `Rising` value is at least as large as in earlier batches; else it is the maximum.
    """

    def __init__(self, stage: Stage, seed: int, *, remembers: bool = True):
        self._stage = stage
        self.arguments = {node: prepared_args(node) for node in stage.nodes}
        # The largest value of each `Rising` so far. Later batches use at least this value, so a shape has fewer programs.
        # The value is not part of states, because all values that are large enough give the same results. ResNet-50
        # training takes 11 programs and 4.8 ms a picture. It would take 11 programs and 5.5 ms with the largest possible
        # value, and 18 programs and 4.7 ms with each batch's own value.
        self._risen: dict[Node, dict[str, int]] | None = {} if remembers else None
        self.set_seed(seed)

    def set_seed(self, seed: int, stream: int | None = None) -> None:
        self._seeds = {node: seed_of(node, seed, stream) for node in random_nodes(self._stage)}
        words = [np.append(s, np.uint32(own)) for s, own in self._seeds.values()]
        # uint32 [operators, 3], words of the seed and stream of each random operator.
        self.seed_array = np.array(words, np.uint32).reshape(len(words), 3)

    def keys(self, ids: SampleIds, node: Node) -> SampleKeys:
        seed, stream = self._seeds[node]
        return SampleKeys(seed, stream, ids.epoch, ids.index)

    def plan(
        self,
        specs: Mapping[DataNode, BatchSpec],
        env: Values,
        count: int,
        given: ArgumentValues,
        keys: Callable[[Node], SampleKeys | Traced],
    ) -> list[PlannedCall]:
        """Plans a call of each operator; `specs` has the specs of all values that come from outside the stage."""
        known = dict(specs)
        calls: list[PlannedCall] = []
        for node in self._stage.nodes:
            with failing_as([node]):
                planned = self._plan_call(node, known, env, count, given, keys)
                if self._risen is None:
                    planned = planned.raised({name: value.most for name, value in planned.rising.items()})
                elif planned.rising:
                    planned = planned.raised(self._risen.get(node, {}))
                    self._risen[node] = {name: value.value for name, value in planned.rising.items()}
            calls.append(planned)
            known.update(zip(node.outputs, planned.outputs, strict=True))
        return calls

    def _plan_call(
        self, node: Node, specs: Mapping[DataNode, BatchSpec], env: Values, count: int, given: ArgumentValues,
        keys: Callable[[Node], SampleKeys | Traced],
    ) -> PlannedCall:  # fmt: skip
        op = node.op
        names = [*node.arg_inputs, *(op.input(i).name for i in range(len(node.inputs)))]
        values = {name: given[node, name] for name in names if (node, name) in given}
        for name, value in node.arg_inputs.items():
            if name not in values:
                argument_rules.check_dtype(op.name, op.args[name], specs[value].dtype)
        first = node.inputs[0] if node.inputs else None
        scaled = env.scaled.get(first) if isinstance(first, DataNode) else None
        request = request_of(
            node, count, args=self.arguments[node], specs=specs, values=values,
            keys=keys(node) if op.random else None,  # type: ignore[arg-type]  # a `Traced` raises if it is used
            constants=env.constants, scaled=scaled,
        )  # fmt: skip
        return plan_call(request)


def prepared_args(node: Node) -> dict[str, Any]:
    """Converts the arguments of a node that are not values of the graph, once for all batches."""
    prepared: dict[str, Any] = {}
    for name, arg in node.op.public_args.items():
        value = arg.default if node.args.get(name) is None else node.args[name]
        if value is None or isinstance(value, DataNode):
            continue
        if arg.kind is ArgKind.STATIC:
            prepared[name] = Converted(argument_rules.converted(node.op.name, arg, value))
        else:
            prepared[name] = Constant(argument_rules.constant(node.op.name, arg, value))
    return prepared


def seed_of(node: Node, seed: int, stream: int | None = None) -> tuple[np.ndarray, int]:
    """Returns the seed's words and the stream of a random operator, see `StepRunner.set_seed`."""
    if stream is not None:
        return seed_words(seed), stream
    return (seed_words(seed), node.id + 1) if node.seed is None else (seed_words(node.seed), 0)
