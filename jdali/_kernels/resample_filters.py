"""Resampling filters: their shapes, and where they lie over the input of each output element.

An axis of one sample is described by five numbers, the last axis of the arrays called `filters`:
(filter, step, start, density, taps). Output element x is the weighted mean of `taps` input elements,
the first of them ceil(start + x · step); one input element is `density` entries of the filter's table.
With the NN filter it is one input element, see `nearest_elements`; then `density` is where the window ends and `taps`
the first element of the part of the input that counts, and `start` and `density` are counted from there.
Elements outside of the input count as copies of its first or last element.
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
_CHUNK = 8  # taps summed at once
_WIDTH = 193
_ROOT8 = np.float32(np.sqrt(8.0))


def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Tabulates samples of each filter [filter, _WIDTH], and their number [filter].

    DALI interpolates linearly between as many samples (kernels/imgproc/resample/resampling_filters.cu),
    which for the curved filters differs from the formula by up to 1e-3, so jdali does likewise.
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
_COSTS = (1.4, 1.0, 1.2)  # of computing an element along x, y, z, which DALI reckons with; others as z
_RADII = {  # in output elements when shrinking, in input elements otherwise
    DALIInterpType.INTERP_LINEAR: 1.0,
    DALIInterpType.INTERP_CUBIC: 2.0,
    DALIInterpType.INTERP_LANCZOS3: 3.0,
    DALIInterpType.INTERP_TRIANGULAR: 1.0,
    DALIInterpType.INTERP_GAUSSIAN: 1.0,
}


def all_nearest(kinds: object) -> bool | None:
    """Returns True if the filters [N, ...] of all samples are NN; None if those of some samples or axes are."""
    nearest = np.asarray(kinds) == NN
    return True if nearest.all() else None if nearest.any() else False


class Reach(enum.IntEnum):
    """The most taps of any filter that a program of `resample` has room for; fewer make it smaller."""

    PAIR = 2  # linear, where no axis shrinks
    CHUNK = 8
    TWO_CHUNKS = 16
    FOUR_CHUNKS = 32
    ANY = 1 << 30


def statics_of(filters: np.ndarray) -> dict[str, Any]:
    """Returns the static arguments of `resample` that follow from filters [N, d, 5], as operators name them."""
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
    """Describes how the window [low, high) of each axis becomes `size` elements.

    Args:
        low, high: float [N, d], window in the input, its edges in elements; high < low mirrors.
        size: int [N, d], of the output.
        extents: int [N, d], of the input.
        interp_type: int [N], filter where nothing else is said.
        min_filter, mag_filter: int [N], filter of an axis that shrinks, or does not; None: `interp_type`.
        antialias: widen the filter of an axis that shrinks.
        xp: `jax.numpy` for a window that is known only on the device.

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
    # DALI goes by way of the standard deviation; the rounding decides whether a tap at the very edge counts.
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
    """Returns the elements that DALI counts positions from if all filters are NN: float32 [N, d].

    It cuts the window out along all axes but the one that it would resample first, which moves the roundings
    (resampling_setup.cc, GetProcessingOrder): the order of axes with the least cost, and of some as good the
    first of x, y, z.
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
    """Computes the start of the filter, float32, and its first tap, int32, of output 0 to count-1.

    Args:
        axis: float32 [5], or [..., 1, 5] of several axes.
        count: number of output elements.

    Returns: [count], or [..., count], each.
    """
    nearest = axis[..., FILTER] == NN
    output = jnp.arange(count, dtype=jnp.float32) + jnp.where(nearest, jnp.float32(0.5), jnp.float32(0))
    start = rounded(output * axis[..., STEP]) + axis[..., START]
    start = start + jnp.where(nearest, axis[..., TAPS], jnp.float32(0))
    first = jnp.where(nearest, jnp.floor(start), jnp.ceil(start))
    return start, first.astype(jnp.int32)


def tap_count(axis: Array) -> Array:
    """Returns how many taps an output element has along each axis: int32 [...], from `axis` [..., 5]."""
    return jnp.where(axis[..., FILTER] == NN, jnp.float32(1), axis[..., TAPS]).astype(jnp.int32)


def nearest_elements(axis: Array, extent: Array, count: int, *, last_axis: bool) -> Array:
    """Returns the input elements, int32 [count], that the NN filter copies to output 0 to count-1.

    The element in which start + (x + 1/2) · step lies. Where that is on a border between two, roundings
    decide, and these are DALI's (resampling_impl_cpu.h, ResampleNN): along the last axis each position is
    computed by itself, along the others by adding the step, from one to the next.
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
    """Computes the weight, not normalised, of input element `tap` where the filter begins at `start`.

    Args:
        axis: float32 [..., 5]; what comes before the 5 is broadcast with `tap` and `start`.
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
    """Marks the input elements that an output element weighs, also by 0: float32 [count, shape]."""
    _, first = first_taps(axis, count)
    last = first + tap_count(axis) - 1
    low, high = (jnp.clip(end, 0, extent - 1)[:, None] for end in (first, last))
    tap = jnp.arange(shape, dtype=jnp.int32)
    return ((tap >= low) & (tap <= high)).astype(jnp.float32)


def dense_weights(axis: Array, extent: Array, shape: int, count: int) -> Array:
    """Computes the weight of each input element in each output element: float32 [count, shape].

    Only weights of taps are read from the table: on a TPU reading by index takes longer than all else.
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

    # Zero, but as device-varying as the operands, which `shard_map` wants of a loop's state.
    zero = jnp.where(axis[STEP] == extent.astype(jnp.float32), jnp.float32(0), jnp.float32(0))
    zeros = jnp.zeros((count, shape), jnp.float32) + zero, jnp.zeros(count, jnp.float32) + zero
    weights, total = lax.fori_loop(jnp.int32(0), (taps + _CHUNK - 1) // _CHUNK, add, zeros)
    return weights * jnp.where(total == 0, jnp.float32(0), 1 / total)[:, None]
