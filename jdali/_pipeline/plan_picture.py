"""Draws the graph of a pipeline. Each step is a box; a line separates steps in workers from steps in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jdali import _display
from jdali._display.markup import escape, fitting
from jdali._threads import Spent
from jdali.graph import DataNode, ExecutionPlan, HostStep, Node, Stage, dependencies


class ValueSize(NamedTuple):
    """Holds the type and shape of a sample's value, and its size in bytes."""

    shape: str
    nbytes: int


class PlanText(str):
    """The plan of a pipeline as text; a notebook shows the graph above it."""

    _picture: str

    def __new__(cls, text: str, picture: str) -> PlanText:
        plan = super().__new__(cls, text)
        plan._picture = picture
        return plan

    def _repr_html_(self) -> str:
        return fitting(self._picture, f"<pre>{escape(self)}</pre>")


def plan_svg(
    plan: ExecutionPlan,
    *,
    here: ExecutionPlan | None = None,
    times: Mapping[Node, Spent] | None = None,
    sizes: Mapping[DataNode, ValueSize] | None = None,
    workers: Spent | None = None,
    links: str = "",
) -> str:
    """Draws a plan.

    Args:
        here: the steps that this process runs; workers run all other steps. None if there are no workers.
        links: start of each row's URL, to which the number of the row's node is added; "" for no links.
    """
    below = set() if here is None else {node for step in here.steps for node in step.nodes}
    boxes: list[_display.GraphBox] = []
    edges: list[_display.GraphEdge] = []
    box_of = {node: f"s{number}" for number, step in enumerate(plan.steps) for node in step.nodes}
    leaving = _leaving(plan, box_of)
    for number, step in enumerate(plan.steps):
        nodes: Sequence[Node] = step.nodes
        known = [sizes[v].nbytes for v in leaving.get(f"s{number}", ()) if v in sizes] if sizes else []
        size = f" · {_bytes(sum(known))}" if known and len(nodes) > 1 else ""
        kind, colour = _kind(step)
        boxes.append(
            _display.GraphBox(
                f"s{number}", f"{kind} · {step.device}{_time((times or {}).get(nodes[0]))}{size}",
                [_row(node, sizes or {}) for node in nodes], [f"{node.name}, {node.where}" for node in nodes],
                [f"{links}{node.id}" if links else "" for node in nodes], colour,
                int(nodes[0] in below),
            )
        )  # fmt: skip
        leads = {box_of[v.source]: v.name for node in nodes for v in dependencies(node) if v.source in box_of}
        edges += [
            _display.GraphEdge(source, f"s{number}", name)
            for source, name in leads.items()
            if source != f"s{number}"
        ]
    for i, value in enumerate(plan.outputs):
        name = value.source.name if value.source.named else value.source.op.name
        boxes.append(
            _display.GraphBox(
                f"o{i}", f"output {i}", [name], colour="var(--mark)", below=int(value.source in below)
            )
        )
        edges.append(_display.GraphEdge(box_of[value.source], f"o{i}", value.name))
    split = here is not None and any(box.below for box in boxes)
    border = f"border: above in workers{_time(workers)}, below in this process"
    return _display.graph_svg(boxes, edges, border if split else "")


def _leaving(plan: ExecutionPlan, box_of: Mapping[Node, str]) -> dict[str, dict[DataNode, None]]:
    """Lists, for each box, the values that other boxes or the outputs use, each value once."""
    # Do not search in lists: this would call `==`, which makes a node.
    found: dict[str, dict[DataNode, None]] = {}
    taken = [(v, box_of[node]) for step in plan.steps for node in step.nodes for v in dependencies(node)]
    for value, by in [*taken, *((value, "") for value in plan.outputs)]:
        box = box_of.get(value.source)
        if box is not None and box != by:
            found.setdefault(box, {})[value] = None
    return found


def _kind(step: HostStep | Stage) -> tuple[str, str]:
    """Returns the name of a step's kind, and its colour."""
    if isinstance(step, HostStep):
        kind, colour = ("reads" if step.node.is_source else "host"), "var(--dim)"
    else:
        kind, colour = step.title, "var(--arg)" if step.is_arguments else "var(--cpu)"
    return kind, "var(--gpu)" if step.device == "gpu" else colour


def _row(node: Node, sizes: Mapping[DataNode, ValueSize]) -> str:
    name = f"{node.op.name} {node.name}" if node.named else node.op.name
    shown = [f"{sizes[v].shape}, {_bytes(sizes[v].nbytes)}" for v in node.outputs if v in sizes]
    return f"{name} → {', '.join(shown)}" if shown else name


def _time(spent: Spent | None) -> str:
    if spent is None or not spent.count:
        return ""
    return f" · {(spent.seconds - min(spent.inner['compiling'], spent.seconds)) / spent.count * 1e3:.1f} ms"


def _bytes(count: int) -> str:
    return (
        f"{count} B" if count < 1000 else f"{count / 1e3:.3g} kB" if count < 1e6 else f"{count / 1e6:.3g} MB"
    )
