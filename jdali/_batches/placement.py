"""Moves the rows of one output, from one or several pipelines, to the devices of a sharding."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from jdali._system.devices import AnyArray, HostArray, accelerator, is_local, to_device, to_host


def place(name: str, parts: Sequence[AnyArray], sharding: Sharding | None) -> jax.Array:
    """Joins the rows of all parts into one jax.Array [N, ...].

    Slices that are already on the right device stay there, and slices in host memory are copied directly to their devices.
    Data moves between devices only if it is on the wrong device.

    Args:
        parts: arrays [n, ...] in host memory or on devices, whose shapes differ only in n. With several processes, only the
            rows of this process.
    """
    if sharding is None:
        return _on_default_device(parts)
    sharding = fitted(name, sharding, parts[0].ndim)
    split = BatchSplit.of(sharding)
    if not split.parts:
        raise ValueError(f"sharding: this process holds nothing of output {name!r}: no device of {sharding}")
    rows = sum(len(part) for part in parts)
    shape = (rows * split.count // len(split.parts), *parts[0].shape[1:])
    check_divides(name, sharding, shape)
    where = _LocalRows(split, shape[0])
    pieces = _pieces_in_place(parts, sharding, shape, where)
    if pieces is not None:
        return jax.make_array_from_single_device_arrays(shape, sharding, pieces)
    if not all(is_local(part) for part in parts):
        joined = _join(parts)
        if sharding.is_fully_addressable:
            moved: jax.Array = jax.device_put(joined, sharding)
            return moved
        indices = sharding.addressable_devices_indices_map(shape).items()
        pieces = [jax.device_put(joined[where.local(index)], device) for device, index in indices]
        return jax.make_array_from_single_device_arrays(shape, sharding, pieces)
    host = _Rows([to_host(part) for part in parts])
    return jax.make_array_from_callback(shape, sharding, lambda index: host.take(where.local(index)))


class _LocalRows:
    """Maps rows of the global batch to rows of this process."""

    def __init__(self, split: BatchSplit, rows: int):
        self._rows, self._size = rows, rows // split.count
        self._position = {number: i for i, (number, _) in enumerate(split.parts)}

    def local(self, index: Any) -> tuple[slice, ...]:
        """Converts the index of a device's slice in the global array to an index into the rows of this process."""
        start, stop, _ = index[0].indices(self._rows)
        if self._size == 0:
            return tuple(index)
        number = start // self._size
        # A slice is within one part, or is the whole batch if the batch is not split.
        shift = (self._position[number] - number) * self._size
        return (slice(start + shift, stop + shift), *index[1:])


def _pieces_in_place(
    parts: Sequence[AnyArray], sharding: Sharding, shape: tuple[int, ...], where: _LocalRows
) -> list[jax.Array] | None:
    """Returns the slices of the devices of this process, if each device already has its slice; otherwise None."""
    held: dict[jax.Device, list[tuple[list[tuple[int, int]], jax.Array]]] = {}
    first = 0
    for part in parts:
        if not isinstance(part, jax.Array):
            return None
        for shard in part.addressable_shards:
            have = _bounds(shard.index, part.shape)
            have[0] = (have[0][0] + first, have[0][1] + first)
            held.setdefault(shard.device, []).append((have, shard.data))
        first += len(part)
    pieces = []
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        local = where.local(index)
        wanted = _bounds(local, (first, *shape[1:]))
        for have, data in held.get(device, ()):
            if all(h[0] <= w[0] and w[1] <= h[1] for h, w in zip(have, wanted, strict=True)):
                cut = tuple(slice(w[0] - h[0], w[1] - h[0]) for h, w in zip(have, wanted, strict=True))
                pieces.append(data if have == wanted else data[cut])
                break
        else:
            return None
    return pieces


def _bounds(index: Any, shape: tuple[int, ...]) -> list[tuple[int, int]]:
    return [one.indices(size)[:2] for one, size in zip(index, shape, strict=True)]


def stack(parts: Sequence[AnyArray], devices: Sequence[jax.Device] | None) -> jax.Array:
    """Stacks parts of equal shape as [parts, n, ...]. Puts part i on device i, or all on JAX's default device."""
    if devices is None:
        if all(isinstance(part, np.ndarray) for part in parts):
            return _on_default_device([np.stack(parts)])
        return jnp.stack([jnp.asarray(part) for part in parts])
    sharding = over_devices(devices)
    placed = [jax.device_put(part[None], device) for part, device in zip(parts, devices, strict=True)]
    return jax.make_array_from_single_device_arrays((len(parts), *parts[0].shape), sharding, placed)


