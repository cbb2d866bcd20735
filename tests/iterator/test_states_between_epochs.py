"""States taken at any point of several epochs, before and after `reset`: what comes then is what came there."""

import itertools
import json

import numpy as np
import pytest
from support.some import pairs, some

import jdali
from jdali import fn
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.plugin.jax import DALIGenericIterator
from jdali.plugin.jax.clu import DALIGenericPeekableIterator

SIZE = 11


def torch_iterator(*args, **options):
    plugin = pytest.importorskip(
        "jdali.plugin.pytorch", reason="PyTorch is not installed", exc_type=ImportError
    )
    return plugin.DALIGenericIterator(*args, **options)


class Grain:
    """`plugin.grain.DatasetIterator`; what begins its next epoch is the iterator that it has."""

    def __init__(self, *args, **options):
        plugin = pytest.importorskip(
            "jdali.plugin.grain", reason="Grain is not installed", exc_type=ImportError
        )
        self.own = DataIterator(*args, **options)
        self.iterator = plugin.DatasetIterator(self.own)
        self.reset = self.own.reset

    def __next__(self):
        return next(self.iterator)

    def __getattr__(self, name):
        return getattr(self.iterator, name)


KINDS = {
    "DataIterator": DataIterator,
    "plugin.jax": DALIGenericIterator,
    "clu": DALIGenericPeekableIterator,
    "pytorch": torch_iterator,
    "grain": Grain,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for i in range(SIZE):
        (folder / f"{i:02}").write_bytes(bytes([i]))
    return [str(folder / f"{i:02}") for i in range(SIZE)]


def reading(files, shard=0, shards=1, batch_size=2, **options):
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=1, seed=7)
    with pipe:
        data, _ = fn.readers.file(files=files, name="Reader", shard_id=shard, num_shards=shards, **options)
        pipe.set_outputs(data)
    return pipe


def sourced(source, **options):
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=7)
    with pipe:
        pipe.set_outputs(fn.external_source(source, **options))
    return pipe


def generated():
    for i in range(3):
        yield np.full((2, 1), i, np.uint8)


def values(batch):
    return [np.asarray(b["x"]).ravel().tolist() for b in (batch if isinstance(batch, list) else [batch])]


def played(it, count, auto_reset, states=None):
    """What `count` calls give: batches, "end", and "reset" where that was called; the states after each."""
    events = []
    while len(events) < count:
        if events and events[-1] == "end" and not auto_reset:
            it.reset()
            events.append("reset")
        else:
            try:
                events.append(values(next(it)))
            except StopIteration:
                events.append("end")
        if states is not None:
            states.append(json.loads(json.dumps(it.get_state())))
    return events


def check(make, auto_reset, count=17):
    """States of one run, each set in a fresh iterator, and in one that was anywhere."""
    states = []
    with_start = make()
    states.append(json.loads(json.dumps(with_start.get_state())))
    events = played(with_start, count, auto_reset, states)
    with_start.close()
    assert events.count("end") >= 2
    used = make()
    for at, state in enumerate(states[: count - 8]):
        fresh = make()
        for it in (fresh, used):
            it.set_state(state)
            if at and events[at - 1] == "end" and not auto_reset:
                with pytest.raises(StopIteration):  # the end was reached, and not yet left
                    next(it)
                it.reset()
                assert played(it, 6, auto_reset) == events[at + 1 : at + 7], (at, events)
            else:
                assert played(it, 6, auto_reset) == events[at : at + 6], (at, events)
        fresh.close()
    used.close()


def test_a_state_after_reset_is_the_beginning_of_the_next_epoch(files):
    def make():
        return DataIterator(
            reading(files, pad_last_batch=True), ["x"], reader_name="Reader",
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )  # fmt: skip

    with make() as it, make() as again:
        list(it)
        ended = it.get_state()
        it.reset()
        begun = it.get_state()
        again.set_state(begun)
        got = []
        while True:
            try:
                got += values(next(again))[0]
            except StopIteration:
                break
        assert got == list(range(SIZE))
        again.set_state(ended)  # as the one that it is of: it has to be reset
        assert next(again, None) is None
        again.reset()
        assert values(next(again)) == [[0, 1]]


@pytest.mark.cases(4)
@some("kind, auto_reset, policy", itertools.product(KINDS, [False, True], LastBatchPolicy), pairs)
def test_readers(files, kind, auto_reset, policy):
    pads = policy in (LastBatchPolicy.PAD, LastBatchPolicy.PARTIAL)
    if kind == "clu" and policy is LastBatchPolicy.PARTIAL:
        pytest.skip("its batches have one shape")
    check(
        lambda: KINDS[kind](
            reading(files, random_shuffle=True, pad_last_batch=pads), ["x"], reader_name="Reader",
            auto_reset=auto_reset, last_batch_policy=policy,
        ),
        auto_reset,
    )  # fmt: skip


