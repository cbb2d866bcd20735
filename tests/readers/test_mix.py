"""readers.mix: who comes when, by counting; shards, kills, changed weights; sources of every kind."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from support import records
from support.every_reader import COUNT, MAKERS, digests, made, picture, pipeline
from support.readers import opened
from support.some import times

import jdali.dynamic as jd
from jdali import fn, pipeline_def, tfrecord
from jdali.iterator import DataIterator, LastBatchPolicy
from jdali.readers.order.epochs import Order
from jdali.readers.order.mixture import MixtureOrder, whole_shares
from jdali.readers.order.selection import select

SIZES = (6, 9, 3)
STARTS = np.cumsum([0, *SIZES])


def counted(shares, length):
    """The sources of the first positions: each, in turn, takes what is due to it of what those before it leave."""
    counts = [0] * len(shares)
    found = []
    for _ in range(length):
        left = sum(shares)
        for source, share in enumerate(shares):
            passed = sum(counts[source:])  # positions that came to this source
            if (passed + 1) * Fraction(share, left) >= counts[source] + 1:
                counts[source] += 1
                found.append(source)
                break
            left -= share
    return found


def mixture(
    shard_id=0, num_shards=1, weights=(3, 2, 1), schedule=(), pad=False, seed=5, sizes=SIZES, **options
):
    orders = [Order(size, **options) for size in sizes]
    segments = [(0, whole_shares(weights)), *((start, whole_shares(own)) for start, own in schedule)]
    return MixtureOrder(
        orders, segments, shard_id=shard_id, num_shards=num_shards, pad_last_batch=pad, seed=seed,
        seeded=[False] * len(sizes),
    )  # fmt: skip


def source_of(indices, starts=STARTS):
    return np.searchsorted(starts, indices, side="right") - 1


@pytest.mark.parametrize(
    "weights", [(1, 1, 1), (3, 2, 1), (1, 1, 4), (0.7, 0.2, 0.1), (5, 0, 2), (17, 1, 31)], ids=str
)
def test_sources_come_when_they_are_due(weights):
    shares = whole_shares(weights)
    got = source_of(mixture(weights=weights).take(300).indices)
    assert got.tolist() == counted(shares, 300)
    # Any positions in a row: at most one more or less for each source before.
    ones = np.cumsum(np.eye(3)[got], axis=0)
    for window in (7, 10, 50):
        found = ones[window:] - ones[:-window]
        assert (np.abs(found - window * np.array(shares) / sum(shares)) < 3).all()


def test_whole_numbers_of_samples_are_just_these():
    got = source_of(mixture(weights=(0.5, 0.3, 0.2)).take(200).indices)
    for start in range(190):
        assert np.bincount(got[start : start + 10], minlength=3).tolist() == [5, 3, 2]


def test_whole_shares():
    assert whole_shares([0.7, 0.3]) == (7, 3)
    assert whole_shares([2, 4, 6]) == (1, 2, 3)
    assert whole_shares([1e9, 1e-9]) == (1 << 29, 1)
    assert whole_shares([100, 25], temperature=2) == (2, 1)
    thirds = whole_shares([1 / 3, 2 / 3])
    assert thirds[1] / thirds[0] == pytest.approx(2, abs=1e-8)


@pytest.mark.parametrize("options", [{}, {"random_shuffle": True}], ids=str)
@pytest.mark.parametrize("shards", [1, 2, 3, 5])
def test_every_sample_once_a_pass(shards, options):
    taken = [[] for _ in range(3)]
    orders = [mixture(i, shards, **options) for i in range(shards)]
    for _ in range(30):
        for order in orders:
            refs = order.take(4)
            for epoch, index, source in zip(refs.epochs, refs.indices, source_of(refs.indices), strict=True):
                taken[source].append((int(epoch), int(index)))
    for source, found in enumerate(taken):
        assert len(set(found)) == len(found)
        per_pass = Counter(epoch for epoch, _ in found)
        *whole, _ = sorted(per_pass)
        assert all(per_pass[epoch] == SIZES[source] for epoch in whole)
    if not options:
        lone = mixture().take(60).indices
        together = np.concatenate([order.take(0).indices for order in orders])
        assert not len(together)
        assert lone[source_of(lone) == 1][:12].tolist() == [*range(6, 15), *range(6, 9)]


def test_all_shards_together_take_what_one_takes():
    whole = mixture(random_shuffle=True).take(240)
    for shards in (2, 4, 7):
        orders = [mixture(i, shards, random_shuffle=True) for i in range(shards)]
        rows = np.array([order.take(240 // shards).indices for order in orders]).T
        for row in range(len(rows)):
            mine = whole.indices[row * shards : (row + 1) * shards]
            assert sorted(rows[row].tolist()) == sorted(mine.tolist())


def test_a_shard_gets_all_sources():
    """Two sources that alternate, on an even number of shards."""
    for shards in (2, 4, 8):
        got = source_of(mixture(1, shards, weights=(1, 1), sizes=(50, 50)).take(400).indices, [0, 50, 100])
        # Standard deviation of a coin: 10.
        assert abs(np.count_nonzero(got) - 200) < 50


def test_killed_often_on_any_number_of_shards_with_changing_weights():
    """Nothing is lost, nothing is doubled, whatever changes; without changes the order stays as it was."""
    chance = random.Random(1)
    sizes = (5000, 700, 12_000)
    starts = np.cumsum([0, *sizes])
    state, weights, taken, shards = None, (1, 1, 1), [], 1
    for kill in range(times(40, 100)):
        if kill % 10 == 9:
            weights = tuple(chance.randrange(1, 20) for _ in sizes)
        shards = chance.choice([1, 2, 3, 7, 16, 64])
        options = {"weights": weights, "sizes": sizes, "random_shuffle": True}
        orders = [mixture(i, shards, seed=5 if state is None else 77, **options) for i in range(shards)]
        for order in orders:
            if state is not None:
                order.set_state(state)
        steps, batch = chance.randrange(4), chance.choice([1, 5, 8])
        for _ in range(steps):
            for order in orders:
                refs = order.take(batch)
                taken += zip(refs.epochs.tolist(), refs.indices.tolist(), strict=True)
        states = [json.loads(json.dumps(order.get_state())) for order in orders]
        assert all(other == states[0] for other in states)
        state = states[0]
    assert len(json.dumps(state)) < 400
    assert len(set(taken)) == len(taken)
    for source, size in enumerate(sizes):
        mine = sorted(one for one in taken if starts[source] <= one[1] < starts[source + 1])
        counts = Counter(epoch for epoch, _ in mine)
        for epoch in range(max(counts)):
            assert counts[epoch] == size
        # The last pass is a beginning of its order.
        last = Order(size, random_shuffle=True, seed=mixture(sizes=sizes)._orders[source]._seed).whole(
            max(counts)
        )
        begun = last.at(np.arange(counts[max(counts)])) + starts[source]
        assert sorted(begun.tolist()) == [index for epoch, index in mine if epoch == max(counts)]


@pytest.mark.parametrize("pad", [False, True])
def test_a_restored_order_goes_on(pad):
    for batches in range(9):
        order = mixture(1, 2, pad=pad, random_shuffle=True, schedule=[(10, (0, 1, 1)), (30, (1, 1, 0))])
        for _ in range(batches):
            order.take(5)
        fresh = mixture(
            1, 2, pad=pad, random_shuffle=True, seed=8, schedule=[(10, (0, 1, 1)), (30, (1, 1, 0))]
        )
        fresh.set_state(json.loads(json.dumps(order.get_state())))
        skipped = mixture(1, 2, pad=pad, random_shuffle=True, schedule=[(10, (0, 1, 1)), (30, (1, 1, 0))])
        skipped.skip(batches, 5)
        for _ in range(6):
            assert order.next_epoch == fresh.next_epoch == skipped.next_epoch
            for want, got, other in zip(order.take(5), fresh.take(5), skipped.take(5), strict=True):
                np.testing.assert_array_equal(got, want)
                np.testing.assert_array_equal(other, want)


def test_a_schedule_changes_the_shares_at_its_positions():
    got = source_of(mixture(weights=(1, 0, 0), schedule=[(7, (0, 1, 0)), (20, (0, 1, 1))]).take(40).indices)
    assert got[:7].tolist() == [0] * 7
    assert got[7:20].tolist() == [1] * 13
    assert (
        got[20:].tolist() == [2, 1] * 10 or got[20:].tolist() == [1, 2] * 10 or sorted(got[20:22]) == [1, 2]
    )
    assert mixture(weights=(1, 0, 0), schedule=[(7, (0, 1, 0))]).take(20).indices[7:].tolist() == [
        *range(6, 15),
        *range(6, 10),
    ]


@pytest.mark.parametrize("shards", [1, 2, 4, 5])
def test_padded_epochs(shards):
    """Each sample once an epoch by default weights; every shard has as many batches."""
    orders = [mixture(i, shards, weights=SIZES, pad=True, random_shuffle=True) for i in range(shards)]
    for epoch in range(3):
        taken = []
        while orders[0].next_epoch == epoch:
            for order in orders:
                refs = order.take(2)
                taken += refs.indices[~refs.padded].tolist()
                assert (refs.indices < 18).all()
        assert sorted(taken) == list(range(18))
        assert {order.next_epoch for order in orders} == {epoch + 1}


def test_sources_with_weights_and_folds():
    orders = [
        Order(6, selection=select(6, weights=[0, 0, 1, 0, 0, 0])),
        Order(9, selection=select(9, fold=(0, 3))),
    ]
    order = MixtureOrder(
        orders, [(0, (1, 1))], shard_id=0, num_shards=1, pad_last_batch=False, seed=1, seeded=[False] * 2
    )
    assert order.size == 9
    refs = order.take(40)
    allowed = {2} | {6 + int(i) for i in select(9, fold=(0, 3)).taken}
    assert set(refs.indices.tolist()) == allowed
    keys = list(zip(refs.epochs.tolist(), refs.identities.tolist(), strict=True))
    assert len(set(keys)) == len(keys)
    drawn = refs.identities[refs.indices == 2]
    assert (drawn >= 15).all()
    assert (refs.identities[refs.indices != 2] < 15).all()


def test_draws_of_two_sources_differ_in_their_random_values():
    orders = [Order(count, selection=select(count, weights=[1] * count)) for count in (9, 3)]
    order = MixtureOrder(
        orders, [(0, (3, 1))], shard_id=0, num_shards=1, pad_last_batch=False, seed=1, seeded=[False] * 2
    )
    refs = order.take(12)
    assert len(set(refs.identities.tolist())) == 12


# --- readers ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Files of one byte in folders of 6, 9 and 3, with labels 0 and 1."""
    root = tmp_path_factory.mktemp("mixed")
    for name, first, count in zip("abc", STARTS, SIZES, strict=False):
        for i in range(count):
            folder = root / name / str(2 * i // count)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.png").write_bytes(bytes([first + i]))
    return [str(root / name) for name in "abc"]


@pipeline_def(batch_size=6, num_threads=2, seed=3)
def mixed(folders, weights=None, schedule=None, shard=(0, 1), pad=False, source=False, shuffle=True):
    readers = [fn.readers.file(file_root=folder, random_shuffle=shuffle) for folder in folders]
    outputs = fn.readers.mix(
        readers, weights=weights, schedule=schedule, shard_id=shard[0], num_shards=shard[1], pad_last_batch=pad,
        with_source=source, name="r",
    )  # fmt: skip
    return (*outputs, fn.random.uniform(range=[0, 1]))


NAMES = ["data", "label", "value"]


def bytes_of(pipe, batches):
    return [pipe.run()[0].as_numpy().ravel().tolist() for _ in range(batches)]


def test_an_epoch_takes_each_sample_once_by_default(folders):
    with mixed(folders) as pipe:
        found = bytes_of(pipe, 6)
        assert pipe.reader_meta("r")["epoch_size"] == 18
        shares = [one["share"] for one in pipe.reader_meta("r")["sources"]]
    for epoch in (found[:3], found[3:]):
        assert sorted(np.ravel(epoch).tolist()) == list(range(18))
    assert shares == [6 / 18, 9 / 18, 3 / 18]


def test_batches_have_fixed_shares_and_know_their_sources(folders):
    with mixed(folders, weights=[3, 2, 1], source=True) as pipe:
        for _ in range(5):
            data, labels, source, _ = (o.as_numpy() for o in pipe.run())
            assert np.bincount(source.ravel()).tolist() == [3, 2, 1]
            assert source.shape == (6, 1)
            np.testing.assert_array_equal(source_of(data.ravel()), source.ravel())
            assert labels.shape == (6, 1)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "options", [{"batch_size": 1, "num_threads": 4}, {"batch_size": 18}, {"workers": 1}], ids=str
)
def test_batches_threads_and_processes_change_nothing(folders, options):
    found = []
    for more in ({}, options):
        with mixed(folders, weights=[1, 1, 1], **more) as pipe:
            outputs = [pipe.run() for _ in range(36 // pipe.batch_size)]
            found.append([np.concatenate([o[i].as_numpy().ravel() for o in outputs]) for i in (0, 2)])
    got, want = found
    for mine, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_sample_has_other_random_values_in_each_pass(folders):
    with mixed(folders, weights=[8, 1, 1]) as pipe:
        values = [v for _ in range(20) for v in pipe.run()[2].as_numpy().ravel().tolist()]
    assert len(set(values)) == len(values)


def test_steps_of_a_schedule_are_batches(folders):
    schedule = {2: [1, 0, 0], 4: [0, 0, 1]}
    for shards in (1, 2):
        for shard in range(shards):
            with mixed(folders, weights=[0, 1, 0], schedule=schedule, shard=(shard, shards)) as pipe:
                found = [set(source_of(batch)) for batch in bytes_of(pipe, 6)]
            assert found == [{1}, {1}, {0}, {0}, {2}, {2}]


def test_on_with_other_weights_and_shards(folders):
    with mixed(folders, weights=[1, 1, 1]) as pipe:
        taken = bytes_of(pipe, 2)
        state = json.loads(json.dumps(pipe.get_state()))
        rest = bytes_of(pipe, 2)
    with mixed(folders, weights=[1, 1, 1]) as pipe:
        pipe.set_state(state)
        assert bytes_of(pipe, 2) == rest
    for shard in range(2):
        with mixed(folders, weights=[0, 0, 1], shard=(shard, 2), batch_size=1) as pipe:
            pipe.set_state(state)
            taken += bytes_of(pipe, 1)
    third = [index for batch in taken for index in batch if index >= 15]
    assert len(third) == 6
    assert sorted(third[:3]) == sorted(third[3:]) == [15, 16, 17]  # two passes


@pytest.mark.cases(2)
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("policy", [LastBatchPolicy.FILL, LastBatchPolicy.PARTIAL])
def test_iterators(folders, pad, policy):
    for shards in (1, 4, 5):
        taken = []
        for shard in range(shards):
            pipe = mixed(folders, shard=(shard, shards), pad=pad, batch_size=2)
            with DataIterator(pipe, NAMES, reader_name="r", last_batch_policy=policy) as iterator:
                length = len(iterator)
                every = [jnp_free(batch) for batch in iterator]
                assert len(every) == length
                again = jnp_free(iterator.batch_at(1))
                np.testing.assert_array_equal(again["value"], every[1]["value"])
                sample = iterator.sample(int(every[0]["data"][1, 0]), 0)
                assert float(sample["value"]) == every[0]["value"][1]
            taken += [int(v) for batch in every for v in batch["data"].ravel()]
        if policy is LastBatchPolicy.PARTIAL and pad:
            assert sorted(taken) == list(range(18))
        assert set(taken) == set(range(18))


def jnp_free(batch):
    return {name: np.asarray(value) for name, value in batch.items()}


def test_a_loop_over_the_pipeline_ends_with_the_epoch(folders):
    with mixed(folders, weights=[8, 1, 1]) as pipe:
        assert len(list(pipe)) == 3
        assert len(list(pipe)) == 3


def test_several_pipelines_of_one_iterator(folders):
    def states(count, state=None):
        pipes = [mixed(folders, shard=(i, count), batch_size=3) for i in range(count)]
        with DataIterator(pipes, NAMES, reader_name="r") as iterator:
            if state is not None:
                iterator.set_state(state)
            batch = next(iterator)
            return np.concatenate([np.asarray(v).ravel() for v in leaves(batch)]), iterator.get_state()

    def leaves(batch):
        parts = batch if isinstance(batch, list) else [batch]
        return [part["data"] for part in parts]

    first, state = states(2)
    second, state = states(1, json.loads(json.dumps(state)))
    third, _ = states(3, json.loads(json.dumps(state)))
    assert sorted([*first.tolist(), *second.tolist(), *third.tolist()]) == list(range(18))


@pytest.mark.parametrize(("weights", "used"), [(None, "ab"), ([1, 0], "a")])
def test_damaged_samples_are_replaced(tmp_path, weights, used):
    for folder, count in (("a", 4), ("b", 4)):
        (tmp_path / folder).mkdir()
        for i in range(count):
            (tmp_path / folder / f"{i}.png").write_bytes(b"no picture" if i == 3 else picture(i))

    @pipeline_def(batch_size=8, num_threads=1, seed=1, on_error="skip")
    def pipe():
        readers = [fn.readers.file(files=[str(tmp_path / f / f"{i}.png") for i in range(4)]) for f in "ab"]
        encoded, _, source = fn.readers.mix(readers, weights=weights, with_source=True)
        return fn.decoders.image(encoded, device="cpu"), source

    with pipe() as built:
        for _ in range(8):
            source = built.run()[1].as_numpy()
            assert len(source) == 8
            assert source.any() == (len(used) == 2)  # no stand-in comes from a source that is left out
        assert {error.path for error in built.errors} == {str(tmp_path / f / "3.png") for f in used}


def test_records_of_tensorflow_come_as_a_dict(tmp_path):
    features = {
        "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }
    for name, first in (("a", 0), ("b", 10)):
        examples = [records.example({"image": [bytes([i])], "label": [first + i]}) for i in range(4)]
        records.index(tmp_path / f"{name}.idx", records.tfrecord(tmp_path / name, examples))

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe():
        sources = [
            fn.readers.tfrecord(
                path=str(tmp_path / n), index_path=str(tmp_path / f"{n}.idx"), features=features
            )
            for n in "ab"
        ]
        found = fn.readers.mix(sources, with_source=True)
        assert list(found) == ["image", "label", "source"]
        return found["label"], found["source"]

    with pipe() as built:
        labels, source = (o.as_numpy().ravel() for o in built.run())
    assert (source == labels // 10).all()
    assert sorted(labels.tolist()) == [0, 1, 10, 11]


# The pictures of `readers.video_resize` are resized behind the reader.
@pytest.mark.cases(12)
@pytest.mark.parametrize("case", [case for case in MAKERS if case != "video_resize"])
def test_every_reader_may_be_a_source(case, tmp_path):
    folder = tmp_path / "data"
    name, arguments = made(case, folder)
    args = arguments(str(folder))
    with pipeline(name, args) as pipe:
        every = digests(pipe, 3)[:COUNT]
    sources = [(name, args | {"subset": [0, 1, 2, 3]}), (name, args | {"subset": [4, 5, 6, 7]})]
    with pipeline("readers.mix", {"sources": sources}, batch_size=4) as pipe:
        found = digests(pipe, 4)
    assert sorted(found[:COUNT]) == sorted(every)
    assert found[:COUNT] == found[COUNT:]
    assert [one for one in found if one in every[:4]] == every[:4] * 2


def test_in_dynamic_mode(folders):
    sources = [("readers.file", {"file_root": folder}) for folder in folders]
    reader = jd.readers.Mix(sources=sources, weights=[1, 1, 1])
    found = [int(np.asarray(data)[0]) for data, _ in reader.next_epoch()]
    assert np.bincount(source_of(found)).tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": [1, 2]}, "2 weights for 3 sources"),
        ({"weights": [0, 0, 0]}, "one of them above 0"),
        ({"weights": [1, -1, 1]}, "at least 0"),
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"weights": 3}, "weights are 3, they must be a list of numbers"),
        ({"schedule": {-1: [1, 1, 1]}}, "the step -1"),
        ({"schedule": {1: 3}}, "weights are 3, they must be a list of numbers"),
        ({"schedule": 3}, "schedule is 3, it must be a dict"),
        ({"num_shards": 20}, "each shard needs a sample"),
    ],
    ids=str,
)
def test_refused(folders, arguments, message):
    sources = [("readers.file", {"file_root": folder}) for folder in folders]
    with pytest.raises(ValueError, match=message):
        opened("mix", sources=sources, **arguments)


