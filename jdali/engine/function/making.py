"""Makes the function of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from jdali._numerics.constants import constant_array
from jdali._operators.call import plan_call
from jdali._operators.random_key import is_typed
from jdali.engine.function.draw import words_of
from jdali.engine.function.function import PipelineFunction
from jdali.engine.function.host import contents_of
from jdali.engine.function.part import FunctionDefinition
from jdali.engine.steps.stage_calls import prepared_args
from jdali.graph import DataNode, Graph, Node, fits_in_function, is_compiled, origin, request_of, upstream

Start: TypeAlias = "str | Node | DataNode | Sequence[str | Node | DataNode] | None"


def make_function(
    graph: Graph,
    outputs: Sequence[DataNode],
    names: Sequence[str],
    start: Start,
    wanted: Start,
    *,
    deterministic: bool | Mapping[str, object],
    layout: str | Sequence[str] | None,
    seed: int,
    threads: int,
    batch_size: int,
) -> PipelineFunction:
    """Makes a function, see `Pipeline.function`. `outputs` are the pipeline's, with their names; `wanted` are the function's."""
    if start is None:  # the values that compiled operators read; other outputs need no start
        crossing = set(border(outputs))
        begin = border(o for o in outputs if origin(o) not in crossing)
    else:
        begin = find_values(graph, start)
    if wanted is None:  # the outputs that depend on the start, except values of the start itself
        makers, given = {v.source for v in begin}, set(map(origin, begin))
        following = [i for i, o in enumerate(outputs) if makers & upstream([o]) and origin(o) not in given]
        chosen, names = tuple(outputs[i] for i in following), tuple(names[i] for i in following)
    else:
        chosen = find_values(graph, wanted)
        names = tuple(v.name for v in chosen)
    if not begin or not chosen:
        raise ValueError(
            "Pipeline.function: no output is computed from the start by compiled operators; name a start, such as the "
            "decoder, and outputs that follow from it"
        )
    replaced = deterministic if isinstance(deterministic, Mapping) else {}
    fixed = _fixed(graph, {name: value for name, value in replaced.items() if not is_typed(value)})
    held = dict(_held(graph, name, key) for name, key in replaced.items() if is_typed(key))
    begin = tuple(dict.fromkeys(map(origin, begin)))
    definition = FunctionDefinition(
        graph, begin, chosen, names, fixed, tuple(_layouts(layout, begin)), seed, held
    )
    function = PipelineFunction(definition, threads=threads, batch_size=batch_size)
    if deterministic is not False:
        refuse_random(function)
    return function


def refuse_random(function: PipelineFunction) -> None:
    """Raises ValueError if any operator draws random values; the error explains how to avoid this."""
    held = function.definition.held
    drawn = [node for node in function.part.random if node.id not in held]
    drawn += [node for node in function.host.nodes if node.op.random]
    if drawn:
        shown = ", ".join(f"{node.op.shown_name} {node.name!r} ({node.where})" for node in drawn)
        raise ValueError(
            f"Pipeline.function: random values are drawn by {shown}. Give each of them a value, "
            f"deterministic={{{drawn[0].name!r}: 0}}, or, if it is compiled, a key from which it draws the same for every "
            "sample, such as jax.random.key(0), or begin behind it"
        )


def _fixed(graph: Graph, values: Mapping[str, object]) -> dict[DataNode, np.ndarray]:
    """Converts the values that the user passes in place of operators, by name."""
    fixed = {}
    for name, value in values.items():
        (found, *others) = find_values(graph, name)
        if others:
            raise ValueError(
                f"Pipeline.function: deterministic: {name!r} has several outputs; name one, such as {found.name!r}"
            )
        array = constant_array(value)
        dtype = _dtype_of(found.source)
        fixed[found] = array if dtype is None else array.astype(dtype)
    return fixed


def _held(graph: Graph, name: str, key: object) -> tuple[int, tuple[int, int]]:
    """Returns the number of a random operator, and the words of the key that the user gave for it."""
    node = find_values(graph, name)[0].source
    if not node.op.random or not is_compiled(node):
        raise ValueError(
            f"Pipeline.function: deterministic: {name!r} is {node.op.shown_name} ({node.where}), no compiled operator that "
            "draws random values, so it takes no key"
        )
    return node.id, words_of(key)


def _dtype_of(node: Node) -> np.dtype[Any] | None:
    """Returns the element type of the output of an operator without inputs; None if the operator has inputs."""
    if node.data_inputs or node.arg_inputs:
        return None
    request = request_of(node, 1, args=prepared_args(node), specs={})
    return plan_call(request).outputs[0].dtype


def _layouts(given: str | Sequence[str] | None, start: Sequence[DataNode]) -> list[str]:
    if given is None:
        return [contents_of(v)[0] for v in start]
    names = [given] * len(start) if isinstance(given, str) else list(given)
    if len(names) != len(start):
        raise ValueError(
            f"Pipeline.function: layout must be one for each of {len(start)} values, got {given!r}"
        )
    return names


def find_values(graph: Graph, places: Start) -> tuple[DataNode, ...]:
    """Finds values of a graph.

    Args:
        places: a node or its name, which stands for all of its outputs; a value or its name, such as "labels[1]"; or a sequence
            of these.
    """
    several = isinstance(places, (list, tuple))
    found: list[DataNode] = []
    for place in places if isinstance(places, (list, tuple)) else [places]:
        if isinstance(place, DataNode):
            found.append(graph.own(place))
        elif isinstance(place, Node):
            found += place.outputs
        elif isinstance(place, str):
            found += _named(graph, place)
        else:
            kind = "an element of start" if several else "start"
            raise TypeError(
                f"Pipeline.function: {kind} is {place!r:.60}; give a node, its name, or a tuple of them"
            )
    return tuple(found)


def _named(graph: Graph, name: str) -> list[DataNode]:
    for node in graph.nodes:
        if node.name == name:
            return list(node.outputs)
        values = [v for v in node.outputs if v.name == name]
        if values:
            return values
    names = [node.name for node in graph.nodes if not node.name.startswith("__")]
    more = f"those with names are {', '.join(names)}" if names else "none has a name; give one with name=..."
    raise ValueError(f"Pipeline.function: the pipeline has no node {name!r}; {more}")


def border(outputs: Iterable[DataNode]) -> tuple[DataNode, ...]:
    """Returns the values of readers and host operators from which compiled operators make the outputs."""
    values = set(outputs)
    for node in upstream(values, needs=lambda node: node.operands if fits_in_function(node) else ()):
        if fits_in_function(node):
            values.update(node.operands)
    crossing = [value for value in values if not fits_in_function(value.source)]
    return tuple(sorted(crossing, key=lambda v: (v.source.id, v.index)))
