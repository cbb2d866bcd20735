"""The first batches of each epoch: what follows, states, counters, and sources of all kinds."""

import itertools
import json

import numpy as np
import pytest
from support.callbacks import Samples
from support.faults import in_thread
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.plugin.jax import DALIGenericIterator

pytestmark = pytest.mark.timeout(280)

SIZE, BATCH = 22, 4


def reading(
    policy=LastBatchPolicy.FILL, shards=1, kind=DataIterator, auto_reset=False, prepare=True, **options
):
    """An iterator over the numbers below 22, in each shard of which some are left over; and the random ones of samples."""
    pipes = []
    for shard in range(shards):
        pipe = jdali.Pipeline(batch_size=BATCH, num_threads=2, seed=5)
        with pipe:
            data = numbers(NumberReader(SIZE, shard_id=shard, num_shards=shards, **options))
            pipe.set_outputs(data, fn.random.uniform(data, range=(0.0, 1.0)))
        pipes.append(pipe)
    return kind(
        pipes, ["x", "drawn"], reader_name="Reader", last_batch_policy=policy, auto_reset=auto_reset,
        prepare_first_batch=prepare,
    )  # fmt: skip


def content(batch):
    return {name: np.asarray(value).tolist() for name, value in batch.items()}


def epochs(it, count):
    """All batches of some epochs."""
    return [[content(batch) for batch in it] for _ in range(count)]


CASES = {
    "plain": {},
    "random": {"shuffle": True},
    "shards": {"shards": 2},
    "moving shards": {"shards": 3},
    "sticking": {"shards": 2, "stick": True},
    "padded": {"pad": True},
    "padded shards": {"pad": True, "shards": 3},
    "drop": {"policy": LastBatchPolicy.DROP},
    "partial": {"policy": LastBatchPolicy.PARTIAL},
    "partial shards": {"policy": LastBatchPolicy.PARTIAL, "shards": 3},
    "pad": {"policy": LastBatchPolicy.PAD, "pad": True, "shards": 2},
}


@pytest.mark.cases(4)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("count", [1, 2, 100])
def test_each_epoch_is_the_beginning_of_what_it_would_have_been(case, count):
    with reading(**CASES[case]) as it:
        wanted = [epoch[:count] for epoch in epochs(it, 5)]
    with reading(**CASES[case]) as it:
        assert [[content(batch) for batch in it.take(count)] for _ in range(5)] == wanted
    with reading(**CASES[case]) as it:
        got = []
        for _ in range(5):
            got.append([content(batch) for _, batch in zip(range(count), it, strict=False)])
            it.reset(force=True)
        assert got == wanted


def test_the_numbers_are_those_of_the_data_set():
    """Not by jdali: without shuffling FILL goes on in the next epoch where the last batch ended."""
    with reading() as it:
        got = [[np.ravel(batch["x"]).tolist() for batch in it.take(2)] for _ in range(3)]
    starts = [0, 24, 44]  # 22 are 6 batches, of 24 samples; then 20 are left of the second epoch
    assert got == [[[(s + b * 4 + i) % 22 for i in range(4)] for b in range(2)] for s in starts]


@pytest.mark.cases(2)
@pytest.mark.parametrize("case", ["shards", "random", "drop", "padded"])
def test_a_state_of_any_point_goes_on_from_there(case):
    """Also from one between the last batch that is taken and the end, and after the end."""
    states, got = [], []
    with reading(**CASES[case]) as it:
        for _ in range(3):
            for batch in it.take(2):
                got.append(content(batch))
                states.append((len(got), json.dumps(it.get_state())))
            states.append((len(got), json.dumps(it.get_state())))
            it.reset()
            states.append((len(got), json.dumps(it.get_state())))
    for done, state in states:
        with reading(**CASES[case]) as it:
            it.set_state(json.loads(state))
            rest = []
            while len(rest) < len(got) - done:
                rest += [content(batch) for batch in it.take(2)]
            assert rest == got[done:], state


