"""Samples of a store whose memory is given up."""

import weakref

import numpy as np
import pytest

from jdali._batches import BatchSpec, PaddedBlock, SamplesBlock, Store, gather


def test_dropped_samples_are_gone_and_others_stay():
    arrays = [np.full((n, 2), n, np.uint8) for n in (1, 2, 3, 4)]
    store = Store.of_block(SamplesBlock(arrays), BatchSpec.of(arrays)).select(np.array([3, 0, 1]))
    gone = weakref.ref(arrays[3])
    kept = arrays[0]
    del arrays
    store.drop(np.array([0, 2]))
    assert gone() is None
    assert store.host_sample(1) is kept
    assert sum(block.nbytes for block in store.blocks) == 2 + 6  # the one left out by `select` is still there
    np.testing.assert_array_equal(gather(store, np.array([1]), (1, 2), None), [[[1, 1]]])
    with pytest.raises(RuntimeError, match="row 3 was dropped"):
        store.host_sample(0)


def test_rows_of_one_array_stay():
    array = np.arange(6, dtype=np.uint8).reshape(3, 2)
    store = Store.of_block(PaddedBlock(array), BatchSpec.of(list(array)))
    store.drop(np.array([0]))
    np.testing.assert_array_equal(store.host_sample(0), [0, 1])
