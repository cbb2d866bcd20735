"""subset=, fold= and weights= of readers: who is taken, by formulas in plain integers; shards, states, counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from support.every_reader import COUNT, MAKERS, digests, made, picture, pipeline
from support.readers import opened

from jdali import fn, pipeline_def
from jdali.iterator import DataIterator
from jdali.readers.order.epochs import Order
from jdali.readers.order.selection import select

WORD = (1 << 64) - 1
SIZE = 23
CLASSES = np.arange(SIZE) % 7 // 3  # 0, 1 and 2, of which there are 10, 9 and 4
ODDS = np.arange(SIZE) % 4 * 0.37


def finalized(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def drawn(weights, seed, epoch, place):
    """A draw of a pass once more, in plain integers: SplitMix64, and the inverse of the sums of weights."""
    whole = [round(w / max(weights) * 2**32) for w in weights]
    state = finalized(finalized(seed & WORD) ^ epoch)
    bits = finalized(((place + 1) * 0x9E3779B97F4A7C15 + state) & WORD)
    target = bits * sum(whole) >> 64
    for index, weight in enumerate(whole):
        target -= weight
        if target < 0:
            return index
    raise AssertionError


def order(shard_id=0, num_shards=1, selection=None, **options):
    return Order(SIZE, shard_id=shard_id, num_shards=num_shards, selection=selection, **options)


def passes(orders, count):
    """What all shards take of the first passes, sorted by pass."""
    found = [[] for _ in range(count)]
    for one in orders:
        taken = one.take(count * 4 * SIZE)
        for number in range(count):
            found[number] += taken.indices[(taken.epochs == number) & ~taken.padded].tolist()
    return found


@pytest.mark.parametrize("seed", [0, 3, -5])
def test_draws_are_exact(seed):
    mine = order(selection=select(SIZE, weights=ODDS), seed=seed)
    want = [[drawn(ODDS, seed, number, place) for place in range(SIZE)] for number in range(3)]
    assert mine.take(3 * SIZE).indices.reshape(3, SIZE).tolist() == want
    mine.seek(1, 5)
    assert mine.take(4).indices.tolist() == want[1][5:9]


def test_draws_of_large_sums_are_exact():
    """Sums of weights of more than 32 bits, and of a subset."""
    weights = np.random.default_rng(0).exponential(size=5000)
    subset = np.arange(4999, 0, -2)
    mine = Order(5000, selection=select(5000, subset=subset, weights=weights), seed=9)
    got = mine.take(12).indices
    assert got.tolist() == [subset[drawn(weights[subset].tolist(), 9, 0, place)] for place in range(12)]


def test_draws_follow_the_weights():
    weights = np.array([1, 2, 0, 5])
    indices = Order(4, selection=select(4, weights=weights), seed=1).take(40_000).indices
    counts = np.bincount(indices, minlength=4)
    assert counts[2] == 0
    keep = weights > 0
    assert scipy.stats.chisquare(counts[keep], 5000.0 * weights[keep]).pvalue > 1e-6
    # Successive draws are independent.
    pairs = np.bincount(indices[:-1:2] * 4 + indices[1::2], minlength=16).reshape(4, 4)[keep][:, keep]
    assert scipy.stats.chi2_contingency(pairs).pvalue > 1e-6


@pytest.mark.parametrize("options", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}], ids=str)
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize(
    "arguments", [{"weights": ODDS}, {"fold": (1, 3)}, {"subset": [5, 3, 9, 1, 22]}], ids=str
)
def test_shards_divide_a_pass(arguments, pad, options):
    alone = passes([order(selection=select(SIZE, **arguments), pad_last_batch=pad, **options)], 3)
    for shards in (2, 3):
        every = [
            order(i, shards, select(SIZE, **arguments), pad_last_batch=pad, **options) for i in range(shards)
        ]
        assert [sorted(one) for one in passes(every, 3)] == [sorted(one) for one in alone]


@pytest.mark.parametrize("arguments", [{"weights": ODDS}, {"fold": ([0, 2], 3)}], ids=str)
def test_a_pass_is_divided_anew_among_other_shards(arguments):
    whole = passes([order(selection=select(SIZE, **arguments), random_shuffle=True, seed=4)], 1)[0]
    before = [order(i, 2, select(SIZE, **arguments), random_shuffle=True, seed=4) for i in range(2)]
    taken = [index for one in before for index in one.take(3).indices.tolist()]
    state = json.loads(json.dumps(before[0].get_state()))
    for i in range(3):
        one = order(i, 3, select(SIZE, **arguments), random_shuffle=True, seed=99)
        one.set_state(state)
        rest = one.take(SIZE)
        taken += rest.indices[rest.epochs == 0].tolist()
    assert sorted(taken) == sorted(whole)


def test_folds_divide_the_data_set():
    for classes in (None, CLASSES):
        folds = [select(SIZE, fold=(k, 5), classes=classes).taken for k in range(5)]
        assert sorted(np.concatenate(folds).tolist()) == list(range(SIZE))
        assert max(map(len, folds)) - min(map(len, folds)) <= 1
        rest = select(SIZE, fold=([0, 1, 3, 4], 5), classes=classes).taken
        assert sorted([*rest, *folds[2]]) == list(range(SIZE))
        assert any(np.diff(fold).max() > 5 for fold in folds)  # no slices
    counts = np.array([np.bincount(CLASSES[fold], minlength=3) for fold in folds])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    inner = select(SIZE, subset=np.arange(10), fold=(0, 2)).taken
    assert len(inner) == 5
    assert max(inner) < 10


def test_a_subset_keeps_its_order():
    assert order(selection=select(SIZE, subset=[7, 3, 5])).take(4).indices.tolist() == [7, 3, 5, 7]
    mask = np.arange(SIZE) % 5 == 0
    assert order(selection=select(SIZE, subset=mask)).take(5).indices.tolist() == [0, 5, 10, 15, 20]


def test_weights_by_class():
    for weights in ({0: 1, 1: 2, 2: 4}, {"a": 1, 1: 2, "c": 4}):
        got = order(selection=select(SIZE, weights=weights, classes=CLASSES, names=["a", "b", "c"])).take(
            SIZE
        )
        want = order(selection=select(SIZE, weights=2.0**CLASSES)).take(SIZE)
        assert got.indices.tolist() == want.indices.tolist()
    indices = order(selection=select(SIZE, weights="balanced", classes=CLASSES), seed=2).take(30_000).indices
    counts = np.bincount(CLASSES[indices])
    assert scipy.stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"subset": [0, 23]}, "subset names sample 23, the data set has 23"),
        ({"subset": [1, 1]}, "subset names a sample twice"),
        ({"subset": [True] * 5}, "subset has 5 truth values"),
        ({"subset": [0.5]}, "subset must be a list of indices"),
        ({"subset": []}, "leave no sample"),
        ({"fold": (5, 5)}, "numbered from 0 to n - 1 = 4"),
        ({"fold": (0, 1)}, "n at least 2"),
        ({"fold": (0, 1, 2)}, r"it must be \(k, n\)"),
        ({"fold": 3}, r"fold is 3; it must be \(k, n\)"),
        ({"weights": [1.0]}, "weights has 1 numbers, the data set 23 samples"),
        ({"weights": np.zeros(SIZE)}, "one of them above 0"),
        ({"weights": -np.ones(SIZE)}, "at least 0"),
        ({"weights": "uniform"}, '"balanced", numbers by class'),
        ({"weights": "balanced"}, "does not know the classes"),
        ({"weights": {0: 1, 1: 2}, "classes": CLASSES}, "no number for class 2"),
        (
            {"weights": {0: 1, 1: 2, 2: 3, 3: 4}, "classes": CLASSES},
            "names class 3, of which there is no sample",
        ),
    ],
    ids=str,
)
def test_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        select(SIZE, **arguments)


# --- every reader -----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Name, arguments and digests of all samples in order, for a case; its data set is made once."""
    root, known = tmp_path_factory.mktemp("selected"), {}

    def get(case):
        if case not in known:
            folder = root / case.replace(" ", "_")
            name, arguments = made(case, folder)
            args = arguments(str(folder))
            with pipeline(name, args) as pipe:
                known[case] = name, args, digests(pipe, 3)[:COUNT]
        return known[case]

    return get