def lead(array: jax.Array, sharding: Sharding) -> jax.Array:
    """Reshapes a placed array to [parts, n, ...], with a separate axis for the parts of the batch.

    Functions under `jax.pmap` need this shape. No data moves to another device.
    """
    if not isinstance(sharding, NamedSharding):
        raise TypeError(f"sharding: a leading axis needs a NamedSharding, not {type(sharding).__name__}")
    count = number_of_batch_shards(sharding)
    shape = (count, len(array) // count, *array.shape[1:])
    leading = _named(sharding.mesh, *sharding.spec[:1], None, *sharding.spec[1:])
    pieces = [shard.data[None] for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(shape, leading, pieces)


def _on_default_device(parts: Sequence[AnyArray]) -> jax.Array:
    joined, device = _join(parts), accelerator()
    if isinstance(joined, jax.Array) and len(joined.sharding.device_set) == 1 and not is_local(joined):
        return joined
    if isinstance(joined, jax.Array) and joined.sharding.device_set == {device}:
        return joined
    return to_device(joined, None if isinstance(joined, np.ndarray) else device)


def _join(parts: Sequence[AnyArray]) -> AnyArray:
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    # Parts in host memory go to the device of the other parts.
    there = next(
        (part.sharding for part in parts if isinstance(part, jax.Array) and not is_local(part)), None
    )
    if there is not None and len(there.device_set) == 1:
        parts = [part if not is_local(part) else jax.device_put(part, there) for part in parts]
    return jnp.concatenate([jnp.asarray(part) for part in parts])


class _Rows:
    """Acts as the concatenation of several arrays along the first axis. A slice within one of the arrays is not copied."""

    def __init__(self, parts: Sequence[HostArray]):
        self._parts = parts
        self._starts = np.cumsum([0, *(len(part) for part in parts)])

    def take(self, index: tuple[slice, ...]) -> HostArray:
        rows, rest = index[0], index[1:]
        start, stop, _ = rows.indices(int(self._starts[-1]))
        pieces = []
        for part, first in zip(self._parts, self._starts, strict=False):
            low, high = max(start - first, 0), min(stop - first, len(part))
            if low < high:
                pieces.append(part[(slice(low, high), *rest)])
        if not pieces:
            return self._parts[0][(slice(0, 0), *rest)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def fitted(name: str, sharding: Sharding, ndim: int) -> Sharding:
    """Fits a sharding to an array of `ndim` axes. Drops the sharding's axes past `ndim`, which must not be split."""
    if not isinstance(sharding, NamedSharding) or len(sharding.spec) <= ndim:
        return sharding
    if any(axis is not None for axis in sharding.spec[ndim:]):
        raise ValueError(
            f"sharding: the sharding {sharding.spec} splits axis {len(sharding.spec) - 1}, but output "
            f"{name!r} has {ndim} axes (the batch is the first); give each output its own: "
            f"sharding={{{name!r}: ...}}"
        )
    return _named(sharding.mesh, *sharding.spec[:ndim])


def over_devices(devices: Sequence[jax.Device]) -> NamedSharding:
    """Splits the first axis over a list of devices."""
    return _named(Mesh(np.array(list(devices)), ("device",)), "device")


def _named(mesh: Any, *axes: Any) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*axes))


def check_divides(name: str, sharding: Sharding, shape: tuple[int, ...]) -> None:
    """Raises ValueError if an array of this shape cannot be split evenly."""
    try:
        sharding.shard_shape(shape)
    except ValueError as error:
        spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
        counts = [_number_of_parts(sharding, axis) for axis in range(len(spec))]
        axis = next((i for i, count in enumerate(counts) if shape[i] % count), 0)
        todo = (
            f"axis {axis} has size {shape[axis]}, which is no multiple of {counts[axis]}; split only the batch axis, "
            f"by {PartitionSpec(*spec[:1])}, or give each output its own sharding: sharding={{{name!r}: ...}}"
            if axis
            else "make the batch size a multiple of the number of shards (a last batch that is shorter, as with PARTIAL, "
            "cannot be; use LastBatchPolicy.PAD, FILL or DROP)"
        )
        raise ValueError(
            f"sharding: output {name!r} of shape {shape} cannot be split evenly over {sharding}: {todo}. JAX says: {error}"
        ) from error


def of_batch_axis(sharding: Sharding) -> Sharding:
    """Returns the sharding of an array with one value for each sample: only the batch axis is split."""
    if isinstance(sharding, NamedSharding):
        return _named(sharding.mesh, *sharding.spec[:1])
    return sharding


@dataclasses.dataclass(frozen=True)
class BatchSplit:
    """Describes how a sharding splits the batch axis.

    Attributes:
        count: number of parts in all processes.
        parts: for each part in this process, its number and the devices of this process that have it.
    """

    count: int
    parts: tuple[tuple[int, tuple[jax.Device, ...]], ...]

    @classmethod
    def of(cls, sharding: Sharding) -> BatchSplit:
        count = number_of_batch_shards(sharding)
        devices: dict[int, list[jax.Device]] = {}
        for device, index in of_batch_axis(sharding).addressable_devices_indices_map((count,)).items():
            assert index is not None
            devices.setdefault(index[0].indices(count)[0], []).append(device)
        return cls(count, tuple((number, tuple(held)) for number, held in sorted(devices.items())))

    def portion(self, number: int, portions: int) -> BatchSplit | None:
        """Cuts the batch into `portions` arrays. Returns the split of array `number`; None if this would cut a part."""
        if len(self.parts) % portions:
            return None
        size = len(self.parts) // portions
        mine = self.parts[number * size : (number + 1) * size]
        return BatchSplit(size, tuple((i, devices) for i, (_, devices) in enumerate(mine)))


def batch_shards(sharding: Sharding) -> list[tuple[int, jax.Device]]:
    """Lists, for each part of the batch axis in this process, its number and a device that has it."""
    return [(number, devices[0]) for number, devices in BatchSplit.of(sharding).parts]


def number_of_batch_shards(sharding: Sharding) -> int:
    """Returns the number of parts of the batch axis in all processes."""
    return _number_of_parts(sharding, 0)


def _number_of_parts(sharding: Sharding, axis: int) -> int:
    if not isinstance(sharding, NamedSharding):
        return len(sharding.device_set)
    axes = sharding.spec[axis] if axis < len(sharding.spec) else None
    names = axes if isinstance(axes, tuple) else (axes,) if isinstance(axes, str) else ()
    return math.prod(sharding.mesh.shape[name] for name in names)
