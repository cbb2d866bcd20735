from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali import types
from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels import warp as _warp
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator
from jdali.ops.image._warp_perspective import pixel_origin_shift
from jdali.types import INTERP_LINEAR, DALIInterpType

_NAME = "experimental.remap"
_FILTERS = (types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC)


def setup(
    images: BatchSpec, mapx: BatchSpec, mapy: BatchSpec, *, interp: DALIInterpType, pixel_origin: str
) -> BatchSpec:
    _warp.check_warp(_NAME, images, interp, _FILTERS)
    pixel_origin_shift(_NAME, pixel_origin)
    for name, table in (("mapx", mapx), ("mapy", mapy)):
        if table.dtype != np.float32:
            raise ValueError(f"{_NAME}: {name} is {table.dtype}, it must be float32; cast it")
        check_samples(
            table.extents[:, 2] != 1,
            lambda i, name=name, table=table: (
                f"{_NAME}: {name} has shape {tuple(table.extents[i].tolist())}, it must be [h, w] or [h, w, 1]"
            ),
        )
    check_samples(
        (mapx.extents[:, :2] != mapy.extents[:, :2]).any(axis=1),
        lambda i: (
            f"{_NAME}: mapx is {tuple(mapx.extents[i, :2].tolist())} and mapy {tuple(mapy.extents[i, :2].tolist())}, they "
            "must agree"
        ),
    )
    return _warp.warped(images, mapx.extents[:, :2], None)


@operator(
    name=_NAME,
    setup=setup,
    layouts=("HWC",),
    devices=("cpu", "gpu"),
    free_padding="all",
    nanoseconds=23.0,
    wide_vectors=True,
    source="operators/image/remap/remap.cc",
)
def remap(
    image: Array,
    mapx: Array,
    mapy: Array,
    /,
    *,
    interp: Static[DALIInterpType] = INTERP_LINEAR,
    pixel_origin: Static[str] = "corner",
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Warps an image by two maps, which contain a point of the input for each pixel of the output.

    out(x, y) = in(mapx(x, y), mapy(x, y)); 0 outside of the input and where a map is NaN.

    Args:
        image: [H, W, C].
        mapx: float32 [h, w] or [h, w, 1], column in the input for each pixel of the output.
        mapy: float32 [h, w] or [h, w, 1], row in the input.
        interp: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.

    Returns: [h, w, C], type of the input, rounded half away from zero and saturated.

    Parity: DALI has this operator on a GPU only, for images of 1 or 3 channels, and with maps of the input's size.

    Example: images = fn.experimental.remap(images, map_x, map_y)
    """
    size = out_shape[:2]
    maps = [fit(values[..., 0], size) for values in (mapy, mapx)]
    shift = jnp.float32(0.5 - pixel_origin_shift(_NAME, pixel_origin))
    return _warp.warp(
        image,
        table_points,
        (maps, shift),
        extent[0],
        out_extent,
        out_shape,
        interp_type=interp,
        fill_value=0.0,
        dtype=None,
    )


def table_points(parameters: Any, centers: Sequence[Array]) -> list[Array]:
    """Looks up points in tables, for the tile of pixels at `centers`.

    Args:
        parameters: a table [h, w] of coordinates for each axis, and a shift to add to all coordinates.
        centers: see `warp.Mapping`.
    """
    tables, shift = parameters
    first = [center.reshape(-1)[0].astype(jnp.int32) for center in centers]
    shape = [center.shape[axis] for axis, center in enumerate(centers)]
    points = [lax.dynamic_slice(table, first, shape) + shift for table in tables]
    points = [point.reshape(*shape, *[1] * (centers[0].ndim - 2)) for point in points]
    return [jnp.where(jnp.isnan(point), jnp.float32(-10), point) for point in points]
