"""Draws results that are numbers: tables of coloured cells, bytes, and the effect of a matrix on a letter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from website.examples import Result

_ROWS, _COLUMNS = 6, 10  # maximum size of a table
_TABLES = 3  # maximum number of tables in a picture
_LETTER = np.array(
    [
        [0, 0],
        [0.25, 0],
        [0.25, 0.4],
        [0.65, 0.4],
        [0.65, 0.6],
        [0.25, 0.6],
        [0.25, 0.8],
        [0.8, 0.8],
        [0.8, 1],
        [0, 1],
    ]
)
_INK = "#7d8590"  # readable on white and on black


def draw_numbers(results: Sequence[Result], file: Path) -> str:
    """Draws the first sample of each result as a table; returns the caption of the picture."""
    from matplotlib.figure import Figure

    if len(results) == 1 and results[0].name == "matrix" and results[0].samples[0].shape == (2, 3):
        _draw_matrix(results[0].samples[0], file)
        return "a letter in grey, and where the matrix puts it"
    tables = [(result, _table(result.samples[0])) for result in results[:_TABLES]]
    heights = [len(table) + 1.2 for _, table in tables]
    figure = Figure(figsize=(4.8, max(0.34 * sum(heights), 1.2)), dpi=100, layout="constrained")
    grid = figure.subplots(len(tables), 1, height_ratios=heights, squeeze=False)
    for axes, (result, table) in zip(grid[:, 0], tables, strict=True):
        _draw_table(axes, result, table)
    figure.savefig(file, transparent=True)
    return ", ".join(result.name for result, _ in tables) + ", first sample"


def _table(sample: np.ndarray) -> np.ndarray:
    """Returns the first rows and columns of an array, or of its first plane if it has more than two axes."""
    while sample.ndim > 2:
        sample = sample[0] if len(sample) else sample.reshape(0, 0)
    rows = np.atleast_2d(sample)
    if sample.ndim == 1 and sample.size > _COLUMNS:  # a long row is wrapped
        kept = sample[: _ROWS * _COLUMNS]
        rows = kept[: len(kept) // _COLUMNS * _COLUMNS].reshape(-1, _COLUMNS)
    return rows[:_ROWS, :_COLUMNS]


def _draw_table(axes: Any, result: Result, table: np.ndarray) -> None:
    """Draws a table; the colour of a cell shows its value."""
    sample = result.samples[0]
    axes.set_title(f"{result.name}: {sample.dtype} {list(sample.shape)}", fontsize=8, color=_INK, loc="left")
    axes.axis("off")
    if not table.size:
        return
    values = table.astype(np.float64)
    low, high = np.nanmin(values), np.nanmax(values)
    # Light colours, because the text on them is black.
    shares = 0.05 + 0.45 * (values - low) / max(high - low, 1e-9)
    axes.imshow(shares, cmap="YlGnBu", vmin=0, vmax=1, aspect="auto")
    is_bytes = sample.dtype == np.uint8 and sample.ndim == 1
    for (row, column), value in np.ndenumerate(table):
        axes.text(column, row, _text(value, is_bytes), ha="center", va="center", fontsize=8, color="black")


def _text(value: Any, is_byte: bool) -> str:
    if is_byte:
        return chr(value) if 32 < value < 127 else f"{value:02x}"
    return f"{value:.3g}" if np.issubdtype(type(value), np.floating) else str(int(value))


def _draw_matrix(matrix: np.ndarray, file: Path) -> None:
    """Draws a letter before and after an affine transform [2, 3]."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Polygon

    before = _LETTER * max(1.0, 2 * float(np.abs(matrix[:, 2]).max()))
    after = before @ matrix[:, :2].T + matrix[:, 2]
    figure = Figure(figsize=(3.6, 2.4), dpi=100, layout="constrained")
    axes = figure.subplots()
    axes.add_patch(Polygon(before, closed=True, facecolor=_INK, alpha=0.4))
    axes.add_patch(Polygon(after, closed=True, facecolor="#2a7fd4", alpha=0.7))
    corners = np.concatenate([before, after])
    axes.set(xlim=(corners[:, 0].min() - 0.1, corners[:, 0].max() + 0.1), aspect="equal")
    axes.set_ylim(corners[:, 1].min() - 0.1, corners[:, 1].max() + 0.1)
    axes.tick_params(colors=_INK, labelsize=8)
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_color(_INK)
    figure.savefig(file, transparent=True)
