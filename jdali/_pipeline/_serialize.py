"""A pipeline as bytes: its graph and options as JSON, from which another program makes the pipeline again."""

from __future__ import annotations

import abc
import base64
import enum
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jdali import types
from jdali._operators.record import REGISTRY
from jdali._pipeline._options import OperatorConcurrency, StreamPolicy
from jdali._state import check_version
from jdali.engine._sources import ExternalSource
from jdali.graph._node import WHOLE_BATCH, DataNode, Domain, Graph, Node

VERSION = 1

# Options of a pipeline that are kept; those that say how fast and on what it runs may be given anew.
OPTIONS = (
    "batch_size", "num_threads", "device_id", "seed", "exec_pipelined", "exec_async", "prefetch_queue_depth",
    "enable_checkpointing", "on_error", "max_compiles", "max_prefetch_bytes", "max_idle_bytes",
    "scaled_decoding", "exact_shapes",
)  # fmt: skip

Self = TypeVar("Self", bound="Serializing")


class Serializing(abc.ABC):
    """The part of `Pipeline` that writes its definition, and makes a pipeline of what was written."""

    graph: Graph
    _outputs: tuple[DataNode, ...] | None
    _sinks: list[DataNode]
    _expected: tuple[Any, Any, Any]
    _without_effect: dict[str, Any]
    _define: Callable[[], Any] | None
    _compilation_cache: bool

    @abc.abstractmethod
    def get_state(self) -> dict[str, Any]:
        """Where the sources are."""

    @abc.abstractmethod
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from there."""

    @abc.abstractmethod
    def build(self) -> Any:
        """Plans the graph and opens the readers."""

    def serialize(self, define_graph: Any = None, filename: str | None = None) -> bytes:
        """The definition: operators, arguments, options; not where the pipeline is, see `checkpoint`.

        What feeds an external source is left out: a pipeline made of the bytes wants `feed_input`.

        Args:
            define_graph: a function that returns the outputs, as the method of this name does; for a pipeline
                that has none yet.
            filename: also written there.

        Raises:
            RuntimeError: an argument, a function for instance, cannot be written.
            TypeError: `define_graph` is no function.
        """
        if define_graph is not None:
            if not callable(define_graph):
                raise TypeError(
                    "Pipeline.serialize: Provided `define_graph` argument is not callable. It is a "
                    f"{type(define_graph).__name__}; a file is named by `filename`"
                )
            self._define = define_graph
        self.build()
        writer = _Writer()
        nodes = [writer.node(node) for node in self.graph.nodes]
        content = {
            "version": VERSION,
            "options": {name: getattr(self, name) for name in OPTIONS} | self._described(),
            "nodes": nodes,
            "domains": writer.rows,
            "outputs": [_reference(value) for value in self._outputs or ()],
        }
        data = json.dumps(content, separators=(",", ":")).encode()
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    def _described(self) -> dict[str, Any]:
        """What was said of the outputs, and options without effect, as JSON."""
        dtypes, ndims, layouts = self._expected
        if dtypes is not None:
            several = isinstance(dtypes, (list, tuple))
            numbers = [
                None if d is None else int(types.to_dali_type(types.to_dtype(d)))
                for d in (dtypes if several else [dtypes])
            ]
            dtypes = numbers if several else numbers[0]
        described = {"output_dtype": dtypes, "output_ndim": ndims, "output_layout": layouts}
        ignored = {
            name: value.name if isinstance(value, enum.Enum) else value
            for name, value in self._without_effect.items()
        }
        return {name: value for name, value in (described | ignored).items() if value is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle` and `copy`: a built pipeline of the same definition and options, at the same place.

        Raises:
            TypeError: an argument, a function or a source for instance, cannot be written.
        """
        self.build()
        called = [node for node in self.graph.nodes if _fed(node) is not None and not node.runtime.is_fed]
        try:
            if called:
                raise RuntimeError(f"the source of {called[0].name!r} is a Python object")
            data = self.serialize()
        except RuntimeError as error:
            raise TypeError(
                f"Pipeline: it cannot be pickled or copied, {error}: call the pipeline function again where "
                "the pipeline is wanted, and give it what get_state() returns here"
            ) from None
        dtype, ndim, layout = self._expected
        options = {
            **self._without_effect,
            "output_dtype": dtype,
            "output_ndim": ndim,
            "output_layout": layout,
            "compilation_cache": self._compilation_cache,
        }
        return _remade, (type(self), data, options, self.get_state())

    @classmethod
    def deserialize(
        cls: type[Self], serialized_pipeline: str | bytes | None = None, filename: str | None = None,
        **kwargs: Any,
    ) -> Self:  # fmt: skip
        """A built pipeline of what `serialize` gave.

        Args:
            serialized_pipeline, filename: the bytes, or the file that they are in.
            kwargs: arguments of `Pipeline`, in place of those that were written.
        """
        if (serialized_pipeline is None) == (filename is None):
            raise ValueError(
                "Pipeline.deserialize: serialized_pipeline and filename arguments are mutually exclusive. Precisely one "
                "of them should be defined."
            )
        data = Path(filename).read_bytes() if filename is not None else serialized_pipeline
        content = _parsed(data)
        make: Callable[..., Self] = cls
        pipeline = make(**{**_options(content["options"]), **kwargs})
        pipeline._define_from(content)
        return pipeline

    def deserialize_and_build(self, serialized_pipeline: str | bytes) -> None:
        """Gives this pipeline, which has no operators yet, those of what `serialize` gave."""
        if self.graph.nodes:
            raise RuntimeError("Pipeline.deserialize_and_build: the pipeline has operators already")
        self._define_from(_parsed(serialized_pipeline))

    def _define_from(self, content: Mapping[str, Any]) -> None:
        reader = _Reader(self.graph, content["domains"])
        for item in content["nodes"]:
            reader.node(item)
        self._outputs = tuple(reader.value(reference) for reference in content["outputs"])
        self.build()


