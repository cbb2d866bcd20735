from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.border import INDICES, rows_with_margin, with_margin
from jdali._kernels.by_platform import by_platform, loop, rows_of_block
from jdali._kernels.correlate import padded_taps
from jdali._kernels.fit import fit
from jdali._kernels.median_network import medians, medians_at_once, medians_of_parts
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import varying_like
from jdali._operators.record import PerSample, Static, operator
from jdali._system.jax_modes import usual_modes

_NAME = "experimental.median_blur"
_TYPES = tuple(map(np.dtype, (np.uint8, np.uint16, np.int32, np.float32)))
# Largest window, in elements, that uses a sorting network: 7 x 7 elements compile in 4 s, larger windows take longer.
_NETWORK = 49
# Largest window, in elements, whose sorted columns an accelerator merges in one pass. For windows of 49 elements, one pass
# would take minutes to compile.
_AT_ONCE = 25
# Size of a block of rows in bytes; the intermediates of a network then stay in the cache.
_BLOCK = 1 << 16
# Images with at most this number of elements are computed without a loop, because a loop is not worth its compile time.
_SMALL = 1 << 12


def setup(images: BatchSpec, *, window_size: np.ndarray) -> Plan:
    if images.dtype not in _TYPES:
        kinds = ", ".join(kind.name for kind in _TYPES)
        raise ValueError(f"{_NAME}: images are {images.dtype}, they must be one of {kinds}; cast them")
    if window_size.shape[1:] != (2,):
        raise ValueError(
            f"{_NAME}: window_size must have 2 values, along x and y, got {window_size.shape[1:]}"
        )
    check_samples(
        ((window_size < 1) | (window_size % 2 == 0)).any(axis=1),
        lambda i: f"{_NAME}: window_size must be odd and at least 1, got {tuple(window_size[i].tolist())}",
        argument="window_size",
    )
    sizes = window_size[:, ::-1].astype(np.int32)  # (height, width)
    largest = sizes.max(axis=0) if len(sizes) else np.ones(2, np.int32)
    return Plan(
        (images,),
        params={"_size": sizes},
        static={
            "_reach": tuple(padded_taps(int(n)) for n in largest),
            "_alike": bool((sizes == largest).all() and (largest % 2 == 1).all()),
        },
    )


