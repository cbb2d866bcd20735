"""Rewrites nodes of a graph for a pure function.

Moves between devices are dropped. Conditionals compute all branches, and choose a result for each sample.
"""

from __future__ import annotations

import dataclasses
import enum
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._operators.record import REGISTRY, HostBatchOp, HostOp, IndexOp
from jdali.graph.node import DataNode, Node
from jdali.graph.plan import is_compiled

_CHOOSE, _LOGICAL = "_conditional.choose", "_conditional.logical"
# Operators that an exported folder may run on the host, besides decoders. They neither read files nor call user
# functions.
HOST_OPERATORS = frozenset(
    {
        "bbox_rotate", "peek_image_shape", "random_bbox_crop",
        "segmentation.random_object_bbox", "segmentation.select_masks", "ssd_random_crop",
    }
)  # fmt: skip


def may_be_exported(node: Node) -> bool:
    """Returns True if an exported folder may contain the operator of a node."""
    op = node.op
    decodes = isinstance(op, (HostOp, HostBatchOp)) and op.work == "decoding"
    return decodes or op.name in HOST_OPERATORS or fits_in_function(node)


def fits_in_function(node: Node) -> bool:
    """Returns True if a pure function may contain a node: it is compiled, a move between devices, or part of a conditional."""
    return is_compiled(node) or moves_only(node) or conditional_part(node) is not None


def moves_only(node: Node) -> bool:
    """Returns True if the output of a node is its input, perhaps on another device."""
    return isinstance(node.op, IndexOp) and node.op.same_samples


class ConditionalPart(enum.Enum):
    """Names the role of a node in a conditional; the value is the operator's name."""

    SPLIT = "_conditional.split"  # passes on the samples of a branch
    MERGE = "_conditional.merge"  # takes each sample from one of two branches, by the condition
    JOIN = "_conditional.join"  # takes each sample from one of several branches, by a branch number
    NOT = "_conditional.not_"
    OPERAND = "_conditional.validate_logical"  # checks a condition, and passes it on


_PARTS = {part.value: part for part in ConditionalPart}


def conditional_part(node: Node) -> ConditionalPart | None:
    """Returns the role of a node in a conditional; None if the node only computes."""
    return _PARTS.get(node.op.name)


def is_choice(node: Node) -> bool:
    """Returns True if a node chooses, for each sample, among the computed branches of a conditional."""
    return node.op.name == _CHOOSE


def passes_on(node: Node) -> bool:
    """Returns True if a node (a move, or the start of a branch) only passes on its first input, so that functions omit it."""
    return moves_only(node) or conditional_part(node) is ConditionalPart.SPLIT


def origin(value: DataNode) -> DataNode:
    """Returns the value that `value` passes on, through moves between devices and starts of branches."""
    while passes_on(value.source):
        value = value.source.data_inputs[0]
    return value


class Rewriting:
    """Rewrites nodes one after another, in the order in which they run.

    A node that does not change stays the same object. All nodes keep their numbers, which their random keys depend on.
    """

    def __init__(self, fixed: Mapping[DataNode, np.ndarray]):
        """Takes values that are equal for all samples. A conditional on such a value keeps only the chosen branch."""
        self._conditions = fixed
        self._rewritten: dict[DataNode, DataNode] = {}

    def value(self, value: DataNode) -> DataNode:
        """Returns the replacement of a value, or the value itself."""
        value = origin(value)
        return self._rewritten.get(value, value)

    def node(self, node: Node) -> Node:
        """Rewrites a node whose inputs have been rewritten."""
        inputs: list[Any] = [self._settled(i) for i in node.inputs]
        args = {name: self._settled(value) for name, value in node.args.items()}
        op, part = node.op, conditional_part(node)
        if part in (ConditionalPart.MERGE, ConditionalPart.JOIN):
            merges = part is ConditionalPart.MERGE
            selector = node.data_inputs[-1] if merges else args.pop("index")
            branches = inputs[:-1] if merges else inputs
            known = self._conditions.get(origin(selector))
            if known is not None and known.ndim == 0 and (merges or 0 <= known < len(branches)):
                self._rewritten[node.outputs[0]] = branches[int(known == 0) if merges else int(known)]
            inputs = [self._settled(selector), *branches]
            args["by_truth"] = merges
            op = REGISTRY[_CHOOSE]
        elif part in (ConditionalPart.NOT, ConditionalPart.OPERAND):
            args |= {"expression_name": "not"} if part is ConditionalPart.NOT else {}
            op = REGISTRY[_LOGICAL]
        elif all(map(operator.is_, [*inputs, *args.values()], [*node.inputs, *node.args.values()])):
            return node
        copy = dataclasses.replace(node, op=op, inputs=tuple(inputs), args=args)
        copy.outputs = tuple(DataNode(v.name, v.device, copy, v.index) for v in node.outputs)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            self._rewritten.setdefault(old, new)
        return copy

    def _settled(self, value: object) -> Any:
        return self.value(value) if isinstance(value, DataNode) else value
