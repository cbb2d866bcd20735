from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, size_text
from jdali._errors import SampleError, check_samples
from jdali._kernels.by_platform import by_platform, loop
from jdali._kernels.take_window import fit_axis
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import saturate_cast, varying_like
from jdali._operators.record import PerSample, Static, batch_operator, extents_of, is_traced, refused_layout

_NAME = "multi_paste"
_PAIRS = (("in_anchors", "in_anchors_rel"), ("shapes", "shapes_rel"), ("out_anchors", "out_anchors_rel"))

# Sizes of tiles, (rows, pixels). A region is copied in tiles of the first size that fits into it.
_TILES = ((32, 128), (32, 32), (4, 8), (1, 1))


def setup(
    *images: BatchSpec,
    dtype: np.dtype | None,
    in_anchors: object,
    in_anchors_rel: object,
    in_ids: object,
    out_anchors: object,
    out_anchors_rel: object,
    output_size: np.ndarray | None,
    shapes: object,
    shapes_rel: object,
) -> BatchSpec:
    arguments = {
        "in_anchors": in_anchors, "in_anchors_rel": in_anchors_rel, "shapes": shapes, "shapes_rel": shapes_rel,
        "out_anchors": out_anchors, "out_anchors_rel": out_anchors_rel,
    }  # fmt: skip
    _check_inputs(images, in_ids)
    for absolute, relative in _PAIRS:
        if arguments[absolute] is not None and arguments[relative] is not None:
            raise ValueError(f"{_NAME}: The `{absolute}` and `{relative}` cannot be specified together")
    ids = _ids(in_ids, images[0].batch_size)
    counts = (
        np.array([len(own) for own in ids]) if ids is not None else np.full(images[0].batch_size, len(images))
    )
    for name, values in arguments.items():
        _check_regions(name, values, counts)
    extents = images[0].extents.copy()
    extents[:, -3:-1] = _canvas(images, output_size)
    extents[:, -1] = _channels(images, ids)
    if not any(is_traced(value) for value in arguments.values()):
        _check_bounds(images, ids, extents[:, -3:-1], arguments)
    return images[0].replace(extents=extents, dtype=dtype or images[0].dtype)


def _check_inputs(images: Sequence[BatchSpec], in_ids: object) -> None:
    first = images[0]
    if in_ids is not None and len(images) > 1:
        raise ValueError(
            f"{_NAME}: If the `in_ids` is specified, the operator accepts exactly one positional input batch. Got: {len(images)} "
            "inputs."
        )
    for spec in images:
        if spec.layout not in ("HWC", "FHWC", "") or spec.ndim not in (3, 4):
            raise refused_layout(_NAME, spec.layout, spec.ndim, "images are HWC or FHWC")
        if spec.ndim != first.ndim:
            raise ValueError(
                f"{_NAME}: All input batches must have the same dimensionality. Got {first.ndim} and {spec.ndim} axes"
            )
        if spec.dtype != first.dtype:
            raise ValueError(
                f"{_NAME}: All input batches must have the same data type. Got {first.dtype} and {spec.dtype}"
            )
        wrong = (spec.extents[:, :-3] != first.extents[:, :-3]).any(axis=1)
        check_samples(wrong, lambda _: f"{_NAME}: inputs have different numbers of frames")


def _check_regions(name: str, values: Any, counts: np.ndarray) -> None:
    if values is None:
        return
    found = values.extents if is_traced(values) else extents_of(values)
    if found is None:
        return
    wrong = np.ones(len(found), bool)
    if found.shape[1] == 2:
        wrong = (found[:, 0] != counts) | (found[:, 1] != 2)
    check_samples(
        wrong,
        lambda sample: (
            f"{_NAME}: Unexpected shape for argument `{name}` for output sample at index {sample}. It should be a 2D tensor "
            f"of shape `number of pasted regions` x 2, i.e. {counts[sample]} x 2. Got tensor of shape: "
            f"{size_text(found[sample])}."
        ),
        argument=name,
    )


