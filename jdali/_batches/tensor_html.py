"""Tensors and batches in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jdali._display import NamedBatch, batch_html


def samples_html(
    kind: str, device: str, dtype: object, layout: str, shapes: Sequence[tuple[int, ...]],
    sample: Callable[[int], np.ndarray], names: Sequence[str] = (),
) -> str:  # fmt: skip
    """Shows samples side by side, up to 200 kB.

    Args:
        kind: name of the class.
        device: where the values are.
        dtype: of the elements.
        layout: of a sample.
        shapes: of the samples.
        sample: gives sample i as an array.
        names: of the samples, files mostly.
    """
    sizes = sorted(set(shapes))
    size = " to ".join("×".join(map(str, one)) or "scalar" for one in (*sizes[:1], *sizes[1:][-1:]))
    title = f"{kind}: {len(shapes)} samples on {device}, {layout or 'no layout'}, {dtype}, {size or 'empty'}"
    return batch_html(title, len(shapes), [NamedBatch("", layout, sample)], names)
