"""`DataNode`, the output of an operator in a pipeline that is being defined."""

from jdali.graph._node import DataNode, newaxis

__all__ = ["DataNode", "newaxis"]
