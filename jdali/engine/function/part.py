"""Finds the compiled operators between the start and the outputs of a function."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from jdali._operators.record import IndexOp
from jdali.graph import (
    WHOLE_BATCH,
    DataNode,
    Graph,
    Node,
    Rewriting,
    Stage,
    fits_in_function,
    origin,
    passes_on,
    upstream,
)

Fixed: TypeAlias = "Mapping[DataNode, np.ndarray]"
"""Values that replace random operators in a deterministic function, the same for all samples."""


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Holds the compiled operators that make `outputs` from `start`.

    Attributes:
        nodes: the operators, in the order in which they run, without operators that only move samples.
        fixed: values that replace outputs of operators.
        known: values that these operators make, and that a `setup` reads on the host.
    """

    start: tuple[DataNode, ...]
    outputs: tuple[DataNode, ...]
    nodes: tuple[Node, ...]
    fixed: Fixed
    known: tuple[DataNode, ...]

    @property
    def random(self) -> tuple[Node, ...]:
        """The operators that draw random values; operators that make `known` values are included."""
        return tuple(node for node in self.nodes if node.op.random)

    def stage(self) -> Stage:
        """Returns the part as one stage. Its inputs include the known and fixed values that operators read as data."""
        given = {*self.start, *self.known, *self.fixed}
        nodes = _behind(self.outputs, given, self.nodes)
        inside = {v for node in nodes for v in node.outputs} - given
        # Known and fixed arguments are passed by value, so they are not read.
        read = [*(v for node in nodes for v in node.data_inputs), *self.outputs]
        inputs = dict.fromkeys([*self.start, *(v for v in read if v not in inside)])
        return Stage(0, 0, "cpu", WHOLE_BATCH, nodes, tuple(inputs), self.outputs)

    def making(self, value: DataNode) -> Part:
        """Returns a part with only the operators that make one value."""
        return _part(self.start, (value,), self.nodes, self.fixed)


@dataclasses.dataclass(frozen=True, eq=False)
class FunctionDefinition:
    """Defines a function of a pipeline. A definition is made in this process, or loaded from an export.

    Attributes:
        names: names of the outputs.
        held: keys of the operators that draw the same values for every sample, by operator number.
        layouts: layouts of the values of the start, "" if unknown.
    """

    graph: Graph
    start: tuple[DataNode, ...]
    outputs: tuple[DataNode, ...]
    names: tuple[str, ...]
    fixed: Fixed
    layouts: tuple[str, ...]
    seed: int
    held: Mapping[int, tuple[int, int]] = dataclasses.field(default_factory=dict)


def make_part(definition: FunctionDefinition) -> Part:
    """Finds the operators between the start and the outputs of a function.

    Raises:
        ValueError: an operator is not compiled, or an output depends on more than the start.
    """
    start = [origin(v) for v in definition.start]
    fixed = {origin(v): array for v, array in definition.fixed.items()}
    for value in (*start, *definition.outputs):
        if value.source.domain is not WHOLE_BATCH:
            raise ValueError(
                f"Pipeline.function: {value.name!r} ({value.source.where}) is computed in one branch of a conditional, for "
                "some of the samples only: let start and outputs be values of all samples"
            )
    needed = upstream([origin(v) for v in definition.outputs], [*start, *fixed])
    used = [node for node in definition.graph.nodes if node in needed]
    for node in used:
        _check(node, start)
    rewriting = Rewriting(fixed)
    nodes = [rewriting.node(node) for node in used if not passes_on(node)]
    wanted = [rewriting.value(v) for v in definition.outputs]
    return _part(tuple(start), tuple(wanted), nodes, {rewriting.value(v): a for v, a in fixed.items()})


def _part(
    start: tuple[DataNode, ...], outputs: tuple[DataNode, ...], nodes: Sequence[Node], fixed: Fixed
) -> Part:
    given = {*start, *fixed}
    used = _behind(outputs, given, nodes)
    known = dict.fromkeys(v for node in used for v in node.needs_values() if v not in given)
    return Part(start, outputs, used, fixed, tuple(known))


def _behind(outputs: Iterable[DataNode], given: set[DataNode], nodes: Sequence[Node]) -> tuple[Node, ...]:
    found = upstream(outputs, given, operator.attrgetter("operands"))
    return tuple(node for node in nodes if node in found)


def _check(node: Node, start: Sequence[DataNode]) -> None:
    begin = ", ".join(repr(v.name) for v in start) or "nothing"
    name = f"{node.op.shown_name} {node.name!r} ({node.where})"
    if node.is_source:
        raise ValueError(
            f"Pipeline.function: an output needs the data of {name}, which the start, {begin}, does not lead to: "
            "name it in start as well, or leave the output out of outputs"
        )
    if node.domain is not WHOLE_BATCH and node.whole_batch:
        raise ValueError(
            f"Pipeline.function: {name} depends on the other samples of its branch of a conditional, and a function computes "
            "a branch for all samples: choose start or outputs so that it is not between them"
        )
    if fits_in_function(node):
        return
    if isinstance(node.op, IndexOp):
        raise ValueError(
            f"Pipeline.function: {name} works on the batch and not on a sample, which no compiled function does: choose "
            "start or outputs so that it is not between them"
        )
    raise ValueError(
        f"Pipeline.function: {name} runs on the host, and is behind the start, {begin}: a function holds compiled "
        f"operators only. Begin behind it, start={node.name!r}, or leave out the outputs that need it"
    )
