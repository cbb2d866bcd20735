"""The order of samples: shards, epochs, padding, shuffling and resuming."""

import itertools
import json
import tracemalloc

import numpy as np
import pytest
from support import oracle

from jdali.readers.order import indices as _items
from jdali.readers.order.epochs import Order, merged_state
from jdali.readers.order.indices import IndexSequence, joined, permutation


def labels(order, batches, count):
    return [order.take(count).indices.tolist() for _ in range(batches)]


def epoch(order, number):
    """Indices that a shard takes in one epoch, in order."""
    order.seek(number)
    taken = order.take(4 * order.size)
    return taken.indices[(taken.epochs == number) & ~taken.padded]


SHUFFLES = [
    {},
    {"random_shuffle": True},
    {"shuffle_after_epoch": True},
    *({"random_shuffle": True, "initial_fill": fill} for fill in (1, 2, 5, 100)),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{i:02d}" for i in range(11)]
    for i, path in enumerate(paths):
        path.write_bytes(bytes([i]))
    return [str(p) for p in paths]


def dali_labels(files, batches, count, **args):
    import nvidia.dali
    import nvidia.dali.fn as fn

    pipe = nvidia.dali.Pipeline(batch_size=count, num_threads=1, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(fn.readers.file(files=files, name="r", **args)[1])
    pipe.build()
    return [np.array(pipe.run()[0].as_tensor())[:, 0].tolist() for _ in range(batches)]


@pytest.mark.oracle
@pytest.mark.parametrize("size", range(1, 12))
def test_equals_dali(files, size):
    oracle.dali()
    for shards in range(1, min(size, 3) + 1):
        for shard_id, pad, stick in itertools.product(range(shards), (False, True), (False, True)):
            count = 1 + (size + shard_id + 2 * pad + stick) % 5
            args = {
                "shard_id": shard_id,
                "num_shards": shards,
                "pad_last_batch": pad,
                "stick_to_shard": stick,
            }
            expected = dali_labels(files[:size], 8, count, **args)
            assert labels(Order(size, **args), 8, count) == expected, (count, args)


def test_batches_run_on_into_the_next_epoch():
    taken = Order(5).take(12)
    assert taken.indices.tolist() == [0, 1, 2, 3, 4] * 2 + [0, 1]
    assert taken.epochs.tolist() == [0] * 5 + [1] * 5 + [2] * 2
    assert not taken.padded.any()
    assert (taken.epochs.dtype, taken.indices.dtype) == (np.uint32, np.int64)


def test_padding_repeats_the_last_sample_and_equalizes_shards():
    # 10 samples in 3 shards: parts of 3, 3 and 4; each epoch has ceil(4 / 3) = 2 batches of 3.
    order = Order(10, num_shards=3, pad_last_batch=True, stick_to_shard=True)
    first, second = order.take(3), order.take(3)
    assert first.indices.tolist() == [0, 1, 2]
    assert second.indices.tolist() == [2, 2, 2]
    assert second.padded.all()
    assert second.epochs.tolist() == [0, 0, 0]
    assert order.take(3).epochs.tolist() == [1, 1, 1]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("shuffle", SHUFFLES, ids=str)
def test_every_sample_once_in_each_epoch(shards, shuffle):
    # Each shard with a seed of its own, as in a script that seeds with the rank.
    orders = [Order(23, shard_id=i, num_shards=shards, seed=i, **shuffle) for i in range(shards)]
    for number in range(3):
        taken = np.concatenate([epoch(o, number) for o in orders])
        assert sorted(taken) == list(range(23))


def test_each_shard_moves_on_unless_told_not_to():
    assert epoch(Order(9, shard_id=2, num_shards=3), 1).tolist() == [0, 1, 2]
    assert epoch(Order(9, shard_id=2, num_shards=3, stick_to_shard=True), 1).tolist() == [6, 7, 8]


@pytest.mark.parametrize("shuffle", ["random_shuffle", "shuffle_after_epoch"])
def test_orders_differ_from_epoch_to_epoch_and_are_repeatable(shuffle):
    def make(**more):
        return Order(200, **{shuffle: True}, **more)

    first, second = epoch(make(), 0), epoch(make(), 1)
    assert not np.array_equal(first, np.arange(200))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, epoch(make(), 0))
    other = make(seed=5) if shuffle == "random_shuffle" else make(shuffle_seed=5)
    assert not np.array_equal(first, epoch(other, 0))
    assert make().stick_to_shard == (shuffle == "shuffle_after_epoch")


def test_a_shard_of_sorted_classes_gets_some_of_each():
    # Shards are parts of a data set that was shuffled once: none has samples of one class only.
    classes = np.arange(1000) // 100
    mine = epoch(Order(1000, num_shards=10, random_shuffle=True, stick_to_shard=True), 0)
    assert len(set(classes[mine])) == 10


def test_permutation_is_uniform_and_fixed_for_ever():
    counts = np.zeros((4, 4), int)
    for key in range(2000):
        counts[np.arange(4), listed(permutation(4, key, 0))] += 1
    # 500 expected, standard deviation sqrt(2000 · 1/4 · 3/4) = 19.4; five of them.
    assert np.abs(counts - 500).max() < 97
    # By NumPy's Philox alone: numbers drawn, positions of the sorted ones.
    drawn = np.random.Philox(key=np.array([3, 7], np.uint64)).random_raw(8)
    assert listed(permutation(8, 3, 7)).tolist() == sorted(range(8), key=lambda i: drawn[i])
    assert listed(permutation(5, -1, 2)).tolist() != listed(permutation(5, 1, 2)).tolist()


def listed(items: IndexSequence) -> np.ndarray:
    return items.at(np.arange(len(items)))


def cipher(number, size, *key):
    """The permutation of large sizes once more, of one number, in plain integers."""
    word = (1 << 64) - 1

    def mixed(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & word
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & word
        return x ^ (x >> 31)

    state = mixed(mixed(key[0] & word) ^ (key[1] & word))
    half = ((size - 1).bit_length() + 1) // 2
    while True:
        left, right = number >> half, number & ((1 << half) - 1)
        for i in range(1, 7):
            inner = mixed((right + mixed((state + i * 0x9E3779B97F4A7C15) & word)) & word)
            left, right = right, left ^ (inner & ((1 << half) - 1))
        number = left << half | right
        if number < size:
            return number


@pytest.mark.parametrize("size", [(1 << 16) + 1, 100_003, 1 << 17, (1 << 18) + 1])
def test_large_permutations_have_every_number_once(size):
    order = listed(permutation(size, 5, -3))
    assert (np.sort(order) == np.arange(size)).all()
    positions = [0, 1, 77, size // 2, size - 1]
    assert order[positions].tolist() == [cipher(p, size, 5, -3) for p in positions]


def test_large_permutations_are_random(monkeypatch):
    size = 100_003
    order = listed(permutation(size, 1, 0)).astype(float)
    other = listed(permutation(size, 1, 1)).astype(float)
    position = np.arange(size)
    # Correlations of 100,000 independent pairs: standard deviation 0.0032; five of them.
    for a, b in [(position, order), (order[:-1], order[1:]), (order, other), (order % 16, position % 16)]:
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.016
    # Neighbours stay neighbours by chance only: 2 pairs expected.
    assert (np.abs(np.diff(order)) == 1).sum() < 12
    # The same code for a small size, where all permutations can be counted.
    monkeypatch.setattr(_items, "TABLE_SIZE", 0)
    counts = np.zeros((5, 5), int)
    for key in range(4000):
        counts[np.arange(5), listed(permutation(5, key, 0))] += 1
    # 800 expected, standard deviation sqrt(4000 · 1/5 · 4/5) = 25.3; five of them.
    assert np.abs(counts - 800).max() < 127


def test_parts_of_sequences():
    sequence = joined(
        [
            IndexSequence(3, lambda p: p + 10),
            IndexSequence(0, lambda p: p),
            IndexSequence(2, lambda p: p + 50),
        ]
    )
    assert listed(sequence).tolist() == [10, 11, 12, 50, 51]
    assert listed(sequence.part(1, 4)).tolist() == [11, 12, 50]
    assert listed(sequence.part(4, 2)).tolist() == []
    assert listed(sequence.part(2, 5).part(1, 3)).tolist() == [50, 51]


@pytest.mark.parametrize("options", SHUFFLES[:4], ids=str)
def test_shuffling_takes_constant_memory(options):
    size = 10**12
    tracemalloc.start()
    order = Order(size, num_shards=3, shard_id=1, **options)
    first = np.concatenate([order.take(1000).indices for _ in range(20)])
    order.seek(7, 333_333_333_000)
    last = order.take(2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    assert len(set(first.tolist())) == 20_000
    assert set(last.epochs.tolist()) == {7, 8}
    if options and "initial_fill" not in options:
        assert np.corrcoef(np.arange(20_000), first)[0, 1] < 0.05


OPTIONS = [
    {},
    {"num_shards": 3, "shard_id": 1},
    {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
    {"num_shards": 2, "random_shuffle": True, "seed": 4},
    {"shuffle_after_epoch": True, "pad_last_batch": True},
    {"num_shards": 2, "shard_id": 1, "random_shuffle": True, "seed": 4, "initial_fill": 3},
    {"random_shuffle": True, "initial_fill": 4, "pad_last_batch": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_resumes_in_a_fresh_process(options):
    for batches in range(8):
        order = Order(11, **options)
        labels(order, batches, 4)
        state = json.loads(json.dumps(order.get_state()))
        expected = [order.take(4) for _ in range(6)]
        fresh = Order(11, **options)
        fresh.set_state(state)
        for want in expected:
            for mine, theirs in zip(fresh.take(4), want, strict=True):
                np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("shuffle", SHUFFLES, ids=str)
@pytest.mark.parametrize("shards", [(2, 3), (4, 1), (3, 4, 2)], ids=str)
@pytest.mark.parametrize("pad", [False, True])
def test_resumes_on_another_number_of_shards(shards, shuffle, pad):
    """What was left of the epoch is read once, whatever the shards were and are."""
    size, count, states, taken = 61, 5, None, []
    for number in shards:
        orders = [
            Order(size, shard_id=i, num_shards=number, pad_last_batch=pad, **shuffle) for i in range(number)
        ]
        for order in orders:
            if states is not None:
                order.set_state(json.loads(json.dumps(states)))
        if number != shards[-1]:
            for order in orders:
                batch = order.take(count)
                taken += batch.indices[~batch.padded].tolist()
            states = orders[1].get_state()
            assert states == orders[0].get_state()
            continue
        for order in orders:
            rest = order.take(size)
            taken += rest.indices[(rest.epochs == 0) & ~rest.padded].tolist()
            assert np.isin([0, 1], rest.epochs).sum() == (1 if pad else 2)
    assert sorted(taken) == list(range(size))
    # The epochs after that are as if nothing had happened.
    for i, order in enumerate(orders):
        plain = Order(size, shard_id=i, num_shards=shards[-1], pad_last_batch=pad, **shuffle)
        np.testing.assert_array_equal(epoch(order, 2), epoch(plain, 2))


def test_more_shards_than_samples_are_left():
    order = Order(5, num_shards=1, pad_last_batch=True)
    order.take(4)
    fresh = [Order(5, shard_id=i, num_shards=3, pad_last_batch=True) for i in range(3)]
    batches = []
    for shard in fresh:
        shard.set_state(order.get_state())
        batches.append(shard.take(2))
    assert [b.indices.tolist() for b in batches] == [[4, 4]] * 3
    assert [b.padded.tolist() for b in batches] == [[True, True], [True, True], [False, True]]
    for shard in fresh:
        assert shard.take(2).epochs.tolist() == [1, 1]


@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("shards", [(3, 2), (3, 4, 2), (4, 3, 3, 1)], ids=str)
@pytest.mark.parametrize("batches", [1, 5, 9])
@pytest.mark.parametrize("fill", [None, 3])
def test_uneven_shards_are_divided_anew_in_any_epoch(shards, batches, stick, fill):
    """Shards of different sizes are in different epochs: still every sample is read once in each."""
    size, state, taken = 13, None, []
    for number in shards:
        orders = [
            Order(
                size,
                shard_id=i,
                num_shards=number,
                random_shuffle=True,
                initial_fill=fill,
                seed=3,
                stick_to_shard=stick,
            )
            for i in range(number)
        ]
        for order in orders:
            if state is not None:
                order.set_state(json.loads(json.dumps(state)))
        for order in orders:
            for _ in range(batches):
                batch = order.take(4)
                taken += zip(batch.epochs.tolist(), batch.indices.tolist(), strict=True)
        state = orders[0].get_state()
        assert all(order.get_state() == state for order in orders)
    assert len(json.dumps(state)) < 200
    assert len(set(taken)) == len(taken), "a sample was read twice in an epoch"
    # Those who are ahead may have left gaps in later epochs; the last shards to come fill all of them.
    last = max(epoch for epoch, _ in taken)
    for order in orders:
        while (batch := order.take(1)).epochs[0] <= last:
            taken.append((int(batch.epochs[0]), int(batch.indices[0])))
    assert sorted(taken) == [(epoch, index) for epoch in range(last + 1) for index in range(size)]


def test_shards_that_took_unequally():
    """As when bad samples are replaced by the next ones: the states of all shards say who took what."""
    orders = [Order(13, shard_id=i, num_shards=3, random_shuffle=True, seed=3) for i in range(3)]
    taken = [i for order, n in zip(orders, (3, 4, 2), strict=True) for i in order.take(n).indices.tolist()]
    state = json.loads(json.dumps(merged_state([order.get_state() for order in orders])))
    for i, order in enumerate(orders):  # the same shards go on where each of them was
        same = Order(13, shard_id=i, num_shards=3, random_shuffle=True, seed=3)
        same.set_state(state)
        assert same.get_state() == order.get_state()
    rest = []
    for i in range(2):
        fresh = Order(13, shard_id=i, num_shards=2, random_shuffle=True, seed=3)
        fresh.set_state(state)
        rest += fresh.take(2).indices.tolist()
    assert sorted(taken + rest) == list(range(13))
    with pytest.raises(ValueError, match="2 states for 3 shards"):
        merged_state([order.get_state() for order in orders[:2]])
    with pytest.raises(ValueError, match="disagree in seed: 3 and 4"):
        merged_state([state, {**state, "seed": 4}])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batches", [0, 1, 3, 17])
def test_skips_as_many_samples_as_are_taken(options, batches):
    one, two = Order(11, **options), Order(11, **options)
    for order in (one, two):
        order.take(4)
    for _ in range(batches):
        one.take(4)
    two.skip(batches, 4)
    for _ in range(5):
        for mine, theirs in zip(two.take(4), one.take(4), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("options", [{}, {"stick_to_shard": True}, {"pad_last_batch": True}], ids=str)
@pytest.mark.parametrize("shard", range(3))
def test_seeking_is_arithmetic(options, shard, monkeypatch):
    """Also where the number of shards has changed on the way; the walk through all epochs says where it ends."""
    state = Order(11, shard_id=0, num_shards=2, **options)
    state.take(7)
    one, two = (Order(11, shard_id=shard, num_shards=3, **options) for _ in range(2))
    for order in (one, two):
        order.set_state(state.get_state())
    for _ in range(200):
        one.take(4)
    two.skip(200, 4)
    assert two.get_state() == one.get_state()
    for mine, theirs in zip(two.take(4), one.take(4), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    calls = []
    count = Order._count
    monkeypatch.setattr(Order, "_count", lambda *given: calls.append(1) or count(*given))
    two.skip(10_000, 4)
    assert len(calls) < 100


def test_state_of_another_data_set_or_version():
    state = Order(5).get_state()
    with pytest.raises(ValueError, match="data set of 5 samples, this one has 6"):
        Order(6).set_state(state)
    with pytest.raises(ValueError, match="the reader: a state of version 7, expected 2"):
        Order(5).set_state(state | {"version": 7})


def test_state_of_a_version_that_shuffled_whole_shards():
    # As version 1 wrote it.
    state = {"version": 1, "size": 9, "seed": 3, "epoch": 0, "taken": [[1, 4]]}
    order = Order(9, random_shuffle=True, seed=3)
    order.set_state(state)
    assert (
        order.take(5).indices.tolist() == Order(9, random_shuffle=True, seed=3).take(9).indices.tolist()[4:]
    )
    Order(9, initial_fill=5).set_state(state)  # not shuffled: nothing has changed
    with pytest.raises(ValueError, match="without a buffer that mixes, this one has one with initial_fill=5"):
        Order(9, random_shuffle=True, initial_fill=5, seed=3).set_state(state)


def test_state_of_another_buffer():
    state = Order(9, random_shuffle=True, initial_fill=4).get_state()
    with pytest.raises(ValueError, match="one with initial_fill=4, this one has one with initial_fill=5"):
        Order(9, random_shuffle=True, initial_fill=5).set_state(state)
    with pytest.raises(ValueError, match="disagree in fill: 4 and 5"):
        merged_state([state, Order(9, random_shuffle=True, initial_fill=5).get_state()])


@pytest.mark.parametrize("size", [1, 2, 7, 4096, 4097])
def test_mixed_samples_come_in_the_same_order_in_batches_of_any_size(size):
    def taken(count):
        order = Order(size, random_shuffle=True, initial_fill=5)
        return np.concatenate([order.take(count).indices for _ in range(-(-2 * size // count))])[: 2 * size]

    for count in (1, 3, size, 1000):
        np.testing.assert_array_equal(taken(count), taken(2 * size))


def test_mixed_samples_are_those_of_the_shard_as_they_lie():
    for number in range(4):
        order = Order(90, shard_id=1, num_shards=3, random_shuffle=True, initial_fill=5)
        begin = 30 * ((1 + number) % 3)
        late = np.arange(30) - (epoch(order, number) - begin)
        assert late.min() > -5
        assert late.max() < 10
        assert np.abs(late).sum() > 20


def test_next_samples_are_within_a_window():
    def window(**options):
        return Order(9000, num_shards=3, **options).window

    assert window() == window(random_shuffle=True, initial_fill=1) == 1
    assert window(random_shuffle=True) == window(shuffle_after_epoch=True) == 9000
    assert window(random_shuffle=True, initial_fill=1024) == 1888
    assert (
        window(random_shuffle=True, initial_fill=2000)
        == window(random_shuffle=True, initial_fill=3000)
        == 3000
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard_id": 2, "num_shards": 2}, "shard_id is 2; it must be from 0 to num_shards - 1 = 1"),
        ({"shard_id": -1}, "shard_id is -1"),
        ({"num_shards": 0}, "num_shards is 0, it must be at least 1"),
        ({"num_shards": 6}, "samples: 5, needs to be at least equal to the requested number of shards: 6"),
        *(
            (
                {"random_shuffle": True, "initial_fill": bad},
                f"initial_fill is {bad}; it must be a whole number",
            )
            for bad in (0, -1, 1.5)
        ),
        (
            {"shuffle_after_epoch": True, "random_shuffle": True},
            "shuffle_after_epoch and random_shuffle cannot be both true",
        ),
        (
            {"shuffle_after_epoch": True, "stick_to_shard": True},
            "shuffle_after_epoch and stick_to_shard cannot be both true",
        ),
    ],
    ids=str,
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        Order(5, **options)


def test_a_buffer_that_is_not_used_may_have_any_size():
    assert Order(5, initial_fill=0).take(5).indices.tolist() == [0, 1, 2, 3, 4]  # as in DALI


def test_nothing_taken():
    assert len(Order(3).take(0).indices) == 0
    with pytest.raises(ValueError, match="number of input samples: 0, needs"):
        Order(0)
