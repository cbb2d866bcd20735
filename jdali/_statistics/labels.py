"""Where values of a graph come from, and the names of the labels in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jdali.graph import DataNode, Node, moves_only
from jdali.readers.base import ClassNames, Reader

# Operators that change no label.
_SAME_NUMBER = {"cast", "cast_like", "copy", "expand_dims", "random_bbox_crop", "reshape", "squeeze"}


class Origin(NamedTuple):
    """Origin of a value, by the first inputs of operators.

    Attributes:
        node: a reader, a decoder of sounds, or another operator without inputs.
        output: which of its outputs.
        chain: the operators on the way, the last one first.
    """

    node: Node
    output: int
    chain: tuple[Node, ...]


def origin(value: DataNode) -> Origin:
    """Follows the first inputs up to where a value comes from."""
    chain: list[Node] = []
    while True:
        node = value.source
        chain.append(node)
        inputs = node.data_inputs
        if not inputs or node.op.name == "decoders.audio":
            return Origin(node, value.index, tuple(chain))
        # random_bbox_crop gives anchor, shape, boxes, labels for boxes and labels.
        second = node.op.name == "random_bbox_crop" and value.index == 3
        value = inputs[1] if second and len(inputs) > 1 else inputs[0]


def class_names(value: DataNode, readers: Mapping[Node, Reader]) -> ClassNames:
    """Returns the names of the labels in a value, whatever their type and place; none if it holds no labels with names.

    Args:
        value: of the graph.
        readers: of the pipeline.
    """
    found = origin(value)
    *way, node = found.chain
    if node not in readers or not all(moves_only(step) or step.op.name in _SAME_NUMBER for step in way):
        return ()
    return readers[node].class_names.get(found.output, ())
