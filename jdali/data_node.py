"""Provides `DataNode`, the output of an operator in a pipeline's graph. DALI has a module of the same name."""

from jdali.graph import DataNode
from jdali.ops.tensor._subscript import newaxis

__all__ = ["DataNode", "newaxis"]
