"""Copies chosen samples of a batch to one padded array, on the host or on a device."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from jdali._batches.extent import valid_mask
from jdali._batches.slabs import aligned_empty
from jdali._batches.store import Block, Index, LateBlock, PaddedBlock, SamplesBlock, Store, keeping
from jdali._batches.tensor import NOTHING
from jdali._system.devices import AnyArray, HostArray, accelerator, is_local, to_device, to_host
from jdali._system.jax_modes import unchecked

Placement: TypeAlias = "jax.Device | Sharding | None"  # None: host memory

# With samples of fewer bytes, one copy that includes the padding costs less than a copy for each sample.
_SMALL = 1 << 14


def gather(
    store: Store,
    rows: Index | None,
    shape: tuple[int, ...],
    placement: Placement,
    *,
    count: int | None = None,
) -> AnyArray:
    """Gathers chosen samples into the first rows of an array [count, *shape]. All other elements are unspecified.

    Samples in host memory are joined there and transferred once; samples on a device are joined on the device. Samples
    move from a device to the host only if `placement` is host memory.

    Args:
        store: samples of the batch.
        rows: int [m], positions in the batch, in order; None for all.
        shape: padded shape of a sample, large enough for each.
        placement: a device, or the sharding of an array; None for host memory.
        count: number of rows of the result, at least m; None for m. On a device, a program is compiled for each count.

    Returns: on a device, a JAX array; in host memory, a NumPy array or an existing JAX array. If an existing array at
        `placement` has this content, it is returned without a copy.
    """
    if store.spec.dtype == NOTHING:  # the array of an empty batch is of float32, as in DALI
        store = Store.empty(store.spec.replace(dtype=np.dtype(np.float32)))
    rows = np.arange(len(store)) if rows is None else rows
    count = len(rows) if count is None else count
    ready = _ready(store, rows, shape, count)
    if placement is None:
        if ready is None:
            return _on_host(store, rows, shape, count)
        return ready if is_local(ready) else to_host(ready)
    placement = _sharding(placement)
    with keeping(store.spec.dtype):
        if ready is not None:
            return _moved(ready, placement)
        if all(store.blocks[number].local for number in np.unique(store.block[rows])):
            return _moved(_on_host(store, rows, shape, count), placement)
        return _moved(_on_device(store, rows, shape, count, placement), placement)


def padded_by_zeros(store: Store, shape: tuple[int, ...], placement: Placement) -> AnyArray:
    """Gathers all samples into an array [N, *shape] that is zero in the padding; see `gather`."""
    extents = store.spec.extents
    if (extents == np.array(shape, np.int64)).all():
        return gather(store, None, shape, placement)
    if placement is None or store.local:
        host = _on_host(store, np.arange(len(store)), shape, len(store))
        for row, extent in zip(host, extents.tolist(), strict=True):
            for axis, size in enumerate(extent):
                row[(*[slice(None)] * axis, slice(size, None))] = 0
        if placement is None:
            return host
        with keeping(store.spec.dtype):
            return _moved(host, _sharding(placement))
    with keeping(store.spec.dtype):
        array: jax.Array = _cleared(gather(store, None, shape, placement), extents.astype(np.int32))
        return array


def _sharding(placement: jax.Device | Sharding) -> Sharding:
    return placement if isinstance(placement, Sharding) else SingleDeviceSharding(placement)


def _ready(store: Store, rows: Index, shape: tuple[int, ...], count: int) -> AnyArray | None:
    """Returns the array of a block if it has shape [count, *shape] and begins with the chosen samples, else None."""
    if not len(rows):
        return None
    number = int(store.block[rows[0]])
    block = store.blocks[number]
    if not isinstance(block, PaddedBlock) or block.array.shape != (count, *shape):
        return None
    if len(store.blocks) > 1 and not (store.block[rows] == number).all():
        return None
    if len(rows) == 1:
        return None if store.row[rows[0]] else block.array
    return block.array if (store.row[rows] == np.arange(len(rows))).all() else None


def _moved(array: AnyArray, placement: Sharding) -> jax.Array:
    """Moves an array. On the default device, a NumPy array becomes an uncommitted JAX array, like results of `jnp`."""
    if isinstance(array, jax.Array) and array.sharding.device_set == placement.device_set:
        return array
    default = not isinstance(array, jax.Array) and placement.device_set == {accelerator()}
    return to_device(array, None if default else placement)


def _on_host(
    store: Store, rows: Index, shape: tuple[int, ...], count: int, *, local_only: bool = False
) -> HostArray:
    """Copies samples to a new array. With `local_only`, copies only samples in host memory."""
    out = aligned_empty((count, *shape), store.spec.dtype)
    owner, alone = store.block[rows], len(store.blocks) == 1
    for number in (0,) if alone else np.unique(owner).tolist():
        block = store.blocks[number]
        if block.local or not local_only:
            at = np.arange(len(rows)) if alone else np.flatnonzero(owner == number)
            _copy(out, at, block, store.row[rows[at]], store.spec.extents[rows[at]])
    return out


def _copy(out: HostArray, at: Index, block: Block, taken: Index, extents: Index) -> None:
    """Copies samples without padding from the rows `taken` of a block to the rows `at` of `out`."""
    if len(at) == 1:  # faster than the general case
        cut: tuple[Any, ...] = tuple(map(slice, extents[0].tolist()))
        out[(int(at[0]), *cut)] = block.host_sample(int(taken[0]))[cut]
        return
    largest = extents.max(axis=0)
    uniform = bool((extents == largest).all())
    corner = tuple(map(slice, largest.tolist()))
    if isinstance(block, PaddedBlock):
        host = block.host
        if uniform or int(np.prod(largest)) * out.itemsize <= _SMALL:
            out[(_run(at), *corner)] = host[(_run(taken), *corner)]
            return
        cuts = [tuple(map(slice, extent)) for extent in extents.tolist()]
        for to, row, cut in zip(at.tolist(), taken.tolist(), cuts, strict=True):
            out[(to, *cut)] = host[(row, *cut)]
        return
    samples = block.host_samples(taken)
    run = _run(at)
    if not len(corner):
        out[run] = samples
    elif uniform and isinstance(run, slice) and out.shape[1:] == samples[0].shape:
        np.concatenate(samples, out=out[run].reshape(len(at) * out.shape[1], *out.shape[2:]))
    else:
        for to, sample in zip(at.tolist(), samples, strict=True):
            out[(to, *map(slice, sample.shape))] = sample


def _run(indices: Index) -> Index | slice:
    """Turns consecutive indices into a slice, which NumPy copies without a temporary array."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def _on_device(
    store: Store, rows: Index, shape: tuple[int, ...], count: int, placement: Sharding
) -> jax.Array:
    """Takes and pads the samples of each block on the device of the block.

    Programs depend only on the shapes of the blocks and of the result, so there are few. Samples in host memory are first
    joined into one block there.
    """
    owner = store.block[rows]
    used = np.unique(owner).tolist()
    home = _home([store.blocks[number] for number in used], placement)
    away = [number for number in used if not store.blocks[number].local]
    if len(used) == 1:
        block = store.blocks[used[0]]
        if not isinstance(block, PaddedBlock):  # its piece has the samples in order
            return _piece(block, store.row[rows], owner == used[0], shape, count, home)[0]
        if len(rows) == count and (store.row[rows] == np.arange(count)).all():
            return _run_there(_cut, home, _moved(block.array, home), count=count, shape=shape)
    result: jax.Array | None = None
    for number in [*away, None] if len(away) < len(used) else away:
        if number is None:
            mine = ~np.isin(owner, away)
            piece = _moved(_on_host(store, rows, shape, count, local_only=True), home)
            taken = np.arange(len(rows))
        else:
            mine = owner == number
            piece, taken = _piece(store.blocks[number], store.row[rows], mine, shape, count, home)
        index = np.full(count, -1, np.int32)
        index[: len(rows)] = np.where(mine, taken, -1)
        if result is None:
            result = _run_there(_take, home, piece, index, shape=shape)
        else:
            result = _run_there(_take_into, home, result, piece, index, shape=shape)
    assert result is not None
    return result


