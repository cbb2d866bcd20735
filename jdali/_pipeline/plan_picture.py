"""The graph of a pipeline by steps: fused operators in one box, time and bytes on each, the border with workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jdali._display import GraphBox, GraphEdge, graph_svg
from jdali._threads import Spent
from jdali.graph import DataNode, ExecutionPlan, HostStep, Node, dependencies


def plan_svg(
    plan: ExecutionPlan,
    *,
    here: set[Node] | None = None,
    times: Mapping[Node, Spent] | None = None,
    sizes: Mapping[DataNode, str] | None = None,
    links: str = "",
) -> str:
    """Draws a plan.

    Args:
        plan: of the pipeline.
        here: operators that this process runs, where workers run the others; None: there are no workers.
        times: by the first operator of a step, its time.
        sizes: what the values of a sample are.
        links: what a row leads to, followed by the number of its node; "" for nowhere.
    """
    boxes, edges = [], []
    box_of: dict[Node, str] = {}
    for number, step in enumerate(plan.steps):
        box_of.update(dict.fromkeys(step.nodes, f"s{number}"))
    for number, step in enumerate(plan.steps):
        nodes: Sequence[Node] = step.nodes
        if isinstance(step, HostStep):
            kind, colour = ("reads" if step.node.is_source else "host"), "var(--dim)"
        else:
            kind = "arguments" if step.is_arguments else f"stage {step.index}"
            colour = "var(--arg)" if step.is_arguments else "var(--cpu)"
        colour = "var(--gpu)" if step.device == "gpu" else colour
        title = f"{kind} · {step.device}{_time((times or {}).get(nodes[0]))}"
        rows = [_row(node, sizes or {}) for node in nodes]
        boxes.append(
            GraphBox(
                f"s{number}", title, rows, [f"{node.name}, {node.where}" for node in nodes],
                [f"{links}{node.id}" if links else "" for node in nodes], colour,
                int(here is not None and nodes[0] in here),
            )
        )  # fmt: skip
        leads = {box_of[v.source]: v.name for node in nodes for v in dependencies(node) if v.source in box_of}
        edges += [
            GraphEdge(source, f"s{number}", name) for source, name in leads.items() if source != f"s{number}"
        ]
    for i, value in enumerate(plan.outputs):
        below = int(here is not None and value.source in here)
        boxes.append(
            GraphBox(
                f"o{i}",
                f"output {i}",
                [value.source.name if value.source.named else value.source.op.name],
                colour="var(--mark)",
                below=below,
            )
        )
        edges.append(GraphEdge(box_of[value.source], f"o{i}", value.name))
    split = here is not None and any(box.below for box in boxes)
    return graph_svg(boxes, edges, "border: above in workers, below in this process" if split else "")


def _row(node: Node, sizes: Mapping[DataNode, str]) -> str:
    name = f"{node.op.name} {node.name}" if node.named else node.op.name
    shown = [sizes[value] for value in node.outputs if value in sizes]
    return f"{name} → {', '.join(shown)}" if shown else name


def _time(spent: Spent | None) -> str:
    if spent is None or not spent.count:
        return ""
    return f" · {(spent.seconds - min(spent.inner['compiling'], spent.seconds)) / spent.count * 1e3:.1f} ms"
