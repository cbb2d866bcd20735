"""Resampling filters: their weights, and the input elements from which each output element is computed.

An array `filters` [..., 5] holds (filter, step, start, density, taps) for each axis of a sample. Output element x is the
weighted mean of `taps` input elements, from element ceil(start + x · step) on. These elements are called taps. Weights
are looked up in a table of the filter, in which neighbouring taps are `density` entries apart.

The NN (nearest neighbour) filter copies one input element, see `nearest_elements`. For NN, the numbers have other
meanings: `taps` is the first element that may be read, and `density` is the end of the window. `start` and `density`
are counted from that first element.

Elements outside of the input equal its first or last element.
"""

from __future__ import annotations

import enum
import itertools
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import Rising
from jdali._errors import check_samples
from jdali._numerics.positions import quotient, rounded
from jdali.types import DALIInterpType

NN = int(DALIInterpType.INTERP_NN)
FILTER, STEP, START, DENSITY, TAPS = range(5)
_CHUNK = 8  # taps summed in one iteration
_WIDTH = 193
_ROOT8 = np.float32(np.sqrt(8.0))


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Tabulates each filter, [filter, _WIDTH]; also returns the number of entries of each filter, [filter].

    Weights are interpolated linearly between the entries, as in DALI
    (kernels/imgproc/resample/resampling_filters.cu). For curved filters, weights differ from the formula by up to 1e-3.
    """
    tables = np.zeros((len(DALIInterpType), _WIDTH))
    counts = np.ones(len(DALIInterpType), np.int32)

    def put(kind: DALIInterpType, values: np.ndarray) -> None:
        tables[kind, : len(values)] = values
        counts[kind] = len(values)

    triangle = np.array([0.0, 1.0, 0.0])
    put(DALIInterpType.INTERP_LINEAR, triangle)
    put(DALIInterpType.INTERP_TRIANGULAR, triangle)
    x = np.abs(np.linspace(-2, 2, 129))
    # Keys, "Cubic convolution interpolation for digital image processing", 1981, a = -1/2.
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    put(DALIInterpType.INTERP_CUBIC, np.where(x < 1, near, far))
    x = np.linspace(-3, 3, 193)
    put(DALIInterpType.INTERP_LANCZOS3, np.sinc(x) * np.sinc(x / 3))
    put(DALIInterpType.INTERP_GAUSSIAN, np.exp(-(np.linspace(-2, 2, 65) ** 2)))
    return tables.astype(np.float32), counts


_TABLES, _COUNTS = _tables()
_COSTS = (1.4, 1.0, 1.2)  # DALI's estimated cost of an element along x, y, and all other axes
_RADII = {  # radius of each filter: in output elements if the axis shrinks, else in input elements
    DALIInterpType.INTERP_LINEAR: 1.0,
    DALIInterpType.INTERP_CUBIC: 2.0,
    DALIInterpType.INTERP_LANCZOS3: 3.0,
    DALIInterpType.INTERP_TRIANGULAR: 1.0,
    DALIInterpType.INTERP_GAUSSIAN: 1.0,
}


def all_nearest(kinds: object) -> bool | None:
    """Returns True if all filters [N, ...] are NN, False if no filter is NN, and None if only some are."""
    nearest = np.asarray(kinds) == NN
    return True if nearest.all() else None if nearest.any() else False


class Reach(enum.IntEnum):
    """Maximum number of taps that a program of `resample` supports. A lower maximum gives a smaller program."""

    PAIR = 2  # linear interpolation, if no axis shrinks
    CHUNK = 8
    TWO_CHUNKS = 16
    FOUR_CHUNKS = 32
    ANY = 1 << 30


def statics_of(filters: np.ndarray) -> dict[str, Any]:
    """Returns the static arguments that operators pass on to `resample`, computed from filters [N, d, 5]."""
    return {"_nearest": all_nearest(filters[..., FILTER]), "_reach": _reach_of(filters)}


def _reach_of(filters: np.ndarray) -> Rising:
    taps = np.where(filters[..., FILTER] == NN, 1, filters[..., TAPS]).max(initial=0)
    return Rising(next(int(reach) for reach in Reach if taps <= reach), int(Reach.ANY))


def filters_of(
    low: Any,
    high: Any,
    size: Any,
    *,
    extents: Any,
    interp_type: np.ndarray,
    min_filter: np.ndarray | None,
    mag_filter: np.ndarray | None,
    antialias: bool,
    xp: ModuleType = np,
) -> Any:
    """Computes the filters that resample the window [low, high) of each axis to `size` elements.

    Args:
        low, high: float [N, d], edges of the window, in input elements; high < low mirrors the axis.
        size: int [N, d], of the output.
        extents: int [N, d], of the input.
        interp_type: int [N], filter of axes without a `min_filter` or `mag_filter`.
        min_filter: int [N], filter of axes that shrink; None: `interp_type`.
        mag_filter: int [N], filter of axes that do not shrink; None: `interp_type`.
        antialias: whether to widen the filter of axes that shrink.
        xp: `numpy`, or `jax.numpy` for a window that is known only on the device.

    Returns: float32 [N, d, 5].
    """
    for kinds in (interp_type, min_filter, mag_filter):
        if isinstance(kinds, np.ndarray):
            _check_kinds(kinds)
    low, high = low.astype(np.float32), high.astype(np.float32)
    out = xp.maximum(size, 1).astype(np.float32)
    step = quotient(high - low, out)
    shrinks = xp.abs(high - low) > out
    minify = interp_type if min_filter is None else min_filter
    magnify = interp_type if mag_filter is None else mag_filter
    kind = xp.where(shrinks, minify[:, None], magnify[:, None]).astype(np.int32)
    base = xp.asarray([_RADII.get(k, 0.5) for k in DALIInterpType], np.float32)[kind]
    radius = base * xp.where(shrinks & antialias, xp.abs(step), np.float32(1))
    count = xp.asarray(_COUNTS)[kind]
    # The width is computed from the standard deviation, as in DALI: the last bit of the width decides whether a tap at
    # the very edge counts.
    deviation = quotient(radius, _ROOT8).astype(np.float32)
    width = xp.where(kind == DALIInterpType.INTERP_GAUSSIAN, 2 * _ROOT8 * deviation, 2 * radius)
    entries = xp.maximum(count - 1, 1).astype(np.float32)
    density = quotient(entries, width.astype(np.float32))
    half = quotient(entries / 2, density)
    start = rounded(rounded(low + np.float32(0.5) * step) - np.float32(0.5)) - half
    taps = xp.ceil(quotient(entries, density))
    nearest = kind == NN
    first = _first_elements(low, high, out, extents, xp) * nearest.all(axis=1, keepdims=True)
    start, density = xp.where(nearest, low - first, start), xp.where(nearest, high - first, density)
    taps = xp.where(nearest, first, taps)
    return xp.stack([kind, step, start, density, taps], axis=-1).astype(np.float32)


def _check_kinds(kinds: np.ndarray) -> None:
    check_samples(
        (kinds < 0) | (kinds >= len(DALIInterpType)), lambda i: f"Unknown interpolation type: {int(kinds[i])}"
    )


def _first_elements(low: Any, high: Any, out: Any, extents: Any, xp: ModuleType) -> object:
    """Returns the element from which DALI counts positions along each axis, if all filters are NN: float32 [N, d].

    DALI first cuts the window out along all axes except the axis that it resamples first (resampling_setup.cc,
    GetProcessingOrder). Along the axes that are cut, positions are relative to the cut, so they round differently.
    DALI chooses the cheapest order of axes; if costs are equal, x comes before y, and y before z.
    """
    axes = out.shape[1]
    extents = extents.astype(np.float32)
    first = xp.clip(xp.floor(xp.minimum(low, high)), 0, extents)
    end = xp.clip(xp.ceil(xp.maximum(low, high) + np.float32(1)), 0, extents)
    costs = []
    orders = sorted(itertools.permutations(range(axes)), key=lambda order: [-axis for axis in order])
    for order in orders:
        size, cost = end - first, xp.zeros(len(out), np.float32)
        for axis in order:
            size = xp.where(np.arange(axes) == axis, out, size)
            volume = xp.prod(size, axis=1)
            cost = cost + (
                rounded(np.float32(_COSTS[min(axes - 1 - axis, len(_COSTS) - 1)]) * volume)
                + rounded(volume * np.float32(3))
            )
        costs.append(cost)
    uncut = xp.asarray([order[0] for order in orders])[xp.argmin(xp.stack(costs), axis=0)]
    return xp.where(np.arange(axes) == uncut[:, None], np.float32(0), first)


def mirrored(filters: Array, out_extent: Array, mirror: Array) -> Array:
    """Mirrors the output of `filters` [d, 5] along the axes where `mirror` [d] is true."""
    step = filters[:, STEP]
    nearest = filters[:, FILTER] == NN
    last = (out_extent - 1).astype(jnp.float32)
    start = jnp.where(nearest, filters[:, DENSITY], filters[:, START] + rounded(step * last))
    filters = filters.at[:, START].set(jnp.where(mirror, start, filters[:, START]))
    return filters.at[:, STEP].set(jnp.where(mirror, -step, step))


def first_taps(axis: Array, count: int) -> tuple[Array, Array]:
    """Computes the start (float32) and the first tap (int32) of the filter, for output elements 0 to count - 1.

    Args:
        axis: float32 [5] for one axis, or [..., 1, 5] for several.

    Returns: two arrays [count], or [..., count] for several axes.
    """
    nearest = axis[..., FILTER] == NN
    output = jnp.arange(count, dtype=jnp.float32) + jnp.where(nearest, jnp.float32(0.5), jnp.float32(0))
    start = rounded(output * axis[..., STEP]) + axis[..., START]
    start = start + jnp.where(nearest, axis[..., TAPS], jnp.float32(0))
    first = jnp.where(nearest, jnp.floor(start), jnp.ceil(start))
    return start, first.astype(jnp.int32)


def tap_count(axis: Array) -> Array:
    """Returns the number of taps, int32 [...], of filters [..., 5]; 1 for NN."""
    return jnp.where(axis[..., FILTER] == NN, jnp.float32(1), axis[..., TAPS]).astype(jnp.int32)


def nearest_elements(axis: Array, extent: Array, count: int, *, last_axis: bool) -> Array:
    """Returns the input elements, int32 [count], that the NN filter copies to output elements 0 to count - 1.

    Output element x is the input element that contains the position start + (x + 1/2) · step. Near the border between two
    elements, rounding decides, so positions are computed as in DALI (resampling_impl_cpu.h, ResampleNN): along the last axis
    each by itself, and along other axes by adding the step to the previous position.
    """
    step, start = axis[STEP], axis[START]
    if last_axis:
        output = jnp.arange(count, dtype=jnp.float32)
        position = start + rounded((output + jnp.float32(0.5)) * step)
        position = jnp.where(step == 1, jnp.floor(start + jnp.float32(0.5)) + output, position)
    else:
        first = start + jnp.float32(0.5) * step
        _, position = lax.scan(
            lambda s, _: (rounded(s + step), s), first, length=count, unroll=min(count, 32)
        )
    first_element = axis[TAPS].astype(jnp.int32)
    return jnp.clip(jnp.floor(position).astype(jnp.int32) + first_element, first_element, extent - 1)


def weight(axis: Array, tap: Array, start: Array) -> Array:
    """Computes the weight of input element `tap` in a filter that begins at `start`, before normalization.

    Args:
        axis: float32 [..., 5]; its leading axes are broadcast with `tap` and `start`.
        tap: int32 [...].
        start: float32 [...].
    """
    kind = axis[..., FILTER].astype(jnp.int32)
    position = rounded((tap.astype(jnp.float32) - start) * axis[..., DENSITY])
    whole = jnp.floor(position)
    index = whole.astype(jnp.int32)
    table = jnp.asarray(_TABLES).reshape(-1)
    count = jnp.asarray(_COUNTS)[kind]

    def sample(i: Array) -> Array:
        value = table[kind * _WIDTH + jnp.clip(i, 0, _WIDTH - 1)]
        return jnp.where((i >= 0) & (i < count), value, 0)

    left = sample(index)
    smooth = left + rounded((position - whole) * (sample(index + 1) - left))
    return jnp.where(kind == NN, (tap == jnp.floor(start)).astype(jnp.float32), smooth)


def dense_reach(axis: Array, extent: Array, shape: int, count: int) -> Array:
    """Marks the taps of each output element, including taps with weight 0: float32 [count, shape]."""
    _, first = first_taps(axis, count)
    last = first + tap_count(axis) - 1
    low, high = (jnp.clip(end, 0, extent - 1)[:, None] for end in (first, last))
    tap = jnp.arange(shape, dtype=jnp.int32)
    return ((tap >= low) & (tap <= high)).astype(jnp.float32)


def dense_weights(axis: Array, extent: Array, shape: int, count: int) -> Array:
    """Computes the weight of each input element in each output element: float32 [count, shape].

    Weights are looked up for taps only, because on a TPU the look-up, a gather, takes most of the time.
    """
    start, first = first_taps(axis, count)
    taps = tap_count(axis)
    element = jnp.arange(shape, dtype=jnp.int32)

    def add(chunk: Array, sums: tuple[Array, Array]) -> tuple[Array, Array]:
        offset = chunk * _CHUNK + jnp.arange(_CHUNK, dtype=jnp.int32)
        tap = first[:, None] + offset
        value = jnp.where(offset < taps, weight(axis, tap, start[:, None]), 0)
        place = jnp.clip(tap, 0, extent - 1)
        weights, total = sums
        for k in range(_CHUNK):
            weights = weights + jnp.where(element == place[:, k, None], value[:, k, None], 0)
        return weights, total + value.sum(axis=1, dtype=jnp.float32)

    # In `shard_map`, a loop's state must vary over the same devices as the operands. So this 0 depends on the operands.
    zero = jnp.where(axis[STEP] == extent.astype(jnp.float32), jnp.float32(0), jnp.float32(0))
    zeros = jnp.zeros((count, shape), jnp.float32) + zero, jnp.zeros(count, jnp.float32) + zero
    weights, total = lax.fori_loop(jnp.int32(0), (taps + _CHUNK - 1) // _CHUNK, add, zeros)
    return weights * jnp.where(total == 0, jnp.float32(0), 1 / total)[:, None]
