"""A graph as data, of which another process makes the same graph: operators by name, values by number.

Nodes keep their numbers, which are part of random keys. Data that feed an external source stay where they are.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from jdali._operators.record import REGISTRY, Operator
from jdali.graph.node import WHOLE_BATCH, DataNode, Domain, Graph, Node


@dataclasses.dataclass(frozen=True)
class ValueNumber:
    """An output of a node: number of the node, and of the output."""

    node: int
    index: int

    @classmethod
    def of(cls, value: DataNode) -> ValueNumber:
        return cls(value.source.id, value.index)

    def find(self, graph: Graph) -> DataNode:
        return graph.nodes[self.node].outputs[self.index]


@dataclasses.dataclass(frozen=True)
class SentDomain:
    """A branch, see `Domain`; None in place of its parent stands for the whole batch."""

    parent: SentDomain | None
    predicate: ValueNumber
    branch: bool | int
    share: float
    where: str


@dataclasses.dataclass(frozen=True)
class SentNode:
    """A node, see `Node`.

    Attributes:
        inputs, args: with numbers in place of values.
        runtime: makes what the node needs besides its arguments; None: it needs nothing. An argument that is this very
            object stands for what it makes.
        outputs: how many.
        domain: None: the whole batch.
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
    domain: SentDomain | None
    where: str
    preserve: bool


def send_node(node: Node) -> SentNode:
    """Describes a node; its `runtime` says by `remake` what makes it in another process."""
    runtime = None if node.runtime is None else node.runtime.remake()

    def sent(value: object) -> Any:
        if isinstance(value, DataNode):
            return ValueNumber.of(value)
        return runtime if value is not None and value is node.runtime else value

    return SentNode(
        node.op, node.name, node.named, node.device, tuple(map(sent, node.inputs)),
        {name: sent(value) for name, value in node.args.items()}, node.seed, runtime, len(node.outputs),
        _send_domain(node.domain), node.where, node.preserve,
    )  # fmt: skip


def _send_domain(domain: Domain) -> SentDomain | None:
    if domain.parent is None or domain.predicate is None:
        return None
    predicate = ValueNumber.of(domain.predicate)
    return SentDomain(_send_domain(domain.parent), predicate, domain.branch, domain.share, domain.where)


def receive_graph(nodes: Sequence[SentNode]) -> Graph:
    """Makes the graph of nodes that were sent, in their order."""
    graph = Graph()
    domains: dict[SentDomain | None, Domain] = {None: WHOLE_BATCH}

    def domain(sent: SentDomain | None) -> Domain:
        if sent not in domains:
            assert sent is not None
            predicate = sent.predicate.find(graph)
            domains[sent] = Domain(domain(sent.parent), predicate, sent.branch, sent.share, sent.where)
        return domains[sent]

    for node in nodes:
        runtime = None if node.runtime is None else node.runtime()

        def received(value: object, node: SentNode = node, runtime: object = runtime) -> Any:
            if isinstance(value, ValueNumber):
                return value.find(graph)
            return runtime if value is not None and value is node.runtime else value

        graph.domain = domain(node.domain)
        graph.add(
            node.op, [received(value) for value in node.inputs],
            {name: received(value) for name, value in node.args.items()}, device=node.device, name=node.name,
            seed=node.seed, runtime=runtime, num_outputs=node.outputs, where=node.where, across_domains=True,
            preserve=node.preserve,
        ).named = node.named  # fmt: skip
    graph.domain = WHOLE_BATCH
    return graph


# --- operators ------------------------------------------------------------------------------------
def reduced_operator(value: object) -> Any:
    """Reduces an operator, for `pickle`, to its name and module; NotImplemented for one of `__main__`, and all else."""
    if not isinstance(value, Operator) or REGISTRY.loaded().get(value.name) is not value:
        return NotImplemented
    module = value.run.__module__
    file = getattr(sys.modules.get(module), "__file__", None)
    return (
        NotImplemented
        if module == "__main__" or file is None
        else (_loaded_operator, (value.name, module, file))
    )


def _loaded_operator(name: str, module: str, file: str) -> Operator:
    if name not in REGISTRY:
        _import(module, file)
    return REGISTRY[name]


def _import(module: str, file: str) -> None:
    """Imports a module that registers operators; one that `plugin_manager` has loaded may be in no folder of the path."""
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
