"""Values that one iteration has computed so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jdali._batches import Provenance
from jdali._operators import argument_rules
from jdali._operators.record import Operator, Scaled
from jdali.engine.steps.late import LateSamples
from jdali.engine.task import BatchTask
from jdali.graph import DataNode, Node
from jdali.tensors import TensorList


class Values(dict[DataNode, TensorList]):
    """The batches of an iteration, by the value of the graph that they are of.

    Attributes:
        scaled: of pictures that are decoded at a fraction of their sizes: which.
        task: of the batch, which says what its sources read; None: there is no pipeline.
        drawn: what each source gives.
        constants: inputs, by name, of the one operator of a call outside of a pipeline that are the same
            array for all samples.
        arrays: per-sample arguments of a compiled operator that are no batches but one array [N, ...].
        late: the samples of values that are made when a stage asks for them, see `steps/late.py`.
        most_bytes: of the memory that the values lay in whenever `note_bytes` was called; it counts shared memory once.
    """

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.scaled: dict[DataNode, Scaled] = {}
        self.task: BatchTask | None = None
        self.drawn: dict[Node, Provenance] = {}
        self.constants: dict[str, Any] = {}
        self.arrays: dict[DataNode, np.ndarray] = {}
        self.late: dict[DataNode, LateSamples] = {}
        self._made_of: dict[Node, Provenance | None] = {}
        self._dropped: dict[DataNode, Provenance | None] = {}
        self.most_bytes = 0

    def note_bytes(self) -> None:
        """Counts the memory that the values lie in now."""
        self.most_bytes = max(self.most_bytes, bytes_of(self.values()))

    def drop(self, values: Iterable[DataNode]) -> None:
        """Lets go of values that nobody will read; what they are made of stays known."""
        for value in values:
            self._dropped[value] = self.pop(value).provenance
            self.scaled.pop(value, None)
            self.late.pop(value, None)

    def of_argument(self, value: DataNode, op: Operator, name: str) -> np.ndarray[Any, Any]:
        """Reads the values [N, ...] of a per-sample argument, see `argument_values`."""
        array = self.arrays.get(value)
        return argument_values(self[value], op, name) if array is None else array

    def made_of(self, node: Node) -> Provenance | None:
        """Returns the provenance of a node's outputs: samples of the sources; None if there are none.

        Also of a node that has not run yet, or runs inside of a compiled program, if its inputs are there.
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
        """Lists the samples that are pasted into each one, by the argument that says so; None: one of each input."""
        if given is None or images is None:
            return None
        if not isinstance(given, DataNode):
            chosen: Any = [given] * len(images)
        else:
            chosen = self.arrays[given] if given in self.arrays else self[given].to_samples()
        positions = [np.asarray(one).reshape(-1) for one in chosen]
        return [own[(own >= 0) & (own < len(images))] for own in positions]  # `setup` refuses others

    def _provenance(self, value: DataNode) -> Provenance | None:
        if value in self:
            return self[value].provenance
        return self._dropped[value] if value in self._dropped else self.made_of(value.source)


def bytes_of(values: Iterable[TensorList]) -> int:
    """Counts the bytes of the memory that batches lie in; what several of them share counts once."""
    blocks = {id(block): block for value in values for block in value.store.blocks}
    return sum(block.nbytes for block in blocks.values())


def argument_values(value: TensorList, op: Operator, name: str) -> np.ndarray[Any, Any]:
    """Reads the values of a per-sample argument, and waits for them; raises TypeError if they are of another type."""
    argument_rules.check_dtype(op.name, op.args[name], value.spec.dtype)
    return value.as_numpy() if value.is_dense_tensor() else argument_rules.as_objects(value.to_samples())


def input_values(value: TensorList, op: Operator, name: str) -> np.ndarray[Any, Any]:
    """Reads the values [N, ...] of an input that is an argument; raises SampleError if shapes differ and must not."""
    if not value.is_dense_tensor() and any(i.ragged for i in op.inputs if i.name == name):
        return argument_rules.as_objects(value.to_samples())
    argument_rules.refuse_different(op.name, name, value.spec.extents)
    return value.as_numpy()
