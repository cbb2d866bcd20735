"""Stand-ins follow from epoch, index and attempt alone: no batch depends on another, and none on how it is made."""

import json
import math
from contextlib import closing

import numpy as np
import pytest
from engine.identities import sample_ids
from support import worker_pipelines
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali._errors import SampleError
from jdali.engine.recovery import MOST_TRIED, StandIns
from jdali.engine.task import BatchTask, SourceData
from jdali.readers.order.epochs import SampleRefs


# --- tasks -----------------------------------------------------------------------------------------
def refs(indices, epoch=0):
    count = len(indices)
    return SampleRefs(np.full(count, epoch, np.uint32), np.array(indices), np.arange(count) == count - 1)


def tried(index, size, epoch=0):
    """All samples that stand in for one whose stand-ins fail, too."""
    stand_ins, found = StandIns(BatchTask.of({"r": refs([index], epoch)}, {}), {"r": size}), []
    while True:
        try:
            task = stand_ins.replace([0])
        except LookupError:
            return found
        ((index,), (of_epoch,)) = task.refs["r"].indices.tolist(), task.refs["r"].epochs.tolist()
        assert of_epoch == epoch
        assert (task.ids.index.tolist(), task.ids.epoch.tolist()) == ([index], [epoch])
        assert (task.mask.tolist(), task.padded.tolist()) == ([False], [True])
        found.append(index)


