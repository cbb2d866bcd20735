"""Border modes of images: index maps, and images extended by a margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import jax.numpy as jnp
from jax import Array, lax

from jdali._batches import reflect_101
from jdali._kernels.window import border_of
from jdali._numerics.platform import platform_dependent


def _reflect_1001(index: Array, size: Array) -> Array:
    """Reflects at the edge, repeating the outermost element: for size 4, indices -2 to 5 give 1 0 0 1 2 3 3 2."""
    folded = index % jnp.maximum(2 * size, 1)
    return jnp.where(folded >= size, 2 * size - 1 - folded, folded)


# Functions that map any index into [0, size), by border mode; "constant" needs none.
INDICES: Mapping[str, Callable[[Array, Array], Array]] = {
    "reflect_101": reflect_101,
    "reflect_1001": _reflect_1001,
    "wrap": lambda index, size: index % jnp.maximum(size, 1),
    "clamp": lambda index, size: jnp.clip(index, 0, jnp.maximum(size - 1, 0)),
}


def with_margin(
    values: Array,
    axis: int,
    size: Array,
    margin: tuple[int, int],
    border: str,
    fill: Array | int = 0,
    unit: int = 1,
) -> Array:
    """Extends an axis in front of its first element and behind its last true element.

    Args:
        values: any shape and type, padded.
        size: int32 [], true size of the axis, in units.
        margin: units to add in front and behind.
        border: a key of `INDICES`, or "constant".
        fill: scalar for "constant", of the type of `values`.
        unit: number of elements that form a pixel, if the axis is columns times channels.

    Returns: `values`, with both margins added to the axis. Elements past the second margin are unspecified.
    """
    before, after = margin
    if not before and not after:
        return values
    fill = jnp.asarray(fill, values.dtype)

    def in_parts(values: Array, size: Array, fill: Array) -> Array:
        shape = list(values.shape)
        shape[axis] += (before + after) * unit
        # Parts are written one by one, because on a CPU, XLA copies a slice as a block, but a concatenation element by element.
        result = lax.dynamic_update_slice_in_dim(jnp.zeros(shape, values.dtype), values, before * unit, axis)
        for first, count, target in ((-before, before, jnp.int32(0)), (size, after, before + size)):
            if not count:
                continue
            index = first + jnp.arange(count, dtype=jnp.int32)
            strip = taken(values, index, size, fill)
            result = lax.dynamic_update_slice_in_dim(result, strip, target * unit, axis)
        return result

    def at_once(values: Array, size: Array, fill: Array) -> Array:
        index = jnp.arange(values.shape[axis] // unit + before + after, dtype=jnp.int32) - before
        found = taken(values, index, size, fill)
        if border == "constant":
            inside = jnp.repeat((index >= 0) & (index < size), unit)
            own = jnp.take(values, elements(index), axis=axis, mode="clip")
            found = jnp.where(
                jnp.expand_dims(inside, [a for a in range(values.ndim) if a != axis]), own, found
            )
        return found

    def taken(values: Array, index: Array, size: Array, fill: Array) -> Array:
        if border == "constant":
            shape = list(values.shape)
            shape[axis] = len(index) * unit
            return jnp.broadcast_to(fill, shape)
        return jnp.take(values, elements(INDICES[border](index, size)), axis=axis, mode="clip")

    def elements(index: Array) -> Array:
        return (index[:, None] * unit + jnp.arange(unit, dtype=jnp.int32)).reshape(-1)

    result: Array = platform_dependent(values, size, fill, cpu=in_parts, default=at_once)
    return result


def rows_with_margin(
    buffer: Array,
    values: Array,
    rows: Array,
    size: Array,
    side: int,
    border: str,
    *,
    fill: Array | int = 0,
    inside: Array | None = None,
    unit: int = 1,
) -> Array:
    """Writes rows of an image, extended by columns on both sides, into a buffer.

    A CPU loop that has the buffer in its state copies rows within the cache. `with_margin` would write the whole image
    to memory more than once.

    Args:
        buffer: [len(rows), width + 2 · side · unit], of the result's type.
        values: [H, width] or wider, padded.
        rows: int32, rows to write, all in [0, H).
        size: int32 [], true number of columns, in units.
        side: columns to add on either side, in units.
        border: a key of `INDICES`, or "constant".
        fill: scalar for "constant", of the type of `values`.
        inside: bool, True for rows that lie in the image; other rows are filled with `fill`. None: all rows are in the image.
        unit: number of elements of a pixel.
    """
    margin = side * unit
    outside = jnp.asarray(fill, values.dtype).astype(buffer.dtype)

    def taken(values: Array, columns: Array | None = None) -> Array:
        at = rows if columns is None else (rows[:, None], columns)
        found = values.at[at].get(mode="promise_in_bounds", wrap_negative_indices=False).astype(buffer.dtype)
        return found if inside is None else jnp.where(inside[:, None], found, outside)

    def put(buffer: Array, strip: Array, column: Array | int) -> Array:
        return lax.dynamic_update_slice(buffer, strip, (jnp.int32(0), jnp.int32(column)))

    buffer = put(buffer, taken(values[:, : buffer.shape[1] - 2 * margin]), margin)
    if not margin:
        return buffer
    for first, target in ((-side, 0), (size, margin + size * unit)):
        if border == "constant":
            strip = jnp.broadcast_to(outside, (len(rows), margin))
        else:
            index = INDICES[border](first + jnp.arange(side, dtype=jnp.int32), size)
            strip = taken(values, (index[:, None] * unit + jnp.arange(unit, dtype=jnp.int32)).reshape(-1))
        buffer = put(buffer, strip, target)
    return buffer


def border_name(operator: str, argument: str, name: str, known: Sequence[str]) -> str:
    """Translates a border mode to a key of `INDICES` or "constant". Raises ValueError if `known` lacks the result."""
    found = border_of(name)
    if found not in known:
        raise ValueError(
            f"{operator}: Unknown ``border_type`` was provided: ``{name}``. {argument} must be one of {', '.join(known)}"
        )
    return found