@pytest.mark.cases(18)
@pytest.mark.parametrize("case", MAKERS)
def test_every_reader_selects(read, case):
    name, args, every = read(case)
    subset = [6, 1, 4]
    mask = np.arange(COUNT) % 3 == 1
    with pipeline(name, args | {"subset": mask}) as pipe:
        assert digests(pipe, 1) == every[1::3]
    with pipeline(name, args | {"subset": subset}) as pipe:
        assert digests(pipe, 2) == [every[i] for i in subset] * 2
        assert pipe.reader_meta("r")["data_set_size"] == COUNT
        assert pipe.reader_meta("r")["epoch_size"] == 3
    folds = []
    for k in range(2):
        with pipeline(name, args | {"fold": (k, 2), "random_shuffle": True}, batch_size=4) as pipe:
            folds += digests(pipe, 1)
    assert sorted(folds) == sorted(every)
    weights = [1.0, 0, 0, 2, 0, 0, 0, 1]
    want = [every[i] for i in Order(COUNT, selection=select(COUNT, weights=weights), seed=3).take(12).indices]
    for batch, threads in ((3, 2), (4, 1)):
        options = {"batch_size": batch, "num_threads": threads}
        with pipeline(name, args | {"weights": weights, "seed": 3}, **options) as pipe:
            assert digests(pipe, 12 // batch) == want
    with pipeline(name, args | {"weights": weights, "seed": 3}) as pipe:
        digests(pipe, 2)
        state = json.loads(json.dumps(pipe.get_state()))
    with pipeline(name, args | {"weights": weights, "seed": 3}) as pipe:
        pipe.set_state(state)
        assert digests(pipe, 2) == want[6:]


# --- pipelines --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of one byte, in folders of 5, 10 and 3."""
    root = tmp_path_factory.mktemp("files")
    number = 0
    for name, count in (("cat", 5), ("dog", 10), ("owl", 3)):
        (root / name).mkdir()
        for i in range(count):
            (root / name / f"{i:02d}.png").write_bytes(bytes([number]))
            number += 1
    return str(root)


@pipeline_def(batch_size=4, num_threads=2, seed=3)
def noisy(root, weights=None, fold=None, pad=False):
    data, labels = fn.readers.file(file_root=root, name="r", weights=weights, fold=fold, pad_last_batch=pad)
    return data, labels, fn.random.uniform(range=[0, 1])


def test_counts_in_the_meta(files):
    with noisy(files, weights={"cat": 1, "dog": 1, "owl": 0}) as pipe:
        facts = pipe.reader_meta("r")
    assert (facts["epoch_size"], facts["data_set_size"]) == (18, 18)
    assert facts["samples_by_class"] == {0: 5, 1: 10}
    with noisy(files, fold=(0, 5)) as pipe:
        assert pipe.reader_meta("r")["samples_by_class"] == {0: 1, 1: 2, 2: 1}
    with noisy(files) as pipe:
        assert "data_set_size" not in pipe.reader_meta("r")


def test_a_sample_that_is_drawn_twice_has_other_random_values(files):
    with noisy(files, weights="balanced") as pipe:
        outputs = [pipe.run() for _ in range(9)]
    samples = np.concatenate([o[0].as_numpy().ravel() for o in outputs])
    values = np.concatenate([o[2].as_numpy().ravel() for o in outputs])
    assert len(set(samples.tolist())) < len(samples)
    assert len(set(values.tolist())) == len(values)


@pytest.mark.parametrize("pad", [False, True])
def test_lengths_and_batches_of_iterators(files, pad):
    with DataIterator(
        noisy(files, fold=([0, 1], 3), pad=pad), ["data", "label", "value"], reader_name="r"
    ) as it:
        assert len(it) == 3  # of 12 samples
        every = [{k: np.asarray(v) for k, v in batch.items()} for batch in it]
        again = it.batch_at(1)
        sample = int(every[1]["data"][2, 0])
        one = it.sample(sample, 0)
    assert len(every) == 3
    np.testing.assert_array_equal(again["value"], every[1]["value"])
    assert float(one["value"]) == every[1]["value"][2]


def test_one_sample_of_draws_is_refused(files):
    with (
        DataIterator(noisy(files, weights="balanced"), ["data", "label", "value"], reader_name="r") as it,
        pytest.raises(ValueError, match="several times; use batch_at"),
    ):
        it.sample(0, 0)


@pytest.mark.parametrize(
    "arguments", [{"fold": (1, 3)}, {"weights": {"cat": 1, "dog": 0, "owl": 3}}], ids=str
)
def test_others_of_the_selection_stand_in_for_bad_samples(files, arguments, tmp_path):
    for path in sorted(Path(files).rglob("*.png")):
        target = tmp_path / path.relative_to(files)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(picture(path.read_bytes()[0] / 2))

    @pipeline_def(batch_size=4, num_threads=1, seed=3, on_error="skip")
    def grays():
        encoded, labels = fn.readers.file(file_root=str(tmp_path), **arguments)
        return fn.decoders.image(encoded, device="cpu"), labels

    def taken():
        with grays() as pipe:
            return {int(sample[0, 0, 0]) // 10 for _ in range(12) for sample in pipe.run()[0].to_samples()}

    allowed = set(opened("file", file_root=files, **arguments).selection.taken.tolist())
    assert taken() <= allowed
    bad = sorted(allowed)[::2]
    for number, path in enumerate(sorted(tmp_path.rglob("*.png"))):
        if number in bad:
            path.write_bytes(b"no picture")
    found = taken()
    assert found
    assert found <= allowed - set(bad)


def test_processes_read_the_same(files):
    expected = []
    for workers in (0, 1):
        pipe = noisy(files, weights="balanced", **({"workers": workers} if workers else {}))
        with pipe:
            expected.append([[o.as_numpy().tolist() for o in pipe.run()] for _ in range(5)])
    assert expected[0] == expected[1]


def test_windows_of_selections():
    """How far records are apart that are read next: of remote files the blocks are kept that they may come from."""
    for selection, window in (
        (select(100, subset=np.arange(0, 100, 10)), 1),
        (select(100, weights=np.ones(100)), 100),
        (select(100, subset=[5, 3]), 100),
    ):
        assert Order(100, selection=selection).window == window
    ascending = Order(
        100, selection=select(100, subset=np.arange(0, 100, 10)), random_shuffle=True, initial_fill=2
    )
    assert ascending.window == 10 * (Order(10, random_shuffle=True, initial_fill=2).window - 1) + 1


def test_opened_readers_know_both_sizes(files):
    reader = opened("file", file_root=files, subset=[1, 2, 3])
    assert (reader.size, reader.count) == (3, 18)
    reader.close()
