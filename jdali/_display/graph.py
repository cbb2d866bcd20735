"""Draws a graph in layers as SVG, with boxes of rows and edges from top to bottom."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from jdali._display.markup import escape

_ROW, _HEAD, _GAP_X, _GAP_Y, _CHAR, _MARGIN = 19, 21, 26, 34, 7.3, 12


@dataclasses.dataclass(frozen=True)
class GraphBox:
    """A step of a graph.

    Attributes:
        key: unique key.
        title: text at the top.
        rows: text of each operator in the box.
        tips: tooltip of each row.
        links: for each row, the address that a click on it opens; "" for no link.
        colour: a CSS colour.
        below: 1 for a box below the line that `graph_svg` draws, otherwise 0.
    """

    key: str
    title: str
    rows: Sequence[str]
    tips: Sequence[str] = ()
    links: Sequence[str] = ()
    colour: str = "var(--cpu)"
    below: int = 0


class GraphEdge(NamedTuple):
    """An edge: the keys of its two boxes, and its tooltip."""

    source: str
    target: str
    tip: str = ""


class _Place(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def layers(boxes: Sequence[GraphBox], edges: Sequence[GraphEdge]) -> list[list[GraphBox]]:
    """Assigns boxes to layers. Each box is below its predecessors and, within its layer, near them.

    `boxes` are in topological order; edges with an unknown key are ignored.
    """
    keys = {box.key for box in boxes}
    before: dict[str, list[str]] = {key: [] for key in keys}
    for edge in edges:
        if edge.source in keys and edge.target in keys and edge.source != edge.target:
            before[edge.target].append(edge.source)
    rank: dict[str, int] = {}
    deepest = -1
    for part in (0, 1):
        start = deepest + 1 if part else 0
        for box in boxes:
            if box.below == part:
                rank[box.key] = max([start, *(rank[k] + 1 for k in before[box.key] if k in rank)])
        deepest = max(rank.values(), default=-1)
    made: list[list[GraphBox]] = [[] for _ in range(deepest + 1)]
    position: dict[str, float] = {}
    for box in boxes:
        made[rank[box.key]].append(box)
    for layer in made:
        layer.sort(key=lambda box: _mean([position[k] for k in before[box.key] if k in position]))
        position.update({box.key: i - (len(layer) - 1) / 2 for i, box in enumerate(layer)})
    return made


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def graph_svg(boxes: Sequence[GraphBox], edges: Sequence[GraphEdge], border: str = "") -> str:
    """Draws a graph; `border` is the label of the line above the boxes with `below=1`; "" draws no line."""
    rows = [layer for layer in layers(boxes, edges) if layer]
    places: dict[str, _Place] = {}
    y, line = float(_MARGIN), 0.0
    widths = [sum(_width(box) + _GAP_X for box in layer) - _GAP_X for layer in rows]
    full = max(widths, default=0.0) + 2 * _MARGIN
    for layer, width in zip(rows, widths, strict=True):
        if border and not line and any(box.below for box in layer):
            line, y = y, y + 24
        x = (full - width) / 2
        for box in layer:
            places[box.key] = _Place(x, y, _width(box), _HEAD + _ROW * len(box.rows) + 5)
            x += _width(box) + _GAP_X
        y += max(places[box.key].height for box in layer) + _GAP_Y
    height = y - _GAP_Y + _MARGIN
    parts = [
        _edge(places[e.source], places[e.target], e.tip)
        for e in edges
        if e.source in places and e.target in places
    ]
    parts += [_box(box, places[box.key]) for box in boxes]
    if line:
        parts.append(
            f'<path d="M0 {line:.0f}H{full:.0f}" stroke="var(--bad)" stroke-dasharray="6 4"/>'
            f'<text x="4" y="{line + 14:.0f}" fill="var(--bad)">{escape(border)}</text>'
        )
    return (
        f'<svg class="jd-graph" viewBox="0 0 {full:.0f} {height:.0f}" width="{full:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="graph of the pipeline" font-family="ui-monospace,monospace" font-size="12">{"".join(parts)}</svg>'
    )


def _width(box: GraphBox) -> float:
    return max(len(text) for text in (box.title, *box.rows)) * _CHAR + 16


def _box(box: GraphBox, place: _Place) -> str:
    x, y, width, height = place
    head = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" fill="var(--card)" '
        f'stroke="{box.colour}" stroke-width="1.5"/>'
    )
    parts = [
        head,
        f'<text x="{x + 8:.1f}" y="{y + 15:.1f}" fill="{box.colour}" font-weight="600">{escape(box.title)}</text>',
    ]
    for i, row in enumerate(box.rows):
        tip = f"<title>{escape(box.tips[i])}</title>" if i < len(box.tips) else ""
        text = f'<text x="{x + 8:.1f}" y="{y + _HEAD + 13 + i * _ROW:.1f}" fill="currentColor">{tip}{escape(row)}</text>'
        link = box.links[i] if i < len(box.links) else ""
        parts.append(f'<a href="{escape(link)}">{text}</a>' if link else text)
    return "".join(parts)


def _edge(source: _Place, target: _Place, tip: str) -> str:
    x1, y1 = source.x + source.width / 2, source.y + source.height
    x2, y2 = target.x + target.width / 2, target.y
    bend = max((y2 - y1) / 2, 14)
    title = f"<title>{escape(tip)}</title>" if tip else ""
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}" fill="none" '
        f'stroke="var(--dim)" stroke-width="1.3">{title}</path><circle cx="{x2:.1f}" cy="{y2:.1f}" r="2.6" fill="var(--dim)"/>'
    )
