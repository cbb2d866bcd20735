"""Finds the axes along which filters work, which are all axes except frames and channels."""

from __future__ import annotations


def spatial_axes(name: str, layout: str, ndim: int) -> tuple[int, int]:
    """Returns the first axis along which a filter works, and the axis after the last.

    Args:
        layout: layout of the data; "": the filter works along all axes.

    Raises:
        ValueError: the filter has no axes or more than three, or frames or channels lie between its axes.
    """
    letters = layout or "?" * ndim
    end = ndim - letters.endswith("C")
    first = len(letters) - len(letters.lstrip("FC"))
    if first >= end:
        raise ValueError(f"{name}: No spatial axes found in the layout: {layout}. It has {ndim} axes")
    if len(set(layout[:first] + layout[end:])) < first + ndim - end:
        raise ValueError(f"{name}: Found more the one occurrence of 'F' or 'C' axes in layout: {layout}.")
    inner = letters[first:end]
    if "C" in inner:
        raise ValueError(f"{name}: Only channel-first or channel-last layouts are supported, got: {layout}.")
    if "F" in inner:
        raise ValueError(f"{name}: For sequences, layout should begin with 'F' or 'C', got: {layout}.")
    if len(inner) > 3:
        raise ValueError(
            f"{name}: Too many dimensions, found: {len(inner)} data axes, maximum supported is: 3."
            + (
                ""
                if layout
                else f" Input data with empty layout cannot have more than 3 dimensions, got {ndim}"
            )
        )
    return first, end
