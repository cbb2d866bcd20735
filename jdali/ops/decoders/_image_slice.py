from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, Plan
from jdali._kernels.image_decoding import decode, image_decoder, pictures_of, windows_plan
from jdali._kernels.ragged_axes import by_number_of_axes
from jdali._kernels.slice_window import any_window, slice_axes
from jdali._operators.record import HostOutputs, PerSample, Scaled, Static, Workers
from jdali.codecs.image_batch import Headers

_NAME = "decoders.image_slice"


def setup(
    contents: BatchSpec,
    anchor: np.ndarray | None = None,
    shape_input: np.ndarray | None = None,
    *,
    axes: np.ndarray | None,
    axis_names: str | None,
    start: np.ndarray | None,
    rel_start: np.ndarray | None,
    end: np.ndarray | None,
    rel_end: np.ndarray | None,
    shape: np.ndarray | None,
    rel_shape: np.ndarray | None,
    normalized_anchor: bool,
    normalized_shape: bool,
) -> Plan:
    pictures = pictures_of(_NAME, contents)
    named = {
        "start": start, "rel_start": rel_start, "end": end,
        "rel_end": rel_end, "shape": shape, "rel_shape": rel_shape,
    }  # fmt: skip
    _check_arguments(named, anchor, shape_input)
    anchors, sizes = np.zeros_like(pictures.extents), np.array(pictures.extents)
    arguments = {**named, "anchor": anchor, "shape_input": shape_input}
    for group in by_number_of_axes(_NAME, axes, arguments, pictures.batch_size):
        extents = pictures.extents[group.rows]
        with group.blaming():
            chosen = slice_axes(_NAME, "HWC", extents.shape, group.axes, axis_names)
            anchors[group.rows], sizes[group.rows] = any_window(
                _NAME, extents, chosen, group.values, normalized_anchor, normalized_shape
            )
    return windows_plan(_NAME, pictures, anchors, sizes)


def _check_arguments(named: dict[str, Any], anchor: object, shape_input: object) -> None:
    positional = (anchor is not None) + (shape_input is not None)
    has_named = any(v is not None for v in named.values())
    if positional == 1 or bool(positional) == has_named:
        raise ValueError(
            f"{_NAME}: Expected named slice arguments (e.g. start/end, start/shape) or positional inputs (start, shape). "
            f"Got {1 + positional} inputs; give one or the others"
        )


@image_decoder(_NAME, setup)
def image_slice(
    data: Sequence[np.ndarray],
    anchor: PerSample[list[object] | None] = None,
    shape_input: PerSample[list[object] | None] = None,
    /,
    *,
    axes: PerSample[tuple[int, ...] | list[int] | None] = None,
    axis_names: Static[str | None] = None,
    end: PerSample[tuple[int, ...] | list[int] | None] = None,
    normalized_anchor: Static[bool] = True,
    normalized_shape: Static[bool] = True,
    rel_end: PerSample[tuple[float, ...] | list[float] | None] = None,
    rel_shape: PerSample[tuple[float, ...] | list[float] | None] = None,
    rel_start: PerSample[tuple[float, ...] | list[float] | None] = None,
    shape: PerSample[tuple[int, ...] | list[int] | None] = None,
    start: PerSample[tuple[int, ...] | list[int] | None] = None,
    _window: PerSample[tuple[int, ...] | None] = None,
    workers: Workers,
    headers: Headers,
    scaled: Scaled | None = None,
    **options: object,
) -> HostOutputs:
    """Decodes only a window of an image, as `decoders.image` followed by `slice` would return it.

    The window is given either by the inputs `anchor` and `shape_input`, or by a start (`start` or
    `rel_start`, else 0) and an end (`end`, `rel_end`, `shape` or `rel_shape`, else the whole extent).

    Args:
        data: uint8 [bytes], the encoded image.
        anchor: start along each of the axes, int32 or int64 pixels, or float32 shares of the extent.
        shape_input: size of the window, in the type of `anchor`.
        axes: indices (in HWC) of the axes that the window arguments refer to; None: `axis_names`.
        axis_names: letters of these axes; None: "WH".
        end: end of the window, pixels, exclusive.
        normalized_anchor: True: a float `anchor` is a share of the extent; False: pixels.
        normalized_shape: True: a float `shape_input` is a share of the extent; False: pixels.
        rel_end: `end` as a share of the extent.
        rel_shape: `shape` as a share of the extent.
        rel_start: `start` as a share of the extent.
        shape: size of the window, pixels.
        start: start of the window, pixels.

    Returns: [height, width, C] of type `dtype`.

    Example: images = fn.decoders.image_slice(jpegs, anchor, window)
    """
    return decode(data, _window, headers, scaled, workers, options)
