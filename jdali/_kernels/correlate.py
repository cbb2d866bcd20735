"""Correlation of images and volumes with small kernels whose values and sizes differ by sample.

On a CPU, rows are computed in blocks that stay in the cache. A block is converted to float32 once. The kernel is cut
into tiles, whose products are added one after the other. A separable kernel is applied along one axis after the other.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import valid_mask
from jdali._kernels.border import with_margin
from jdali._kernels.by_platform import by_platform, kept, loop, rows_of_block
from jdali._kernels.fit import fit
from jdali._kernels.reached_rows import ReachedRows
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import saturate_cast, varying_like

# Smallest kernel, in elements, that is tested for being separable. For smaller kernels, one pass is faster than several.
SEPARABLE = 40
# Kernels of at least this many elements are applied in a loop, even to images of at most `SMALL` elements.
_FEW = 10
# A kernel counts as separable if the product of its factors differs from the kernel by at most this share of the
# kernel's largest element.
_MISSES = 2.0**-22
# Maximum numbers of elements and columns of a tile, the part of a kernel that is added in one step.
_TILE = 81
_COLUMNS = 32
# Largest kernel, in elements, whose sum is unrolled for an accelerator.
_WRITTEN_OUT = 81
# Number of elements in a block of the result.
_BLOCK = 1 << 15
# Images with at most this number of elements are computed without a loop, which would not be worth compiling.
SMALL = 1 << 14


def padded_taps(size: int) -> int:
    """Rounds a kernel's size up to a size for which programs are compiled: odd below 10, then multiples of 4."""
    return size | 1 if size < 10 else -(-size // 4) * 4


@dataclasses.dataclass(frozen=True)
class SumKind:
    """Border, type and rounding of a correlation.

    Attributes:
        border: see `with_margin`; None: the result has only positions at which the kernel lies inside the image.
        half_to_even: True: integers are rounded half to even, as in OpenCV; False: half away from zero.
    """

    border: str | None
    dtype: np.dtype
    half_to_even: bool = False

    def rounded(self, value: Array) -> Array:
        """Converts float32 to `dtype`; integers are saturated, and NaN becomes 0."""
        if self.half_to_even and self.dtype.kind != "f":
            value = jnp.round(value)
        return saturate_cast(value, self.dtype)


@dataclasses.dataclass(frozen=True)
class Correlation:
    """Static arguments of a correlation, which select its compiled program.

    Attributes:
        taps: padded size of the kernel, for each of D, H, W.
        shape: padded (D, H, W) of the result; no axis is longer than in the image.
    """

    kind: SumKind
    taps: tuple[int, int, int]
    shape: tuple[int, int, int]

    @property
    def tile(self) -> tuple[int, int]:
        """(Rows, columns) of a tile, the part of the kernel that is added in one step.

        The order in which products are added does not depend on the size of a tile.
        """
        columns = min(self.taps[2], _COLUMNS)
        return (min(self.taps[1], max(_TILE // columns, 1)) if columns == self.taps[2] else 1), columns

    @property
    def reach(self) -> tuple[int, int, int]:
        """Padded size of the kernel along D, H, W, rounded up to whole tiles."""
        rows, columns = (-(-n // t) * t for n, t in zip(self.taps[1:], self.tile, strict=True))
        return self.taps[0], rows, columns


def correlate_axes(
    kind: SumKind, axes: tuple[int, int], taps: tuple[int, ...],
    data: Array, kernel: Array, fill: Array, anchor: Array, extent: Array, sizes: Array, *, shape: tuple[int, ...],
    support: Array | None = None,
) -> Array:  # fmt: skip
    """Applies `correlate` along one to three consecutive axes of data with any number of axes.

    Args:
        kind, taps: see `Correlation`; `taps` has a size for each of the axes.
        axes: (first, end) of these axes; `end` is exclusive.
        data: any number of axes.
        kernel, fill: see `correlate`.
        anchor: int32 [axes], see `correlate`.
        extent: int32 [ndim], true size of the data.
        sizes: int32 [axes], true size of the kernel.
        shape: padded shape to return.
        support: see `correlate`; None: elements of the kernel that are not 0.
    """
    first, last = axes
    missing = 3 - (last - first)
    lead, space, channels = data.shape[:first], data.shape[first:last], data.shape[last:]
    kept = tuple(min(a, b) for a, b in zip(space, shape[first:last], strict=True))
    padded = (math.prod(lead), *_three(space), math.prod(channels))
    # The leading axes are merged. The loop skips only the padding of the first one, because it lies at the end.
    images = extent[0] * (padded[0] // lead[0]) if lead else jnp.int32(1)
    one, ones = jnp.ones(1, jnp.int32), jnp.ones(missing, jnp.int32)
    true = jnp.concatenate([images[None], ones, extent[first:last], one, ones, sizes]).reshape(2, 4)
    anchor = jnp.concatenate([jnp.zeros(missing, jnp.int32), anchor])
    support = kernel != 0 if support is None else support
    weights, support = (value.reshape(_three(value.shape)) for value in (kernel, support))
    c = Correlation(kind, _three(taps), _three(kept))
    values = correlate(c, data.reshape(padded), weights, support, fill, anchor, true)
    return fit(values.reshape(*lead, *kept, *channels), shape)


def _three(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    """Extends the sizes of up to three axes to (D, H, W)."""
    depth, height, width = (1,) * (3 - len(sizes)) + sizes
    return depth, height, width


@one_program(static_argnums=0)
def correlate(
    c: Correlation, image: Array, kernel: Array, support: Array, fill: Array, anchor: Array, sizes: Array
) -> Array:
    """Correlates images with a kernel, summing in float32.

    Args:
        image: [N, D, H, W, C], padded; integers of at most 16 bits, float16 or float32.
        kernel: float32 [T, R, S], padded.
        support: bool [T, R, S]; False: this element of the kernel adds nothing, even if the image is NaN or infinite.
        fill: scalar, for the border "constant".
        anchor: int32 [3], index of the kernel's element that lies over the output element.
        sizes: int32 [2, 4]: true N, D, H, W of the image, then 1, T, R, S of the kernel.

    Returns: [N, *shape, C].
    """
    n, _, _, width, channels = image.shape
    inside = valid_mask(sizes[1, 1:], kernel.shape)
    weights = _Weights(*(fit(jnp.where(inside, value, 0), c.reach) for value in (kernel, support)))
    flat = image.reshape(*image.shape[:3], width * channels)
    starts = jnp.zeros(3, jnp.int32)
    if c.kind.border is not None:
        starts = jnp.asarray([n - 1 for n in c.reach], jnp.int32) - anchor
    flat = _with_margin(c, flat, 1, 1, fill, sizes)
    arguments = (flat, weights, fill, starts, sizes)
    if image.size <= SMALL and math.prod(c.taps) < _FEW:
        result = _whole(c, channels, *arguments)
    else:
        blocks, whole = (functools.partial(f, c, channels) for f in (_in_blocks, _whole))
        result = by_platform(blocks, whole)(*arguments)
    return result.reshape(n, *c.shape, channels)


class _Weights(NamedTuple):
    """Elements of a kernel, or of a part of it.

    Attributes:
        values: float32.
        support: bool; False: the element is 0, and the product of the element with NaN or infinity counts as 0, too.
    """

    values: Array
    support: Array

    @classmethod
    def of_vector(cls, values: Array) -> _Weights:
        return cls(values, values != 0)

    def at(self, index: object) -> _Weights:
        return _Weights(self.values[index], self.support[index])

    def apart(self) -> _Weights:
        """Splits JAX arrays into object arrays of scalars, because a GPU would launch a kernel for each slice of an array."""
        parts: Any = [[part[i] for i in np.ndindex(*part.shape)] for part in self]
        found: list[Any] = [np.empty(self.values.shape, object) for _ in self]
        for array, elements in zip(found, lax.optimization_barrier(parts), strict=True):
            for i, element in zip(np.ndindex(*array.shape), elements, strict=True):
                array[i] = element
        return _Weights(*found)

    def cut(self, starts: Sequence[Any], shape: Sequence[int]) -> _Weights:
        return _Weights(*(lax.dynamic_slice(part, starts, shape) for part in self))


def _with_margin(c: Correlation, flat: Array, axis: int, unit: int, fill: Array, sizes: Array) -> Array:
    """Extends axis 1, 2 or 3 of [N, D, H, W · C] by the kernel's reach; `unit`: see `with_margin`."""
    side = c.reach[axis - 1] - 1
    if c.kind.border is None:
        return jnp.pad(flat, [(0, side * unit if a == axis else 0) for a in range(4)])
    return with_margin(flat, axis, sizes[0, axis], (side, side), c.kind.border, fill, unit)


def _add_tile(
    total: Array, values: Array, weights: _Weights, steps: tuple[int, int], guard: Guard | None
) -> Array:
    """Adds weights · values to `total`: total[y, x] += weights[r, s] · values[y + r·steps[0], x + s·steps[1]].

    Args:
        total: float32 [..., Y, X].
        values: float32 [..., Y + (R-1)·steps[0], X + (S-1)·steps[1]], or larger.
        weights: [R, S].
        steps: for both axes, distance between the values that two neighbouring weights multiply.
        guard: `guard(support, values)` returns which products count; None: all products count.
    """
    *lead, height, width = total.shape
    for r, s in np.ndindex(*weights.values.shape):
        corner = (*[0] * len(lead), r * steps[0], s * steps[1])
        end = (*lead, r * steps[0] + height, s * steps[1] + width)
        part = lax.slice(values, corner, end)
        product = weights.values[r, s] * part
        if guard is not None:
            product = jnp.where(guard(weights.support[r, s], part), product, 0)
        total = total + product
    return total


Guard: TypeAlias = Callable[[Array, Array], Array]


def _supported(support: Array, _: Array) -> Array:
    return support


def _supported_or_finite(support: Array, values: Array) -> Array:
    """Selects products whose weight is supported or whose value is finite.

    A product of weight 0 and a finite value adds nothing, but its derivative with respect to the weight is the value.
    """
    return support | jnp.isfinite(values)


def _in_blocks(
    c: Correlation, channels: int, flat: Array, weights: _Weights, fill: Array, starts: Array, sizes: Array
) -> Array:
    """Computes block after block of rows, up to the true sizes."""
    arguments = (flat, weights, fill, starts, sizes)
    if math.prod(c.taps) < SEPARABLE:
        return _blocks(c, channels, None, *arguments)
    pays, vectors = _vectors(weights.values, sizes[1, 1:])
    return lax.cond(
        pays,
        lambda *arguments: _blocks(c, channels, vectors, *arguments),
        lambda *arguments: _blocks(c, channels, None, *arguments),
        *arguments,
    )


Vectors: TypeAlias = tuple[Array, Array, Array]


def _blocks(
    c: Correlation, channels: int, vectors: Vectors | None,
    flat: Array, weights: _Weights, fill: Array, starts: Array, sizes: Array,
) -> Array:  # fmt: skip
    depth, height, width = c.shape
    length = width * channels
    rows = rows_of_block((height, length), max(_BLOCK, 8 * length))
    reached = (c.reach[0], rows + c.reach[1] - 1, length + (c.reach[2] - 1) * channels)
    counts = sizes[0, 1:3] if c.kind.border is not None else sizes[0, 1:3] - sizes[1, 1:3] + 1
    blocks = (counts[1] + rows - 1) // rows
    block = _Block(c, (rows, length), channels, _supported if _may_be_no_number(flat) else None)
    source = ReachedRows(c.kind.border, c.reach, reached, channels, flat, fill, starts, sizes)

    def make(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        result, buffer = state
        first = jnp.minimum(i % blocks * rows, height - rows)
        n, d = i // (blocks * counts[0]), i // blocks % counts[0]
        buffer = source.read(buffer, n, d, first)
        values = source.reached(buffer)
        if vectors is None:
            made = block.of_kernel(values, weights, sizes[1, 1:])
        else:
            made = block.of_vectors(values, vectors, sizes[1, 1:])
        at = (n, d, first, jnp.int32(0))
        return lax.dynamic_update_slice(result, c.kind.rounded(made)[None, None], at), buffer

    count = sizes[0, 0] * counts[0] * blocks
    result = jnp.zeros((flat.shape[0], depth, height, length), c.kind.dtype)
    return loop(count, make, (result, source.buffer()))[0]


@dataclasses.dataclass(frozen=True)
class _Block:
    """Computes some rows of the result from the float32 values that the kernel reaches.

    Attributes:
        shape: (rows, elements) of the block.
        guard: see `_add_tile`.
    """

    c: Correlation
    shape: tuple[int, int]
    channels: int
    guard: Guard | None

    def of_kernel(self, values: Array, kernel: _Weights, sizes: Array) -> Array:
        """Computes [rows, length] from [T, rows + R - 1, length + (S - 1)·channels], one kernel tile after the other."""
        (high, wide), (rows, length), total = self.c.tile, self.shape, jnp.zeros(self.shape, jnp.float32)
        if (1, high, wide) == self.c.reach:
            return _add_tile(total, values[0], kernel.at(0), (1, self.channels), self.guard)
        across, down = (sizes[2] + wide - 1) // wide, (sizes[1] + high - 1) // high

        def add(i: Array, total: Array) -> Array:
            t, r, s = i // (down * across), i // across % down * high, i % across * wide
            reached = (1, rows + high - 1, length + (wide - 1) * self.channels)
            part = lax.dynamic_slice(values, (t, r, s * self.channels), reached)[0]
            weights = kernel.cut((t, r, s), (1, high, wide)).at(0)
            # A loop of one iteration copies the sum, because LLVM does not vectorize a sum that is updated in place.
            before = loop(jnp.minimum(sizes[0], 1), lambda *_: total, jnp.zeros_like(total))
            return _add_tile(before, part, weights, (1, self.channels), self.guard)

        return loop(sizes[0] * down * across, add, total)

    def of_vectors(self, values: Array, vectors: Vectors, sizes: Array) -> Array:
        """Computes the result of `of_kernel` along one axis after the other, for a kernel that is a product of three vectors."""
        (along_t, along_r, along_s), (rows, length) = map(_Weights.of_vector, vectors), self.shape
        once = jnp.minimum(sizes[0], 1)
        depth, height, width = values.shape
        plane = values[0]
        if depth > 1:  # along the depth first, so that the other passes read only one plane
            start, column = jnp.zeros((1, height * width), jnp.float32), along_t.at((slice(None), None))
            flat = _add_tile(start, values.reshape(depth, -1), column, (1, 1), self.guard)
            plane = kept(flat.reshape(height, width), once)
        start, row = jnp.zeros((height, length), jnp.float32), along_s.at(None)
        lines = kept(_add_tile(start, plane, row, (1, self.channels), self.guard), once)
        start, column = jnp.zeros((rows, length), jnp.float32), along_r.at((slice(None), None))
        return _add_tile(start, lines, column, (1, 1), self.guard)


def _vectors(kernel: Array, sizes: Array) -> tuple[Array, Vectors]:
    """Factors a kernel [T, R, S] into three vectors.

    Returns: a bool [] that is True if the vectors may replace the kernel, and the vectors.
    """
    index = jnp.argmax(jnp.abs(kernel))
    largest = kernel.reshape(-1)[index]
    t, r, s = jnp.unravel_index(index, kernel.shape)
    along_s = kernel[t, r]
    scale = jnp.where(largest == 0, 1, largest)
    along_t, along_r = kernel[:, r, s] / scale, kernel[t, :, s] / scale
    product = along_t[:, None, None] * along_r[:, None] * along_s
    close = (jnp.abs(product - kernel) <= jnp.abs(largest) * _MISSES).all()
    return close & (jnp.prod(sizes) >= SEPARABLE), (along_t, along_r, along_s)


def _whole(
    c: Correlation, channels: int, flat: Array, weights: _Weights, fill: Array, starts: Array, sizes: Array
) -> Array:
    """Computes the whole result at once, adding one row of the kernel after the other. JAX can differentiate this."""
    for axis, unit in ((2, 1), (3, channels)):
        flat = _with_margin(c, flat, axis, unit, fill, sizes)
    depth, height, width = c.shape
    length = width * channels
    guard = _supported_or_finite if _may_be_no_number(flat) else None
    lines = (depth + c.reach[0] - 1, height + c.reach[1] - 1, length + (c.reach[2] - 1) * channels)
    corner = (jnp.int32(0), starts[0], starts[1], starts[2] * channels)
    # Without the barrier, the slice would be taken again for each element of the kernel.
    flat = lax.optimization_barrier(lax.dynamic_slice(flat, corner, (flat.shape[0], *lines)))
    shape = (flat.shape[0], depth, height, lines[2])

    def add(total: Array, t: Any, r: Any, own: _Weights) -> Array:
        part = lax.dynamic_slice(flat, tuple(map(jnp.int32, (0, t, r, 0))), shape).astype(jnp.float32)
        more = _add_tile(total, part, own, (1, channels), guard)
        return jnp.where((t < sizes[1, 1]) & (r < sizes[1, 2]), more, total)

    @jax.checkpoint
    def add_row(total: Array, row: tuple[Array, Array]) -> tuple[Array, None]:
        t, r = row
        return add(total, t, r, weights.at((t, r, None))), None

    @jax.checkpoint
    def add_all(total: Array) -> Array:
        apart = weights.apart()
        for t, r in np.ndindex(*c.reach[:2]):
            total = add(total, t, r, apart.at((t, slice(r, r + 1))))
        return total

    start = varying_like(jnp.zeros((*shape[:3], length), jnp.float32), flat, weights.values)
    if math.prod(c.reach) <= _WRITTEN_OUT:
        return c.kind.rounded(add_all(start))
    rows = tuple(i.reshape(-1).astype(np.int32) for i in np.indices(c.reach[:2]))
    return c.kind.rounded(lax.scan(add_row, start, rows)[0])


def _may_be_no_number(values: Array) -> bool:
    return bool(jnp.issubdtype(values.dtype, jnp.floating))