def _canvas(images: Sequence[BatchSpec], output_size: np.ndarray | None) -> np.ndarray:
    """Returns the height and width of each canvas, [N, 2]."""
    if output_size is not None:
        found = output_size.shape[1] if output_size.ndim == 2 else 1
        if found < 2:
            raise ValueError(
                f"{_NAME}: The `output_size` should be a tuple (H, W), got {found} elements for a sample at index 0."
            )
        output_size = output_size[:, :2]  # the shape of an image, which includes channels, is also allowed
        wrong = (output_size < 0).any(axis=1)
        check_samples(
            wrong,
            lambda sample: (
                f"{_NAME}: The `output_size` must be non-negative, got a shape with negative extent: "
                f"{size_text(output_size[sample])} for a sample at index {sample}."
            ),
            argument="output_size",
        )
        return output_size
    sizes = np.concatenate([spec.extents[:, -3:-1] for spec in images])
    wrong = (sizes != sizes[:1]).any(axis=1)
    if wrong.any():
        raise ValueError(
            f"{_NAME}: If the `output_size` is not specified, all the input samples must have the same shape."
        )
    return images[0].extents[:, -3:-1]


def _ids(in_ids: Any, batch_size: int) -> list[np.ndarray] | None:
    """Returns, for each sample, the indices of the samples from which to paste; None without `in_ids`."""
    if in_ids is None:
        return None
    ids = [np.atleast_1d(own).astype(int) for own in in_ids]
    for sample, own in enumerate(ids):
        wrong = own[(own < 0) | (own >= batch_size)]
        if len(wrong):
            raise SampleError(
                f"{_NAME}: The `in_idx` must be in range [0, .., batch_size - 1]. Got in_idx: {wrong[0]}. Input batch size is: "
                f"{batch_size}.",
                sample=sample,
                argument="in_ids",
            )
    return ids


def _sources(images: Sequence[BatchSpec], ids: list[np.ndarray] | None, sample: int) -> np.ndarray:
    """Returns the size of each region's source image, int [regions, ndim]."""
    if ids is not None:
        return images[0].extents[ids[sample]]
    return np.array([spec.extents[sample] for spec in images])


def _channels(images: Sequence[BatchSpec], ids: list[np.ndarray] | None) -> np.ndarray:
    channels = images[0].extents[:, -1].copy()
    if all((spec.extents[:, -1] == channels[:1]).all() for spec in images):
        return channels
    for sample in range(len(channels)):
        own = _sources(images, ids, sample)[:, -1]
        if (own != own[:1]).any():
            raise SampleError(
                f"{_NAME}: All regions pasted into given output sample must have the same number of channels. Got "
                f"{own.tolist()}",
                sample=sample,
            )
        channels[sample] = own[0] if len(own) else channels[sample]
    return channels


def _check_bounds(
    images: Sequence[BatchSpec],
    ids: list[np.ndarray] | None,
    canvas: np.ndarray,
    arguments: Mapping[str, Any],
) -> None:
    """Raises SampleError unless every region is inside its source image and the output."""
    for sample in range(len(canvas)):
        sizes = _sources(images, ids, sample)[:, -3:-1]
        own = {
            name: None if values is None else np.asarray(values[sample]) for name, values in arguments.items()
        }
        source, shape, target = regions(own, sizes, canvas[sample], np)
        for name, start, limit in (("input", source, sizes), ("output", target, canvas[sample])):
            wrong = np.flatnonzero(((start < 0) | (shape < 0) | (start + shape > limit)).any(axis=1))
            if len(wrong):
                i = int(wrong[0])
                size = size_text(np.broadcast_to(limit, sizes.shape)[i])
                bounds = "input sample" if name == "input" else "output bounds"
                raise SampleError(
                    f"{_NAME}: The pasted region must be within {bounds}. Got {name} anchor: {size_text(start[i])}, pasted "
                    f"region shape: {size_text(shape[i])}, {name} shape: {size}, for the region at index {i}, pasted into "
                    f"output sample at index {sample}.",
                    sample=sample,
                )


