"""Finds the reader or decoder that a value in a graph comes from, and the class names of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jdali.graph import DataNode, Node, moves_only
from jdali.readers.base import ClassNames, Reader

# Operators that keep the values of labels, besides those that return their input (`moves_only`).
_SAME_NUMBER = {"cast", "cast_like", "copy", "expand_dims", "random_bbox_crop", "reshape", "squeeze"}


class Origin(NamedTuple):
    """Where a value comes from.

    Attributes:
        node: a reader, `decoders.audio`, or another operator without inputs.
        output: number of the output of `node`.
        chain: operators on the way back from the value to `node`. The first computes the value, the last is `node`.
    """

    node: Node
    output: int
    chain: tuple[Node, ...]


def origin(value: DataNode) -> Origin:
    """Finds where a value comes from, by following the first input of each operator."""
    chain: list[Node] = []
    while True:
        node = value.source
        chain.append(node)
        inputs = node.data_inputs
        if not inputs or node.op.name == "decoders.audio":
            return Origin(node, value.index, tuple(chain))
        # random_bbox_crop takes boxes and labels, and returns anchor, shape, boxes and labels.
        second = node.op.name == "random_bbox_crop" and value.index == 3
        value = inputs[1] if second and len(inputs) > 1 else inputs[0]


def class_names(value: DataNode, readers: Mapping[Node, Reader]) -> ClassNames:
    """Returns the class names of the labels in a value; empty if they are unknown."""
    found = origin(value)
    *way, node = found.chain
    if node not in readers or not all(moves_only(step) or step.op.name in _SAME_NUMBER for step in way):
        return ()
    return readers[node].class_names.get(found.output, ())