ORDERS = {
    "shuffle_after_epoch": {"shuffle_after_epoch": True},
    "stick_to_shard": {"random_shuffle": True, "stick_to_shard": True},
    "in order": {},
}


@pytest.mark.cases(1)
@some("order, policy", itertools.product(ORDERS, LastBatchPolicy))
def test_shards(files, order, policy):
    pads = policy in (LastBatchPolicy.PAD, LastBatchPolicy.PARTIAL)
    check(
        lambda: DataIterator(
            [reading(files, i, 3, pad_last_batch=pads, **ORDERS[order]) for i in range(3)], ["x"],
            reader_name="Reader", last_batch_policy=policy,
        ),
        auto_reset=False,
        count=18,
    )  # fmt: skip


def sharded(files, shards, policy, batch_size, *, pipelines=False, **options):
    """An iterator for each shard; with `pipelines`, one iterator with a pipeline for each shard."""
    pipes = [reading(files, i, shards, batch_size, **options) for i in range(shards)]
    return [
        DataIterator(of_one, ["x"], reader_name="Reader", last_batch_policy=policy)
        for of_one in ([pipes] if pipelines else pipes)
    ]


def epoch_of(it):
    """The real samples of each batch of an epoch."""
    batches = list(it)
    assert len(it) == len(batches)
    return [np.asarray(b["x"])[np.asarray(b.get("mask", True))].ravel().tolist() for b in batches]


def after_epochs(files, chain, *, begun, policy, count=3, **options):
    """Reads an epoch by each number of shards, each from the state of the one before; the last reads `count` epochs.

    Returns the epochs of each iterator of the last.
    """
    state = None
    for shards, epochs in zip(chain, [*[1] * (len(chain) - 1), count], strict=True):
        its = sharded(files, shards, policy, **options)
        read = []
        for it in its:
            if state is not None:
                it.set_state(state)
            read.append([])
            for _ in range(epochs):
                it.reset()
                read[-1].append(epoch_of(it))
            if begun:
                it.reset()
        state = json.loads(json.dumps(its[0].get_state()))
        for it in its:
            it.close()
    return read


CHAINS = [(1, 2), (1, 3), (2, 1), (3, 4), (1, 5), (1, 2, 3), (2, 3, 1), (5, 2, 4)]
POLICIES_THAT_PAD = [LastBatchPolicy.PARTIAL, LastBatchPolicy.PAD, LastBatchPolicy.FILL]


@pytest.mark.cases(4)
@some(
    "chain, begun, policy, pipelines",
    itertools.product(CHAINS, [False, True], POLICIES_THAT_PAD, [False, True]),
)
def test_another_number_of_shards_begins_a_whole_epoch(files, chain, begun, policy, pipelines):
    """The epochs are those of shards that were as many from the start."""
    options = {"policy": policy, "pad_last_batch": True, "batch_size": 2, "pipelines": pipelines}
    *_, shards = chain
    got = after_epochs(files[:7], chain, begun=begun, **options)
    always = after_epochs(files[:7], [shards], begun=begun, count=len(chain) + 2, **options)
    assert got == [epochs[len(chain) - 1 :] for epochs in always]
    for epoch in zip(*got, strict=True):
        assert set(itertools.chain(*itertools.chain(*epoch))) == set(range(7))


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("policy", [LastBatchPolicy.FILL, LastBatchPolicy.DROP])
def test_another_number_of_shards_without_padding(files, policy, begun):
    """By hand: 7 samples in 2 shards, whose parts 0-2 and 3-6 change places with each epoch."""
    read = after_epochs(files[:7], (1, 2), begun=begun, policy=policy, batch_size=1)
    got = [[[*itertools.chain(*epoch)] for epoch in epochs] for epochs in read]
    if policy is LastBatchPolicy.FILL:
        assert got == [[[3, 4, 5, 6], [0, 1, 2], [3, 4, 5, 6]], [[0, 1, 2, 3], [4, 5, 6], [0, 1, 2, 3]]]
    else:
        assert [list(map(len, epochs)) for epochs in got] == [[3, 3, 3]] * 2


SOURCES = {
    "list": (lambda: [np.full((2, 1), i, np.uint8) for i in range(3)], {"cycle": "raise"}),
    "generator function": (lambda: generated, {"cycle": "raise"}),
    "at its end for good": (lambda: generated, {}),
    "samples": (lambda: [np.full((1,), i, np.uint8) for i in range(6)], {"batch": False}),
}


