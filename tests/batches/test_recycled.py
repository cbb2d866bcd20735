"""Memory is handed out again only when nobody refers to it, and not too much is kept."""

import gc
import weakref

import numpy as np

from jdali._batches.recycled import Recycler, contiguous, empty

SIZE = Recycler.SMALLEST


def test_memory_in_use_is_not_handed_out():
    recycler = Recycler()
    first = recycler.take(SIZE)
    view = first[10:20]
    address = first.ctypes.data
    del first
    assert recycler.take(SIZE).ctypes.data != address
    del view
    assert recycler.take(SIZE).ctypes.data == address


def test_no_more_is_kept_than_allowed():
    recycler = Recycler(most_bytes=3 * SIZE)
    arrays = [recycler.take(SIZE) for _ in range(5)]
    alive = [weakref.ref(array.base) for array in arrays]
    del arrays
    gc.collect()
    assert sum(ref() is not None for ref in alive) == 3
    assert recycler.take(4 * SIZE).size == 4 * SIZE
    assert not recycler._kept
    assert not any(recycler._by_size.values())


def test_memory_serves_other_sizes_that_are_a_little_smaller():
    recycler = Recycler()
    address = recycler.take(15 * SIZE).ctypes.data
    again = recycler.take(15 * SIZE - 1000)
    assert (again.ctypes.data, again.size) == (address, 15 * SIZE - 1000)
    assert recycler.take(8 * SIZE).ctypes.data != address


def test_arrays_of_samples():
    whole = empty((300, 400, 3), np.float32)
    assert (whole.shape, whole.dtype) == ((300, 400, 3), np.float32)
    whole[:] = np.arange(3)
    part = contiguous(whole[50:250, 100:, 1:])
    assert part.flags.c_contiguous
    np.testing.assert_array_equal(part, np.broadcast_to([1, 2], (200, 300, 2)))
    assert contiguous(part) is part
    assert empty((0, 5), np.uint8).shape == (0, 5)
    assert empty((np.int64(500), np.int64(300)), np.float64).shape == (500, 300)
