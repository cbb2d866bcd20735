"""Memory is handed out again only when nobody refers to it, and not too much is kept."""

import gc
import weakref

from jdali._recycled import Recycler

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
    alive = [weakref.ref(array) for array in arrays]
    del arrays
    gc.collect()
    assert sum(ref() is not None for ref in alive) == 3
    assert recycler.take(4 * SIZE).size == 4 * SIZE
    assert not recycler._kept