def regions(arguments: Mapping[str, Any], sizes: Any, canvas: Any, xp: Any) -> tuple[Any, Any, Any]:
    """Returns the source corners, shapes and target corners of one sample's regions: int [regions, 2] each.

    Args:
        arguments: the operator's arguments by name, [regions, 2] each, or None.
        sizes: int [regions, 2], sizes of the source images.
        canvas: int [2], size of the output.
        xp: `numpy` or `jax.numpy`.
    """

    def found(absolute: str, relative: str, whole: Any, rounding: Any) -> Any:
        if arguments[absolute] is not None:
            return xp.asarray(arguments[absolute])
        if arguments[relative] is None:
            return None
        share = xp.asarray(arguments[relative], xp.float32)
        return rounding(share * xp.asarray(whole, xp.float32)).astype(xp.int32)

    source = found("in_anchors", "in_anchors_rel", sizes, xp.trunc)
    source = xp.zeros_like(sizes) if source is None else source
    shape = found("shapes", "shapes_rel", sizes, xp.ceil)
    target = found("out_anchors", "out_anchors_rel", canvas, xp.trunc)
    return (
        source,
        sizes - source if shape is None else shape,
        xp.zeros_like(sizes) if target is None else target,
    )


@batch_operator(
    setup=setup, whole_batch=lambda arguments: arguments.get("in_ids") is not None, pastes="in_ids",
    source="operators/image/paste/multipaste.h",
)  # fmt: skip
def multi_paste(
    *images: Array,
    dtype: Static[np.dtype | None] = None,
    in_anchors: PerSample[list[tuple[int, ...]] | None] = None,
    in_anchors_rel: PerSample[list[tuple[float, ...]] | None] = None,
    in_ids: PerSample[list[int] | None] = None,
    out_anchors: PerSample[list[tuple[int, ...]] | None] = None,
    out_anchors_rel: PerSample[list[tuple[float, ...]] | None] = None,
    output_size: PerSample[tuple[int, ...] | None] = None,
    shapes: PerSample[list[tuple[int, ...]] | None] = None,
    shapes_rel: PerSample[list[tuple[float, ...]] | None] = None,
    _in_ids_extent: PerSample[Array | None] = None,
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Copies regions of images into black images. Later regions cover earlier ones.

    With `in_ids`, the operator takes one input, and a region may come from any sample of the batch. Without `in_ids`,
    region i of a sample comes from input i. Coordinates are (height, width).

    Args:
        images: [H, W, C] or [F, H, W, C].
        dtype: output type; None: the input's.
        in_anchors: [regions, 2], first corner of each region in its source image, pixels; 0 without `in_anchors` and
            `in_anchors_rel`.
        in_anchors_rel: first corners as shares of the source image's size, rounded towards zero.
        in_ids: [regions], position of each region's source sample in the batch. The number of regions
            may differ by sample.
        out_anchors: [regions, 2], first corner of each region in the output, pixels; 0 without `out_anchors` and
            `out_anchors_rel`.
        out_anchors_rel: first corners as shares of the output's size, rounded towards zero.
        output_size: (height, width) of the output, and further values, which are ignored; None: the size of the
            images, which must all have one size.
        shapes: [regions, 2], size of each region, pixels; without `shapes` and `shapes_rel`, regions reach to the end
            of their source images.
        shapes_rel: sizes as shares of the source image's size, rounded up.

    Returns: [*output_size, C], rounded half away from zero and saturated; 0 where no region is.

    Raises: SampleError if a region is not inside its source image and the output. If an argument is a tracer, regions are
    not checked, but clipped.

    Example:
        images = fn.multi_paste(
            images,
            images,
            output_size=[200, 300],
            in_anchors=[[0, 0], [40, 60]],
            shapes=[[100, 150], [90, 150]],
            out_anchors=[[0, 0], [105, 140]],
        )
    """
    args: dict[str, Any] = {
        "in_anchors": in_anchors, "in_anchors_rel": in_anchors_rel, "shapes": shapes, "shapes_rel": shapes_rel,
        "out_anchors": out_anchors, "out_anchors_rel": out_anchors_rel, "in_ids": in_ids, "count": _in_ids_extent,
    }  # fmt: skip
    kind, batch = np.dtype(dtype or images[0].dtype), images[0].shape[0]
    rows = {
        name: None if v is None else jnp.broadcast_to(v, (batch, *v.shape[1:])) for name, v in args.items()
    }
    sizes = tuple(own[:, -3:-1] for own in extent)
    return _with_regions(tuple(out_shape), kind, images, sizes, rows, out_extent[:, -3:-1])


@one_program(static_argnums=(0, 1))
def _with_regions(
    shape: tuple[int, ...], kind: np.dtype,
    images: tuple[Array, ...], sizes: tuple[Array, ...], rows: Mapping[str, Array | None], canvases: Array,
) -> Array:  # fmt: skip
    tiles, whole = (functools.partial(make, shape, kind) for make in (_in_tiles, _whole))
    return by_platform(tiles, whole)(images, sizes, rows, canvases)


def _region_bounds(
    sizes: Sequence[Array], own: Mapping[str, Array | None], canvas: Array, sample: Array
) -> tuple[Array | None, Array, tuple[Array, Array, Array], Array]:
    """Returns source ids, source sizes [regions, 2], the result of `regions`, and bool [regions], False for padding."""
    ids, count = own["in_ids"], own["count"]
    if ids is None:
        areas = jnp.stack([size[sample] for size in sizes])
    else:
        ids = jnp.atleast_1d(ids)
        areas = sizes[0][ids]
    there = jnp.arange(len(areas), dtype=jnp.int32) < (len(areas) if count is None else count[0])
    return ids, areas, regions(own, areas, canvas, jnp), there


# --- on a CPU: regions are copied in tiles ----------------------------------------------------------
def _in_tiles(
    shape: tuple[int, ...], kind: np.dtype,
    images: tuple[Array, ...], sizes: tuple[Array, ...], rows: Mapping[str, Array | None], canvases: Array,
) -> Array:  # fmt: skip
    """Copies regions one after the other, so that the work depends on the sizes of regions, not on the size of the canvas."""
    batch, (*lead, height, width, channels) = len(canvases), shape
    frames = math.prod(lead)
    flat = []
    for image in images:
        for axis, size in [*enumerate(lead, 1), (image.ndim - 1, channels)]:
            image = fit_axis(image, axis, size)
        flat.append(image.reshape(len(image), frames, image.shape[-3], -1))

    def boxes(sample: Array, own: Mapping[str, Array | None], canvas: Array) -> tuple[Array, Array]:
        ids, areas, (source, size, target), there = _region_bounds(sizes, own, canvas, sample)
        first = jnp.maximum(0, jnp.maximum(-source, -target))  # skip elements outside of source or canvas
        last = jnp.minimum(size, jnp.minimum(areas - source, canvas - target))
        last = jnp.where(there[:, None], last, first)
        found = jnp.stack([source + first, last - first, target + first], axis=1).astype(jnp.int32)
        return found, jnp.full(len(areas), sample) if ids is None else ids.astype(jnp.int32)

    samples = jnp.arange(batch, dtype=jnp.int32)
    spans, ids = jax.vmap(boxes)(samples, rows, canvases)  # [N, regions, 3, 2], [N, regions]

    def paste(sample: Array, result: Array) -> Array:
        if len(flat) > 1:
            for r, image in enumerate(flat):
                result = _copied(result, image, spans[sample, r], sample, sample, channels)
            return result

        def one(r: Array, result: Array) -> Array:
            return _copied(result, flat[0], spans[sample, r], ids[sample, r], sample, channels)

        return loop(spans.shape[1], one, result)

    start = varying_like(jnp.zeros((batch, frames, height, width * channels), kind), *flat, spans)
    return loop(batch, paste, start).reshape(batch, *shape)


def _copied(result: Array, image: Array, box: Array, source: Array, sample: Array, channels: int) -> Array:
    """Copies a region from image[source] to result[sample]; `result` is [N, F, H, W·C]."""
    rows, columns = (min(a, b) for a, b in zip(image.shape[2:], result.shape[2:], strict=True))
    todo = (box[1] > 0).all()
    for tile in _TILES:
        if tile[0] <= rows and tile[1] * channels <= columns:
            fits = todo & (box[1] >= np.array(tile)).all()
            result = _tiled(result, image, box, source, sample, tile, channels, fits)
            todo &= ~fits
    return result


def _tiled(
    result: Array, image: Array, box: Array, source: Array, sample: Array,
    tile: tuple[int, int], channels: int, fits: Array,
) -> Array:  # fmt: skip
    """Copies a region in tiles of one size; does nothing unless `fits`.

    The last tile is moved back until it ends where the region ends, so it overlaps the previous tile.
    """
    (top, left), (height, width), (y, x) = box
    (tall, wide), frames = tile, result.shape[1]
    down, across = (height + tall - 1) // tall, (width + wide - 1) // wide

    def copy(i: Array, result: Array) -> Array:
        frame, row, column = i // (across * down), i // across % down * tall, i % across * wide
        row, column = jnp.minimum(row, height - tall), jnp.minimum(column, width - wide)
        corner = source, frame, top + row, (left + column) * channels
        part = lax.dynamic_slice(image, corner, (1, 1, tall, wide * channels))
        corner = sample, frame, y + row, (x + column) * channels
        return lax.dynamic_update_slice(result, saturate_cast(part, result.dtype), corner)

    return loop(jnp.where(fits, frames * across * down, 0), copy, result)


# --- on accelerators: the whole canvas is computed for each region ----------------------------------
def _whole(
    shape: tuple[int, ...], kind: np.dtype,
    images: tuple[Array, ...], sizes: tuple[Array, ...], rows: Mapping[str, Array | None], canvases: Array,
) -> Array:  # fmt: skip
    """Pastes one region after the other by selecting pixels on the whole canvas. JAX can differentiate this."""

    def one(sample: Array, own: Mapping[str, Array | None], canvas: Array) -> Array:
        ids, areas, bounds, there = _region_bounds(sizes, own, canvas, sample)
        result = jnp.zeros(shape, kind)
        for i in range(len(areas)):
            image = images[i][sample] if ids is None else images[0][ids[i]]
            result = _pasted(result, image, [bound[i] for bound in bounds], areas[i], canvas, there[i])
        return result

    return jax.vmap(one)(jnp.arange(canvases.shape[0]), rows, canvases)


def _pasted(
    canvas: Array, image: Array, region: Sequence[Array], size: Array, area: Array, there: Array
) -> Array:
    """Pastes a region of an image on the canvas [..., H, W, C], by a selection for each pixel of the canvas."""
    source, shape, target = region
    masks, first = [], canvas.ndim - 3
    for axis in range(first):
        image = fit_axis(image, axis, canvas.shape[axis])
    image = fit_axis(image, first + 2, canvas.shape[-1])
    for axis in range(2):
        index = jnp.arange(canvas.shape[first + axis], dtype=jnp.int32) - target[axis]
        taken = index + source[axis]
        masks.append((index >= 0) & (index < shape[axis]) & (taken >= 0) & (taken < size[axis]))
        if image.shape[first + axis] == 0:
            return canvas
        image = jnp.take(image, taken, axis=first + axis, mode="clip")
    inside = masks[0][:, None] & masks[1][None, :]
    inside &= there
    return jnp.where(inside[..., None], saturate_cast(image, canvas.dtype), canvas)
