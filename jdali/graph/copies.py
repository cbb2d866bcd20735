"""A graph once more, for another pipeline of the same definition."""

from __future__ import annotations

import dataclasses
from typing import Any

from jdali.graph.node import WHOLE_BATCH, DataNode, Domain, Graph, Node


def copy_graph(graph: Graph) -> Graph:
    """The same nodes under the same numbers, so with the same random values; sources are at their beginnings."""
    copy = Graph()
    domains = {WHOLE_BATCH: WHOLE_BATCH}

    def value(original: object) -> Any:
        return (
            copy.nodes[original.source.id].outputs[original.index]
            if isinstance(original, DataNode)
            else original
        )

    def domain(original: Domain) -> Domain:
        if original not in domains:
            assert original.parent is not None
            domains[original] = dataclasses.replace(
                original, parent=domain(original.parent), predicate=value(original.predicate)
            )
        return domains[original]

    def add(node: Node) -> None:
        runtime = None if node.runtime is None else node.runtime.anew()
        args = {name: runtime if arg is node.runtime else value(arg) for name, arg in node.args.items()}
        copy.domain = domain(node.domain)
        copy.add(
            node.op, [value(node_input) for node_input in node.inputs], args, device=node.device, name=node.name,
            seed=node.seed, runtime=runtime, num_outputs=len(node.outputs), where=node.where,
            across_domains=True, preserve=node.preserve,
        )  # fmt: skip
        copy.nodes[-1].named = node.named

    for node in graph.nodes:
        add(node)
    copy.domain = WHOLE_BATCH
    return copy
