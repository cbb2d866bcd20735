"""Handles padded data in pure calls: true sizes, which may be tracers, and padded shapes of outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array

from jdali._errors import TracedArgumentError
from jdali._operators.call import PlannedCall
from jdali._operators.record import Operator
from jdali._system.devices import to_host

Size: TypeAlias = "npt.NDArray[np.int64]"


@dataclasses.dataclass(frozen=True)
class Extent:
    """The true size of an input, as far as it is known.

    Attributes:
        array: int32 [ndim], perhaps traced.
        axes: size of each axis; None if unknown.
        shape: padded size.
    """

    array: Array
    axes: tuple[int | None, ...]
    shape: tuple[int, ...]

    @property
    def known(self) -> Size | None:
        """The size, if the sizes of all axes are known."""
        return None if None in self.axes else np.array(self.axes, np.int64)

    @property
    def largest(self) -> Size:
        """The known size of each axis, or else its padded size."""
        return np.array([s if a is None else a for a, s in zip(self.axes, self.shape, strict=True)], np.int64)


def extents_of(op: Operator, shapes: Sequence[tuple[int, ...]], extent: Any) -> list[Extent]:
    """Reads the true size of each input from `extent`: [ndim] for one input, or a sequence for several."""
    if extent is None:
        each: Sequence[Any] = [None] * len(shapes)
    elif not shapes:
        raise TypeError(f"{op.name}: has no input, so it takes no extent")
    else:
        each = [extent] if len(shapes) == 1 else extent
        if len(each) != len(shapes):
            raise ValueError(f"{op.name}: extent must be one size for each of the {len(shapes)} inputs")
    return [_extent(op, i, shape, one) for i, (shape, one) in enumerate(zip(shapes, each, strict=True))]


def _extent(op: Operator, number: int, shape: tuple[int, ...], extent: object) -> Extent:
    what = f"{op.name}: extent of input {op.input(number).name!r}"
    if extent is None:
        return Extent(jnp.asarray(shape, jnp.int32), shape, shape)
    if op.input(number).argument:
        raise ValueError(f"{what}: it is an argument, which cannot be padded; give None for it")
    sizes: Any
    axes: list[int | None]
    if isinstance(extent, jax.core.Tracer):
        sizes, axes = extent, [None] * len(shape)
    elif isinstance(extent, (list, tuple)) and any(isinstance(one, jax.core.Tracer) for one in extent):
        sizes = jnp.stack([jnp.asarray(one) for one in extent])
        axes = [None if isinstance(one, jax.core.Tracer) else int(one) for one in extent]
    else:
        sizes = to_host(extent)
        axes = list(sizes.reshape(-1).tolist())
    if sizes.shape != (len(shape),) or (len(shape) and not jnp.issubdtype(sizes.dtype, jnp.integer)):
        raise ValueError(f"{what} must be {len(shape)} integers, got {sizes.dtype} {sizes.shape}")
    for axis, (size, padded) in enumerate(zip(axes, shape, strict=True)):
        if size is not None and not 0 <= size <= padded:
            raise ValueError(f"{what} is {size} on axis {axis}, of an array of shape {shape}")
    return Extent(jnp.asarray(sizes, jnp.int32), tuple(axes), shape)


def out_shapes(op: Operator, least: Sequence[tuple[int, ...]], out_shape: Any) -> list[tuple[int, ...]]:
    """Returns the padded shape of each output, `out_shape` or else `least`. Raises if `out_shape` is smaller than `least`."""
    if out_shape is None:
        return list(least)
    each = [out_shape] if len(least) == 1 else list(out_shape)
    if len(each) != len(least):
        raise ValueError(f"{op.name}: out_shape must be one shape for each of the {len(least)} outputs")
    shapes = []
    for own, one in zip(least, each, strict=True):
        shape = own if one is None else tuple(int(n) for n in one)
        if len(shape) != len(own) or any(n < m for n, m in zip(shape, own, strict=True)):
            raise ValueError(f"{op.name}: out_shape {shape} does not hold an output of up to {own}")
        shapes.append(shape)
    return shapes


def fitted(array: Array, shape: tuple[int, ...]) -> Array:
    """Pads a result of `run` to a shape, because `run` does not pad axes that pipelines never pad."""
    if array.shape == shape:
        return array
    return jnp.pad(array, [(0, wanted - size) for wanted, size in zip(shape, array.shape, strict=True)])


def follow(
    op: Operator, extents: Sequence[Extent], plan: Callable[[Sequence[Size]], PlannedCall]
) -> tuple[PlannedCall, list[Array], list[tuple[int, ...]]]:
    """Plans a call whose true sizes are tracers.

    `setup` needs numbers, so it runs for several sizes up to the padded sizes. Its results must be equal for all of them,
    except that an axis of an output may be as long as an axis of an input.

    Returns: the plan, the true size of each output, and the smallest padded shape of each output.
    """
    largest = [extent.largest for extent in extents]
    first = plan(largest)
    tried = [(largest, first)]
    for sizes in _smaller(extents):
        try:
            tried.append((sizes, plan(sizes)))
        except (ValueError, RuntimeError):
            continue  # `setup` raises for this size, so the caller's samples cannot have it
    varied = len(tried) > 1 or all(
        size == 1 for e in extents for known, size in zip(e.axes, e.shape, strict=True) if known is None
    )
    if not varied or any(not _alike(first, other) for _, other in tried[1:]):
        raise _too_much(op)
    true_sizes, least = [], []
    for number, spec in enumerate(first.outputs):
        own = [other.outputs[number].extents[0] for _, other in tried]
        sources = [_source(op, [int(size[axis]) for size in own], tried) for axis in range(spec.ndim)]
        parts = [jnp.int32(s) if isinstance(s, int) else extents[s[0]].array[s[1]] for s in sources]
        true_sizes.append(jnp.stack(parts) if parts else jnp.zeros(0, jnp.int32))
        least.append(tuple(s if isinstance(s, int) else extents[s[0]].shape[s[1]] for s in sources))
    return first, true_sizes, least


def _smaller(extents: Sequence[Extent]) -> Iterator[list[Size]]:
    """Yields sizes to try. In each, one axis or one group of axes is one element shorter, or half as long.

    The groups are axes whose sizes may have to be equal: axes of the same padded size, axes at the same position from the
    front or from the end, and all axes.
    """
    groups: dict[tuple[Any, ...], list[tuple[int, int, int]]] = {}
    for i, extent in enumerate(extents):
        for axis, (known, size) in enumerate(zip(extent.axes, extent.shape, strict=True)):
            if known is not None or size <= 1:
                continue
            from_end = axis - len(extent.shape)
            for key in ((i, axis), ("size", size), ("first", axis), ("last", from_end), ("all",)):
                groups.setdefault(key, []).append((i, axis, size))
    for group in groups.values():
        for half in (False, True):
            sizes = [extent.largest for extent in extents]
            for i, axis, size in group:
                sizes[i][axis] = (size + 1) // 2 if half else size - 1
            yield sizes


def _alike(first: PlannedCall, other: PlannedCall) -> bool:
    """Returns True if two plans differ only in the sizes of outputs."""
    if first.call != other.call or first.traced.keys() != other.traced.keys():
        return False
    if [o.extents.shape for o in first.outputs] != [o.extents.shape for o in other.outputs]:
        return False
    pairs = [(np.asarray(value), np.asarray(other.traced[name])) for name, value in first.traced.items()]
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def _source(
    op: Operator, found: Sequence[int], tried: Sequence[tuple[Sequence[Size], PlannedCall]]
) -> int | tuple[int, int]:
    """Finds what determines the size of an output axis: returns a constant, or (input, axis) for an axis of an input."""
    if len(set(found)) == 1:
        return found[0]
    for i, size in enumerate(tried[0][0]):
        axes = [a for a in range(len(size)) if found == [int(sizes[i][a]) for sizes, _ in tried]]
        if len(axes) == 1:
            return i, axes[0]
    raise _too_much(op)


def _too_much(op: Operator) -> TracedArgumentError:
    return TracedArgumentError(
        f"{op.name}: more than the size of an axis depends on the extent of the input, so inside jit, vmap or "
        "grad it must be a concrete value: close over it, or mark it static"
    )
