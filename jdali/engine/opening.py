"""Opening readers: their arguments are converted, and one without a seed of its own takes that of its owner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jdali._errors import OperatorError
from jdali.engine.options import EngineOptions
from jdali.graph import DataNode, Node
from jdali.readers.ahead import reading_ahead
from jdali.readers.base import Reader
from jdali.readers.shared_tables import Tables, noting, reusing


def open_sources(
    nodes: Sequence[Node], options: EngineOptions, tables: Tables
) -> tuple[dict[Node, Any], Tables]:
    """Opens the sources of a pipeline.

    Args:
        nodes: of the sources.
        options: of the engine.
        tables: of the same readers in another process, to be used here.

    Returns: the sources by their nodes, and the tables of the readers for other processes.
    """
    sources: dict[Node, Any] = {}
    noted: dict[str, dict[str, Any]] = {}
    for node in nodes:
        with noting() as noted[node.name], reusing(tables.get(node.name, {})):
            sources[node] = open_source(node, options)
    return sources, noted


def open_source(node: Node, options: EngineOptions) -> Any:
    """Opens the reader of a node, or its external source.

    Args:
        node: of the source.
        options: of the engine; a reader without a seed of its own takes the pipeline's.
    """
    if node.runtime is not None:
        return node.runtime
    return open_reader(node, options.seed, tolerates_errors=options.on_error != "raise")


def open_reader(
    node: Node,
    seed: int,
    *,
    tolerates_errors: bool = False,
    where: str | None = None,
) -> Reader:
    """Opens the reader of a node; one of remote data reads ahead.

    Args:
        node: of the reader.
        seed: of the random order, unless the arguments name one that is not negative.
        tolerates_errors: samples that fail are left out or replaced.
        where: in place of the user's line, in errors; "": no line.

    Raises:
        OperatorError: the reader refused an argument, or its data cannot be read; the error names the user's line.
    """
    op = node.op
    try:
        arguments = _arguments(node, seed)
        if "_goes_on" in op.args:
            arguments["_goes_on"] = tolerates_errors
        return reading_ahead(op.run(**arguments))
    except Exception as error:
        text = str(error) if str(error).startswith(op.name) else f"{op.name}: {error}"
        where = node.where if where is None else where
        raise OperatorError.of(error, op.name, text=text, where=where) from error


def _arguments(node: Node, seed: int) -> dict[str, Any]:
    """Converts the arguments, except for those that differ by sample: these are read with each batch."""
    bound = node.op.bind(node.args)
    arguments = {
        name: arg.convert(bound[name])
        for name, arg in node.op.public_args.items()
        if not isinstance(bound[name], DataNode)
    }
    if "seed" in arguments and (arguments["seed"] is None or arguments["seed"] < 0):
        arguments["seed"] = seed
    return arguments
