"""on_error="skip": epochs of an iterator stay those of the reader, whatever could not be read."""

import itertools
import json

import numpy as np
import pytest
from support.numbers import pipeline

import jdali
from jdali.iterator import DataIterator, LastBatchPolicy

FILL, DROP, PARTIAL, PAD = LastBatchPolicy


def epochs(count, size, batch, policy, *, pipes=None, **reader):
    """For each epoch the numbers of each batch, and the mask, which only PAD has."""
    if pipes is None:
        pipes = pipeline(size, batch, pipeline_args={"on_error": "skip"}, **reader)
    with DataIterator(pipes, ["x"], reader_name="Reader", last_batch_policy=policy) as it:
        result = []
        for _ in range(count):
            given = []
            for b in it:
                assert ("mask" in b) == (policy is PAD)
                given.append(
                    (np.ravel(b["x"]).tolist(), np.ravel(b["mask"]).tolist() if policy is PAD else None)
                )
            result.append(given)
        return result


def test_by_hand():
    """10 numbers, 1 and 9 bad, batches of 3: 2 and 0 stand in for them, and come where they belong."""
    first, second = epochs(2, 10, 3, PAD, bad=(1, 9), pad=True)
    assert first == second
    yes, no = True, False
    assert first == [
        ([0, 2, 2], [yes, no, yes]),
        ([3, 4, 5], [yes, yes, yes]),
        ([6, 7, 8], [yes, yes, yes]),
        ([0, 0, 0], [no, no, no]),  # the reader repeats 9 to fill up
    ]


@pytest.mark.cases(24)
@pytest.mark.parametrize("policy", [FILL, PARTIAL, PAD])
@pytest.mark.parametrize("bad", [(0,), (4,), (10,), (0, 1, 2), (3, 7, 8, 9, 10), tuple(range(1, 11))])
@pytest.mark.parametrize("batch", [2, 3, 4, 11])
def test_every_good_number_in_each_epoch(policy, bad, batch):
    """Exactly once where the mask is True; stand-ins stay in the epoch, and only what fills its last batch is cut off."""
    pads = policy is not FILL  # without padding batches run on into the next epoch
    good = sorted(set(range(11)) - set(bad))
    if pads:
        for given in epochs(3, 11, batch, policy, bad=bad, pad=True):
            assert len(given) == -(-11 // batch)  # as if all were good
            if policy is PAD:
                assert sorted(masked(given)) == good
            else:
                values = list(itertools.chain.from_iterable(numbers for numbers, _ in given))
                assert sorted(set(values)) == good
                assert len(values) == 11
    else:
        sizes = [len(given) for given in epochs(4, 11, batch, policy)]
        got = epochs(4, 11, batch, policy, bad=bad)
        assert [len(given) for given in got] == sizes  # as if all were good
        everything = list(itertools.chain.from_iterable(b for given in got for b, _ in given))
        # 44 positions or a few more; each good number in each of the 4 epochs, stand-ins and the next epoch.
        counts = np.bincount(everything, minlength=11)
        assert not counts[list(bad)].any()
        assert counts[good].min() >= 4
        for given, (start, end) in zip(got, itertools.pairwise(np.cumsum([0, *sizes]) * batch), strict=True):
            # The positions of an epoch are those of the reader: 11 k to 11 (k + 1).
            k = start // 11
            head = list(itertools.chain.from_iterable(b for b, _ in given))[: 11 * (k + 1) - start]
            if start == 11 * k and end >= 11 * (k + 1):
                assert set(head) == set(good)


def masked(given):
    return [n for numbers, mask in given for n, real in zip(numbers, mask, strict=True) if real]


@pytest.mark.parametrize("bad", [(0,), (3, 4, 5), (6, 12)])
def test_several_shards_keep_in_step(bad):
    """Bad numbers in one shard do not move the other: as many batches in both, as if all were good."""
    options = {"on_error": "skip"}
    pipes = [
        pipeline(13, 2, pipeline_args=options, bad=bad, pad=True, shard_id=i, num_shards=2) for i in range(2)
    ]
    for given in epochs(4, 13, 2, PAD, pipes=pipes):
        assert len(given) == 4
        assert sorted(masked(given)) == sorted(set(range(13)) - set(bad))


def test_a_state_between_bad_numbers():
    """Resumed behind stand-ins, and at the repetitions at the end of the epoch."""

    def make():
        pipe = pipeline(10, 3, pipeline_args={"on_error": "skip"}, bad=(1, 2, 6), pad=True)
        return DataIterator(pipe, ["x"], reader_name="Reader", last_batch_policy=PAD)

    with make() as it:
        states, rows = [], []
        for _ in range(3):
            for b in it:
                rows.append((np.asarray(b["x"]).ravel().tolist(), np.asarray(b["mask"]).tolist()))
                states.append(json.dumps(it.get_state()))
    assert len(rows) == 12
    for i, state in enumerate(states[:6]):
        with make() as it:
            it.set_state(json.loads(state))
            got = []
            while len(got) < 5:
                got += [(np.asarray(b["x"]).ravel().tolist(), np.asarray(b["mask"]).tolist()) for b in it]
        assert got[:5] == rows[i + 1 : i + 6]


def test_nothing_can_be_read():
    pipe = pipeline(6, 3, pipeline_args={"on_error": "skip"}, bad=tuple(range(6)), pad=True)
    with DataIterator(pipe, ["x"], reader_name="Reader") as it, pytest.raises(jdali.OperatorError):
        next(it)


def test_each_bad_number_is_listed_once_an_epoch():
    """Repetitions of the last number, which is bad, are not listed again."""
    pipe = pipeline(10, 4, pipeline_args={"on_error": "skip", "prefetch_queue_depth": 1}, bad=(9,), pad=True)
    with DataIterator(pipe, ["x"], reader_name="Reader", prepare_first_batch=False) as it:
        assert len(list(it)) == 3
    listed = [error.index for error in pipe.errors if error.epoch == 0]
    assert listed == [9]
