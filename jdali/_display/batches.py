"""Shows the samples of a batch side by side in a notebook, within a byte limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jdali._display.figures import SMALL, Hint, Shown, figure, may_be_sound
from jdali._display.markup import MOST_BYTES, escape, styled

_MOST_SAMPLES = 64
_SOUND_FILES = (
    ".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".mp2", ".m4a", ".aac", ".aif", ".aiff", ".au",
)  # fmt: skip


class NamedBatch(NamedTuple):
    """One output of a batch.

    Attributes:
        name: name of the output.
        layout: layout of one sample.
        sample: `sample(i)` returns the array of the sample at position i in the batch.
        hint: further facts about the values.
    """

    name: str
    layout: str
    sample: Callable[[int], NDArray[np.generic]]
    hint: Hint = Hint()


def _figure(output: NamedBatch, position: int, name: str) -> Shown:
    """Shows a sample. It is shown as a sound if the file name has a sound's extension and the array may be a sound."""
    array, hint = output.sample(position), output.hint
    if not (hint.kind or output.layout) and name.lower().endswith(_SOUND_FILES) and may_be_sound(array):
        hint = Hint("sound")
    return figure(array, name=output.name, layout=output.layout, hint=hint, detail=SMALL)


def batch_html(title: str, count: int, outputs: Sequence[NamedBatch], names: Sequence[str] = ()) -> str:
    """Shows samples with all their outputs, in at most 200 kB of HTML.

    Args:
        title: one line about the batch.
        names: names of the samples, usually their files; empty if unknown.
    """
    cells: list[str] = []
    room = MOST_BYTES - len(styled("")) - len(escape(title).encode()) - 400
    for i in range(min(count, _MOST_SAMPLES)):
        name = f"{i}: {names[i]}" if i < len(names) and names[i] else f"{i}"
        shown = [_figure(output, i, name) for output in outputs]
        cell = f'<div class="jd-sample"><p class="jd-name">{escape(name)}</p>{"".join(s.html for s in shown)}</div>'
        size = len(cell.encode())
        if size > room:
            break
        room -= size
        cells.append(cell)
    left = count - len(cells)
    more = f'<p class="jd-name">and {left} more samples</p>' if left else ""
    return styled(
        f'<p class="jd-name">{escape(title)}</p><div class="jd-samples">{"".join(cells)}</div>{more}'
    )
