"""What one iteration has computed so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali.graph._node import DataNode
from jdali.tensors import TensorList


class Values(dict[DataNode, TensorList]):
    """The batches of an iteration, by the value of the graph that they are of.

    Attributes:
        decoded_from: float32 [N, columns] for pictures that were decoded at a fraction of their size:
            what of each picture was decoded, see `_decoded_from` of the resizes.
    """

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.decoded_from: dict[DataNode, np.ndarray] = {}
