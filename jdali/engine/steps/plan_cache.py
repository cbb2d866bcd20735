"""Caches the plans of a stage, so that everything that depends only on sizes, types and a few values is computed once.

A plan depends on the sizes, types and layouts of the stage's inputs, and on the values that some `setup` reads; all of these
are in the key of the plan. All other values are written to the arrays of the plan for each batch.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from jdali._batches import BatchSpec, Store
from jdali.engine.failure import failing_as
from jdali.engine.steps.program import PlannedStage, Program
from jdali.engine.steps.values import Values, input_values
from jdali.graph import DataNode, Node, Stage
from jdali.tensors import TensorList

# Maximum bytes of values in a key. Larger values hardly ever recur.
_MOST_KEY_BYTES = 4096
# The limit on the plans that are kept: `_KEPT_SAMPLES` samples in total, but at least `_FEWEST` and at most `_MOST` plans.
_KEPT_SAMPLES = 4096
_FEWEST, _MOST = 8, 128

# Values [N, ...] of arguments, and of inputs that act as arguments, by operator and name.
ArgumentValues = Mapping[tuple[Node, str], np.ndarray]


class Job(NamedTuple):
    """Describes one call of a program."""

    program: Program
    samples: np.ndarray
    rows: np.ndarray | None  # int [program.batch], the sample in each row; None for the whole batch in order
    shapes: tuple[tuple[int, ...], ...]
    # Gives unused rows extent 0: operators that mix samples ignore them, and those whose time depends on true sizes skip them.
    clears: bool = False
    seconds: float = 0.0  # modelled time of the samples with padding
    needed: float = 0.0  # modelled time without padding

    def take(self, array: np.ndarray) -> np.ndarray:
        """Takes the rows of the call from an array [N, ...]."""
        if self.rows is None:
            return array
        taken: np.ndarray = array[self.rows]
        if self.clears:
            taken[len(self.samples) :] = 0
        return taken


class VaryingArgument(NamedTuple):
    """An argument whose values change with each batch, and the position of its array in the plan."""

    argument: tuple[Node, str]
    position: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclasses.dataclass
class StagePlan:
    """Holds a planned stage, and results of its first run that later runs need."""

    stage: PlannedStage
    varying: tuple[VaryingArgument, ...]  # arguments whose arrays are replaced in each batch
    packed: np.ndarray
    apart: list[np.ndarray]
    jobs: list[Job] | None = None  # the calls that make a batch; None until known
    # For each output, where each sample lies in the results of the jobs: a store without data; None before the first run.
    outputs: list[Store] | None = None

    def stage_with(self, given: ArgumentValues) -> PlannedStage:
        """Returns the planned stage, with the arrays of `varying` arguments replaced by the values of a batch."""
        if not self.varying:
            return self.stage
        arrays = list(self.stage.arrays)
        for position, array in self._arrays(given).items():
            arrays[position] = array
        return dataclasses.replace(self.stage, arrays=arrays)

    def pack(self, given: ArgumentValues) -> tuple[np.ndarray, list[np.ndarray]]:
        if not self.varying:
            return self.packed, self.apart
        return self.stage.packing.repack(self.packed, self.apart, self._arrays(given))

    def _arrays(self, given: ArgumentValues) -> dict[int, np.ndarray]:
        return {f.position: np.asarray(given[f.argument], f.dtype).reshape(f.shape) for f in self.varying}


class ByValue(NamedTuple):
    """An argument, or an input that acts as one, whose values are needed on the host; `seen` is True if `setup` reads them."""

    node: Node
    name: str
    value: DataNode
    seen: bool


class Dependencies:
    """Finds what the plans of a stage depend on: values of arguments, and the specs of all values from outside the stage."""

    def __init__(self, stage: Stage):
        self._stage = stage
        self._by_value = list(_arguments_by_value(stage))
        used = [*stage.inputs, *(v for node in stage.nodes for v in node.data_inputs)]
        self.values = [v for v in dict.fromkeys(used) if v.source not in stage.nodes]
        self._on_keys = any(node.op.random and node.op.setup_sees("keys") for node in stage.nodes)

    def given(self, env: Values) -> ArgumentValues:
        """Reads the values that are needed on the host, and waits for them."""
        given = {}
        for node, name, value, _ in self._by_value:
            with failing_as([node]):
                if name in node.args:
                    given[node, name] = env.of_argument(value, node.op, name)
                else:
                    given[node, name] = input_values(env[value], node.op, name)
        return given

    def key(self, env: Values, count: int, given: ArgumentValues) -> Hashable | None:
        """Makes the key of a plan for `count` samples; None if the plan would hardly recur."""
        if self._on_keys:
            return None
        by_frame = [
            v.name in v.node.args and _is_by_frame(v.node, v.name, env.get(v.value)) for v in self._by_value
        ]
        parts = [
            _value_key(given[v.node, v.name], seen=v.seen or framed)
            for v, framed in zip(self._by_value, by_frame, strict=True)
        ]
        if env.constants:
            parts += [_value_key(value, seen=True) for value in env.constants.values()]
        if None in parts:
            return None
        parts += [env[v].spec.key for v in self.values]
        parts += [env.scaled[value].key for value in self._stage.inputs if value in env.scaled]
        return (count, *by_frame, *env.constants, *parts)

    def specs(self, env: Values) -> dict[DataNode, BatchSpec]:
        """Collects the specs of values from outside the stage; leaves out arguments that are a single array for the batch."""
        values = [*self.values, *(v.value for v in self._by_value if v.value in env)]
        return {value: env[value].spec for value in values}


def _is_by_frame(node: Node, name: str, value: TensorList | None) -> bool:
    # None stands for an argument that is a single array for the whole batch; it has no layout.
    return value is not None and node.op.args[name].is_by_frame(value.spec.layout)


def _arguments_by_value(stage: Stage) -> Iterator[ByValue]:
    """Yields arguments whose values some `setup` reads, and arguments that are neither made in the stage nor inputs of it."""
    inside = {*stage.inputs, *(v for node in stage.nodes for v in node.outputs)}
    for node in stage.nodes:
        needed = node.op.needed_by_setup(node.args)
        for i, value in enumerate(node.inputs):
            name = node.op.input(i).name
            if isinstance(value, DataNode) and node.op.input(i).argument and name in needed:
                yield ByValue(node, name, value, True)
        for name, value in node.arg_inputs.items():
            if name in needed or value not in inside:
                yield ByValue(node, name, value, node.op.setup_sees(name))


def _value_key(values: object, *, seen: bool) -> Hashable | None:
    """Makes the part of a key for values [N, ...]; None if they do not fit in a key.

    Args:
        values: an array. Only a NumPy array has a key; the values of other arrays may be on a device.
        seen: True if a `setup` reads the values; if False, a plan depends only on their type and shape.
    """
    if not isinstance(values, np.ndarray) or values.dtype == object:
        return None
    if not seen:
        return values.dtype, values.shape
    return (values.dtype, values.shape, values.tobytes()) if values.nbytes <= _MOST_KEY_BYTES else None


class PlanCache:
    """Keeps the most recently used plans."""

    def __init__(self, max_batch: int):
        self._most = min(_MOST, max(_FEWEST, _KEPT_SAMPLES // max(max_batch, 1)))
        self._plans: collections.OrderedDict[Hashable, StagePlan] = collections.OrderedDict()

    def get(self, key: Hashable) -> StagePlan | None:
        plan = self._plans.get(key)
        if plan is not None:
            self._plans.move_to_end(key)
        return plan

    def keep(self, key: Hashable, plan: StagePlan) -> None:
        self._plans[key] = plan
        if len(self._plans) > self._most:
            self._plans.popitem(last=False)

    def clear(self) -> None:
        self._plans.clear()
