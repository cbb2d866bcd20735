"""Holds the values of a batch that are computed so far; `StepRunner` is the base of the runners, which read and add values."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

import numpy as np

from jdali._batches import Provenance
from jdali._operators import argument_rules
from jdali._operators.record import Operator, Scaled
from jdali.engine.steps.late import LateSamples
from jdali.engine.task import BatchTask, SampleIds
from jdali.engine.workers import Pool, ThreadPolicy
from jdali.graph import DataNode, Node
from jdali.tensors import TensorList


class Values(dict[DataNode, TensorList]):
    """Holds the computed values of a graph for one batch."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.scaled: dict[DataNode, Scaled] = {}  # sizes of pictures decoded at a fraction of their size
        self.task: BatchTask | None = None  # None for a call without a pipeline
        self.drawn: dict[Node, Provenance] = {}  # provenance of the samples of each source
        # Only for a call without a pipeline: inputs that are one array for all samples, by name, and per-sample arguments
        # that are an array [N, ...] instead of a batch.
        self.constants: dict[str, Any] = {}
        self.arrays: dict[DataNode, np.ndarray] = {}
        self.late: dict[DataNode, LateSamples] = {}  # made when a stage reads them, see `steps/late.py`
        self._made_of: dict[Node, Provenance | None] = {}
        self._dropped: dict[DataNode, Provenance | None] = {}
        self.most_bytes = 0  # largest number that `note_bytes` has counted; shared memory counts once

    def note_bytes(self) -> None:
        self.most_bytes = max(self.most_bytes, bytes_of(self.values()))

    def drop(self, values: Iterable[DataNode]) -> None:
        """Drops values, but keeps their provenance."""
        for value in values:
            self._dropped[value] = self.pop(value).provenance
            self.scaled.pop(value, None)
            self.late.pop(value, None)

    def of_argument(self, value: DataNode, op: Operator, name: str) -> np.ndarray[Any, Any]:
        array = self.arrays.get(value)
        return argument_values(self[value], op, name) if array is None else array

    def made_of(self, node: Node) -> Provenance | None:
        """Returns the provenance of a node's outputs; None if they come from no source.

        The node need not have run, and may be part of a compiled program; its inputs must be known.
        """
        if node in self.drawn:
            return self.drawn[node]
        if node not in self._made_of:
            data = [self._provenance(v) for v in node.data_inputs]
            arguments = [self._provenance(v) for v in node.arg_inputs.values() if v not in self.arrays]
            argument = node.op.chosen_samples
            if argument is None:
                self._made_of[node] = Provenance.together(data, arguments)
            else:
                chosen = self._pasted(node.args.get(argument), data[0] if data else None)
                self._made_of[node] = Provenance.pasted(data, arguments, chosen)
        return self._made_of[node]

    def _pasted(self, given: object, images: Provenance | None) -> list[np.ndarray[Any, Any]] | None:
        """Returns, for each sample, the positions of samples pasted into it; None if `given` or `images` is None."""
        if given is None or images is None:
            return None
        if not isinstance(given, DataNode):
            chosen: Any = [given] * len(images)
        else:
            chosen = self.arrays[given] if given in self.arrays else self[given].to_samples()
        positions = [np.asarray(one).reshape(-1) for one in chosen]
        return [own[(own >= 0) & (own < len(images))] for own in positions]  # `setup` refuses other positions

    def _provenance(self, value: DataNode) -> Provenance | None:
        if value in self:
            return self[value].provenance
        return self._dropped[value] if value in self._dropped else self.made_of(value.source)


class StepRunner(abc.ABC):
    """Runs one step, batch by batch. Each kind of operator has a runner, see `adapters`."""

    shown: str  # text of the step in `plan()`
    # Maximum number of batches in the step at the same time. Two for a step that works on single samples, so that the pool is
    # not idle during the slowest sample of a batch.
    at_once: int = 1
    policy: ThreadPolicy | None = None  # None if the step has no work for threads

    @abc.abstractmethod
    def run(self, env: Values, ids: SampleIds, pool: Pool) -> None:
        """Runs the step on the samples `ids`, and adds the outputs to `env`; raises NodeFailure with all failed samples."""

    def set_seed(self, seed: int, stream: int | None = None) -> None:  # noqa: B027  most draw nothing
        """Sets the seed of operators that were given none. With `stream`, sets seed and stream of all operators."""


def bytes_of(values: Iterable[TensorList]) -> int:
    """Counts the bytes of the batches' memory; shared memory counts once."""
    blocks = {id(block): block for value in values for block in value.store.blocks}
    return sum(block.nbytes for block in blocks.values())


def argument_values(value: TensorList, op: Operator, name: str) -> np.ndarray[Any, Any]:
    """Reads the values of a per-sample argument, and waits for them; raises TypeError if their type is wrong."""
    argument_rules.check_dtype(op.name, op.args[name], value.spec.dtype)
    return value.as_numpy() if value.is_dense_tensor() else argument_rules.as_objects(value.to_samples())


def input_values(value: TensorList, op: Operator, name: str) -> np.ndarray[Any, Any]:
    """Reads the values [N, ...] of an input that acts as an argument.

    Raises SampleError if the samples differ in shape and the operator does not allow this.
    """
    if not value.is_dense_tensor() and any(i.ragged for i in op.inputs if i.name == name):
        return argument_rules.as_objects(value.to_samples())
    argument_rules.refuse_different(op.name, name, value.spec.extents)
    return value.as_numpy()
