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
    """For each epoch the numbers of each batch, and which belong to the epoch."""
    if pipes is None:
        pipes = pipeline(size, batch, pipeline_args={"on_error": "skip"}, **reader)
    with DataIterator(pipes, ["x"], reader_name="Reader", last_batch_policy=policy) as it:
        result = []
        for _ in range(count):
            given = []
            for b in it:
                given.append((np.asarray(b["x"]).ravel().tolist(), it._belongs.tolist()))
                if policy is PAD:
                    assert np.asarray(b["mask"]).tolist() == given[-1][1]
            result.append(given)
        return result


def test_by_hand():
    """10 numbers, 1 and 9 bad, batches of 3: 2 stands for 1 and comes no more, so all after it are earlier."""
    first, second = epochs(2, 10, 3, PAD, bad=(1, 9), pad=True)
    assert first == second
    yes, no = True, False
    assert first == [
        ([0, 3, 2], [yes, yes, yes]),
        ([4, 5, 6], [yes, yes, yes]),
        ([7, 8, 7], [yes, yes, no]),  # 9 is bad, and nothing comes after it
        ([7, 7, 7], [no, no, no]),
    ]


@pytest.mark.parametrize("policy", [FILL, PARTIAL, PAD])
@pytest.mark.parametrize("bad", [(0,), (4,), (10,), (0, 1, 2), (3, 7, 8, 9, 10), tuple(range(1, 11))])
@pytest.mark.parametrize("batch", [2, 3, 4, 11])
def test_every_good_number_once_an_epoch(policy, bad, batch):
    pads = policy is not FILL  # without padding batches run on into the next epoch
    good = sorted(set(range(11)) - set(bad))
    if pads:
        for given in epochs(3, 11, batch, policy, bad=bad, pad=True):
            assert sorted(belonging(given)) == good
            most = -(-11 // batch)
            assert len(given) == most if policy is PAD else len(given) == -(-len(good) // batch)
    else:
        sizes = [len(given) for given in epochs(4, 11, batch, policy)]
        got = epochs(4, 11, batch, policy, bad=bad)
        assert [len(given) for given in got] == sizes  # as if all were good
        everything = list(itertools.chain.from_iterable(b for given in got for b, _ in given))
        # 44 positions or a few more; each good number in each of the 4 epochs, repetitions and the next epoch.
        counts = np.bincount(everything, minlength=11)
        assert not counts[list(bad)].any()
        assert counts[good].min() >= 4
        for given, (start, end) in zip(got, itertools.pairwise(np.cumsum([0, *sizes]) * batch), strict=True):
            # The positions of an epoch are those of the reader: 11 k to 11 (k + 1).
            k = start // 11
            head = list(itertools.chain.from_iterable(b for b, _ in given))[: 11 * (k + 1) - start]
            if start == 11 * k and end >= 11 * (k + 1):
                assert set(head) == set(good)


def belonging(given):
    return [n for numbers, belongs in given for n, b in zip(numbers, belongs, strict=True) if b]


@pytest.mark.parametrize("bad", [(0,), (3, 4, 5), (6, 12)])
def test_several_shards_keep_in_step(bad):
    """Bad numbers in one shard do not move the other: as many batches in both, as if all were good."""
    options = {"on_error": "skip"}
    pipes = [
        pipeline(13, 2, pipeline_args=options, bad=bad, pad=True, shard_id=i, num_shards=2) for i in range(2)
    ]
    for given in epochs(4, 13, 2, PAD, pipes=pipes):
        assert len(given) == 4
        assert sorted(belonging(given)) == sorted(set(range(13)) - set(bad))


def test_a_state_between_bad_numbers():
    """Resumed where the reader is ahead of its position, and at the repetitions at the end of the epoch."""

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
