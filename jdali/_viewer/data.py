"""Renders the page of the data, with statistics and bad files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jdali._display import Hint, escape, named
from jdali._display.numbers import histogram, histogram_svg
from jdali._statistics.outputs import Output
from jdali._viewer.hints import NamesOf, hint_of
from jdali._viewer.layout import error_box, table
from jdali._viewer.survey import Survey
from jdali.engine.eager import PipelineInspector
from jdali.readers.base import ClassNames

_SHOWN_BAD = 200
_SHOWN_LABELS = 40
_SAMPLES = 1000


def data_page(survey: Survey, inspector: PipelineInspector, root: str, names_of: NamesOf) -> str:
    most = inspector.size or _SAMPLES
    form = (
        f'<form action="{root}data" method="post" class="jd-form"><label>samples <input name="samples" type="number" min="1" '
        f'value="{survey.wanted or min(most, _SAMPLES)}"></label><button>measure</button></form>'
    )
    return f'{form}<div id="live" data-live="{root}data/now">{found(survey, inspector, names_of)}</div>'


def found(survey: Survey, inspector: PipelineInspector, names_of: NamesOf) -> str:
    if not survey.wanted:
        return f"<p>The data set has {inspector.size} samples.</p>" if inspector.size is not None else ""
    state = "" if survey.is_running else " data-done"
    done = survey.seen + len(survey.bad) if survey.is_running else survey.wanted
    bar = f'<progress max="{survey.wanted}" value="{done}"></progress>'
    parts = [f"<p{state}>{bar} {survey.seen} of {survey.wanted} samples, {len(survey.bad)} bad</p>"]
    if survey.error:
        parts.append(error_box(survey.error))
    for value, output in zip(inspector.outputs, survey.outputs, strict=True):
        parts.append(_output(output, hint_of(value, lambda _: None, names_of)))
    if survey.bad:
        rows = [
            [escape(e.path), str(e.index), escape(e.operator), escape(e.reason)]
            for e in survey.bad[:_SHOWN_BAD]
        ]
        parts.append(f"<h2>Bad files</h2>{table(['file', 'index', 'operator', 'error'], rows)}")
    return "".join(parts)


def _output(output: Output, hint: Hint) -> str:
    if not len(output.extents):
        return ""
    known = output.statistics(None)
    parts = [f"<h2>{escape(output.name)}</h2><p>{escape(known.layout)} {escape(known.dtype)}</p>"]
    if known.labels:
        parts.append(_labels(known.labels, hint.names))
    elif output.numbers is not None:
        parts.append(_chart("values", output.numbers))
    else:
        parts.append(_sizes(output.extents, known.layout, hint.rate if hint.kind == "sound" else None))
        if 0 < len(known.mean) <= 16:
            mean, deviation = (", ".join(f"{v:.6g}" for v in values) for values in (known.mean, known.std))
            line = f"mean=[{mean}], std=[{deviation}]"
            parts.append(f'<p>by channel, to paste: <code class="jd-paste">{line}</code></p>')
    return f'<section class="jd-part">{"".join(parts)}</section>'


def _sizes(sizes: np.ndarray, layout: str, rate: float | None) -> str:
    if (sizes == sizes[0]).all():
        return f"<p>all are {'×'.join(map(str, sizes[0].tolist())) or 'scalars'}</p>"
    charts = []
    for axis, values in enumerate(sizes.T):
        letter = layout[axis] if axis < len(layout) else str(axis)
        if axis == 0 and rate:
            charts.append(_chart("seconds", values / rate))
        elif values.min() == values.max():
            charts.append(f"<p>axis {escape(letter)}: always {values[0]}</p>")
        else:
            charts.append(_chart(f"axis {letter}", values))
    return f'<div class="jd-charts">{"".join(charts)}</div>'


def _chart(title: str, values: np.ndarray) -> str:
    counts, low, high = histogram(values.astype(np.float64))
    caption = f"<figcaption>{escape(title)}, mean {np.mean(values):.4g}</figcaption>"
    return f"<figure>{caption}{histogram_svg(counts, f'{low:.4g}', f'{high:.4g}')}</figure>"


def _labels(counts: Mapping[int, int], names: ClassNames) -> str:
    """Renders a table of labels; `counts` is in the order of the labels."""
    top = max(counts.values())
    rows = [
        [escape(named(label, names)), f'<meter max="{top}" value="{count}"></meter>', str(count)]
        for label, count in list(counts.items())[:_SHOWN_LABELS]
    ]
    more = f"<p>and {len(counts) - len(rows)} more labels</p>" if len(rows) < len(counts) else ""
    return table(["label", "", "samples"], rows) + more
