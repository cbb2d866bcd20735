"""Provides `DataNode`, the output of an operator in a pipeline's graph, under DALI's name of this module."""

from jdali.graph import DataNode
from jdali.ops.tensor._subscript import newaxis

__all__ = ["DataNode", "newaxis"]
