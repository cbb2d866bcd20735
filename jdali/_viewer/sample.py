"""Renders the pages of a sample: one with its values after each operator, one with its outputs in several epochs."""

from __future__ import annotations

import numpy as np

from jdali._display import Detail, Overlay, escape
from jdali._viewer.batches import DETAIL, figure_or_error, sample_figures, sides
from jdali._viewer.hints import Array, NamesOf, ValueOf, hint_of, over, overlay_of
from jdali._viewer.layout import error_box, pager, table
from jdali.engine.eager import MOST_EPOCHS, PipelineInspector, Trace
from jdali.graph import DataNode, Node

_STEP = Detail(side=512, frames=32, seconds=30.0, exact=True)
_LONG = 80


def sample_page(
    inspector: PipelineInspector, number: int, position: int, root: str, names_of: NamesOf
) -> str:
    trace, row, task = inspector.trace(number, position)
    index, epoch = int(task.ids.index[0]), int(task.ids.epoch[0])
    facts = [
        ["index in the data set", str(index)],
        ["epoch", str(epoch)],
        ["batch", f'<a href="{root}batches/{number}">{number}</a>'],
        ["position", str(position)],
        ["seed of the pipeline", str(inspector.engine.seed)],
    ]
    if inspector.size is not None:
        facts.insert(0, ["file", f"<code>{escape(inspector.name_of(index))}</code>"])
    links = (
        f'<a href="{root}epochs/{index}?first={epoch}">over {MOST_EPOCHS} epochs</a>'
        if inspector.knows_samples
        else ""
    )
    before, after = position - 1, position + 1
    last = len(inspector.task(number)) - 1
    sizes = [
        f"{array.dtype} {'×'.join(map(str, array.shape)) or 'scalar'}"
        for value in inspector.outputs
        if (array := trace.value(value, row)) is not None
    ]
    if sizes:
        facts.append(["outputs", escape(", ".join(sizes))])
    parts = [
        pager(
            f"{root}sample/{number}/{before}" if before >= 0 else "",
            f"{root}sample/{number}/{after}" if position < last else f"{root}sample/{number + 1}/0",
            links,
        ),
        table(["", ""], facts),
    ]
    if trace.failure is not None:
        parts.append(error_box(trace.failure))
    value_of: ValueOf = lambda value: trace.value(value, row)  # noqa: E731  the name has a type
    arrays = [value_of(value) for value in inspector.outputs]
    overlay = overlay_of(inspector.outputs, arrays, names_of)
    outputs = {id(value): name for name, value in zip(inspector.output_names, inspector.outputs, strict=True)}
    parts.append("<h2>After every operator</h2>")
    parts += [_node(node, trace, row, outputs, overlay, value_of, names_of) for node in inspector.nodes]
    return "".join(parts)


def _node(
    node: Node, trace: Trace, row: int, outputs: dict[int, str], overlay: Overlay, value_of: ValueOf,
    names_of: NamesOf,
) -> str:  # fmt: skip
    figures = []
    for value in node.outputs:
        array = trace.value(value, row)
        if array is None:
            continue
        layout = trace.values[value].layout()
        is_output = id(value) in outputs
        name = f"output {outputs[id(value)]} of the pipeline" if is_output else ""
        hint = hint_of(value, value_of, names_of)
        own = over(overlay, *sides(array, layout)) if is_output and hint.kind != "mask" else Overlay()
        figures.append(figure_or_error(array, name=name, layout=layout, hint=hint, overlay=own, detail=_STEP))
    state = ""
    if trace.failed is node:
        state = '<p class="jd-bad">failed</p>'
    elif not figures:
        state = '<p class="jd-name">not computed for this sample: another branch, or behind an error</p>'
    name = node.name if node.named else ""
    device = f"{node.device} · {escape(node.where.rpartition('/')[2])}"
    inputs = " · ".join(f'<a href="#n{v.source.id}">{escape(v.source.op.name)}</a>' for v in node.data_inputs)
    return (
        f'<details class="jd-node" id="n{node.id}" open><summary><strong>{escape(node.op.name)}</strong> {escape(name)} '
        f'<span class="jd-name">{device}{" · from " + inputs if inputs else ""}</span></summary>{_arguments(node, value_of)}'
        f'{state}<div class="jd-values">{"".join(figures)}</div></details>'
    )


def _arguments(node: Node, value_of: ValueOf) -> str:
    rows = []
    for name, given in node.args.items():
        if isinstance(given, DataNode):
            drawn = value_of(given)
            text = "not known" if drawn is None else _short(np.array2string(drawn, threshold=12, precision=5))
            by = f'drawn: <a href="#n{given.source.id}">{escape(given.source.op.name)}</a>'
            rows.append([f"<code>{escape(name)}</code>", f"<code>{escape(text)}</code>", by])
        elif given is not None and given is not node.runtime:
            rows.append([f"<code>{escape(name)}</code>", f"<code>{escape(_short(repr(given)))}</code>", ""])
    return table(["argument", "value", ""], rows) if rows else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def epochs_page(inspector: PipelineInspector, index: int, first: int, root: str, names_of: NamesOf) -> str:
    """Renders the page of a sample in `MOST_EPOCHS` epochs, side by side.

    `index` is the sample's index in the data set, `first` the first epoch.
    """
    epochs = range(first, first + MOST_EPOCHS)
    traces = inspector.sample_traces(index, epochs)
    links = f"<code>{escape(inspector.name_of(index))}</code>"
    earlier = f"{root}epochs/{index}?first={max(first - MOST_EPOCHS, 0)}" if first else ""
    parts = [pager(earlier, f"{root}epochs/{index}?first={first + MOST_EPOCHS}", links)]
    failures = {str(trace.failure) for trace, _ in traces}
    if len(failures) == 1 and traces[0][0].failure is not None:
        return "".join(
            [*parts, "<p>It fails alike in all these epochs.</p>", error_box(traces[0][0].failure)]
        )
    cells = [
        f'<article class="jd-sample"><p class="jd-name">epoch {epoch}</p>'
        f"{_epoch(inspector, trace, position, names_of)}</article>"
        for epoch, (trace, position) in zip(epochs, traces, strict=True)
    ]
    return "".join([*parts, f'<div class="jd-samples">{"".join(cells)}</div>'])


def _epoch(inspector: PipelineInspector, trace: Trace, position: int, names_of: NamesOf) -> str:
    if trace.failure is not None:
        return error_box(trace.failure)
    arrays: list[Array] = []
    for value in inspector.outputs:
        array = trace.value(value, position)
        arrays.append(np.zeros(0) if array is None else array)
    layouts = [trace.values[value].layout() for value in inspector.outputs]
    return sample_figures(inspector, arrays, layouts, names_of, DETAIL)
