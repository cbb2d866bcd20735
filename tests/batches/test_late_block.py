"""Samples that are made when they are asked for."""

import jax
import numpy as np
import pytest

from jdali._batches import BatchSpec, LateBlock, PaddedBlock, Store, gather

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


@pytest.fixture
def there(accelerator):
    """A store whose samples 0 and 2 are made on the accelerator, and what was asked of it; sample 1 is on the host."""
    asked = []

    def padded(rows, shape, count):
        asked.append((rows.tolist(), shape, count))
        made = np.full((count, *shape), 99, np.uint8)
        for row, number in zip(made, rows.tolist(), strict=False):
            sample = SAMPLES[2 * number]
            row[: len(sample), : sample.shape[1]] = sample
        return jax.device_put(made, accelerator)

    def make(rows):
        return [SAMPLES[2 * row] for row in rows.tolist()]

    late = Store.of_block(LateBlock(make, 2, padded, accelerator), BatchSpec.of(SAMPLES[::2], "HW"))
    here = Store.of_block(PaddedBlock(SAMPLES[1][None]), BatchSpec.of(SAMPLES[1:2], "HW"))
    return Store.concat([late, here]).select(np.array([0, 2, 1])), asked


@pytest.mark.parametrize("rows", [[0, 2], [2], [2, 0, 2], [0, 1, 2], [1, 2], [1]])
def test_a_device_makes_its_samples_padded(there, accelerator, rows):
    store, asked = there
    assert (store.local, store.blocks[0].nbytes, store.sharding.device_set) == (False, 0, {accelerator})
    found = gather(store, np.array(rows), (5, 6), accelerator, count=4)
    assert found.shape == (4, 5, 6)
    assert found.devices() == {accelerator}
    own = [row // 2 for row in rows if row != 1]
    assert asked == ([(own, (5, 6), 4)] if own else [])
    for made, row in zip(found, rows, strict=False):
        np.testing.assert_array_equal(made[: len(SAMPLES[row])], SAMPLES[row])


def test_the_host_makes_what_it_reads(there):
    store, asked = there
    assert store.to_host().local
    for read in (store, store.to_host()):
        found = gather(read, None, (5, 6), None)
        for made, sample in zip(found, SAMPLES, strict=True):
            np.testing.assert_array_equal(made[: len(sample)], sample)
    assert not asked
