"""Nodes of a graph as JSON, and a graph of these again."""

from __future__ import annotations

import base64
import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from jdali import types
from jdali._operators.record import REGISTRY
from jdali._sources import SourceFeed
from jdali.graph import WHOLE_BATCH, DataNode, Domain, Graph, Node

_MOST_OUTPUTS = 1 << 16  # of a node


def reference_of(value: DataNode) -> list[int]:
    """Number of a value's node, and of the output."""
    return [value.source.id, value.index]


class UnknownOperatorError(RuntimeError):
    """A graph has an operator that this process does not have."""


class GraphWriter:
    """Nodes as JSON; the branches that they are in get numbers."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._numbers: dict[Domain, int] = {WHOLE_BATCH: -1}

    def node(self, node: Node) -> dict[str, Any]:
        """Describes a node.

        Raises:
            RuntimeError: an argument, a function for instance, is no plain data.
        """

        def written(name: str, value: object) -> Any:
            try:
                return written_value(value)
            except TypeError as error:
                raise RuntimeError(
                    f"Pipeline.serialize: {node.op.name}: {name} {error}. Could not serialize the operator: "
                    f"`jdali.fn.{node.op.shown_name}`."
                ) from None

        return {
            "op": node.op.name,
            "name": node.name,
            "device": node.device,
            "inputs": [written(f"input {i}", value) for i, value in enumerate(node.inputs)],
            "args": {name: written(f"argument {name!r}", value) for name, value in node.args.items()},
            "seed": node.seed,
            "domain": self._domain(node.domain),
            "outputs": len(node.outputs),
            "where": node.where,
            "fed": described_feed(node),
            "preserve": node.preserve,
        }

    def _domain(self, domain: Domain) -> int:
        if domain not in self._numbers:
            assert domain.parent is not None
            assert domain.predicate is not None
            predicate = reference_of(domain.predicate)
            row = [self._domain(domain.parent), predicate, domain.branch, domain.share, domain.where]
            self._numbers[domain] = len(self.rows)
            self.rows.append(row)
        return self._numbers[domain]


@dataclasses.dataclass(frozen=True)
class NodeRow:
    """A node as `GraphWriter` describes it."""

    op: str
    name: str
    device: Literal["cpu", "gpu", "mixed"]
    inputs: list[Any]
    args: dict[str, Any]
    seed: int | None
    domain: int
    outputs: int
    where: str
    fed: dict[str, Any] | None
    preserve: bool = False  # older versions did not write it


class GraphReader:
    """Adds to a graph what a `GraphWriter` wrote."""

    def __init__(self, graph: Graph, domains: list[list[Any]]):
        self._graph, self._rows = graph, domains
        self._domains: dict[int, Domain] = {-1: WHOLE_BATCH}

    def value(self, reference: Sequence[int]) -> DataNode:
        """Returns the value of a reference."""
        node, output = reference
        if min(node, output) < 0:
            raise IndexError(f"there is no output {output} of a node {node}")
        return self._graph.nodes[node].outputs[output]

    def node(self, item: Mapping[str, Any]) -> None:
        """Adds a node that was described.

        Raises:
            RuntimeError: its operator is not known.
            msgspec.ValidationError: the description has other types.
        """
        import msgspec  # programs that read no graph do not load it

        row = msgspec.convert(item, NodeRow)
        if not 0 <= row.outputs <= _MOST_OUTPUTS:
            raise ValueError(f"{row.outputs} outputs of a node")
        op = REGISTRY.get(row.op)
        if op is None:
            raise UnknownOperatorError(
                f"Pipeline.deserialize: there is no operator {row.op!r}; load its plugin first, if it has one"
            )
        self._graph.domain = self._domain(row.domain)
        runtime = None
        if row.fed is not None:
            given = {name: self.read(value) for name, value in row.fed.items()}
            runtime = SourceFeed(None, name=row.name, **given)
        self._graph.add(
            op,
            [self.read(value) for value in row.inputs],
            {name: self.read(value) for name, value in row.args.items()},
            device=row.device, name=row.name, seed=row.seed, runtime=runtime,
            num_outputs=row.outputs, where=row.where, across_domains=True, preserve=row.preserve,
        )  # fmt: skip
        self._graph.domain = WHOLE_BATCH

    def _domain(self, number: int) -> Domain:
        if number not in self._domains:
            parent, predicate, branch, *rest = self._rows[number]  # less was written by older versions
            self._domains[number] = Domain(self._domain(parent), self.value(predicate), branch, *rest)
        return self._domains[number]

    def read(self, value: Any) -> Any:
        """Returns a value that `written_value` wrote."""
        if isinstance(value, list):
            return [self.read(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "node":
            return self.value(content)
        if kind == "enum":
            names, member = getattr(types, content[0]), content[1]
            if not issubclass(names, enum.Enum):
                raise TypeError(f"{content[0]!r} is no enumeration")
            return names[member]
        if kind == "dtype":
            return np.dtype(content)
        if kind == "array":
            dtype, shape, data = content
            return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()
        return {self.read(key): self.read(item) for key, item in content}


def written_value(value: object) -> Any:
    """A value as JSON.

    Raises:
        TypeError: it is no plain data.
    """
    if isinstance(value, enum.Enum) and hasattr(types, type(value).__name__):
        return {"enum": [type(value).__name__, value.name]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [written_value(item) for item in value]
    if isinstance(value, DataNode):
        return {"node": reference_of(value)}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).str}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
        array = np.asarray(value)
        return {"array": [array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode()]}
    if isinstance(value, Mapping):
        return {"dict": [[written_value(key), written_value(item)] for key, item in value.items()]}
    raise TypeError(f"cannot be written: {type(value).__name__} {value!r:.60}")


def described_feed(node: Node) -> dict[str, Any] | None:
    """Describes an external source without its feed; None if the node is no source."""
    source = node.runtime
    if not isinstance(source, SourceFeed):
        return None
    return {
        "num_outputs": source.num_outputs,
        "repeat_last": source.repeat_last,
        "layout": written_value(source.layouts),
        "dtype": written_value(source.dtypes),
        "ndim": written_value(source.ndims),
    }
