"""Feeds the user's data to external sources, batch by batch: `feed_input`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from jdali._pipeline.definition import Definition
from jdali._sources import SourceFeed
from jdali.engine import Engine
from jdali.graph import DataNode, Graph, Node


def feed(
    engine: Engine,
    definition: Definition,
    inputs: Sequence[tuple[DataNode | str, object]],
    layout: str | None = None,
    copy: bool = True,
) -> None:
    """Feeds the data of the next batch to several sources. If an error is raised, no source is fed."""
    adding = []
    for wanted, data in inputs:
        if isinstance(wanted, DataNode) and definition.config.debug:
            wanted = wanted.source.name  # the node is of another iteration
        if isinstance(wanted, str) and engine.hold(wanted, data, layout):
            continue
        adding.append(_checked(engine, definition.graph, wanted, data, layout, copy))
    for add in adding:
        add()


def _checked(
    engine: Engine, graph: Graph, wanted: DataNode | str, data: object, layout: str | None, copy: bool
) -> Callable[[], None]:
    """Checks data, and returns a function that feeds it to the source."""
    node, source = _fed_source(engine, graph, wanted)
    if isinstance(wanted, DataNode) and len(node.outputs) > 1:  # as in DALI, such outputs are fed one by one
        add = functools.partial(source.feed_output, wanted.index, engine.plan.unused_outputs(node))
        return functools.partial(
            engine.cursor.ask, node, functools.partial(add, data, layout, engine.batch_size)
        )
    convert = functools.partial(source.as_fed, data, layout, engine.batch_size, copy=copy)
    return functools.partial(source.feed, engine.cursor.ask(node, convert))


def _fed_source(engine: Engine, graph: Graph, wanted: DataNode | str) -> tuple[Node, SourceFeed]:
    node: Node | None
    if not isinstance(wanted, (DataNode, str)):
        raise TypeError(
            'feed_input: Expected outputs of type compatible with "DataNode". Received output type with name '
            f'"{type(wanted).__name__}" that does not match.'
        )
    if isinstance(wanted, DataNode):
        node = graph.copy_of(wanted.source)
    else:
        node = next((node for node in engine.sources if node.name == wanted), None)
    source = None if node is None else engine.sources.get(node)
    if node is None or not isinstance(source, SourceFeed):
        known = [n.name for n, s in engine.sources.items() if isinstance(s, SourceFeed) and s.is_fed]
        name = wanted.name if isinstance(wanted, DataNode) else wanted
        raise KeyError(f'feed_input: Could not find an input operator with name "{name}"; there are {known}')
    source.check_is_fed(node.name)
    return node, source
