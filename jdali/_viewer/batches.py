"""Renders the page of a batch, with its samples and all of their outputs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._display import Detail, Overlay, escape, figure
from jdali._viewer.hints import Array, NamesOf, hint_of, over, overlay_of
from jdali._viewer.layout import error_box, pager, table
from jdali.engine.eager import PipelineInspector, SeenBatch

DETAIL = Detail(side=384, frames=24, seconds=20.0, exact=True)
_FEW, _MOST_SHOWN = 32, 256
_MANY = Detail(side=192, frames=12, seconds=5.0, exact=True)  # detail of pages with many samples


def batch_page(inspector: PipelineInspector, number: int, root: str, names_of: NamesOf) -> str:
    batch = inspector.batch(number)
    parts = [_navigation(inspector, batch, root)]
    if batch.errors:
        rows = [[escape(e.path), str(e.index), escape(e.operator), escape(e.reason)] for e in batch.errors]
        parts.append(
            f'<section class="jd-error" role="alert"><p>Samples that could not be made: {len(batch.errors)}. '
            f"Others are in their positions.</p>{table(['file', 'index', 'operator', 'error'], rows)}</section>"
        )
    if batch.result is None:
        return "".join([*parts, error_box("no sample of this batch could be made")])
    result = batch.result
    columns = [output.to_samples() for output in result.outputs]
    layouts = [output.layout() for output in result.outputs]
    cells = []
    count = len(result.ids)
    detail = DETAIL if count <= _FEW else _MANY
    if count > _MOST_SHOWN:
        parts.append(
            f"<p>The first {_MOST_SHOWN} of {count} samples. Any other has a page of its own: "
            f'<a href="{root}sample/{number}/{_MOST_SHOWN}">sample {_MOST_SHOWN}</a></p>'
        )
    for i in range(min(count, _MOST_SHOWN)):
        arrays = [column[i] for column in columns]
        index, epoch = int(result.ids.index[i]), int(result.ids.epoch[i])
        name = inspector.name_of(index) if result.mask[i] else "in place of a sample that failed"
        head = (
            f'<p class="jd-name"><a href="{root}sample/{number}/{i}">sample {i}</a> · index {index} · epoch {epoch}'
            f"<br>{escape(name)}</p>"
        )
        figures = sample_figures(inspector, arrays, layouts, names_of, detail)
        cells.append(f'<article class="jd-sample">{head}{figures}</article>')
    return "".join([*parts, f'<div class="jd-samples">{"".join(cells)}</div>'])


def sample_figures(
    inspector: PipelineInspector, arrays: Sequence[Array], layouts: Sequence[str], names_of: NamesOf,
    detail: Detail = DETAIL,
) -> str:  # fmt: skip
    outputs = inspector.outputs
    known: dict[int, Array] = {id(value): array for value, array in zip(outputs, arrays, strict=True)}
    overlay = overlay_of(outputs, arrays, names_of)
    shown = []
    for name, value, array, layout in zip(inspector.output_names, outputs, arrays, layouts, strict=True):
        hint = hint_of(value, lambda other: known.get(id(other)), names_of)
        own = Overlay() if hint.kind == "mask" else over(overlay, *sides(array, layout))
        shown.append(figure_or_error(array, name=name, layout=layout, hint=hint, overlay=own, detail=detail))
    return "".join(shown)


def figure_or_error(array: Array, *, name: str, **known: Any) -> str:
    """Renders a value with `figure`, or the error if this fails."""
    try:
        return figure(array, name=name, **known).html
    except Exception as error:
        return error_box(
            f"{name} {array.dtype} {list(array.shape)} cannot be shown: {type(error).__name__}: {error}"
        )


def sides(array: Array, layout: str) -> tuple[int, int]:
    if "H" in layout and "W" in layout and len(layout) == array.ndim:
        return array.shape[layout.index("H")], array.shape[layout.index("W")]
    return (array.shape[0], array.shape[1]) if array.ndim >= 2 else (0, 0)


def _navigation(inspector: PipelineInspector, batch: SeenBatch, root: str) -> str:
    number = batch.number
    ids = None if batch.result is None else batch.result.ids
    epochs = [] if ids is None or inspector.size is None else np.unique(ids.epoch).tolist()
    form = (
        f'<form action="{root}go" class="jd-form"><label>batch <input name="batch" type="number" min="0" value="{number}">'
        "</label>"
        + ('<label>epoch <input name="epoch" type="number" min="0" placeholder="'
           + escape(" and ".join(map(str, epochs))) + '"></label>' if inspector.size is not None else "")
        + "<button>go</button></form>"
    )  # fmt: skip
    find = (
        f'<form action="{root}find" class="jd-form"><label>file <input name="text" type="search" placeholder="part of its name">'
        "</label><button>find</button></form>"
        if inspector.size is not None
        else ""
    )
    before = f"{root}batches/{number - 1}" if number else ""
    return pager(before, f"{root}batches/{number + 1}", form + find)


def found_page(inspector: PipelineInspector, text: str, root: str) -> str:
    """Renders the list of samples whose file names contain `text`."""
    found, looked = inspector.find(text) if text else ([], 0)
    part = (
        f" Only the first {looked} names were looked at." if text and looked < (inspector.size or 0) else ""
    )
    if not found:
        return f"<p>No file name holds {escape(text)!s}.{part}</p>"
    linked = '<a href="{root}epochs/{index}">{index}</a>' if inspector.knows_samples else "{index}"
    rows = [[linked.format(root=root, index=index), escape(name)] for index, name in found]
    return f"<p>{len(found)} samples, at most 50 are shown.{part}</p>" + table(["index", "file"], rows)
