"""The arithmetic of epochs: by hand, and against the counts of the real DALI's base iterator."""

import contextlib
import itertools
import logging

import pytest
from support import oracle

from jdali.iterator.policy import EpochCounter, LastBatchPolicy, ReaderFacts

FILL, DROP, PARTIAL, PAD = LastBatchPolicy


def facts(size, shards=1, ids=(0,), pads=False, sticks=False):
    return ReaderFacts(size, -(-size // shards) * shards, shards, ids, pads, sticks)


def epochs(counter, count):
    """(batches, batches drawn and thrown away, samples that belong) of some epochs."""
    result = []
    for _ in range(count):
        belonging = [counter.belonging(i) for i in range(counter.length)]
        result.append((counter.length, counter.surplus, sum(map(sum, belonging))))
        counter.advance()
    return result


class TestByHand:
    """10 samples, batches of 3: DALI's documented example, and DALI_FACTS trap 14."""

    def lengths(self, policy, count=4, **kwargs):
        return epochs(EpochCounter(policy, batch_size=3, **kwargs), count)

    def test_fill_goes_on_in_the_next_epoch(self):
        # 12 samples are drawn, 2 of them ahead; then 9, 1 ahead; then 9, none ahead.
        expected = [(4, 0, 10), (3, 0, 8), (3, 0, 9), (4, 0, 10)]
        assert self.lengths(FILL, reader=facts(10)) == expected
        assert self.lengths(FILL, size=10) == expected

    def test_fill_of_a_padding_reader(self):
        assert self.lengths(FILL, reader=facts(10, pads=True), count=2) == [(4, 0, 10)] * 2
        assert self.lengths(FILL, size=10, padded=True, count=2) == [(4, 0, 10)] * 2

    def test_drop_draws_the_batch_that_it_drops(self):
        assert self.lengths(DROP, reader=facts(10), count=2) == [(3, 1, 9)] * 2
        assert self.lengths(DROP, size=10, count=2) == [(3, 1, 9)] * 2
        assert self.lengths(DROP, reader=facts(9), count=2) == [(3, 0, 9)] * 2

    @pytest.mark.parametrize("policy", [PARTIAL, PAD])
    def test_the_last_batch_has_one_sample_that_belongs(self, policy):
        counter = EpochCounter(policy, batch_size=3, reader=facts(10, pads=True))
        assert [counter.belonging(i) for i in range(4)] == [(3,), (3,), (3,), (1,)]

    def test_several_pipelines_share_a_given_size(self):
        counter = EpochCounter(PARTIAL, batch_size=3, pipelines=2, size=10)
        assert counter.length == 2
        assert counter.belonging(1) == (3, 1)

    def test_shards_of_a_reader_move_on(self):
        # Shards of 3, 3 and 4: readers 0 and 2 are at shards 1 and 0 in the second epoch.
        counter = EpochCounter(PAD, batch_size=3, pipelines=2, reader=facts(10, 3, (0, 2), pads=True))
        assert [counter.belonging(i) for i in range(counter.length)] == [(3, 3), (0, 1)]
        counter.advance()
        assert [counter.belonging(i) for i in range(counter.length)] == [(3, 3), (0, 0)]
        counter.advance()
        assert [counter.belonging(i) for i in range(counter.length)] == [(3, 3), (1, 0)]

    def test_stick_to_shard(self):
        counter = EpochCounter(PAD, batch_size=3, reader=facts(10, 3, (2,), pads=True, sticks=True))
        assert epochs(counter, 3) == [(2, 0, 4)] * 3

    def test_no_size_no_length(self):
        counter = EpochCounter(DROP, batch_size=3)
        assert (counter.length, counter.size, counter.surplus, counter.belonging(7)) == (None, -1, 0, (3,))
        counter.advance()
        assert counter.length is None


def test_every_sample_belongs_to_each_epoch_once():
    for size, shards, batch in itertools.product((1, 5, 12, 17), (1, 2, 3), (1, 3, 4)):
        if size < shards:
            continue
        reader = facts(size, shards, tuple(range(shards)), pads=True)
        counter = EpochCounter(PAD, batch_size=batch, pipelines=shards, reader=reader)
        assert [real for _, _, real in epochs(counter, 4)] == [size] * 4


def test_state():
    one = EpochCounter(FILL, batch_size=3, reader=facts(10, 3, (1,)))
    one.advance()
    one.done = 1
    two = EpochCounter(FILL, batch_size=3, reader=facts(10, 3, (1,)))
    two.set_state(one.get_state())
    assert epochs(two, 5) == epochs(one, 5)
    with pytest.raises(ValueError, match="the state is of 3 shards of a reader; give reader_name here too"):
        EpochCounter(FILL, batch_size=3, size=10).set_state(one.get_state())


@pytest.mark.parametrize(
    ("policy", "pads", "expected"),
    [
        (FILL, False, [3, 3, 3, 1, None, 3, 3, 2, None, 3, 3, 3, None]),
        (DROP, False, [3, 3, 3, "surplus", None, 3, 3, 3, "surplus", None]),
        (PARTIAL, True, [3, 3, 3, 1, None, 3, 3, 3, 1, None]),
    ],
)
def test_shares_of_one_batch_after_another(policy, pads, expected):
    """Each says how many samples count, and which batch is the last of its epoch."""
    counter = EpochCounter(policy, batch_size=3, reader=facts(10, pads=pads))
    shares = [counter.draw() for count in expected if count is not None]
    for epoch in range(expected.count(None)):
        wanted = expected[: expected.index(None)]
        del expected[: len(wanted) + 1]
        own = [shares.pop(0) for _ in wanted]
        assert [share.epoch for share in own] == [epoch] * len(own)
        assert ["surplus" if share.is_surplus else share.counts[0] for share in own] == wanted
        assert {share.length for share in own} == {len(own) - wanted.count("surplus")}
    assert not shares


def test_readers_that_disagree():
    meta = {
        "epoch_size": 10, "epoch_size_padded": 10, "number_of_shards": 2, "shard_id": 0,
        "pad_last_batch": 0, "stick_to_shard": 0,
    }  # fmt: skip
    assert ReaderFacts.of([meta, {**meta, "shard_id": 1}]).shard_ids == (0, 1)
    with pytest.raises(
        ValueError, match=r"the same size value in all the pipelines. epoch_size is \[10, 11\]"
    ):
        ReaderFacts.of([meta, {**meta, "epoch_size": 11}])


# --- the real DALI ---------------------------------------------------------------------------------
class FakePipeline:
    """What DALI's base iterator asks of a pipeline, and how often it draws a batch."""

    _enable_checkpointing = False

    def __init__(self, batch_size, meta):
        self.max_batch_size, self.meta, self.draws = batch_size, meta, 0

    def _check_api_type_scope(self, kind):
        return contextlib.nullcontext()

    def reader_meta(self, name):
        return self.meta

    def share_outputs(self):
        self.draws += 1
        return [[None] * self.max_batch_size]

    def build(self):
        pass

    release_outputs = schedule_run = reset = build

    def empty(self):
        return False


def dali_epochs(policy, count, *, batch_size, pipelines=1, size=-1, reader=None, padded=False):
    """(length, size, batches, draws) of some epochs of DALI's base iterator."""
    oracle.dali()
    from nvidia.dali.plugin import base_iterator as base

    class Counting(base._DaliBaseIterator):
        def __next__(self):
            self._get_outputs()
            self._schedule_runs()
            self._advance_and_check_drop_last()

    metas = [None] * pipelines
    if reader is not None:
        metas = [
            {
                "epoch_size": reader.epoch_size, "epoch_size_padded": reader.epoch_size_padded,
                "number_of_shards": reader.shards, "shard_id": i, "pad_last_batch": int(reader.pads),
                "stick_to_shard": int(reader.sticks),
            } for i in reader.shard_ids
        ]  # fmt: skip
    pipes = [FakePipeline(batch_size, meta) for meta in metas]
    iterator = Counting(
        pipes, size=size, reader_name=None if reader is None else "Reader", last_batch_padded=padded,
        last_batch_policy=base.LastBatchPolicy[policy.name],
    )  # fmt: skip
    result = []
    for _ in range(count):
        before, batches, size, length = pipes[0].draws, 0, iterator.size, len(iterator)
        with contextlib.suppress(StopIteration):
            while True:
                next(iterator)
                batches += 1
        result.append((length, size, batches, pipes[0].draws - before))
        iterator.reset()
    return result


CASES = [
    (policy, size, shards, batch, pads, sticks)
    for policy in (FILL, DROP, PARTIAL)
    for size, shards, batch in [
        (10, 1, 3), (10, 3, 3), (10, 3, 2), (7, 1, 2), (12, 4, 3), (17, 2, 4), (5, 5, 1), (9, 2, 7),
        (3, 2, 4), (11, 4, 1), (29, 3, 5),
    ]
    for pads, sticks in itertools.product((False, True), repeat=2)
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::Warning")
def test_counts_are_those_of_dali_with_a_reader(caplog):
    caplog.set_level(logging.CRITICAL)
    compared = 0
    for policy, size, shards, batch, pads, sticks in CASES:
        if policy is DROP and size // shards < batch:
            continue  # no batch at all: an error here
        for ids in {(0,), (shards - 1,), tuple(range(shards))}:
            reader = facts(size, shards, ids, pads, sticks)
            options = {"batch_size": batch, "pipelines": len(ids), "reader": reader}
            counter = EpochCounter(policy, **options)
            for expected in dali_epochs(policy, 7, **options):
                got = (counter.length, counter.size, counter.length, counter.length + counter.surplus)
                assert got == expected, (policy, reader, batch)
                counter.advance()
                compared += 1
    assert compared > 1000


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::Warning")
def test_counts_are_those_of_dali_with_a_size(caplog):
    caplog.set_level(logging.CRITICAL)
    for policy, size, pipelines, batch, padded in itertools.product(
        (FILL, DROP, PARTIAL), (6, 7, 10, 23), (1, 2), (2, 3), (False, True)
    ):
        options = {"batch_size": batch, "pipelines": pipelines, "size": size, "padded": padded}
        counter = EpochCounter(policy, **options)
        for _, expected_size, batches, draws in dali_epochs(policy, 7, **options):
            # DALI's len() forgets what was given ahead and is one too many then; jdali's is the number given.
            assert (counter.size, counter.length) == (expected_size, batches)
            assert counter.length + counter.surplus == draws
            counter.advance()
