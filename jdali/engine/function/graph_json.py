"""Writes the nodes and branches of graphs as JSON, and reads them."""

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from jdali import types
from jdali._operators.record import REGISTRY
from jdali._sources import SourceFeed
from jdali.graph import WHOLE_BATCH, DomainRecord, GraphRecord, Node, NodeRecord, ValueNumber, record_graph

_MOST_OUTPUTS = 1 << 16  # maximum number of outputs of a node


class UnknownOperatorError(RuntimeError):
    """Raised if a graph has an operator that this process does not have."""


@dataclasses.dataclass(frozen=True)
class NodeRow:
    """Describes a node in JSON."""

    op: str
    name: str
    device: Literal["cpu", "gpu", "mixed"]
    inputs: list[Any]
    args: dict[str, Any]
    seed: int | None
    domain: int
    outputs: int
    where: str
    fed: dict[str, Any] | None  # options of an external source; None for other nodes
    preserve: bool = False  # older versions did not write it


def record_to_write(nodes: Iterable[Node]) -> GraphRecord:
    """Records a graph for `written_graph`: external sources keep their options, but not what feeds them."""
    return record_graph(nodes, _unfed)


def _unfed(runtime: Any) -> Any:
    if not isinstance(runtime, SourceFeed):
        return runtime  # a Python object; `written_graph` refuses it as an argument
    return functools.partial(
        SourceFeed, None, num_outputs=runtime.num_outputs, repeat_last=runtime.repeat_last,
        layout=runtime.layouts, dtype=runtime.dtypes, ndim=runtime.ndims,
    )  # fmt: skip


def source_in_place_of(node: Node) -> Node:
    """Returns a source without data that has the same id, name and outputs as `node`."""
    return dataclasses.replace(
        node, op=REGISTRY["external_source"], device="cpu", inputs=(), args={}, seed=None, domain=WHOLE_BATCH,
        runtime=SourceFeed(None, num_outputs=len(node.outputs)),
    )  # fmt: skip


def written_graph(record: GraphRecord) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Returns the nodes and branches of a graph as JSON; raises RuntimeError if an argument is not plain data."""
    domains = [
        [row.parent, [row.predicate.node, row.predicate.index], row.branch, row.share, row.where]
        for row in record.domains
    ]
    return [_written_node(node) for node in record.nodes], domains


def _written_node(node: NodeRecord) -> dict[str, Any]:
    def written(name: str, value: object) -> Any:
        try:
            return written_value(value)
        except TypeError as error:
            raise RuntimeError(
                f"Pipeline.serialize: {node.op.name}: {name} {error}. Could not serialize the operator: "
                f"`jdali.fn.{node.op.shown_name}`."
            ) from None

    fed = None
    if isinstance(node.runtime, functools.partial):
        fed = {name: written_value(value) for name, value in node.runtime.keywords.items()}
    row = NodeRow(
        node.op.name, node.name, node.device,  # type: ignore[arg-type]
        [written(f"input {i}", value) for i, value in enumerate(node.inputs)],
        {name: written(f"argument {name!r}", value) for name, value in node.args.items()},
        node.seed, node.domain, node.outputs, node.where, fed, node.preserve,
    )  # fmt: skip
    return vars(row)


def read_graph(nodes: Iterable[Mapping[str, Any]], domains: Iterable[Sequence[Any]]) -> GraphRecord:
    """Reads what `written_graph` wrote; raises RuntimeError if an operator or an argument is unknown."""
    branches = []
    for parent, predicate, *rest in domains:  # older versions wrote less
        branches.append(DomainRecord(parent, ValueNumber(*predicate), *rest))
    return GraphRecord(tuple(map(_read_node, nodes)), tuple(branches))


def _read_node(item: Mapping[str, Any]) -> NodeRecord:
    import msgspec  # here, because only programs that read graphs need it

    row = msgspec.convert(item, NodeRow)
    if not 0 <= row.outputs <= _MOST_OUTPUTS:
        raise ValueError(f"{row.outputs} outputs of a node")
    op = REGISTRY.get(row.op)
    if op is None:
        raise UnknownOperatorError(
            f"Pipeline.deserialize: there is no operator {row.op!r}; load its plugin first, if it has one"
        )
    runtime = None
    if row.fed is not None:
        keywords = {name: read_value(value) for name, value in row.fed.items()}
        runtime = functools.partial(SourceFeed, None, name=row.name, **keywords)
    args = {name: read_value(value) for name, value in row.args.items()}
    op.bind(args, private=True)  # raises for unknown arguments, because steps would ignore them
    return NodeRecord(
        op, row.name, True, row.device, tuple(map(read_value, row.inputs)), args, row.seed, runtime, row.outputs,
        row.domain, row.where, row.preserve,
    )  # fmt: skip


def written_value(value: object) -> Any:
    """Returns a value as JSON; raises TypeError if it is not plain data."""
    if isinstance(value, enum.Enum) and hasattr(types, type(value).__name__):
        return {"enum": [type(value).__name__, value.name]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [written_value(item) for item in value]
    if isinstance(value, ValueNumber):
        return {"node": [value.node, value.index]}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).str}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
        array = np.asarray(value)
        return {"array": [array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode()]}
    if isinstance(value, Mapping):
        return {"dict": [[written_value(key), written_value(item)] for key, item in value.items()]}
    raise TypeError(f"cannot be written: {type(value).__name__} {value!r:.60}")


def read_value(value: Any) -> Any:
    if isinstance(value, list):
        return [read_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "node":
        return ValueNumber(*content)
    if kind == "enum":
        names, member = getattr(types, content[0]), content[1]
        if not issubclass(names, enum.Enum):
            raise TypeError(f"{content[0]!r} is not an enumeration")
        return names[member]
    if kind == "dtype":
        return np.dtype(content)
    if kind == "array":
        dtype, shape, data = content
        return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()
    return {read_value(key): read_value(item) for key, item in content}
