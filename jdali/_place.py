"""Bringing the rows of one output, made by one or several pipelines, to the devices they are wanted on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

AnyArray: TypeAlias = "np.ndarray[Any, Any] | jax.Array"


def place(name: str, parts: Sequence[AnyArray], sharding: Sharding | None) -> jax.Array:
    """The rows of all parts as one jax.Array [N, ...].

    Args:
        name: of the output, for messages.
        parts: arrays [n, ...] of one shape but for n, in host memory or on the default device.
        sharding: where to; None: the default device. In a program of several processes `parts` are the
            rows of this process.
    """
    if sharding is None:
        return _on_default_device(parts)
    sharding = fitted(name, sharding, parts[0].ndim)
    if not sharding.is_fully_addressable:
        local = np.asarray(_join(parts))
        try:
            placed: jax.Array = jax.make_array_from_process_local_data(sharding, local)
        except ValueError as error:
            raise ValueError(f"sharding: output {name!r} of shape {local.shape} here: {error}") from error
        return placed
    shape = (sum(len(part) for part in parts), *parts[0].shape[1:])
    check_divides(name, sharding, shape)
    if any(isinstance(part, jax.Array) for part in parts):
        moved: jax.Array = jax.device_put(_join(parts), sharding)
        return moved
    rows = _Rows([np.asarray(part) for part in parts])
    # Each device's slice goes from host memory to that device; none passes through another.
    return jax.make_array_from_callback(shape, sharding, rows.take)


def stack(parts: Sequence[AnyArray], devices: Sequence[jax.Device] | None) -> jax.Array:
    """Parts of one shape as [parts, n, ...], part i on device i; all on the default device if None."""
    if devices is None:
        if all(isinstance(part, np.ndarray) for part in parts):
            return _on_default_device([np.stack(parts)])
        return jnp.stack([jnp.asarray(part) for part in parts])
    sharding = over_devices(devices)
    placed = [jax.device_put(part[None], device) for part, device in zip(parts, devices, strict=True)]
    return jax.make_array_from_single_device_arrays((len(parts), *parts[0].shape), sharding, placed)


def _on_default_device(parts: Sequence[AnyArray]) -> jax.Array:
    joined = _join(parts)
    return joined if isinstance(joined, jax.Array) else jax.device_put(joined)


def _join(parts: Sequence[AnyArray]) -> AnyArray:
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return jnp.concatenate([jnp.asarray(part) for part in parts])


class _Rows:
    """Several arrays as if they were one after another; a slice within one of them is not copied."""

    def __init__(self, parts: Sequence[np.ndarray[Any, Any]]):
        self._parts = parts
        self._starts = np.cumsum([0, *(len(part) for part in parts)])

    def take(self, index: tuple[slice, ...] | None) -> np.ndarray[Any, Any]:
        assert index is not None
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


# --- shardings ------------------------------------------------------------------------------------
def fitted(name: str, sharding: Sharding, ndim: int) -> Sharding:
    """The sharding for an array of `ndim` axes: axes past the last that are not split are left out."""
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
    """The first axis split over a list of devices."""
    return _named(Mesh(np.array(list(devices)), ("device",)), "device")


def _named(mesh: Any, *axes: Any) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*axes))


def check_divides(name: str, sharding: Sharding, shape: tuple[int, ...]) -> None:
    """Raises if an array of that shape cannot be split evenly."""
    try:
        sharding.shard_shape(shape)
    except ValueError as error:
        raise ValueError(
            f"sharding: output {name!r} of shape {shape} cannot be split evenly over {sharding}: make the "
            "batch size a multiple of the number of shards (a last batch that is shorter, as with PARTIAL, "
            f"cannot be; use LastBatchPolicy.PAD, FILL or DROP). JAX says: {error}"
        ) from error


def of_batch_axis(sharding: Sharding) -> Sharding:
    """The sharding of an array that has one value a sample: split like the batch, and in no other way."""
    if isinstance(sharding, NamedSharding):
        return _named(sharding.mesh, *sharding.spec[:1])
    return sharding


def batch_shards(sharding: Sharding) -> list[tuple[int, jax.Device]]:
    """The parts that the batch axis is split into here: number of the part, and a device that holds it.

    Parts held by several devices are named once, parts of other processes not at all.
    """
    axis = of_batch_axis(sharding)
    count = number_of_batch_shards(sharding)
    devices: dict[int, jax.Device] = {}
    for device, index in axis.addressable_devices_indices_map((count,)).items():
        assert index is not None
        devices.setdefault(index[0].indices(count)[0], device)
    return sorted(devices.items())


def number_of_batch_shards(sharding: Sharding) -> int:
    """Into how many parts the batch axis is split, in all processes together."""
    if not isinstance(sharding, NamedSharding):
        return len(sharding.device_set)
    axes = sharding.spec[0] if len(sharding.spec) else None
    names = () if axes is None else (axes,) if isinstance(axes, str) else axes
    return math.prod(sharding.mesh.shape[name] for name in names)
