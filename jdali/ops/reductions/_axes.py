"""Which axes an operator reduces, and what the reduced batch looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali._batches.extent import BatchSpec


def resolve_axes(
    name: str, spec: BatchSpec, axes: int | Sequence[int] | None, axis_names: str | None
) -> tuple[int, ...]:
    """Indices of the axes to reduce, ascending.

    Args:
        name: of the operator, for messages.
        spec: of the input.
        axes: indices, negative ones from the back; an empty list: none; None: all.
        axis_names: letters of the input's layout, in place of `axes`.
    """
    if axes is not None and axis_names is not None:
        raise ValueError(f"{name}: axes and axis_names were both given; give one of them")
    if axis_names is not None:
        missing = [letter for letter in axis_names if letter not in spec.layout]
        if missing:
            raise ValueError(f"{name}: axis {missing[0]!r} is not in the input's layout {spec.layout!r}")
        found = [spec.layout.index(letter) for letter in axis_names]
    elif axes is not None:
        given = [axes] if isinstance(axes, int) else list(axes)
        for axis in given:
            if not -spec.ndim <= axis < spec.ndim:
                raise ValueError(f"{name}: axis {axis} is out of range for {spec.ndim} axes")
        found = [axis % spec.ndim for axis in given]
    else:
        found = list(range(spec.ndim))
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: axes {tuple(found)} name an axis twice")
    return tuple(sorted(found))


def reduced_spec(spec: BatchSpec, axes: Sequence[int], keep_dims: bool, dtype: np.dtype) -> BatchSpec:
    """Spec after the reduction; reduced axes have size 1 or are dropped."""
    extents, layout = spec.extents.copy(), spec.layout
    if keep_dims:
        extents[:, list(axes)] = 1
    else:
        kept = [a for a in range(spec.ndim) if a not in axes]
        extents = extents[:, kept]
        layout = "".join(layout[a] for a in kept) if layout else ""
    return BatchSpec(extents, dtype, layout)
