"""Records graphs as plain data, from which copies, workers, serialized pipelines and exported folders rebuild them.

Records refer to values by number. Nodes keep their numbers, which are part of random keys.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import operator
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from jdali._operators.record import REGISTRY, Operator
from jdali.graph.node import WHOLE_BATCH, DataNode, Domain, Graph, Node

NO_BRANCH = -1  # domain number of `WHOLE_BATCH`, which is not a branch


@dataclasses.dataclass(frozen=True)
class ValueNumber:
    """Identifies an output by the number of its node and its number among the outputs of the node."""

    node: int
    index: int

    @classmethod
    def of(cls, value: DataNode) -> ValueNumber:
        return cls(value.source.id, value.index)

    def find(self, graph: Graph) -> DataNode:
        """Returns the value with this number; raises IndexError if the graph has none."""
        if min(self.node, self.index) < 0:
            raise IndexError(f"there is no output {self.index} of a node {self.node}")
        return graph.nodes[self.node].outputs[self.index]


@dataclasses.dataclass(frozen=True)
class DomainRecord:
    """Records a branch, see `Domain`. `parent` is the number of a domain."""

    parent: int
    predicate: ValueNumber
    branch: bool | int
    share: float = 1.0
    where: str = ""


@dataclasses.dataclass(frozen=True)
class NodeRecord:
    """Records a node, see `Node`.

    Attributes:
        inputs, args: inputs and arguments, with a `ValueNumber` in place of each value.
        runtime: factory of the node's `runtime`; None if the node has none. `inputs` and `args` have the factory in
            place of the `runtime`.
        outputs: number of outputs.
        domain: number of the domain, or `NO_BRANCH`.
    """

    op: Operator
    name: str
    named: bool
    device: str
    inputs: tuple[Any, ...]
    args: dict[str, Any]
    seed: int | None
    runtime: Callable[[], Any] | None
    outputs: int
    domain: int
    where: str
    preserve: bool


@dataclasses.dataclass(frozen=True)
class GraphRecord:
    """Records all nodes of a graph in their order, and the branches that they work on."""

    nodes: tuple[NodeRecord, ...]
    domains: tuple[DomainRecord, ...]

    def add_to(self, graph: Graph) -> None:
        """Adds the nodes to an empty graph."""
        domains = {NO_BRANCH: WHOLE_BATCH}

        def domain(number: int) -> Domain:
            if number not in domains:
                row = self.domains[number]
                predicate = row.predicate.find(graph)
                domains[number] = Domain(domain(row.parent), predicate, row.branch, row.share, row.where)
            return domains[number]

        for node in self.nodes:
            _add(graph, node, domain(node.domain))


def _add(graph: Graph, record: NodeRecord, domain: Domain) -> None:
    runtime = None if record.runtime is None else record.runtime()

    def restored(value: object) -> Any:
        if isinstance(value, ValueNumber):
            return value.find(graph)
        return runtime if value is not None and value is record.runtime else value

    graph.add(
        record.op, [restored(value) for value in record.inputs],
        {name: restored(value) for name, value in record.args.items()}, device=record.device,
        name=record.name if record.named else None, seed=record.seed, runtime=runtime,
        num_outputs=record.outputs, where=record.where, domain=domain, preserve=record.preserve,
    )  # fmt: skip


def record_graph(nodes: Iterable[Node], remake: Callable[[Any], Callable[[], Any]]) -> GraphRecord:
    """Records a graph. `remake` takes the `runtime` of a node, and returns a factory that makes it for another graph."""
    numbers: dict[Domain, int] = {WHOLE_BATCH: NO_BRANCH}
    domains: list[DomainRecord] = []

    def numbered(domain: Domain) -> int:
        if domain not in numbers:
            assert domain.parent is not None
            assert domain.predicate is not None
            parent, predicate = numbered(domain.parent), ValueNumber.of(domain.predicate)
            numbers[domain] = len(domains)
            domains.append(DomainRecord(parent, predicate, domain.branch, domain.share, domain.where))
        return numbers[domain]

    records = tuple(_record(node, remake, numbered(node.domain)) for node in nodes)
    return GraphRecord(records, tuple(domains))


def _record(node: Node, remake: Callable[[Any], Callable[[], Any]], domain: int) -> NodeRecord:
    runtime = None if node.runtime is None else remake(node.runtime)

    def recorded(value: object) -> Any:
        if isinstance(value, DataNode):
            return ValueNumber.of(value)
        return runtime if value is not None and value is node.runtime else value

    return NodeRecord(
        node.op, node.name, node.named, node.device, tuple(map(recorded, node.inputs)),
        {name: recorded(value) for name, value in node.args.items()}, node.seed, runtime, len(node.outputs),
        domain, node.where, node.preserve,
    )  # fmt: skip


def copy_graph(graph: Graph) -> Graph:
    """Copies a graph for another pipeline of the same definition. The sources of the copy are at their beginnings."""
    copy = Graph()
    record_graph(graph.nodes, operator.attrgetter("anew")).add_to(copy)
    return copy


def reduced_operator(value: object) -> Any:
    """Reduces an operator to its name and module, for `pickle`.

    Returns NotImplemented for operators of `__main__`, and for objects that are not operators.
    """
    if not isinstance(value, Operator) or REGISTRY.loaded().get(value.name) is not value:
        return NotImplemented
    module = value.run.__module__
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or file is None:
        return NotImplemented
    return _loaded_operator, (value.name, module, file)


def _loaded_operator(name: str, module: str, file: str) -> Operator:
    if name not in REGISTRY:
        _import(module, file)
    return REGISTRY[name]


def _import(module: str, file: str) -> None:
    """Imports a module that registers operators; a module of `plugin_manager` may be outside `sys.path`."""
    try:
        importlib.import_module(module)
        return
    except ModuleNotFoundError:
        within = [os.path.dirname(file)] if os.path.basename(file) == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(module, file, submodule_search_locations=within)
        if spec is None or spec.loader is None:
            raise
    loaded = sys.modules[module] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
