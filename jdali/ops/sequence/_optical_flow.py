from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.dense_flow import cell_means, dense_flow, spread_cells
from jdali._kernels.fit import fit
from jdali._numerics.platform import one_program
from jdali._operators.record import Static, operator
from jdali.types import DALIImageType

_NAME = "optical_flow"
# (Channel, weight) of Rec. 601 luma. Red comes first for RGB and BGR, so that sums have the same bits.
_GREY = {
    DALIImageType.RGB: ((0, 0.299), (1, 0.587), (2, 0.114)),
    DALIImageType.BGR: ((2, 0.299), (1, 0.587), (0, 0.114)),
    DALIImageType.GRAY: ((0, 1.0),),
}


def setup(
    frames: BatchSpec,
    hints: BatchSpec | None = None,
    *,
    enable_external_hints: bool,
    hint_grid: int,
    image_type: DALIImageType,
    output_format: int | None,
    output_grid: int,
    preset: float,
    layout: tuple[str, ...],
) -> Plan:
    grid = output_grid if output_format is None else output_format
    for name, value, allowed in (("output_grid", grid, (1, 2, 4)), ("hint_grid", hint_grid, (1, 2, 4, 8))):
        if value not in allowed:
            raise ValueError(f"{_NAME}: {name} must be one of {', '.join(map(str, allowed))}, got {value}")
    if not 0 <= preset <= 1:
        raise ValueError(f"{_NAME}: preset must be from 0 (best) to 1 (fastest), got {preset}")
    if image_type not in _GREY:
        raise ValueError(f"{_NAME}: image_type must be RGB, BGR or GRAY, got {image_type}")
    if enable_external_hints and hints is None:
        raise ValueError(f"{_NAME}: external hints need a second input")
    if any(name and len(name) != 4 for name in layout):
        raise ValueError(f"{_NAME}: frames need channels, layout FHWC, got {', '.join(layout)}")
    if frames.dtype != np.uint8:
        raise TypeError(f"{_NAME}: frames are {frames.dtype}, they must be uint8")
    _check_sizes(frames, len(_GREY[image_type]))
    cells = -(-frames.extents[:, 1:3] // grid)
    if enable_external_hints and hints is not None:
        _check_hints(frames, hints, hint_grid)
    pairs = np.concatenate([frames.extents[:, :1] - 1, cells, np.full((len(cells), 1), 2)], axis=1)
    spec = BatchSpec(pairs, np.dtype(np.float32), frames.layout)
    return Plan((spec,), static={"_grid": grid})


def _check_sizes(frames: BatchSpec, channels: int) -> None:
    sizes = frames.extents

    def shape(i: int) -> str:
        return f"got shape {tuple(sizes[i].tolist())} (F, H, W, C)"

    check_samples(sizes[:, 0] < 2, lambda i: f"{_NAME}: a sequence must have at least 2 frames, {shape(i)}")
    empty = (sizes[:, 1:3] < 1).any(axis=1)
    check_samples(empty, lambda i: f"{_NAME}: frames must have pixels, {shape(i)}")
    others = sizes[:, 3] != channels
    check_samples(
        others, lambda i: f"{_NAME}: frames of this image_type have {channels} channels, {shape(i)}"
    )


def _check_hints(frames: BatchSpec, hints: BatchSpec, grid: int) -> None:
    if hints.dtype != np.float32:
        raise TypeError(f"{_NAME}: hints are {hints.dtype}, they must be float32")
    cells = -(-frames.extents[:, 1:3] // grid)
    expected = np.concatenate([frames.extents[:, :1], cells, np.full((len(cells), 1), 2)], axis=1)
    wrong = (hints.extents != expected).any(axis=1)
    check_samples(
        wrong,
        lambda i: (
            f"{_NAME}: hints of shape {tuple(hints.extents[i].tolist())}, expected {tuple(expected[i].tolist())}: "
            f"a vector for each {grid} x {grid} pixels of each frame"
        ),
    )


@operator(
    setup=setup, layouts=("FHWC",), sequence=False, devices=("gpu",), source="operators/sequence/optical_flow"
)
def optical_flow(
    frames: Array,
    hints: Array | None = None,
    /,
    *,
    enable_external_hints: Static[bool] = False,
    enable_temporal_hints: Static[bool] = False,
    hint_grid: Static[int] = 4,
    image_type: Static[DALIImageType] = DALIImageType.RGB,
    output_format: Static[int | None] = None,
    output_grid: Static[int] = 4,
    preset: Static[float] = 0.0,
    extent: Array | tuple[Array, ...],
    layout: object = "",
    out_shape: tuple[int, ...],
    _grid: Static[int | None] = None,
) -> Array:
    """Estimates, for each cell of pixels in a frame, the displacement to the same content in the previous frame.

    `frames[i + 1][p] = frames[i][p + flow[i][p]]`. The flow is computed for each pixel, by Lucas and Kanade's method on a
    pyramid, and averaged over cells. Displacements are in pixels of the frames, whatever the size of cells.

    Args:
        frames: uint8 [F, H, W, C], at least 2 frames.
        hints: float32 [F, H / hint_grid, W / hint_grid, 2] (sizes rounded up), guesses of the flow from each frame to the
            previous one; hints of the first frame are ignored. Without `enable_external_hints` the input has no effect.
        enable_external_hints: start the search at `hints`.
        enable_temporal_hints: without hints, start the search at the flow of the previous pair of frames. This also
            finds fast steady motion, of a quarter of the frame's size and more.
        hint_grid: 1, 2, 4 or 8, side of the cells of `hints`, pixels.
        image_type: RGB, BGR or GRAY.
        output_format: deprecated alias of `output_grid`.
        output_grid: 1, 2 or 4, side of the cells of the result, pixels.
        preset: speed, 0 to 1. Values below 0.375 give the best flow; values below 0.75 are about twice as fast; values
            from 0.75 on are fastest, and use frames of half the size if `output_grid` is 2 or 4.

    Returns: float32 [F - 1, H / output_grid, W / output_grid, 2] (sizes rounded up), (x, y) in pixels.

    Parity: DALI uses the optical flow engine of NVIDIA GPUs, whose method is not published, in units of 1/32
        pixel. Arguments, direction, sizes and units are the same; vectors differ and are not rounded.

    Example: flow = fn.optical_flow(frames)
    """
    true_size = extent[0] if isinstance(extent, tuple) else extent
    size = true_size[1:3]
    planes = [np.float32(w / 255) * frames[..., c].astype(jnp.float32) for c, w in _GREY[image_type]]
    grey = planes[0] if len(planes) == 1 else planes[0] + planes[1] + planes[2]
    grid = output_grid if _grid is None else _grid
    steps, fast = (6, False) if preset < 0.375 else (3, False) if preset < 0.75 else (2, grid > 1)

    used = hints[1 : len(grey)] if enable_external_hints and hints is not None else None
    flows = _flows(grey, used, size, (grid, hint_grid), steps, int(fast), enable_temporal_hints)
    return fit(flows, out_shape)


@one_program(static_argnums=(3, 4, 5, 6))
def _flows(
    grey: Array, hints: Array | None, size: Array, grids: tuple[int, int], steps: int, finest: int, goes_on: bool
) -> Array:  # fmt: skip
    """Computes the flow between successive frames, [F - 1, *cells, 2].

    Args:
        grey: float32 [F, H, W].
        hints: flows to start from; None: 0.
        size: int32 [2], true size.
        grids: cell sizes of the result and of `hints`, pixels.
        steps, finest: see `dense_flow`.
        goes_on: True: without hints, start from the previous flow.
    """
    shape = grey.shape[1], grey.shape[2]
    cells = (-(-shape[0] // grids[0]), -(-shape[1] // grids[0]))

    def pair(before: Array, inputs: tuple[Array, Array, Array | None]) -> tuple[Array, Array]:
        earlier, later, hint = inputs
        start = before if hint is None else spread_cells(hint, size, grids[1], shape)
        flow = dense_flow(earlier, later, size, start, steps=steps, finest=finest)
        return flow if goes_on else before, cell_means(flow, size, grids[0], cells)

    flows: Array = lax.scan(pair, jnp.zeros((*shape, 2), jnp.float32), (grey[:-1], grey[1:], hints))[1]
    return flows
