"""Turns values into what the eye needs: pure functions of NumPy arrays, which know nothing of pipelines.

markup.py     escaping, data URIs, the style of all that is shown
pictures.py   arrays of any layout, type and range as pictures, with a note of what was undone
spectra.py    spectrograms, low frequencies at the bottom, with axes in seconds and hertz
overlays.py   boxes, polygons, points and masks over a picture
numbers.py    numbers with a histogram, bytes and text
figures.py    one value as HTML, by its kind; waveforms as SVG, sounds as WAV
batches.py    the samples of a batch side by side, up to a number of bytes
graph.py      a graph in layers as SVG
"""

from jdali._display.batches import NamedBatch, batch_html
from jdali._display.figures import LARGE, SMALL, Detail, Hint, Shown, figure, named
from jdali._display.graph import GraphBox, GraphEdge, graph_svg
from jdali._display.markup import STYLE, escape
from jdali._display.numbers import curve_svg
from jdali._display.overlays import Overlay

__all__ = [
    "LARGE", "SMALL", "STYLE", "Detail", "GraphBox", "GraphEdge", "Hint", "NamedBatch", "Overlay", "Shown", "batch_html",
    "curve_svg", "escape", "figure", "graph_svg", "named",
]  # fmt: skip
