"""Resolves the axes that an operator reduces, and makes the spec of the reduced batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali._batches import BatchSpec
from jdali._errors import absent_axis, axis_out_of_range
from jdali._operators.record import Static


def reduction_options(
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    keep_dims: Static[bool] = False,
) -> None:
    """Declares the arguments of every reduction. `setup` replaces the user's `axes` by the result of `resolve_axes`.

    Args:
        axes: axes to reduce; negative ones count from the end; []: no axis; None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
    """


def resolve_axes(
    name: str, spec: BatchSpec, axes: int | Sequence[int] | None, axis_names: str | None
) -> tuple[int, ...]:
    """Returns the indices of the axes to reduce, ascending.

    Args:
        axes: indices; negative ones count from the end; empty: no axis; None: all axes.
        axis_names: letters of the input's layout, in place of `axes`.
    """
    if axes is not None and axis_names is not None:
        raise ValueError(f"{name}: Arguments `axes` and `axis_names` are mutually exclusive")
    if axis_names is not None:
        missing = [letter for letter in axis_names if letter not in spec.layout]
        if missing:
            raise absent_axis(name, missing[0], spec.layout)
        found = [spec.layout.index(letter) for letter in axis_names]
    elif axes is not None:
        listed = [axes] if isinstance(axes, int) else list(axes)
        for axis in listed:
            if not -spec.ndim <= axis < spec.ndim:
                raise axis_out_of_range(name, axis, spec.ndim)
        found = [axis % spec.ndim for axis in listed]
    else:
        found = list(range(spec.ndim))
    if len(set(found)) != len(found):
        raise ValueError(
            f"{name}: Duplicate axis index {next(a for a in found if found.count(a) > 1)} in axes {tuple(found)}"
        )
    return tuple(sorted(found))


def reduced_spec(spec: BatchSpec, axes: Sequence[int], keep_dims: bool, dtype: np.dtype) -> BatchSpec:
    """Makes the spec of the reduced batch. Reduced axes have size 1 if `keep_dims`, else they are dropped."""
    extents, layout = spec.extents.copy(), spec.layout
    if keep_dims:
        extents[:, list(axes)] = 1
    else:
        kept = [a for a in range(spec.ndim) if a not in axes]
        extents = extents[:, kept]
        layout = "".join(layout[a] for a in kept) if layout else ""
    return BatchSpec(extents, dtype, layout)
