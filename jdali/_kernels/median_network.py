"""Medians of rectangles, by sorting networks whose elements are whole images.

The network sorts the columns of a rectangle, merges neighbouring columns into pairs, pairs into fours, and so on, by
K. E. Batcher's method (Knuth, The Art of Computer Programming, volume 3, 5.3.4). Columns that neighbouring rectangles
share are sorted only once. Minima and maxima on which the median does not depend are never computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax


class _LazyArray:
    """An array that is computed on first use."""

    def __init__(self, make: Callable[[], Array]):
        self._make = make

    @functools.cached_property
    def array(self) -> Array:
        return self._make()


# Arrays sorted elementwise: at each position, values ascend from one array to the next.
_Sorted = list[_LazyArray]


def medians(padded: Array, shape: tuple[int, int], reach: tuple[int, int], unit: int) -> Array:
    """Computes the median of each rectangle of an image.

    Args:
        padded: unsigned integers [height + reach[0] - 1, (width + reach[1] - 1) · unit]: the image with a margin.
        shape: (height, width · unit) of the result.
        reach: (height, width) of the rectangles, odd.
        unit: interleaved elements of a pixel.
    """
    half = reach[0] * reach[1] // 2
    by_width = _sorted_by_width(padded, shape[0], reach, unit)
    parts: list[_Sorted] = []
    first = 0
    for width in sorted(by_width, reverse=True):
        if reach[1] & width:
            parts.append(_shifted(by_width[width], first * unit, shape[1]))
            first += width
    return _of_rank(half, parts).array


def medians_at_once(
    lines: Sequence[Array], shape: tuple[int, int], reach: tuple[int, int], unit: int
) -> Array:
    """Computes `medians` on accelerators, in two passes: the first writes the sorted columns, and the second merges them.

    Args:
        lines: for each row y of the rectangle, the image moved up by y - reach[0] // 2 rows, with a margin at the
            sides: [height, (width + reach[1] - 1) · unit].
        shape, reach, unit: see `medians`.
    """
    sorted_columns = _all_merged([[_loaded(line)] for line in lines])
    columns = lax.optimization_barrier([value.array for value in sorted_columns])
    parts = [_shifted(list(map(_loaded, columns)), x * unit, shape[1]) for x in range(reach[1])]
    return _of_rank(reach[0] * reach[1] // 2, parts).array


def medians_of_parts(
    padded: Array, shape: tuple[int, int], reach: tuple[int, int], unit: int, size: Array
) -> Array:
    """Computes `medians` of rectangles of `size` (height, width), int32 [2], centred in the rectangles of `reach`.

    Of the elements outside of `size`, one half becomes the smallest number and the other half the largest number, so
    the median does not change.
    """
    least, largest = (jnp.asarray(n, padded.dtype) for n in (0, np.iinfo(padded.dtype).max))

    def kept(values: Array, index: int, axis: int) -> Array:
        away = index - reach[axis] // 2
        return jnp.where(abs(away) <= size[axis] // 2, values, least if away < 0 else largest)

    columns = []
    for x in range(reach[1]):
        strip = padded[:, x * unit : x * unit + shape[1]]
        column = [kept(kept(strip[y : y + shape[0]], y, 0), x, 1) for y in range(reach[0])]
        columns.append(_all_merged([[_loaded(row)] for row in column]))
    return _of_rank(reach[0] * reach[1] // 2, columns).array


def _sorted_by_width(padded: Array, height: int, reach: tuple[int, int], unit: int) -> dict[int, _Sorted]:
    """Sorts each run of 1, 2, 4, ... neighbouring columns, up to the width of the rectangle."""
    found = {1: _all_merged([[_loaded(padded[y : y + height])] for y in range(reach[0])])}
    width, length = 1, padded.shape[1]
    while 2 * width <= reach[1]:
        length -= width * unit
        one, other = (_shifted(found[width], first, length) for first in (0, width * unit))
        width *= 2
        found[width] = _merged(one, other)
    return found


def _shifted(values: _Sorted, first: int, length: int) -> _Sorted:
    def shifted(value: _LazyArray) -> Array:
        return value.array[:, first : first + length]

    return [_LazyArray(functools.partial(shifted, value)) for value in values]


def _loaded(value: Array) -> _LazyArray:
    return _LazyArray(lambda: value)


def _both(one: _LazyArray, other: _LazyArray) -> _Sorted:
    return [
        _LazyArray(lambda: jnp.minimum(one.array, other.array)),
        _LazyArray(lambda: jnp.maximum(one.array, other.array)),
    ]


def _merged(one: _Sorted, other: _Sorted) -> _Sorted:
    if not one or not other:
        return one + other
    if len(one) == len(other) == 1:
        return _both(one[0], other[0])
    first, *odd = _merged(one[::2], other[::2])
    even = _merged(one[1::2], other[1::2])
    paired = min(len(odd), len(even))
    result = [first]
    for pair in zip(even, odd, strict=False):
        result += _both(*pair)
    return result + even[paired:] + odd[paired:]


def _all_merged(parts: Sequence[_Sorted]) -> _Sorted:
    middle = len(parts) // 2
    return _merged(_all_merged(parts[:middle]), _all_merged(parts[middle:])) if middle else parts[0]


def _of_rank(rank: int, parts: Sequence[_Sorted]) -> _LazyArray:
    """Selects the element that would be at index `rank` if all parts were sorted together."""
    if len(parts) == 1:
        return parts[0][rank]
    middle = len(parts) // 2
    one, other = _all_merged(parts[:middle]), _all_merged(parts[middle:])
    # For each i, take the first i elements of `one` and the first rank + 1 - i elements of `other`. One of these sets
    # consists of the rank + 1 smallest elements. Its maximum is the result, and no other set has a smaller maximum.
    largest = []
    for i in range(max(0, rank + 1 - len(other)), min(len(one), rank + 1) + 1):
        ends = ([one[i - 1]] if i else []) + ([other[rank - i]] if i <= rank else [])
        largest.append(ends[0] if len(ends) == 1 else _both(*ends)[1])
    return functools.reduce(lambda least, value: _both(least, value)[0], largest)
