"""Results of operators in debug mode: nodes with values."""

from __future__ import annotations

import textwrap
from typing import Protocol

from jdali.graph import DataNode, Node
from jdali.tensors import TensorList
from jdali.types import DALIDataType


class HasValues(Protocol):
    """The graph of an iteration."""

    def value(self, node: DataNode) -> TensorList:
        """Returns the batch of a node."""


class DataNodeDebug(DataNode):
    """A `DataNode` of a pipeline in debug mode: its batch is computed already.

    It belongs to one iteration; in another one, operators take it as a batch that the user gave.
    """

    __slots__ = ("graph",)
    __hash__ = object.__hash__

    def __init__(self, name: str, device: str, source: Node, index: int, graph: HasValues):
        self.name, self.device, self.source, self.index = name, device, source, index
        self.graph = graph

    def get(self) -> TensorList:
        """Returns the batch."""
        return self.graph.value(self)

    def shape(self) -> list[tuple[int, ...]]:  # type: ignore[override]
        """Returns the shape of each sample."""
        return self.get().shape()

    @property
    def ndim(self) -> int:  # type: ignore[override]
        """Number of axes of the samples."""
        return self.get().ndim()

    @property
    def dtype(self) -> DALIDataType:
        """Type of the elements."""
        return self.get().dtype

    @property
    def layout(self) -> str:  # type: ignore[override]
        """Layout of the samples."""
        return self.get().layout()

    def __str__(self) -> str:
        data = textwrap.indent(f"data={self.get()}", "    ")
        return f'DataNodeDebug(\n    name="{self.name}",\n{data})'

    __repr__ = __str__
