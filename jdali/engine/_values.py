"""What one iteration has computed so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._provenance import Provenance
from jdali.graph._node import DataNode, Node
from jdali.tensors import TensorList


class Values(dict[DataNode, TensorList]):
    """The batches of an iteration, by the value of the graph that they are of.

    Attributes:
        decoded_from: float32 [N, columns] for pictures that were decoded at a fraction of their size:
            what of each picture was decoded, see `_decoded_from` of the resizes.
        drawn: what each source gives.
    """

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.decoded_from: dict[DataNode, np.ndarray] = {}
        self.drawn: dict[Node, Provenance] = {}
        self._made_of: dict[Node, Provenance | None] = {}

    def made_of(self, node: Node) -> Provenance | None:
        """Which samples of the sources each sample of a node's outputs is made of; None: of none.

        Also of a node that has not run yet, or runs inside of a compiled program, if its inputs are there.
        """
        if node in self.drawn:
            return self.drawn[node]
        if node not in self._made_of:
            data = [self._provenance(v) for v in node.data_inputs]
            arguments = [self._provenance(v) for v in node.arg_inputs.values()]
            self._made_of[node] = Provenance.together(data, arguments)
        return self._made_of[node]

    def _provenance(self, value: DataNode) -> Provenance | None:
        return self[value].provenance if value in self else self.made_of(value.source)