def _home(blocks: list[Block], placement: Sharding) -> Sharding:
    """Chooses where to join samples: at `placement` if a block is there, otherwise at the first block on a device."""
    found = [b.sharding for b in blocks if b.sharding is not None]
    home = next((s for s in found if s.device_set == placement.device_set), found[0])
    if len(home.device_set) == 1 or len(blocks) == 1:
        return home
    # The block's sharding might not divide the joined array evenly, so this array is replicated or put on one device.
    if isinstance(home, NamedSharding):
        return NamedSharding(home.mesh, PartitionSpec())
    devices: Any = home.device_set
    return SingleDeviceSharding(min(devices, key=lambda device: int(device.id)))


def _piece(
    block: Block, taken: Index, mine: HostArray, shape: tuple[int, ...], count: int, home: Sharding
) -> tuple[jax.Array, Index]:
    """Returns an array on `home` with the samples of a block, and the row of each sample in this array."""
    if isinstance(block, PaddedBlock):
        return _moved(block.array, home), taken
    if isinstance(block, LateBlock):
        assert block.padded is not None  # the block is not in host memory
        return block.padded(taken[mine], shape, count), np.cumsum(mine) - 1
    assert isinstance(block, SamplesBlock)
    alone = [_moved(block.arrays[row], home) for row in taken[mine].tolist()]
    padded = [_run_there(_cut, home, one[None], count=1, shape=shape) for one in alone]
    padded += padded[:1] * (count - len(padded))
    return _run_there(_joined, home, padded), np.cumsum(mine) - 1


