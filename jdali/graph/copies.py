"""A graph once more, for another pipeline of the same definition."""

from __future__ import annotations

import dataclasses
from typing import Any

from jdali.graph.node import WHOLE_BATCH, DataNode, Domain, Graph, Node


def copy_graph(graph: Graph) -> Graph:
    """The same nodes under the same numbers, so with the same random values; sources are at their beginnings."""
    copy = Graph()
    domains = {WHOLE_BATCH: WHOLE_BATCH}

    def value(given: Any) -> Any:
        return copy.nodes[given.source.id].outputs[given.index] if isinstance(given, DataNode) else given

    def domain(given: Domain) -> Domain:
        if given not in domains:
            assert given.parent is not None
            domains[given] = dataclasses.replace(
                given, parent=domain(given.parent), predicate=value(given.predicate)
            )
        return domains[given]

    def add(node: Node) -> None:
        runtime = None if node.runtime is None else node.runtime.anew()
        args = {name: runtime if arg is node.runtime else value(arg) for name, arg in node.args.items()}
        copy.domain = domain(node.domain)
        copy.add(
            node.op, [value(given) for given in node.inputs], args, device=node.device, name=node.name,
            seed=node.seed, runtime=runtime, num_outputs=len(node.outputs), where=node.where,
            across_domains=True, preserve=node.preserve,
        )  # fmt: skip
        copy.nodes[-1].named = node.named

    for node in graph.nodes:
        add(node)
    copy.domain = WHOLE_BATCH
    return copy
