"""`DataNode`, the output of an operator in a pipeline that is being defined."""

from jdali.graph import DataNode
from jdali.ops.tensor._subscript import newaxis

__all__ = ["DataNode", "newaxis"]