@pytest.mark.filterwarnings("ignore:iterator. an epoch without a batch")
@pytest.mark.parametrize("auto_reset", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_sources_that_end(source, auto_reset):
    make, options = SOURCES[source]
    check(lambda: DataIterator(sourced(make(), **options), ["x"], auto_reset=auto_reset), auto_reset)


@pytest.mark.parametrize("policy", LastBatchPolicy)
def test_sources_with_a_size(policy):
    """5 samples an epoch of an endless callback."""
    check(
        lambda: DataIterator(
            sourced(lambda i: np.full((2, 1), i % 250, np.uint8)), ["x"], size=5, last_batch_policy=policy
        ),
        auto_reset=False,
    )


def test_a_source_that_ends_where_the_epoch_does():
    check(
        lambda: DataIterator(
            sourced([np.full((2, 1), i, np.uint8) for i in range(3)], cycle="raise"), ["x"], size=6
        ),
        False,
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("ahead", [True, False])
def test_pipelines(source, ahead):
    """`Pipeline.checkpoint` and `get_state` before the first batch, at the end, and after `reset`."""
    make, options = SOURCES[source]

    def pipeline(**given):
        pipe = jdali.Pipeline(
            batch_size=2, num_threads=1, seed=7, exec_async=ahead, enable_checkpointing=True, **given
        )
        with pipe:
            pipe.set_outputs(fn.external_source(make(), **options))
        return pipe

    def played(pipe, count, saved=None):
        events = []
        while len(events) < count:
            if events and events[-1] == "end":
                pipe.reset()
                events.append("reset")
            else:
                try:
                    events.append(np.asarray(pipe.run()[0].as_array()).ravel().tolist())
                except StopIteration:
                    events.append("end")
            if saved is not None:
                saved.append(pipe.checkpoint())
        return events

    pipe = pipeline()
    saved = [pipe.checkpoint()]
    events = played(pipe, 16, saved)
    pipe.close()
    assert events[:7] == [[0, 0], [1, 1], [2, 2], "end", "reset", [0, 0], [1, 1]] or "cycle" not in options
    for at, data in enumerate(saved[:10]):
        again = pipeline(checkpoint=data)
        if at and events[at - 1] == "end":
            with pytest.raises(StopIteration):
                again.run()
            again.reset()
            at += 1
        assert played(again, 5) == events[at : at + 5], at
        again.close()


def test_two_sources_of_which_one_ends_first_stay_together():
    """The longer one goes on where it is when the shorter one begins again, restored or not."""

    def make():
        short = sourced([np.full((2, 1), i, np.uint8) for i in range(2)], cycle="raise")
        long = sourced([np.full((2, 1), 10 + i, np.uint8) for i in range(7)], cycle="quiet")
        return DataIterator([short, long], ["x"], size=12)

    check(make, auto_reset=False)


def test_a_reset_in_mid_epoch_changes_no_state(files):
    with DataIterator(reading(files), ["x"], reader_name="Reader") as it:
        next(it)
        before = it.get_state()
        it.reset()
        assert it.get_state() == before


def test_the_batch_that_follows_is_numbered_on(files):
    """`batch_at` counts steps and epochs on from a state that was taken after `reset`."""

    def make():
        return DataIterator(reading(files, random_shuffle=True), ["x"], reader_name="Reader")

    with make() as it, make() as again:
        first = [values(b) for b in it]
        it.reset()
        again.set_state(it.get_state())
        second = [values(b) for b in again]
        every = list(itertools.chain(first, second))
        assert [values(again.batch_at(step)) for step in range(len(every))] == every
        assert values(again.batch_at(0, epoch=1)) == second[0]


def shard_of(samples, shards, shard=0, policy=LastBatchPolicy.FILL):
    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=1)
    def pipeline():
        data = [np.int32([k]) for k in range(samples)]
        padded = policy is LastBatchPolicy.PARTIAL
        return fn.readers.dataset(
            dataset=data, name="R", shard_id=shard, num_shards=shards, pad_last_batch=padded
        )

    return DataIterator(pipeline(), ["x"], reader_name="R", last_batch_policy=policy)


@pytest.mark.parametrize("chain", [(2, 1), (2, 3, 1), (3, 2, 2, 1)], ids=str)
def test_a_state_goes_through_iterators_that_read_nothing(chain):
    with shard_of(12, 1) as it:
        next(it)
        state = it.get_state()
    for shards in chain:
        with shard_of(12, shards) as it:
            it.set_state(state)
            state = it.get_state()
    with shard_of(12, 1) as it:
        it.set_state(state)
        assert np.concatenate([batch["x"].ravel() for batch in it]).tolist() == list(range(2, 12))


def test_after_an_epoch_len_counts_the_next_one_of_other_shards():
    partial = LastBatchPolicy.PARTIAL
    with shard_of(8, 2, policy=partial) as half, shard_of(8, 1, policy=partial) as whole:
        for _ in half:
            pass
        whole.set_state(half.get_state())
        assert (len(whole), whole.size, len(list(whole))) == (4, 8, 4)