def test_counters():
    with reading(prepare=False) as it:
        assert len(it.take(2)) == 2
        assert len(it.take(100)) == len(it) == 6
        assert len(list(it.take(2))) == 2
        state = it.get_state()
        assert (state["epochs"], state["steps"], state["ended"]) == (0, 2, True)
        it.reset()
        state = it.get_state()
        assert (state["epochs"], state["steps"], state["ended"]) == (1, 2, False)
        assert len(it) == 5
        with pytest.raises(ValueError, match="take needs at least 1 batch, not 0"):
            it.take(0)


def test_a_loop_that_is_left_goes_on_and_the_end_is_told_once():
    with reading() as it:
        first = [content(batch) for _, batch in zip(range(2), it.take(4), strict=False)]
        taking = it.take(4)
        rest = [content(batch) for batch in taking]
        assert len(rest) == 2
        assert next(taking, None) is None
        assert it._end is not None
    with reading() as it:
        assert [content(next(it)) for _ in range(4)] == first + rest


def test_left_with_the_last_batch_the_next_loop_is_the_next_epoch():
    """As it is with a loop over the whole epoch."""
    with reading() as it:
        wanted = [epoch[:2] for epoch in epochs(it, 2)]
    with reading() as it:
        assert [content(batch) for _, batch in zip(range(2), it.take(2), strict=False)] == wanted[0]
        assert [content(batch) for batch in it.take(2)] == wanted[1]


@pytest.mark.parametrize("kind", [DataIterator, DALIGenericIterator])
def test_auto_reset_and_the_iterator_of_dali(kind):
    with reading(kind=kind, auto_reset=True) as it:
        assert [len([*it.take(3)]) for _ in range(3)] == [3, 3, 3]
        assert it.get_state()["epochs"] == 3
        it.reset(force=True)  # nothing was taken: nothing happens
        assert it.get_state()["epochs"] == 3


def test_what_was_looked_at_is_left_out_too():
    with reading() as it:
        wanted = [epoch[:1] for epoch in epochs(it, 2)]
    with reading() as it:
        got = []
        for _ in range(2):
            got.append([content(batch) for batch in itertools.islice(it, 1)])
            it.peek()
            it.reset(force=True)
        assert got == wanted


def test_batches_once_more():
    with reading(**CASES["random"]) as it:
        got = [[content(batch) for batch in it.take(2)] for _ in range(4)]
        assert [content(it.batch_at(step)) for step in range(8)] == [*itertools.chain.from_iterable(got)]
        assert [[content(it.batch_at(step, epoch)) for step in range(2)] for epoch in range(4)] == got


def test_bad_samples_move_no_other_ones():
    def taken(bad):
        pipe = jdali.Pipeline(batch_size=BATCH, num_threads=2, seed=5, on_error="skip")
        with pipe:
            pipe.set_outputs(numbers(NumberReader(SIZE, bad=bad)))
        with DataIterator(pipe, ["x"], reader_name="Reader") as it:
            return [np.ravel(batch["x"]).tolist() for _ in range(3) for batch in it.take(2)]

    stands_in = {1: 2, 9: 10}
    wanted = [[stands_in.get(number, number) for number in batch] for batch in taken(())]
    assert taken((1, 9)) == wanted
    assert wanted[:2] == [[0, 2, 2, 3], [4, 5, 6, 7]]


def test_several_threads_get_so_many_together():
    with reading() as it:
        taking, got = it.take(5), []

        def work():
            for batch in taking:
                got.append(tuple(np.ravel(batch["x"]).tolist()))

        for done in [in_thread(work) for _ in range(3)]:
            done()
        assert sorted(got) == [(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3) for i in range(5)]


# --- external sources ---------------------------------------------------------------------------
def fed_by(source, size=-1, reader=False, **options):
    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1, **options.pop("pipeline", {}))
    with pipe:
        outputs = [fn.external_source(source, **options)]
        outputs += [numbers(NumberReader(6))] if reader else []
        pipe.set_outputs(*outputs)
    names = ["x", "y"][: len(outputs)]
    return DataIterator(pipe, names, size, reader_name="Reader" if reader else None)