@pytest.mark.parametrize("size", [1, 2, 3, MOST_TRIED, MOST_TRIED + 1, 2 * MOST_TRIED + 5, 10**6 + 3])
def test_all_samples_of_a_small_data_set_are_tried_and_many_of_a_large_one(size):
    for index in {0, size // 2, size - 1}:
        found = tried(index, size)
        assert len(found) == min(size, MOST_TRIED) - 1
        assert len({index, *found}) == len(found) + 1
        assert all(0 <= other < size for other in found)
        assert found == tried(index, size, epoch=7)


def test_those_of_a_large_data_set_come_from_all_of_it():
    """Damage is often local: one file of many records."""
    size = 100 * MOST_TRIED
    assert tried(0, size)[0] == 1
    found = np.sort(tried(0, size))
    assert np.diff([0, *found, size]).max() <= 3 * size / MOST_TRIED


@pytest.mark.parametrize("size", [100, 1000, 10**6])
def test_of_damage_that_is_local_few_are_tried(size):
    """A tenth of the data set, samples that lie one after another."""
    for index in range(0, size // 10, size // 50):
        assert next(n for n, other in enumerate(tried(index, size)) if other >= size // 10) < 4


def test_neither_position_nor_what_fails_beside_it_counts():
    expected = {index: tried(index, 50) for index in range(50)}
    rng = np.random.default_rng(2)
    for _ in range(20):
        indices = rng.choice(50, 8, replace=False)
        stand_ins, attempts = StandIns(BatchTask.of({"r": refs(indices)}, {}), {"r": 50}), np.zeros(8, int)
        for _ in range(4):
            bad = rng.choice(8, rng.integers(1, 5), replace=False)
            attempts[bad] += 1
            task = stand_ins.replace(bad.tolist())
            wanted = [expected[i][a - 1] if a else i for i, a in zip(indices.tolist(), attempts, strict=True)]
            assert task.refs["r"].indices.tolist() == wanted
            assert task.mask.tolist() == (attempts == 0).tolist()


def test_samples_that_readers_give_together_stay_together():
    both = {"r": refs([3, 4, 5]), "other": refs([3, 4, 5]), "short": refs([1, 0, 1])}
    stand_ins = StandIns(BatchTask.of(both, {}), {"r": 6, "other": 6, "short": 2})
    for attempt in range(5):
        task = stand_ins.replace([1])
        assert task.refs["r"].indices.tolist() == task.refs["other"].indices.tolist()
        assert task.refs["r"].indices.tolist() == [3, tried(4, 6)[attempt], 5]
        assert task.refs["short"].indices[1] in (0, 1)
    with pytest.raises(LookupError):
        stand_ins.replace([1])


def with_data(*indices):
    """The task of a reader and an external source, whose value is ten times the index."""
    given = SourceData(([np.array(10 * index) for index in indices],), ("",))
    return BatchTask.of({"r": refs(indices)}, {"s": given})


def rows(task):
    return task.refs["r"].indices.tolist(), [int(value) for value in task.data["s"].outputs[0]]


def test_beside_an_external_source_a_good_pair_of_the_batch_is_repeated():
    stand_ins = StandIns(with_data(5, 6, 7, 8), {"r": 100})
    task = stand_ins.replace([0, 2])
    assert rows(task) == ([6, 6, 6, 8], [60, 60, 60, 80])
    assert task.mask.tolist() == [False, True, False, True]
    # The copies fail as what they were copied from.
    task = stand_ins.replace([0, 1, 2])
    assert rows(task) == ([8, 8, 8, 8], [80, 80, 80, 80])
    assert task.mask.tolist() == [False, False, False, True]
    assert len(stand_ins.replace([3])) == 0


def test_without_a_reader_as_well():
    given = SourceData(([np.array(value) for value in (1, 2, 3)],), ("",))
    task = StandIns(BatchTask(sample_ids(3), np.ones(3, bool), {}, {"s": given}), {}).replace([0])
    assert [int(value) for value in task.data["s"].outputs[0]] == [2, 2, 3]
    assert task.ids.index.tolist() == [1, 1, 2]  # so it draws the same random values


# --- pipelines -------------------------------------------------------------------------------------
SIZE, EPOCHS = 17, 3


def pipeline(batch_size=3, bad=(), *, shard=0, shards=1, **options):
    """Shuffled numbers and a random value of each."""
    pipe = jdali.Pipeline(
        **{"batch_size": batch_size, "num_threads": 1, "seed": 5, "on_error": "skip", **options}
    )
    with pipe:
        reader = NumberReader(SIZE, bad=bad, shuffle=True, shard_id=shard, num_shards=shards, pad=True)
        pipe.set_outputs(numbers(reader), fn.random.uniform(range=(0, 1)))
    return pipe


def samples(pipe, batches):
    """Epoch, number, bits of the random value, mask and padding of each sample."""
    found = []
    for _ in range(batches):
        result = pipe.run_result()
        values, drawn = (output.as_array() for output in result.outputs)
        columns = result.ids.epoch, values.ravel(), drawn.view(np.int32).ravel(), result.mask, result.padded
        found += zip(*(column.tolist() for column in columns), strict=True)
    return found


def batches_of(batch_size, shards):
    return EPOCHS * math.ceil(math.ceil(SIZE / shards) / batch_size)


def bad_numbers(seed):
    rng = np.random.default_rng(seed)
    return tuple(rng.choice(SIZE, rng.integers(1, SIZE), replace=False).tolist())


def stand_in(number, bad):
    """The first good number of those that are tried."""
    return next(one for one in (number, *tried(number, SIZE)) if one not in bad)


@pytest.mark.cases(4)
@pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
@pytest.mark.parametrize("shards", [1, 2, 3])
def test_bits_follow_from_the_number_that_is_bad(batch_size, shards):
    """Whatever the batches and shards; a stand-in has the random values that it has where it belongs."""
    count = batches_of(batch_size, shards)
    with pipeline() as pipe:
        drawn = {sample[:2]: sample[2] for sample in samples(pipe, batches_of(3, 1))}
    assert len(drawn) == EPOCHS * SIZE
    bad = bad_numbers(10 * batch_size + shards)
    for shard in range(shards):
        with pipeline(batch_size, shard=shard, shards=shards) as pipe:
            wanted = [
                (epoch, other := stand_in(number, bad), drawn[epoch, other], number not in bad, padded)
                for epoch, number, _, _, padded in samples(pipe, count)
            ]
        with pipeline(batch_size, bad, shard=shard, shards=shards) as pipe:
            assert samples(pipe, count) == wanted
            listed = [(error.epoch, error.index) for error in pipe.errors]
        assert len(listed) == len(set(listed)) == sum(not real for *_, real, padded in wanted if not padded)


@pytest.mark.parametrize("seed", range(4))
def test_a_restored_state_goes_on_with_the_same_bits(seed):
    bad, count = bad_numbers(seed), batches_of(3, 1)
    with pipeline(3, bad) as pipe:
        wanted, states = [], []
        for _ in range(count):
            wanted.append(samples(pipe, 1))
            states.append(json.dumps(pipe.get_state()))
    with pipeline(3, bad) as good:
        start = good.get_state()
    for done in np.random.default_rng(seed).choice(count - 1, 5, replace=False).tolist():
        state = json.loads(states[done])
        # A bad sample leaves nothing in a state; what states of older versions had of them and of shapes is ignored.
        assert set(state) == set(start)
        old = state | {"ahead": {"Reader": [0, 2, [0, 1]]}, "levels": {"uniform 2": 3}}
        for given in (state, old):
            with pipeline(3, bad, exec_async=False, exec_pipelined=False) as pipe:
                pipe.set_state(given)
                assert [samples(pipe, 1) for _ in range(3)][: count - done - 1] == (
                    wanted[done + 1 : done + 4]
                )


def test_workers_make_the_same_stand_ins(tmp_path):
    folder = worker_pipelines.write_pictures(tmp_path / "pictures", worker_pipelines.BAD)

    @jdali.pipeline_def(batch_size=3, num_threads=1, seed=7, on_error="mask")
    def pictures():
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True, name="pictures")
        return fn.decoders.image(encoded), label, fn.random.uniform(range=(0.0, 1.0))

    def run(workers):
        with closing(pictures(workers=workers)) as pipe:
            made = []
            for _ in range(8):
                result = pipe.run_result()
                outputs = [[sample.tobytes() for sample in o.as_cpu().to_samples()] for o in result.outputs]
                made.append((outputs, result.mask.tolist()))
            return made, [(error.epoch, error.index, error.operator) for error in pipe.errors]

    assert run(1) == run(0)


def test_if_no_stand_in_is_left_the_sample_s_error_is_raised():
    with (
        pipeline(2, tuple(range(SIZE))) as pipe,
        pytest.raises(jdali.OperatorError, match="number .* is bad"),
    ):
        pipe.run()


def test_the_last_good_sample_stands_in_for_all():
    with pipeline(4, tuple(i for i in range(SIZE) if i != 6)) as pipe:
        assert {number for _, number, *_ in samples(pipe, 5)} == {6}


def test_an_operator_that_fails_for_a_pair_of_an_external_source():
    """What is bad is not what the reader gave: the whole pair goes."""

    def refuse(value):
        if value % 4 == 1:
            raise SampleError("bad")
        return value

    pipe = jdali.Pipeline(batch_size=4, num_threads=1, seed=1, on_error="mask")
    with pipe:
        given = fn.external_source(lambda i: np.arange(4 * i, 4 * i + 4, dtype=np.int64))
        pipe.set_outputs(numbers(NumberReader(8)), fn.python_function(given, function=refuse))
    with pipe:
        for first in (0, 4):
            result = pipe.run_result()
            wanted = [first, first, first + 2, first + 3]
            assert [out.as_array().ravel().tolist() for out in result.outputs] == [wanted, wanted]
            assert result.mask.tolist() == [True, False, True, True]
