"""Staging: samples into padded arrays, small arrays into one."""

import gc

import jax
import jax.numpy as jnp
import numpy as np

from jdali._extent import BatchSpec
from jdali._recycled import Recycler
from jdali.engine import _staging
from jdali.engine._staging import ALIGNMENT, Packing, aligned_empty, gather
from jdali.tensors import Part, TensorList


def test_staging_buffers_are_aligned_and_fresh():
    first = aligned_empty((3, 5, 7), np.dtype(np.int16))
    second = aligned_empty((3, 5, 7), np.dtype(np.int16))
    assert first.ctypes.data % ALIGNMENT == 0
    assert not np.shares_memory(first, second)


def test_large_buffers_come_back_only_when_nobody_holds_them(monkeypatch):
    monkeypatch.setattr(_staging, "_RECYCLER", Recycler())  # without memory that other tests let go of
    shape, dtype = (3, 500, 401), np.dtype(np.float32)
    first = aligned_empty(shape, dtype)
    first[:] = 1
    held = jax.device_put(first)  # aliases the memory on a CPU
    address = first.ctypes.data
    del first
    other = aligned_empty(shape, dtype)
    other[:] = 2
    assert other.ctypes.data != address
    np.testing.assert_array_equal(np.asarray(held), np.ones(shape))
    piece = np.asarray(held)[1:2]
    del held
    third = aligned_empty(shape, dtype)
    third[:] = 3
    assert third.ctypes.data != address
    assert (piece == 1).all()
    del piece, third, other
    gc.collect()
    again = [aligned_empty(shape, dtype) for _ in range(3)]
    assert address in [a.ctypes.data for a in again]


def test_gather_pads_the_chosen_samples():
    samples = [np.full((h, w), 10 * h + w, np.uint8) for h, w in [(1, 2), (3, 1), (2, 2)]]
    staged = gather(TensorList.from_samples(samples), np.array([2, 0]), 4, (3, 2), None)
    assert staged.shape == (4, 3, 2)
    np.testing.assert_array_equal(staged[0, :2, :2], samples[2])
    np.testing.assert_array_equal(staged[1, :1, :2], samples[0])


def test_gather_hands_on_an_array_that_fits_already():
    array = jnp.arange(24).reshape(2, 3, 4)
    spec = BatchSpec(np.array([[3, 4], [2, 4]]), np.int32)
    batch = TensorList.from_parts([Part(array, np.array([0, 1]), np.array([0, 1]))], spec)
    assert gather(batch, np.array([0, 1]), 2, (3, 4), None) is array
    assert gather(batch, np.array([1, 0]), 2, (3, 4), None) is not array


def test_packed_arrays_come_out_again():
    rng = np.random.default_rng(0)
    arrays = [
        rng.integers(-5, 5, (4, 3)).astype(np.int32),
        rng.normal(size=(4, 2, 2)).astype(np.float32),
        np.array([0, 1, 2**32 - 1, 7], np.uint32),
        np.array([True, False, True, True]),
        np.array([np.nan, np.inf, -0.0, 1e-40], np.float32),
        rng.integers(0, 255, (4, 0)).astype(np.uint8),
    ]
    packing = Packing(arrays)
    packed, apart = packing.pack(arrays, 4)
    assert apart == []
    for got, want in zip(jax.jit(packing.unpack)(packed, apart), arrays, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_values_of_64_bits_stay_apart():
    arrays = [np.arange(3, dtype=np.int64) << 40, np.arange(3, dtype=np.int32)]
    packing = Packing(arrays)
    packed, apart = packing.pack(arrays, 3)
    with jax.enable_x64(True):
        wide, narrow = jax.jit(packing.unpack)(packed, apart)
    np.testing.assert_array_equal(wide, arrays[0])
    np.testing.assert_array_equal(narrow, arrays[1])
