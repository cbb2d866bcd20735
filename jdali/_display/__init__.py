"""Draws values as HTML and SVG, by pure functions of NumPy arrays that do not depend on pipelines.

markup.py     escaping, data URIs, the style sheet
pictures.py   arrays of any layout, type and range as pictures, with notes on how values were scaled
spectra.py    spectrograms, low frequencies at the bottom, with axes in seconds and hertz
overlays.py   boxes, polygons, points and masks over a picture
numbers.py    numbers with a histogram, bytes and text
figures.py    one value as HTML, by its kind; waveforms as SVG, sounds as WAV
batches.py    the samples of a batch side by side, within a byte limit
graph.py      a graph in layers as SVG
"""

from typing import TYPE_CHECKING

from jdali._display.markup import STYLE as STYLE
from jdali._display.markup import escape as escape
from jdali._system.lazy import imported as _imported

if TYPE_CHECKING:
    from jdali._display.batches import NamedBatch as NamedBatch
    from jdali._display.batches import batch_html as batch_html
    from jdali._display.figures import LARGE as LARGE
    from jdali._display.figures import SMALL as SMALL
    from jdali._display.figures import Detail as Detail
    from jdali._display.figures import Hint as Hint
    from jdali._display.figures import Shown as Shown
    from jdali._display.figures import figure as figure
    from jdali._display.figures import named as named
    from jdali._display.graph import GraphBox as GraphBox
    from jdali._display.graph import GraphEdge as GraphEdge
    from jdali._display.graph import graph_svg as graph_svg
    from jdali._display.numbers import curve_svg as curve_svg
    from jdali._display.overlays import Overlay as Overlay

# Imported on first use, because only notebooks and the viewer show values.
_WHERE = {
    "batches": ("NamedBatch", "batch_html"),
    "figures": ("LARGE", "SMALL", "Detail", "Hint", "Shown", "figure", "named"),
    "graph": ("GraphBox", "GraphEdge", "graph_svg"),
    "numbers": ("curve_svg",),
    "overlays": ("Overlay",),
}
_imported(__name__, {name: f"{__name__}.{module}" for module, names in _WHERE.items() for name in names})
