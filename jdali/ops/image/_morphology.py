"""dilate and erode: take the largest or smallest value under a rectangle."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.border import with_margin
from jdali._kernels.correlate import padded_taps
from jdali._kernels.fit import fit
from jdali._operators.record import PerFrame, PerSample, Static, also_takes, operator

_TYPES = tuple(map(np.dtype, (np.uint8, np.uint16, np.float32)))
# Border modes of `with_margin` by DALI's names.
_BORDERS = {
    "constant": "constant", "replicate": "clamp", "reflect": "reflect_1001", "reflect_101": "reflect_101", "wrap": "wrap",
}  # fmt: skip
# Largest number of mask elements along an axis for which the loop over them is unrolled.
_UNROLLED = 9


def _setup(
    name: str,
    images: BatchSpec,
    *,
    anchor: np.ndarray,
    border_mode: str,
    iterations: int,
    mask_size: np.ndarray,
) -> Plan:
    if border_mode not in _BORDERS:
        raise ValueError(f"{name}: border_mode is {border_mode!r}, it must be one of {', '.join(_BORDERS)}")
    if images.dtype not in _TYPES:
        kinds = ", ".join(kind.name for kind in _TYPES)
        raise ValueError(f"{name}: images are {images.dtype}, they must be one of {kinds}; cast them")
    if iterations < 1:
        raise ValueError(f"{name}: iterations is {iterations}, it must be at least 1")
    for argument, values in (("anchor", anchor), ("mask_size", mask_size)):
        if values.shape[1:] != (2,):
            raise ValueError(f"{name}: {argument} must have 2 values, along x and y, got {values.shape[1:]}")
    sizes = np.asarray(mask_size)[:, ::-1]  # (height, width)
    _refuse(name, sizes < 1, "mask_size must be at least 1, got", mask_size, "mask_size")
    wanted = np.asarray(anchor)[:, ::-1]
    _refuse(name, (wanted < -1) | (wanted >= sizes), "anchor must lie within the mask, got", anchor, "anchor")
    anchors = np.where(wanted == -1, sizes // 2, wanted)
    # Several iterations are computed as one with a larger rectangle, even at borders, as DALI documents.
    grown, moved = 1 + iterations * (sizes - 1), iterations * anchors
    largest = grown.max(axis=0) if len(grown) else np.ones(2, np.int64)
    params = {"_size": grown.astype(np.int32), "_start": moved.astype(np.int32)}
    return Plan((images,), params=params, static={"_reach": tuple(padded_taps(int(n)) for n in largest)})


def _refuse(name: str, bad: np.ndarray, message: str, values: np.ndarray, argument: str) -> None:
    check_samples(
        bad.any(axis=1), lambda i: f"{name}: {message} {tuple(values[i].tolist())}", argument=argument
    )


@functools.partial(jax.jit, static_argnums=(0, 1, 2))  # an eager call is then one program
def _extremes(
    largest: bool, border: str, reach: tuple[int, int], image: Array, size: Array, start: Array, extent: Array
) -> Array:
    """Finds, for each pixel of [H, W, C], the largest or smallest value under a mask.

    Args:
        size: [2], size of the mask.
        start: [2], anchor in the mask.
    """
    height, width, channels = image.shape
    floating = jnp.issubdtype(image.dtype, jnp.floating)
    limits = (-np.inf, np.inf) if floating else (0, np.iinfo(image.dtype).max)
    neutral = jnp.asarray(limits[0] if largest else limits[1], image.dtype)  # never chosen over another value
    choose = jnp.maximum if largest else jnp.minimum
    values = image.reshape(height, width * channels)
    for axis, unit in ((0, 1), (1, channels)):
        side, count = reach[axis] - 1, values.shape[axis]
        padded = with_margin(values, axis, extent[axis], (side, side), border, neutral, unit)
        first = (side - start[axis]) * unit
        own = size[axis]

        def at(k: int | Array, padded: Array = padded, first: Array = first, axis: int = axis, unit: int = unit,
               count: int = count) -> Array:  # fmt: skip
            return lax.dynamic_slice_in_dim(padded, first + k * unit, count, axis)

        if reach[axis] <= _UNROLLED:
            values = at(0)
            for k in range(1, reach[axis]):
                values = choose(values, jnp.where(k < own, at(k), neutral))
        else:

            def more(values: Array, k: Array, at: Any = at, own: Array = own) -> tuple[Array, None]:
                return choose(values, jnp.where(k < own, at(k), neutral)), None

            values, _ = lax.scan(more, at(0), jnp.arange(1, reach[axis], dtype=jnp.int32))
    return values.reshape(height, width, channels)


def _options(
    *,
    anchor: PerFrame[tuple[int, ...]] = (-1, -1),
    border_mode: Static[str] = "constant",
    iterations: Static[int] = 1,
    mask_size: PerFrame[tuple[int, ...]] = (3, 3),
    _reach: Static[tuple[int, int] | None] = None,
    _size: PerSample[Array | None] = None,
    _start: PerSample[Array | None] = None,
) -> None:
    """Declares the arguments of dilate and erode.

    Args:
        anchor: (x, y), element of the rectangle that lies over the pixel; -1: the middle, size // 2.
        border_mode: "constant": pixels past the image are ignored; "replicate" (aaa|abcd|ddd), "reflect"
            (cba|abcd|dcb), "reflect_101" (dcb|abcd|cba) or "wrap" (bcd|abcd|abc).
        iterations: number of applications; several are computed as one, with a rectangle that grows by size - 1 for
            each further application.
        mask_size: (width, height) of the rectangle, pixels.
    """


def _run(
    largest: bool, image: Array, extent: Array, out_shape: tuple[int, ...], options: Mapping[str, Any]
) -> Array:
    if not image.size:
        return jnp.zeros(out_shape, image.dtype)
    size, start = jnp.asarray(options["_size"]), jnp.asarray(options["_start"])
    border = _BORDERS[options["border_mode"]]
    return fit(_extremes(largest, border, options["_reach"], image, size, start, extent), out_shape)


@operator(
    setup=functools.partial(_setup, "experimental.dilate"), name="experimental.dilate", layouts=("HWC",),
    devices=("cpu", "gpu"), source="operators/image/morphology/morphology.cc",
)  # fmt: skip
@also_takes(_options)
def dilate(image: Array, /, *, extent: Array, out_shape: tuple[int, ...], **options: Any) -> Array:
    """Replaces each pixel by the largest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.dilate(images, mask_size=[7, 7])
    """
    return _run(True, image, extent, out_shape, options)


@operator(
    setup=functools.partial(_setup, "experimental.erode"), name="experimental.erode", layouts=("HWC",),
    devices=("cpu", "gpu"), source="operators/image/morphology/morphology.cc",
)  # fmt: skip
@also_takes(_options)
def erode(image: Array, /, *, extent: Array, out_shape: tuple[int, ...], **options: Any) -> Array:
    """Replaces each pixel by the smallest value under a rectangle, channel by channel.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16 or float32.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU.

    Example: images = fn.experimental.erode(images, mask_size=[7, 7])
    """
    return _run(False, image, extent, out_shape, options)
