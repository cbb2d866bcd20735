"""The compiled operators between two places of a graph: what a function of a pipeline is made of."""

from __future__ import annotations

import dataclasses
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
    dependencies,
    is_compiled,
    is_conditional,
    moves_only,
    origin,
    passes_on,
)

Start: TypeAlias = "str | Node | DataNode | Sequence[str | Node | DataNode] | None"
Fixed: TypeAlias = "Mapping[DataNode, np.ndarray]"
"""Values that are the same for all samples: outputs of random operators that a deterministic function leaves out."""


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Operators between values of a graph, all of them compiled.

    Attributes:
        start: values that the caller gives.
        outputs: values that are wanted.
        nodes: the operators, in the order in which they run. Those that only move samples are left out.
        fixed: values in place of outputs of operators that do not run.
        known: values that some `setup` must see before its operator runs, and that operators here make.
    """

    start: tuple[DataNode, ...]
    outputs: tuple[DataNode, ...]
    nodes: tuple[Node, ...]
    fixed: Fixed
    known: tuple[DataNode, ...]

    @property
    def random(self) -> tuple[Node, ...]:
        """The operators that draw random values, those that make `known` among them."""
        return tuple(node for node in self.nodes if node.op.random)

    def stage(self) -> Stage:
        """Returns the part as one stage; what is known or fixed comes in from outside."""
        given = _ids([*self.start, *self.known, *self.fixed])
        nodes = _behind(self.outputs, given, self.nodes)
        inputs: dict[DataNode, None] = dict.fromkeys(self.start)
        inside = _ids([v for node in nodes for v in node.outputs]) - given
        for node in nodes:
            for value in node.data_inputs:
                if id(value) not in inside:
                    inputs[value] = None
            # Arguments that are known or fixed are handed over by their values.
        for value in self.outputs:
            if id(value) not in inside:
                inputs[value] = None
        return Stage(0, 0, "cpu", WHOLE_BATCH, nodes, tuple(inputs), self.outputs)

    def making(self, value: DataNode) -> Part:
        """Returns the part of it that makes one value."""
        return _part(self.start, (value,), self.nodes, self.fixed)


@dataclasses.dataclass(frozen=True, eq=False)
class FunctionDefinition:
    """Defines a function of a pipeline, so that it can be made here or in another process.

    Attributes:
        graph: of the pipeline.
        start: values that the function takes.
        outputs: values that it returns.
        fixed: values in place of outputs of operators that do not run.
        held: keys that operators draw from, by their numbers, the same for every sample.
        layouts: of the values of the start, "" where it is not known.
        seed: of the pipeline.
    """

    graph: Graph
    start: tuple[DataNode, ...]
    outputs: tuple[DataNode, ...]
    fixed: Fixed
    layouts: tuple[str, ...]
    seed: int
    held: Mapping[int, tuple[int, int]] = dataclasses.field(default_factory=dict)


def find_values(graph: Graph, places: Start) -> tuple[DataNode, ...]:
    """Finds values of a graph.

    Args:
        graph: of a pipeline.
        places: a node or its name, for all of its outputs; a value or its name, such as "labels[1]"; several of these.

    Raises:
        ValueError: the graph has no such node.
    """
    several = isinstance(places, (list, tuple))
    found: list[DataNode] = []
    for place in places if isinstance(places, (list, tuple)) else [places]:
        if isinstance(place, DataNode):
            found.append(graph.own(place))
        elif isinstance(place, Node):
            found += place.outputs
        elif isinstance(place, str):
            found += _named(graph, place)
        else:
            kind = "an element of start" if several else "start"
            raise TypeError(
                f"Pipeline.function: {kind} is {place!r:.60}; give a node, its name, or a tuple of them"
            )
    return tuple(found)


def _named(graph: Graph, name: str) -> list[DataNode]:
    for node in graph.nodes:
        if node.name == name:
            return list(node.outputs)
        values = [v for v in node.outputs if v.name == name]
        if values:
            return values
    names = [node.name for node in graph.nodes if not node.name.startswith("__")]
    more = f"those with names are {', '.join(names)}" if names else "none has a name; give one with name=..."
    raise ValueError(f"Pipeline.function: the pipeline has no node {name!r}; {more}")


def border(outputs: Iterable[DataNode]) -> tuple[DataNode, ...]:
    """Returns the values of readers and of operators on the host from which compiled operators make the outputs."""
    crossing: dict[DataNode, None] = {}
    seen: set[int] = set()
    pending = list(outputs)
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        node = value.source
        if is_compiled(node) or moves_only(node) or is_conditional(node):
            pending += reversed([*node.data_inputs, *node.arg_inputs.values()])
        else:
            crossing[value] = None
    order = sorted(crossing, key=lambda v: (v.source.id, v.index))
    return tuple(order)


def upstream(values: Iterable[DataNode], cut: Iterable[DataNode] = ()) -> set[Node]:
    """Returns the nodes that make the values, except for those that only the values of `cut` need."""
    given = _ids(cut)
    seen: set[Node] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) not in given and value.source not in seen:
            seen.add(value.source)
            pending += dependencies(value.source)
    return seen


def make_part(
    graph: Graph, start: Sequence[DataNode], outputs: Sequence[DataNode], fixed: Fixed | None = None
) -> Part:
    """Finds the operators between values.

    Args:
        graph: of the pipeline.
        start: values that the caller gives.
        outputs: that are wanted.
        fixed: values of operators that are not to run.

    Raises:
        ValueError: an operator between them is not compiled, or an output does not follow from the start.
    """
    start = [origin(v) for v in start]
    fixed = {origin(v): array for v, array in (fixed or {}).items()}
    for value in (*start, *outputs):
        _check_whole(value)
    needed = upstream([origin(v) for v in outputs], [*start, *fixed])
    used = [node for node in graph.nodes if node in needed]
    for node in used:
        _check(node, start)
    rewriting = Rewriting(fixed)
    nodes = [rewriting.node(node) for node in used if not passes_on(node)]
    wanted = [rewriting.value(v) for v in outputs]
    return _part(tuple(start), tuple(wanted), nodes, {rewriting.value(v): a for v, a in fixed.items()})


def _part(
    start: tuple[DataNode, ...], outputs: tuple[DataNode, ...], nodes: Sequence[Node], fixed: Fixed
) -> Part:
    given = _ids([*start, *fixed])
    used = _behind(outputs, given, nodes)
    known: dict[DataNode, None] = {}
    for node in used:
        known |= {v: None for v in node.needs_values() if id(v) not in given}
    return Part(start, outputs, used, fixed, tuple(known))


def _behind(outputs: Iterable[DataNode], given: set[int], nodes: Sequence[Node]) -> tuple[Node, ...]:
    pending, seen = [v for v in outputs if id(v) not in given], set()
    while pending:
        node = pending.pop().source
        if node not in seen:
            seen.add(node)
            pending += [v for v in (*node.data_inputs, *node.arg_inputs.values()) if id(v) not in given]
    return tuple(node for node in nodes if node in seen)


def _check_whole(value: DataNode) -> None:
    if value.source.domain is not WHOLE_BATCH:
        raise ValueError(
            f"Pipeline.function: {value.name!r} ({value.source.where}) is computed in one branch of a conditional, for some of "
            "the samples only: let start and outputs be values of all samples"
        )


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
    if is_conditional(node):
        return
    if isinstance(node.op, IndexOp) and not moves_only(node):
        raise ValueError(
            f"Pipeline.function: {name} works on the batch and not on a sample, which no compiled function does: choose "
            "start or outputs so that it is not between them"
        )
    if not is_compiled(node) and not moves_only(node):
        raise ValueError(
            f"Pipeline.function: {name} runs on the host, and is behind the start, {begin}: a function holds compiled "
            f"operators only. Begin behind it, start={node.name!r}, or leave out the outputs that need it"
        )


def _ids(values: Iterable[DataNode]) -> set[int]:
    return {id(v) for v in values}  # not `in`: DataNode overloads ==
