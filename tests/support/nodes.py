"""Nodes and batches for tests of the engine's parts, without a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali._operators.record import REGISTRY
from jdali._system.devices import host_device
from jdali.engine import Engine, EngineOptions
from jdali.graph import Graph, Node, make_plan
from jdali.tensors import TensorList


def source_node(graph: Graph | None = None, name: str = "source", outputs: int = 1) -> Node:
    """An external source in a graph, by default one of its own."""
    op = REGISTRY["external_source"]
    graph = Graph() if graph is None else graph
    return graph.add(op, (), {}, device="cpu", name=name, num_outputs=outputs, where="file.py:1")


def node_of(graph: Graph, operator: str, *inputs: Any, **args: Any) -> Node:
    """An operator in a graph."""
    return graph.add(REGISTRY[operator], inputs, args, device="cpu", where="file.py:2")


def batch(*samples: Any, layout: str = "") -> TensorList:
    """A batch in host memory."""
    return TensorList.from_samples([np.asarray(s) for s in samples], layout, "cpu")


def rows(value: TensorList) -> list[Any]:
    """The samples of a batch as lists."""
    return [s.tolist() for s in value.to_samples()]


def engine_of(source: Any, *, batch_size: int = 3, on_error: str = "raise", after: Any = None) -> Engine:
    """The engine of a pipeline of one source: a reader, or a `SourceFeed`.

    Args:
        source: of the samples.
        batch_size: of the pipeline.
        on_error: of the pipeline.
        after: makes the output of the source's value and the graph; by default it is that value.
    """
    graph = Graph()
    node = source_node(graph)
    (value,) = node.outputs
    output = value if after is None else after(graph, value)
    here = host_device()
    options = EngineOptions(
        batch_size=batch_size, threads=1, most_idle=1 << 20, seed=1, devices={"cpu": here, "gpu": here}, on_error=on_error
    )  # fmt: skip
    return Engine(make_plan(graph.nodes, [output], one_device=True), options, sources={node: source})
