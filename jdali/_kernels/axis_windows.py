"""Computes weighted sums of correlations with large separable kernels.

Each kernel is applied along one axis after the other, because the full kernel would have many times as many elements.
Window lengths are traced, so one program serves all lengths. On a CPU, rows are computed in blocks that stay in the
cache. Neighbouring blocks share margin rows. The order of the axes is D, H, W, so that only the pass along D computes
these rows, and not every pass.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from jdali._kernels.border import with_margin
from jdali._kernels.by_platform import by_platform, kept, loop
from jdali._kernels.correlate import SumKind
from jdali._kernels.fit import fit
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import varying_like

# Number of elements in a block of the result.
_BLOCK = 1 << 14


@dataclasses.dataclass(frozen=True)
class _Sum:
    """Static arguments of a sum, which select its compiled program.

    Attributes:
        axes: number of axes that the windows cover; these are the last of D, H, W.
        shape: padded (D, H, W) of the data and the result.
        margin: number of elements added on each side of an axis; padded windows have 2 * margin + 1 elements.
    """

    axes: int
    kind: SumKind
    shape: tuple[int, int, int]
    margin: int


def sum_of_windows(
    axes: tuple[int, int], kind: SumKind,
    data: Array, windows: Array, lengths: Array, factors: Array, extent: Array, *, shape: tuple[int, ...],
) -> Array:  # fmt: skip
    """Computes a weighted sum of K correlations. Each kernel is the outer product of one window for each axis.

    Args:
        axes: (first, end) of the one to three axes that the windows cover; `end` is exclusive.
        kind: border, type and rounding of the result; `border` must be a key of `INDICES`.
        data: any shape, padded; integers of at most 16 bits, float16 or float32.
        windows: float32 [K, axes, odd], windows of each kernel, centred and zero-padded on both sides.
        lengths: int32 [K, axes], true lengths, odd.
        factors: float32 [K].
        extent: int32 [ndim], true size of the data.
        shape: padded shape to return.

    Returns: [*shape].
    """
    first, last = axes
    lead, space, channels = data.shape[:first], data.shape[first:last], math.prod(data.shape[last:])
    depth, height, width = (1,) * (3 - len(space)) + space
    flat = data.reshape(math.prod(lead), depth, height, width * channels)
    # The leading axes are merged. The loop skips only the padding of the first one, because it lies at the end.
    images = extent[0] * (len(flat) // lead[0]) if lead else jnp.int32(1)
    ones = jnp.ones(3 - len(space), jnp.int32)
    sizes = jnp.concatenate([images[None], ones, extent[first:last]])
    s = _Sum(len(space), kind, (depth, height, width), windows.shape[2] // 2)
    return fit(_sum(s, flat, windows, lengths, factors, sizes).reshape(data.shape), shape)


@one_program(static_argnums=0)
def _sum(s: _Sum, flat: Array, windows: Array, lengths: Array, factors: Array, sizes: Array) -> Array:
    """Computes the sum for [N, D, H, W·C] data; `sizes` is int32 [4], the true N, D, H, W."""
    assert s.kind.border is not None
    unit = flat.shape[3] // s.shape[2]
    for axis in range(4 - s.axes, 4):
        flat = with_margin(
            flat, axis, sizes[axis], (s.margin, s.margin), s.kind.border, unit=unit if axis == 3 else 1
        )
    blocks, whole = (functools.partial(make, s, unit) for make in (_in_blocks, _whole))
    result: Array = by_platform(blocks, whole)(flat, windows, lengths, factors, sizes)
    return result


def _in_blocks(
    s: _Sum, unit: int, flat: Array, windows: Array, lengths: Array, factors: Array, sizes: Array
) -> Array:
    """Computes block after block of rows, up to the true sizes."""
    depth, height, width = s.shape
    length = width * unit
    rows = min(max(_BLOCK // max(length, 1), 8), height)
    blocks = (sizes[2] + rows - 1) // rows
    shape = (1, 1, rows, length)
    terms = _Terms(s, unit, shape, bool(jnp.issubdtype(flat.dtype, jnp.floating)))
    operands = flat, windows, lengths, factors, sizes
    once = jnp.minimum(sizes[1], 1)
    reached = [
        n + have - own
        for n, have, own in zip(shape[1:], flat.shape[1:], (depth, height, length), strict=True)
    ]

    def make(i: Array, result: Array) -> Array:
        first = jnp.minimum(i % blocks * rows, height - rows)
        corner = i // (blocks * sizes[1]), i // blocks % sizes[1], first, jnp.int32(0)
        values = kept(lax.dynamic_slice(flat, corner, (1, *reached)).astype(jnp.float32), once)

        def add(k: Array, total: Array) -> Array:
            term = terms.one(values, windows[k], lengths[k], lambda values: kept(values, once))
            return total + factors[k] * term

        total = loop(len(windows), add, varying_like(jnp.zeros(shape, jnp.float32), *operands))
        return lax.dynamic_update_slice(result, s.kind.rounded(total), corner)

    start = varying_like(jnp.zeros((len(flat), depth, height, length), s.kind.dtype), *operands)
    return loop(sizes[0] * sizes[1] * blocks, make, start)


def _whole(
    s: _Sum, unit: int, flat: Array, windows: Array, lengths: Array, factors: Array, sizes: Array
) -> Array:
    """Computes the whole result at once. JAX can differentiate this version."""
    depth, height, width = s.shape
    shape = (len(flat), depth, height, width * unit)
    terms = _Terms(s, unit, shape, bool(jnp.issubdtype(flat.dtype, jnp.floating)))
    values = flat.astype(jnp.float32)

    @jax.checkpoint
    def add(total: Array, term: tuple[Array, Array, Array]) -> tuple[Array, None]:
        window, length, factor = term
        return total + factor * terms.one(values, window, length, lax.optimization_barrier), None

    start = varying_like(jnp.zeros(shape, jnp.float32), flat, windows, lengths, factors)
    total, _ = lax.scan(add, start, (windows, lengths, factors))
    return s.kind.rounded(total)


@dataclasses.dataclass(frozen=True)
class _Terms:
    """Terms of the sum, for a block of the result.

    Attributes:
        unit: elements of a pixel.
        shape: shape of the block, [N, D, H, W·C].
        guarded: True: values may be infinite or NaN, so products outside of the true window are dropped.
    """

    s: _Sum
    unit: int
    shape: tuple[int, int, int, int]
    guarded: bool

    def one(self, values: Array, windows: Array, lengths: Array, between: Callable[[Array], Array]) -> Array:
        """Correlates float32 values with margins axis by axis; applies `between` after each axis. Returns [*shape]."""
        for i, axis in enumerate(range(4 - self.s.axes, 4)):
            values = between(self._along(axis, values, windows[i], lengths[i]))
        return values

    def _along(self, axis: int, values: Array, window: Array, length: Array) -> Array:
        unit, size = self.unit if axis == 3 else 1, self.shape[axis]
        total = jnp.zeros((*values.shape[:axis], size, *values.shape[axis + 1 :]), jnp.float32)
        # Unrolled: LLVM does not vectorize a loop that updates its sum in place.
        for k in range(len(window)):
            product = window[k] * lax.slice_in_dim(values, k * unit, k * unit + size, axis=axis)
            if self.guarded:
                product = jnp.where(abs(k - self.s.margin) <= length // 2, product, 0)
            total = total + product
        return total
