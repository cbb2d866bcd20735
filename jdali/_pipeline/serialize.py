"""Writes a pipeline as bytes, with its graph and options as JSON, and reads them."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdali import types
from jdali._pipeline.config import OperatorConcurrency, PipelineConfig, StreamPolicy
from jdali._pipeline.definition import Definition
from jdali._sources import SourceFeed
from jdali._state import check_version
from jdali.engine.function import read_graph, record_to_write, written_graph
from jdali.graph import ValueNumber

VERSION = 1

# Options that are written.
OPTIONS = (
    "batch_size", "num_threads", "device_id", "seed", "exec_pipelined", "exec_async", "prefetch_queue_depth",
    "enable_checkpointing", "on_error", "max_compiles", "max_prefetch_bytes", "max_idle_bytes",
    "scaled_decoding", "exact_shapes",
)  # fmt: skip


def use_function(definition: Definition, define_graph: object) -> None:
    """Sets the user's function that defines the graph of a pipeline without outputs."""
    if not callable(define_graph):
        hint = (
            "Didn't you want to write `.serialize(filename=...)`?"
            if isinstance(define_graph, str)
            else f"It is a {type(define_graph).__name__}"
        )
        raise TypeError(f"Pipeline.serialize: Provided `define_graph` argument is not callable. {hint}")
    if definition.outputs is not None:
        raise RuntimeError(
            "Pipeline.serialize: Duplicate graph definition - `define_graph` argument should not be specified when "
            "graph was defined with a call to `set_outputs`."
        )
    definition.function = define_graph


def serialized(definition: Definition) -> bytes:
    nodes, domains = written_graph(record_to_write(definition.graph.nodes))
    content = {
        "version": VERSION,
        "options": _written_options(definition.config),
        "nodes": nodes,
        "domains": domains,
        "outputs": [dataclasses.astuple(ValueNumber.of(value)) for value in definition.outputs or ()],
        "names": definition.output_names,
    }
    return json.dumps(content, separators=(",", ":")).encode()


def _written_options(config: PipelineConfig) -> dict[str, Any]:
    """Returns the options as JSON. They have no seed if the user gave none, so each deserialized pipeline draws a new seed."""
    kept = {name: getattr(config, name) for name in OPTIONS}
    if not config.seed_given:
        kept["seed"] = None
    ignored = {
        name: value.name if isinstance(value, enum.Enum) else value
        for name, value in config.without_effect().items()
    }
    others = config.expected.given | ignored  # DALI's element types are integers
    return kept | {name: value for name, value in others.items() if value is not None}


def pickled(definition: Definition) -> tuple[bytes, dict[str, Any]]:
    """Writes a pipeline as bytes for `pickle`. Returns the bytes, and the options that they lack.

    Raises:
        TypeError: the pipeline cannot be written.
    """
    nodes, config = definition.graph.nodes, definition.config
    called = [node for node in nodes if isinstance(node.runtime, SourceFeed) and not node.runtime.is_fed]
    try:
        if called:
            raise RuntimeError(f"the source of {called[0].name!r} is a Python object")
        data = serialized(definition)
    except RuntimeError as error:
        raise TypeError(
            f"Pipeline: it cannot be pickled or copied, {error}: call the pipeline function again where "
            "the pipeline is wanted, and give it what get_state() returns here"
        ) from None
    options = {
        **config.without_effect(), **config.expected.given, "compilation_cache": config.compilation_cache,
    }  # fmt: skip
    return data, options


def define(definition: Definition, content: Mapping[str, Any]) -> None:
    """Adds the operators and outputs that `serialized` wrote."""
    graph = definition.graph
    read_graph(content["nodes"], content["domains"]).add_to(graph)
    definition.outputs = tuple(ValueNumber(*numbers).find(graph) for numbers in content["outputs"])
    definition.output_names = tuple(content.get("names", ()))


def given_options(written: Mapping[str, Any]) -> dict[str, Any]:
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


def given_content(data: str | bytes | None, filename: str | None) -> dict[str, Any]:
    """Parses what `serialize` wrote, from bytes or a file; raises ValueError if both or neither are given."""
    if (data is None) == (filename is None):
        raise ValueError(
            "Pipeline.deserialize: serialized_pipeline and filename arguments are mutually exclusive. Precisely one "
            "of them should be defined."
        )
    return parsed(Path(filename).read_bytes() if filename is not None else data)


def parsed(data: str | bytes | None) -> dict[str, Any]:
    """Parses what `serialize` wrote; raises RuntimeError if the bytes are anything else."""
    try:
        content: dict[str, Any] = json.loads(data or b"")
        if not isinstance(content, dict) or "version" not in content:
            raise ValueError(f"they have no version: {content!r:.60}")
    except (ValueError, RecursionError) as error:
        raise RuntimeError(
            f"Pipeline.deserialize: Error parsing serialized pipeline: these are not the bytes of a pipeline: {error}"
        ) from None
    check_version("Pipeline.deserialize", content, VERSION)
    return content