def _options(written: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `Pipeline` from those in JSON."""
    options = dict(written)
    for name, kind in (("stream_policy", StreamPolicy), ("concurrency", OperatorConcurrency)):
        if name in options:
            options[name] = kind[options[name]]
    dtypes = options.get("output_dtype")
    if isinstance(dtypes, list):
        options["output_dtype"] = [None if d is None else types.DALIDataType(d) for d in dtypes]
    elif dtypes is not None:
        options["output_dtype"] = types.DALIDataType(dtypes)
    return options


def _remade(kind: type[Self], data: bytes, options: Mapping[str, Any], state: Mapping[str, Any]) -> Self:
    pipeline = kind.deserialize(data, **options)
    pipeline.set_state(state)
    return pipeline


def _parsed(data: str | bytes | None) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(data or b"")
    except ValueError as error:
        raise RuntimeError(f"Pipeline.deserialize: these are not the bytes of a pipeline: {error}") from None
    check_version("Pipeline.deserialize", content, VERSION)
    return content


def _reference(value: DataNode) -> list[int]:
    return [value.source.id, value.index]


class _Writer:
    """Nodes as JSON; the branches that they are in get numbers."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._numbers: dict[Domain, int] = {WHOLE_BATCH: -1}

    def node(self, node: Node) -> dict[str, Any]:
        def written(name: str, value: Any) -> Any:
            try:
                return _written(value)
            except TypeError as error:
                raise RuntimeError(f"Pipeline.serialize: {node.op.name}: {name} {error}") from None

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
            "fed": _fed(node),
            "preserve": node.preserve,
        }

    def _domain(self, domain: Domain) -> int:
        if domain not in self._numbers:
            assert domain.parent is not None
            assert domain.predicate is not None
            predicate = _reference(domain.predicate)
            row = [self._domain(domain.parent), predicate, domain.branch, domain.share]
            self._numbers[domain] = len(self.rows)
            self.rows.append(row)
        return self._numbers[domain]


class _Reader:
    """Adds to a graph what a `_Writer` wrote."""

    def __init__(self, graph: Graph, domains: list[list[Any]]):
        self._graph, self._rows = graph, domains
        self._domains: dict[int, Domain] = {-1: WHOLE_BATCH}

    def value(self, reference: list[int]) -> DataNode:
        return self._graph.nodes[reference[0]].outputs[reference[1]]

    def node(self, item: Mapping[str, Any]) -> None:
        op = REGISTRY.get(item["op"])
        if op is None:
            raise RuntimeError(
                f"Pipeline.deserialize: there is no operator {item['op']!r}; load its plugin first, if it has one"
            )
        self._graph.domain = self._domain(item["domain"])
        runtime = None
        if item["fed"] is not None:
            given = {name: self._read(value) for name, value in item["fed"].items()}
            runtime = ExternalSource(None, name=item["name"], **given)
        self._graph.add(
            op,
            [self._read(value) for value in item["inputs"]],
            {name: self._read(value) for name, value in item["args"].items()},
            device=item["device"], name=item["name"], seed=item["seed"], runtime=runtime,
            num_outputs=item["outputs"], where=item["where"], across_domains=True,
            preserve=item.get("preserve", False),
        )  # fmt: skip
        self._graph.domain = WHOLE_BATCH

    def _domain(self, number: int) -> Domain:
        if number not in self._domains:
            parent, predicate, branch, *share = self._rows[number]  # older versions knew of no share
            self._domains[number] = Domain(self._domain(parent), self.value(predicate), branch, *share)
        return self._domains[number]

    def _read(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._read(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "node":
            return self.value(content)
        if kind == "enum":
            return getattr(getattr(types, content[0]), content[1])
        if kind == "dtype":
            return np.dtype(content)
        if kind == "array":
            dtype, shape, data = content
            return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()
        return {self._read(key): self._read(item) for key, item in content}


def _written(value: Any) -> Any:
    if isinstance(value, enum.Enum) and hasattr(types, type(value).__name__):
        return {"enum": [type(value).__name__, value.name]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_written(item) for item in value]
    if isinstance(value, DataNode):
        return {"node": _reference(value)}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).str}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
        array = np.asarray(value)
        return {"array": [array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode()]}
    if isinstance(value, Mapping):
        return {"dict": [[_written(key), _written(item)] for key, item in value.items()]}
    raise TypeError(f"cannot be written: {type(value).__name__} {value!r:.60}")


def _fed(node: Node) -> dict[str, Any] | None:
    """How an external source is to be made again, without what feeds it; None: the node is none."""
    source = node.runtime
    if not isinstance(source, ExternalSource):
        return None
    return {
        "num_outputs": source.num_outputs,
        "repeat_last": source.repeat_last,
        "layout": _written(source.layouts),
        "dtype": _written(source.dtypes),
        "ndim": _written(source.ndims),
    }
