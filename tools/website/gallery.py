"""Writes the gallery, which has a tile for every operator with its picture or numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping

from jdali._operators.record import Operator
from website.operator_pages import Outcome
from website.operators import FAMILIES, summary

_HEAD = """---
hide: [toc]
---

# Gallery

What every operator makes of a small input: a photograph, four notes, a clip, a few numbers.

<label class="filter">Filter <input id="gallery-filter" type="search" placeholder="resize, noise, boxes, mel ..."></label>
<p id="gallery-none" hidden>No operator has these words in its name or summary.</p>
"""


def page(groups: Mapping[str, list[Operator]], outcomes: Mapping[str, Outcome]) -> str:
    """Writes the gallery.

    Args:
        groups: operators by family.
        outcomes: outcomes of the operators' examples, by operator name.
    """
    blocks = [_HEAD]
    for family, members in sorted(groups.items(), key=lambda item: item[0] in ("readers", "decoders")):
        tiles = "".join(_tile(op, family, outcomes.get(op.name, Outcome())) for op in members)
        blocks.append(f'## {FAMILIES[family]}\n\n<div class="tiles gallery">{tiles}</div>\n')
    return "\n".join(blocks)


def _tile(op: Operator, family: str, outcome: Outcome) -> str:
    words = html.escape(f"{op.name} {FAMILIES[family]} {summary(op)}".lower())
    if outcome.drawings:
        inner = f'<img src="pictures/{outcome.drawings[0].picture}" alt="" loading="lazy">'
    else:
        lines = "\n".join(map(str, outcome.pipeline)).splitlines()[:7]
        # A blank line would end the HTML block of Markdown.
        text = "&#10;".join(html.escape(line) for line in lines) or "&nbsp;"
        inner = f'<span class="numbers">{text}</span>'
    return f'<a class="tile" href="operators/{op.name}.html" data-words="{words}">{inner}<code>{op.name}</code></a>'
