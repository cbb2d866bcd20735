"""Gathering: samples of a batch into one padded array, on the host and on a device."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.accelerator import nothing_comes_to_the_host

from jdali._batches import gathering as _gather
from jdali._batches.extent import BatchSpec
from jdali._batches.gathering import gather
from jdali._batches.slabs import ALIGNMENT, SMALLEST, SlabPool, aligned_empty
from jdali._batches.store import Store
from jdali._system.devices import host_device
from jdali.tensors import RowSlice, TensorList

pytestmark = pytest.mark.gpu


def test_staging_buffers_are_aligned_and_fresh():
    first = aligned_empty((3, 5, 7), np.dtype(np.int16))
    second = aligned_empty((3, 5, 7), np.dtype(np.int16))
    assert first.ctypes.data % ALIGNMENT == 0
    assert not np.shares_memory(first, second)


SAMPLES = [
    np.random.default_rng(i).integers(0, 256, size, np.uint8)
    for i, size in enumerate([(1, 2), (3, 1), (2, 2), (3, 4)])
]


def in_blocks(samples, device=None):
    """A store of two padded blocks, of other paddings and with unused rows, in an order of their own."""
    blocks = [np.full((4, 3, 5), 99, np.uint8), np.full((3, 4, 4), 88, np.uint8)]
    rows_of = [(0, 2), (1, 0), (0, 1), (1, 2)]
    for (block, row), sample in zip(rows_of, samples, strict=True):
        blocks[block][(row, *map(slice, sample.shape))] = sample
    arrays = blocks if device is None else [jax.device_put(b, device) for b in blocks]
    parts = [
        RowSlice(
            array,
            np.array([r for b, r in rows_of if b == number]),
            np.array([i for i, (b, _) in enumerate(rows_of) if b == number]),
        )
        for number, array in enumerate(arrays)
    ]
    return Store.of_parts(parts, BatchSpec.of(samples, "HW"))


def check(array, samples):
    for row, sample in zip(np.asarray(array), samples, strict=False):
        np.testing.assert_array_equal(row[tuple(map(slice, sample.shape))], sample)


KINDS = {
    "samples": lambda device: (
        TensorList.from_samples(
            SAMPLES if device is None else [jax.device_put(s, device) for s in SAMPLES]
        ).store
    ),
    "blocks": lambda device: in_blocks(SAMPLES, device),
    "both": lambda device: (
        TensorList.concat(
            [
                TensorList.from_samples(SAMPLES[:2], "HW"),
                TensorList.from_store(in_blocks(SAMPLES, device)).select([2, 3]),
            ]
        ).store
    ),
}


@pytest.mark.parametrize("rows", [None, [2, 0], [3, 3, 1], [1]])
@pytest.mark.parametrize("kind", KINDS)
def test_gather_pads_the_chosen_samples(accelerator, kind, rows):
    wanted = SAMPLES if rows is None else [SAMPLES[row] for row in rows]
    index = None if rows is None else np.array(rows)
    for there in (None, accelerator):
        store = KINDS[kind](there)
        host = gather(store, index, (3, 4), None, count=5)
        assert host.shape == (5, 3, 4)
        check(host, wanted)
        with nothing_comes_to_the_host():
            array = gather(store, index, (3, 4), accelerator, count=5)
        assert array.shape == (5, 3, 4)
        assert array.devices() == {accelerator}
        check(array, wanted)


def test_gather_leases_what_it_puts_together_on_the_host(accelerator):
    pool = SlabPool()
    samples = [np.full((300, size), size, np.float32) for size in (150, 200)]
    store = TensorList.from_samples(samples).store
    with pool:
        host = gather(store, None, (300, 200), None)
        assert SMALLEST <= host.nbytes <= pool.usage().leased
        array = gather(store, None, (300, 200), accelerator)
    check(host, samples)
    del host
    check(array, samples)
    del array
    gc.collect()  # JAX keeps the values of an array that was looked at with it
    assert pool.usage().leased == 0


def test_gather_on_a_device_moves_to_another(accelerator):
    other = next((d for d in jax.local_devices() if d not in (accelerator, host_device())), None)
    if other is None:
        pytest.skip("there is no third device")
    store = in_blocks(SAMPLES, accelerator)
    with nothing_comes_to_the_host():
        array = gather(store, None, (3, 4), other)
    assert array.devices() == {other}
    check(array, SAMPLES)


def test_gather_hands_on_an_array_that_fits_already(accelerator):
    array = jax.device_put(np.arange(24).reshape(2, 3, 4).astype(np.int32), accelerator)
    spec = BatchSpec(np.array([[3, 4], [2, 4]]), np.int32)
    store = Store.of_parts([RowSlice(array, np.array([0, 1]), np.array([0, 1]))], spec)
    both = np.array([0, 1])
    assert gather(store, both, (3, 4), accelerator, count=2) is array
    assert gather(store, both[::-1], (3, 4), accelerator, count=2) is not array
    here = Store.of_parts([RowSlice(jnp.asarray(np.asarray(array), device=host_device()), both, both)], spec)
    assert gather(here, both, (3, 4), None, count=2) is here.blocks[0].array
    assert gather(here, both[:1], (3, 4), None, count=2) is here.blocks[0].array
    (first, _) = gather(here, both[1:], (3, 4), None, count=2)
    np.testing.assert_array_equal(first[:2], array[1, :2])


def test_gathering_compiles_for_shapes_only(accelerator):
    """Not for which samples there are, nor for how many come from which block."""
    store = in_blocks(SAMPLES, accelerator)
    programs = (_gather._take, _gather._take_into, _gather._cut)
    gather(store, np.array([0, 1, 2, 3]), (3, 4), accelerator, count=4)
    gather(store, np.array([1, 0]), (3, 4), accelerator, count=4)
    gather(store, np.array([3]), (3, 4), accelerator, count=4)
    gather(store, np.array([0]), (3, 4), accelerator, count=4)
    before = [program._cache_size() for program in programs]
    for rows in ([3, 2, 1, 0], [0, 0, 0], [2, 1], [1, 3], [2]):
        gather(store, np.array(rows), (3, 4), accelerator, count=4)
    assert [program._cache_size() for program in programs] == before


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.bool_, np.float16])
def test_gather_keeps_the_element_type(accelerator, dtype):
    samples = [sample.astype(dtype) for sample in SAMPLES]
    for store in (in_blocks(samples), TensorList.from_samples(samples).store):
        array = gather(store, np.array([2, 0]), (3, 4), accelerator)
        assert array.dtype == dtype
        check(array, [samples[2], samples[0]])


def test_scalars_and_nothing(accelerator):
    numbers = TensorList.from_samples([np.int32(3), np.int32(5), np.int32(7)])
    np.testing.assert_array_equal(gather(numbers.store, np.array([2, 0]), (), None), [7, 3])
    there = Store.of_block(_gather.PaddedBlock(jax.device_put(np.arange(3), accelerator)), numbers.spec)
    np.testing.assert_array_equal(np.asarray(gather(there, np.array([2, 0]), (), accelerator)), [2, 0])
    assert gather(numbers.store.select(np.zeros(0, int)), None, (), accelerator).shape == (0,)


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (3, 0, 3), (0, 0)], ids=str)
def test_equal_samples_without_elements(accelerator, shape):
    store = TensorList.from_samples([np.zeros(shape, np.float32)] * 3).store
    for padded in (shape, tuple(n + 1 for n in shape)):
        assert gather(store, None, padded, accelerator).shape == (3, *padded)


def test_moving_indices_keeps_where_samples_came_from(accelerator):
    names = ["a", "b", "c", "d"]
    batch = TensorList.from_store(in_blocks(SAMPLES, accelerator), "gpu", names)
    chosen = batch.select([3, 1, 1])
    assert chosen.source_info() == ["d", "b", "b"]
    parts = [batch.select([0, 2]), batch.select([1, 3])]
    assert TensorList.merge(parts, [[1, 0], [3, 2]]).source_info() == ["c", "a", "d", "b"]
    assert TensorList.concat(parts).to_device("cpu").source_info() == ["a", "c", "b", "d"]
    assert [batch[i].source_info() for i in (0, -1)] == ["a", "d"]
    assert batch[1:3].source_info() == ["b", "c"]
    assert [s.source_info() for s in chosen] == ["d", "b", "b"]