def test_sources_that_cannot_be_mixed(folders):
    with pytest.raises(ValueError, match="num_shards is an argument of the mixture"):
        opened("mix", sources=[("readers.file", {"file_root": folders[0], "num_shards": 2})])
    with pytest.raises(ValueError, match="is not a reader"):
        opened("mix", sources=[("resize", {})])
    for call in (lambda: opened("mix", sources=[]), lambda: fn.readers.mix([])):
        with pytest.raises(ValueError, match="there is no source"):
            call()

    @pipeline_def(batch_size=1, num_threads=1)
    def decoded():
        data, labels = fn.readers.file(file_root=folders[0])
        return fn.readers.mix([(fn.cast(data, dtype=np.int32), labels)])

    @pipeline_def(batch_size=1, num_threads=1)
    def half():
        return fn.readers.mix([fn.readers.file(file_root=folders[0])[0]])

    for pipe in (decoded, half):
        with pytest.raises(TypeError, match="must be what a reader returned, all of its outputs"):
            pipe()


@pytest.mark.parametrize(
    "combined",
    [
        lambda reader: fn.readers.mix(reader),
        lambda reader: fn.readers.mix([reader, 3]),
        lambda reader: fn.readers.mix(None),
        lambda reader: fn.readers.bucket(None, by="length", size=2),
        lambda reader: fn.readers.pack(3, length=8),
    ],
)
def test_what_is_no_reader(combined):
    @pipeline_def(batch_size=1, num_threads=1)
    def define():
        return combined(fn.readers.dataset(dataset=[np.zeros(1, np.int32)] * 4))

    with pytest.raises(
        TypeError, match=r"readers\.(mix|bucket|pack): each source must be what a reader returned"
    ):
        define()


@pytest.mark.parametrize("step", ["10", -1, 0.5])
def test_errors_show_the_steps_of_the_user(folders, step):
    with pytest.raises(ValueError, match=f"schedule has the step {step!r}; steps are whole numbers"):
        mixed(folders, schedule={step: [1, 1, 1]})


def test_a_state_of_other_sources_is_refused(folders):
    with mixed(folders) as pipe:
        state = pipe.get_state()
    with mixed(folders[::-1]) as pipe, pytest.raises(ValueError, match=r"of sources of \[6, 9, 3\] samples"):
        pipe.set_state(state)
