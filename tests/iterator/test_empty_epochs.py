"""LastBatchPolicy.DROP where a shard is smaller than a batch: as the real DALI's iterator for JAX."""

import os
from pathlib import Path

import pytest
from support import oracle

import jdali
from jdali.iterator import DataIterator, LastBatchPolicy

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]
EPOCHS = 3
# Samples, shards: less than a batch of 4 in each.
SIZES = [(3, 1), (7, 2), (9, 3)]


@pytest.fixture
def make(tmp_path):
    """Makes DALI's iterator, or jdali's, over the first shard."""
    dali = oracle.dali()
    theirs = pytest.importorskip("nvidia.dali.plugin.jax")

    def maker(ours, size, shards, **options):
        files = [str(tmp_path / str(i)) for i in range(size)]
        for file in files:
            # Once: DALI's threads map files, and a file that is written anew is empty for a moment, which kills the process.
            if not os.path.exists(file):
                Path(file).write_bytes(b"x")
        package = jdali if ours else dali
        pipe = package.Pipeline(batch_size=4, num_threads=1, device_id=None)
        with pipe:
            _, label = package.fn.readers.file(files=files, name="Reader", num_shards=shards)
            pipe.set_outputs(label)
        iterator = DataIterator if ours else theirs.DALIGenericIterator
        policy = LastBatchPolicy if ours else theirs.iterator.LastBatchPolicy
        return iterator(pipe, ["x"], reader_name="Reader", last_batch_policy=policy.DROP, **options)

    return maker


@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize(("size", "shards"), SIZES)
def test_epochs_are_empty_without_a_first_batch(make, size, shards, auto_reset):
    found = []
    for ours in (False, True):
        iterator = make(ours, size, shards, auto_reset=auto_reset, prepare_first_batch=False)
        assert len(iterator) == 0
        for _ in range(EPOCHS):
            found.append(list(iterator))
            iterator.reset()
    assert found == [[]] * 2 * EPOCHS


@pytest.mark.parametrize(("size", "shards"), SIZES)
@pytest.mark.parametrize("ours", [False, True])
def test_a_first_batch_is_an_error(make, ours, size, shards):
    with pytest.raises(RuntimeError, match="It seems that there is no data in the pipeline"):
        make(ours, size, shards)


def test_states_and_replaying(make):
    iterator = make(True, 3, 1, prepare_first_batch=False, auto_reset=True)
    assert list(iterator) == []
    state = iterator.get_state()
    iterator.set_state(state)
    assert list(iterator) == []
    with pytest.raises(IndexError, match="batch_at: there is no batch"):
        iterator.batch_at(0)