def _run_there(program: Any, home: Sharding, *operands: Any, **static: Any) -> jax.Array:
    devices = home.device_set
    on_one = jax.default_device(next(iter(devices))) if len(devices) == 1 else contextlib.nullcontext()
    with unchecked(), on_one:
        result: jax.Array = program(*operands, **static)
        return result


def _fitted(array: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Pads or cuts all axes but the first to `shape`."""
    array = array[(slice(None), *map(slice, shape))]
    return jnp.pad(array, [(0, 0), *((0, n - m) for n, m in zip(shape, array.shape[1:], strict=True))])


@functools.partial(jax.jit, static_argnames=("count", "shape"))
def _cut(array: jax.Array, *, count: int, shape: tuple[int, ...]) -> jax.Array:
    """Returns the first `count` rows, padded or cut to `shape`."""
    return _fitted(array[:count], shape)


@functools.partial(jax.jit, static_argnames="shape")
def _take(array: jax.Array, index: jax.Array, *, shape: tuple[int, ...]) -> jax.Array:
    return _fitted(array.at[index].get(mode="promise_in_bounds"), shape)


@functools.partial(jax.jit, static_argnames="shape", donate_argnums=0)
def _take_into(result: jax.Array, array: jax.Array, index: jax.Array, *, shape: tuple[int, ...]) -> jax.Array:
    """Replaces the rows of `result` by the rows that `_take` returns, except where the index is negative."""
    chosen = (index >= 0).reshape(-1, *[1] * len(shape))
    return jnp.where(chosen, _take(array, index, shape=shape), result)


@jax.jit
def _cleared(array: jax.Array, extents: jax.Array) -> jax.Array:
    valid = jax.vmap(lambda extent: valid_mask(extent, array.shape[1:]))(extents)
    return jnp.where(valid, array, jnp.zeros((), array.dtype))


_joined = jax.jit(jnp.concatenate)
