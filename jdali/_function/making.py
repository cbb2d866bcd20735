"""Making the function of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._function.function import PipelineFunction
from jdali._function.host import HostPart, layout_of
from jdali._function.part import Part, Start, border, find_values, make_part, origin, upstream
from jdali._numerics.constants import constant_array
from jdali._operators.call import plan_call
from jdali.engine.steps.stage import prepared_args
from jdali.graph.node import DataNode, Graph, Node
from jdali.graph.request import request_of


def make_function(
    graph: Graph,
    outputs: Sequence[DataNode],
    start: Start,
    wanted: Start,
    *,
    deterministic: bool | Mapping[str, Any],
    layout: str | Sequence[str] | None,
    seed: int,
    threads: int,
    batch_size: int,
) -> PipelineFunction:
    """Makes a function, see `Pipeline.function`; `outputs` are those of the pipeline."""
    begin = border(outputs) if start is None else find_values(graph, start)
    if start is None:
        begin = tuple(v for v in begin if not any(origin(o) is v for o in outputs))
    chosen = _following(outputs, begin) if wanted is None else find_values(graph, wanted)
    if not begin or not chosen:
        raise ValueError(
            "Pipeline.function: no output is computed from the start by compiled operators; name a start, such as the "
            "decoder, and outputs that follow from it"
        )
    fixed = _fixed(graph, deterministic) if isinstance(deterministic, Mapping) else {}
    part = make_part(graph, begin, chosen, fixed)
    begin = part.start
    host = HostPart(graph, begin, seed=seed, threads=threads, batch_size=batch_size)
    if deterministic is not False:
        refuse_random(part, host)
    names = _layouts(layout, begin)
    return PipelineFunction(part, seed=seed, layouts=names, host=host)


def refuse_random(part: Part, host: HostPart) -> None:
    """Raises ValueError if an operator draws random values, and says how to do without."""
    drawn = [*part.random, *(node for node in host.nodes if node.op.random)]
    if drawn:
        shown = ", ".join(f"{node.op.shown_name} {node.name!r} ({node.where})" for node in drawn)
        raise ValueError(
            f"Pipeline.function: random values are drawn by {shown}. Give each of them a value, "
            f"deterministic={{{drawn[0].name!r}: 0}}, or begin behind it"
        )


def _following(outputs: Sequence[DataNode], start: Sequence[DataNode]) -> tuple[DataNode, ...]:
    """The outputs that something of the start is needed for, but for those that are the start."""
    makers = {v.source for v in start}
    begin = {id(origin(v)) for v in start}
    return tuple(o for o in outputs if makers & upstream([o]) and id(origin(o)) not in begin)


def _fixed(graph: Graph, values: Mapping[str, Any]) -> dict[DataNode, np.ndarray]:
    """Values in place of operators, by their names."""
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


def _dtype_of(node: Node) -> np.dtype[Any] | None:
    """The element type of an operator without inputs; None: it follows from what goes in."""
    if node.data_inputs or node.arg_inputs:
        return None
    request = request_of(node, 1, args=prepared_args(node), specs={})
    return plan_call(request).outputs[0].dtype


def _layouts(given: str | Sequence[str] | None, start: Sequence[DataNode]) -> list[str]:
    if given is None:
        return [layout_of(v) for v in start]
    names = [given] * len(start) if isinstance(given, str) else list(given)
    if len(names) != len(start):
        raise ValueError(f"Pipeline.function: layout must be one for each of {len(start)} values, got {given!r}")
    return names
