"""Samples that are made when they are asked for."""

import numpy as np

from jdali._batches import BatchSpec, LateBlock, Store, gather

SAMPLES = [np.arange(6 * n, dtype=np.uint8).reshape(n, 6) for n in (2, 3, 4)]


def store(asked=None):
    def make(rows):
        if asked is not None:
            asked.append(rows.tolist())
        return [SAMPLES[row] for row in rows.tolist()]

    return Store.of_block(LateBlock(make, 3), BatchSpec.of(SAMPLES, "HW"))


def test_nothing_is_made_before_it_is_asked_for_and_then_only_that():
    asked = []
    late = store(asked)
    assert (late.local, late.blocks[0].nbytes, late.sharding) == (True, 0, None)
    chosen = late.to_host().select(np.array([2, 0]))
    assert not asked
    found = gather(chosen, np.array([1, 0]), (5, 6), None)
    assert asked == [[0, 2]]
    np.testing.assert_array_equal(found[0, :2], SAMPLES[0])
    np.testing.assert_array_equal(found[1, :4], SAMPLES[2])


def test_it_reads_as_other_blocks_do():
    late = store()
    for i, sample in enumerate(SAMPLES):
        np.testing.assert_array_equal(late.host_sample(i), sample)
        np.testing.assert_array_equal(late.sample(i), sample)
        viewed = late.view(np.dtype(np.int8)).host_sample(i)
        assert viewed.dtype == np.int8
        np.testing.assert_array_equal(viewed, sample.view(np.int8))
    assert [s.tolist() for s in late.host_samples()] == [s.tolist() for s in SAMPLES]
    assert late.padded_shape() == (4, 6)
