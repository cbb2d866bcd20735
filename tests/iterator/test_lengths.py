"""`len(iterator)` and `iterator.size` are what loops give: for all policies, batch sizes, shards, on from any batch."""

import io
import itertools
import json

import numpy as np
import pytest

import jdali
from jdali import fn
from jdali.iterator import DataIterator, LastBatchPolicy

FILL, DROP, PARTIAL, PAD = LastBatchPolicy
POLICIES = [FILL, DROP, PARTIAL, PAD]


class Numbers:
    """Numbers from 0 on, some of which cannot be read."""

    def __init__(self, count, bad=()):
        self.count, self.bad = count, bad

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index in self.bad:
            raise jdali.SampleError(f"number {index} is bad")
        return np.int32([index])


def iterator(policy, *, count=10, batch=3, shards=1, ids=(0,), bad=(), on_error="raise", **reader):
    reader = {"pad_last_batch": policy is PAD, **reader}
    pipes = []
    for shard in ids:
        with jdali.Pipeline(
            batch_size=batch,
            num_threads=1,
            device_id=None,
            exec_pipelined=False,
            exec_async=False,
            on_error=on_error,
        ) as pipe:
            numbers = fn.readers.dataset(
                dataset=Numbers(count, bad), name="r", shard_id=shard, num_shards=shards, **reader
            )
            pipe.set_outputs(numbers)
        pipes.append(pipe)
    return DataIterator(pipes, ["x"], reader_name="r", last_batch_policy=policy, prepare_first_batch=False)


def rows(batches, policy):
    """Numbers of real samples in each batch."""
    return [int(batch["mask"].sum()) if policy is PAD else len(batch["x"]) for batch in batches]


def state_after(it, batches):
    for _ in range(batches):
        next(it)
    return json.loads(json.dumps(it.get_state()))


CASES = [
    {"count": count, "batch": batch, "shards": shards, "ids": (shards - 1,), "pad_last_batch": pads}
    for count, (batch, shards), pads in itertools.product((10, 13), ((3, 1), (4, 3), (2, 2)), (False, True))
    if count // shards >= batch
]
# PAD needs `pad_last_batch`, and DROP does not go with it.
RUNS = [
    (policy, case)
    for policy in POLICIES
    for case in CASES
    if policy not in (DROP, PAD) or case["pad_last_batch"] is (policy is PAD)
]


@pytest.mark.parametrize(("policy", "case"), RUNS, ids=str)
def test_what_is_said_is_delivered(policy, case):
    with iterator(policy, **case) as it, iterator(policy, **case) as other:
        for _ in range(4):
            whole, size, before, state = len(it), it.size, [], it.get_state()
            for first in range(whole):
                other.set_state(state)
                said, told = len(other), other.size
                given = rows(list(other), policy)
                assert said == len(given) == whole - first
                assert told == sum(given) == size - sum(before)
                before += rows([next(it)], policy)
                assert (len(it), it.size) == (whole, size)  # the loop goes on
                state = json.loads(json.dumps(it.get_state()))
            assert sum(before) == size
            with pytest.raises(StopIteration):
                next(it)
            it.reset()


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_lengths_in_another_topology(policy):
    with iterator(policy, count=23, batch=2, shards=2, ids=(0,)) as it:
        state = state_after(it, 3)
    for shards, batch in ((1, 3), (3, 2), (2, 5)):
        with iterator(policy, count=23, batch=batch, shards=shards, ids=(shards - 1,)) as it:
            it.set_state(state)
            for _ in range(2):  # the rest of the epoch, and the next one
                said, told = len(it), it.size
                given = rows(list(it), policy)
                assert (said, told) == (len(given), sum(given))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_bad_samples_change_no_length(policy, on_error):
    with iterator(policy, bad=(2, 9), on_error=on_error) as it:
        for _ in range(3):
            said, told = len(it), it.size
            given = [len(batch["x"]) for batch in it]
            assert said == len(given) == len(it)
            it.reset()
            assert told == (10 if policy is PAD else sum(given))