@operator(
    setup=setup, name=_NAME, layouts=("HWC",), devices=("cpu", "gpu"),
    source="operators/image/convolution/median_blur.cu",
)  # fmt: skip
def median_blur(
    image: Array,
    /,
    *,
    window_size: PerSample[tuple[int, ...]] = (3, 3),
    _alike: Static[bool] = False,
    _reach: Static[tuple[int, int] | None] = None,
    _size: PerSample[Array | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Replaces each pixel by the median of a rectangle around it, channel by channel.

    The outermost pixels repeat past the borders. The derivative goes to the median element. If several elements are
    equal to the median, they share the derivative.

    Args:
        image: HWC, CHW or HW, or sequences of these; uint8, uint16, int32 or float32.
        window_size: (width, height) of the rectangle, pixels; both odd.

    Returns: shape, type and layout of the image.

    Parity: unlike DALI's, this operator also works on the CPU, with windows of size 1, and with any number of channels.

    Example:
        images = fn.experimental.median_blur(images, window_size=[5, 5])
        images = fn.experimental.median_blur(images, window_size=[9, 9])
    """
    assert _reach is not None
    if not image.size:
        return jnp.zeros(out_shape, image.dtype)
    return fit(_blurred(_Reach(*_reach, _alike), image, jnp.asarray(_size), extent), out_shape)


class _Reach(NamedTuple):
    """Size of the largest window in the batch, and whether all samples have this size."""

    height: int
    width: int
    alike: bool


@one_program(static_argnums=0)
def _blurred(reach: _Reach, image: Array, size: Array, extent: Array) -> Array:
    """Computes medians of [H, W, C] in windows of `size` (height, width), at most `reach`."""
    found = _differentiable if jnp.issubdtype(image.dtype, jnp.floating) else _medians
    return found(reach, image, size, extent)


def _medians(reach: _Reach, image: Array, size: Array, extent: Array) -> Array:
    windows = _Windows(reach[:2], _ordered(image), size, extent)
    small = reach.height * reach.width <= _NETWORK and reach.height % 2 and reach.width % 2
    found = _by_network(reach, windows, extent) if small else _selected(reach, windows)
    return _from_ordered(found, image.dtype).reshape(image.shape)


def _by_network(reach: _Reach, windows: _Windows, extent: Array) -> Array:
    """Finds medians with `median_network`, on a CPU in blocks of rows."""
    (height, length), unit = windows.flat.shape, windows.channels
    rows = rows_of_block(windows.flat.shape, _BLOCK // windows.flat.dtype.itemsize)
    is_small = windows.flat.size <= _SMALL

    def of_rows(padded: Array, size: Array, height: int) -> Array:
        shape = (height, length)
        if reach.alike:
            return medians(padded, shape, reach[:2], unit)
        return medians_of_parts(padded, shape, reach[:2], unit, size)

    def blocks(flat: Array, size: Array, extent: Array) -> Array:
        sides = reach.height // 2, reach.width // 2

        def block(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            result, padded = state
            first = jnp.minimum(i * rows, height - rows)
            reached = first - sides[0] + jnp.arange(padded.shape[0], dtype=jnp.int32)
            own = INDICES["clamp"](reached, extent[0])
            padded = rows_with_margin(padded, flat, own, extent[1], sides[1], "clamp", unit=unit)
            return lax.dynamic_update_slice(
                result, of_rows(padded, size, rows), (first, jnp.int32(0))
            ), padded

        padded = jnp.zeros((rows + reach.height - 1, length + (reach.width - 1) * unit), flat.dtype)
        state = varying_like((jnp.zeros_like(flat), padded), flat, size, extent)
        return loop((extent[0] + rows - 1) // rows, block, state)[0]

    def whole(flat: Array, size: Array, extent: Array) -> Array:
        if reach.alike and not is_small and reach.height * reach.width <= _AT_ONCE:
            return medians_at_once(_lines(reach, flat, unit, extent), (height, length), reach[:2], unit)
        padded = _Windows(reach[:2], flat.reshape(height, -1, unit), size, extent).padded
        return of_rows(padded, size, height)

    arguments = (windows.flat, windows.size, extent)
    return (whole if is_small else by_platform(blocks, whole))(*arguments)


def _lines(reach: _Reach, flat: Array, unit: int, extent: Array) -> list[Array]:
    """Returns, for each row of the window, the image shifted to this row, with margins at the left and the right."""

    def clamped(axis: int, count: int, first: int) -> Array:
        return INDICES["clamp"](first + jnp.arange(count, dtype=jnp.int32), extent[axis])

    height, length = flat.shape
    column = clamped(1, length // unit + reach.width - 1, -(reach.width // 2))
    columns = (column[:, None] * unit + jnp.arange(unit, dtype=jnp.int32)).reshape(-1)
    return [
        flat.at[clamped(0, height, y - reach.height // 2)[:, None], columns].get(mode="promise_in_bounds")
        for y in range(reach.height)
    ]


def _selected(reach: _Reach, windows: _Windows) -> Array:
    """Finds medians bit by bit, from the highest bit.

    To find a bit, counts the elements below a candidate: the bits found so far, then a 1, then zeros. The bit is 1 if
    at most half of the window's elements are below the candidate.
    """
    keys, size = windows.flat, windows.size
    half = (size[0] * size[1]) // 2
    bits = 8 * keys.dtype.itemsize
    counts = jnp.uint8 if reach.height * reach.width < 1 << 8 else jnp.int32  # small types vectorize better

    def one_bit(i: Array, found: Array) -> Array:
        candidate = found | (jnp.asarray(1, keys.dtype) << (bits - 1 - i).astype(keys.dtype))

        def count(below: Array, key: Array, inside: Array) -> Array:
            return below + ((key < candidate) & inside).astype(counts)

        below = windows.fold(count, windows.zeros(counts))
        return jnp.where(below <= half.astype(counts), candidate, found)

    return lax.fori_loop(jnp.int32(0), jnp.int32(bits), one_bit, windows.zeros(keys.dtype))


_differentiable = functools.partial(jax.custom_jvp, nondiff_argnums=(0,))(_medians)


@_differentiable.defjvp
@usual_modes()
def _derivative(reach: _Reach, primals: Any, tangents: Any) -> tuple[Array, Array]:
    image, size, extent = primals
    found = _medians(reach, image, size, extent)
    values, changes = (_Windows(reach[:2], data, size, extent) for data in (image, tangents[0]))
    target = found.reshape(values.flat.shape)

    def count(shares: Array, value: Array, inside: Array) -> Array:
        return shares + ((value == target) & inside)

    shares = values.fold(count, values.zeros(target.dtype))

    def add(total: Array, change: Array, inside: Array, value: Array) -> Array:
        return total + jnp.where((value == target) & inside, change, 0)

    total = changes.fold(add, values.zeros(target.dtype), values)
    return found, (total / jnp.maximum(shares, 1)).reshape(image.shape)


class _Windows:
    """The windows around all pixels. The elements at one position of all windows are a shifted copy of the image."""

    def __init__(self, reach: tuple[int, int], image: Array, size: Array, extent: Array):
        height, width, self.channels = image.shape
        self.flat = image.reshape(height, width * self.channels)
        self.reach, self.size = reach, size
        padded = self.flat
        for axis, unit in ((0, 1), (1, self.channels)):
            side = reach[axis] // 2
            padded = with_margin(padded, axis, extent[axis], (side, side), "clamp", unit=unit)
        self.padded = padded

    def zeros(self, dtype: Any) -> Array:
        return varying_like(jnp.zeros(self.flat.shape, dtype), self.padded, self.size)

    def fold(self, step: Callable[..., Array], start: Array, *others: _Windows) -> Array:
        """Sets `result = step(result, element, inside, *elements_of_others)` for each element of the largest window.

        `inside` is True if the element lies in the sample's own window. `elements_of_others` have the same position.
        """
        height, width = self.reach
        own = self.size // 2

        def take(result: Array, y: Any, x: Any) -> Array:
            inside = (abs(y - height // 2) <= own[0]) & (abs(x - width // 2) <= own[1])
            return step(result, self._at(y, x), inside, *(other._at(y, x) for other in others))

        def body(result: Array, k: Array) -> tuple[Array, None]:
            return take(result, k // width, k % width), None

        result, _ = lax.scan(body, start, jnp.arange(height * width, dtype=jnp.int32))
        return result

    def _at(self, y: Any, x: Any) -> Array:
        """Takes element (y, x) of the largest window. The position is the same for all samples, so XLA needs no gather."""
        return lax.dynamic_slice(self.padded, (y, x * self.channels), self.flat.shape)


def _ordered(values: Array) -> Array:
    """Converts to unsigned integers in the same order: flips the sign bit, or all bits of negative floats."""
    if jnp.issubdtype(values.dtype, jnp.unsignedinteger):
        return values
    bits = lax.bitcast_convert_type(values, jnp.uint32)
    sign = jnp.uint32(1 << 31)
    if jnp.issubdtype(values.dtype, jnp.floating):
        return jnp.where(bits & sign, ~bits, bits | sign)
    return bits ^ sign


def _from_ordered(keys: Array, dtype: Any) -> Array:
    if keys.dtype == dtype:
        return keys
    sign = jnp.uint32(1 << 31)
    if jnp.issubdtype(dtype, jnp.floating):
        return lax.bitcast_convert_type(jnp.where(keys & sign, keys ^ sign, ~keys), dtype)
    return lax.bitcast_convert_type(keys ^ sign, dtype)