def item(value):
    return np.full((1, 1), value, np.int32)


def three_epochs(it, count=2):
    with it:
        return [[int(np.ravel(batch["x"])[0]) for batch in it.take(count)] for _ in range(3)]


class Stateful:
    """An iterator that says where it is."""

    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        return item(self.count - 1)

    def get_state(self):
        return self.count

    def set_state(self, state):
        self.count = state


class Iterable:
    def __iter__(self):
        return map(item, range(5))


LIST = [item(i) for i in range(5)]
BEGINNING, ON = [[0, 1]] * 3, [[0, 1], [2, 3], [4]]


def generator():
    yield from map(item, range(5))


@pytest.mark.parametrize(
    ("source", "cycle", "wanted"),
    [
        (LIST, "quiet", BEGINNING),
        (LIST, "raise", BEGINNING),
        (LIST, None, ON),
        (Iterable(), "quiet", BEGINNING),
        (Iterable(), "raise", BEGINNING),
        (Iterable(), None, ON),
        (generator, "raise", BEGINNING),
        (generator, None, ON),
        (Stateful(), None, [[0, 1], [2, 3], [4, 5]]),
    ],
)
def test_where_epochs_last_until_a_source_ends(source, cycle, wanted):
    assert three_epochs(fed_by(source, cycle=cycle)) == wanted


@pytest.mark.parametrize("parallel", [False, True])
def test_callbacks_of_numbers(parallel):
    """A sample of epoch e is 100·e and its number."""
    options = {"pipeline": {"py_start_method": "forkserver"}} if parallel else {}
    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1, **options.get("pipeline", {}))
    with pipe:
        pipe.set_outputs(*fn.external_source(Samples(7), num_outputs=2, batch=False, parallel=parallel))
    assert three_epochs(DataIterator(pipe, ["other", "x"], ragged=["other"])) == [
        [0, 1],
        [100, 101],
        [200, 201],
    ]


def test_an_iterable_in_a_worker():
    options = {"parallel": True, "pipeline": {"py_start_method": "forkserver"}}
    assert three_epochs(fed_by(LIST, cycle="raise", **options)) == BEGINNING


def test_a_generator_cannot_go_back_and_goes_on():
    """What it gave ahead is lost; nothing comes twice."""
    source = iter([item(i) for i in range(30)])
    got = [*itertools.chain.from_iterable(three_epochs(fed_by(source)))]
    assert len(got) == 6
    assert got == sorted(set(got))


@pytest.mark.parametrize(
    ("source", "cycle"), [(LIST, "quiet"), (Iterable(), "quiet"), (generator, "quiet"), (Stateful(), None)]
)
def test_with_a_size_or_a_reader_the_rest_is_left_out(source, cycle):
    """The source stays in step: epochs of 6 are batches 0, 1, 6, 7, 12, 13 of it."""
    count = 100 if isinstance(source, Stateful) else 5
    wanted = [[n % count for n in (6 * e, 6 * e + 1)] for e in range(3)]
    assert three_epochs(fed_by(source, size=6, cycle=cycle)) == wanted
    source = Stateful() if isinstance(source, Stateful) else source
    with fed_by(source, reader=True, cycle=cycle) as it:
        for e in range(3):
            rows = [(int(np.ravel(b["x"])[0]), int(np.ravel(b["y"])[0])) for b in it.take(2)]
            assert rows == list(zip(wanted[e], [0, 1], strict=True))


def test_resuming_within_with_an_external_source():
    with fed_by(LIST, cycle="raise") as it:
        list(it.take(2))
        next(iter(it.take(2)))
        state = it.get_state()
    with fed_by(LIST, cycle="raise") as it:
        it.set_state(state)
        assert [int(np.ravel(b["x"])[0]) for b in it.take(2)] == [1]
        assert [int(np.ravel(b["x"])[0]) for b in it.take(2)] == [0, 1]