def test_several_shards_in_one_iterator():
    for policy in POLICIES:
        with iterator(policy, count=13, batch=3, shards=2, ids=(0, 1)) as it:
            for _ in range(3):
                said, told = len(it), it.size
                given = rows(list(it), policy)
                assert said == len(given) == len(it)
                it.reset()
                assert told == sum(given)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_several_shards_in_another_topology(policy):
    with iterator(policy, count=23, batch=3, shards=1) as it:
        state = state_after(it, 2)
    with iterator(policy, count=23, batch=3, shards=2, ids=(0, 1)) as it:
        it.set_state(state)
        said, told = len(it), it.size
        given = rows(list(it), policy)
        assert (said, told) == (len(given), sum(given))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_after_the_last_batch_the_next_epoch_is_counted(policy):
    """FILL: epochs of 4 and 3 batches by turns."""
    with iterator(policy) as it, iterator(policy) as other:
        for _ in range(2):
            other.set_state(state_after(it, len(it)))
            said, told = len(other), other.size
            first = len(other.take(10))
            given = rows(list(other), policy)
            assert (said, told) == (len(given), sum(given))
            assert first == len(given)
            it.reset()


def test_nothing_comes_of_an_epoch_of_which_nothing_is_left():
    with iterator(FILL) as it:
        it.set_state(state_after(it, len(it)))
        with pytest.raises(StopIteration):
            next(it)
        assert (len(it), it.size) == (3, 9)


def test_epochs_of_a_given_size():
    for policy in POLICIES:
        with jdali.Pipeline(batch_size=4, num_threads=1, device_id=None) as pipe:
            pipe.set_outputs(fn.external_source(lambda: np.zeros((4, 1), np.int32)))
        with DataIterator(pipe, ["x"], size=10, last_batch_policy=policy) as it:
            for _ in range(3):
                said, told = len(it), it.size
                given = rows(list(it), policy)
                assert (said, told) == (len(given), sum(given)) == (len(it), it.size)
                it.reset()


def test_an_iterator_is_true_whatever_its_length():
    """Also where the length is not known, or 0."""
    with jdali.Pipeline(batch_size=4, num_threads=1, device_id=None) as pipe:
        pipe.set_outputs(fn.external_source(lambda: np.zeros((4, 1), np.int32)))
    with DataIterator(pipe, ["x"], prepare_first_batch=False) as it:
        assert it
        assert it.take(3)
    with iterator(DROP, count=2, batch=3) as it:
        assert len(it) == 0
        assert it
        assert it.take(3)


def bar_of(batches):
    """How far a progress bar came, and how far it was to go."""
    tqdm = pytest.importorskip("tqdm", reason="tqdm is not installed").tqdm
    bar = tqdm(batches, file=io.StringIO())
    for _ in bar:
        pass
    return bar.n, bar.total


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_progress_bars_end_at_their_end(policy):
    with iterator(policy, count=23, shards=2, ids=(1,)) as it:
        states = [it.get_state()]
        for _ in range(3):
            n, total = bar_of(it)
            assert n == total > 2
        it.reset()
        next(it)
        states.append(it.get_state())
        for state, took in zip(states, (0, 1), strict=True):
            it.set_state(state)
            n, total = bar_of(it)
            assert n == total == len(states) + 1 + (policy is not DROP) - took, (n, total)


def test_bars_over_the_first_batches():
    with iterator(FILL, count=23) as it:
        assert bar_of(it.take(5)) == (5, 5)
        assert bar_of(it.take(50)) == (8, 8)
        it.reset()
        next(it)
        next(it)
        batches = it.take(5)
        assert len(batches) == 3
        assert bar_of(batches) == (3, 3)
        assert bar_of(it.take(5)) == (5, 5)
        it.reset()
        next(it)
        it.set_state(it.get_state())
        assert bar_of(it.take(2)) == (1, 1)
