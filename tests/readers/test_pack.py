"""readers.pack: rows against a packer written with lists; shards, kills, changed weights; texts and tokens."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter

import jax
import numpy as np
import pytest
from support.readers import opened

import jdali.dynamic as jd
from jdali import OperatorError, fn, pipeline_def
from jdali._state import StateError
from jdali.iterator import DataIterator
from jdali.readers.order import windows as of_windows
from jdali.readers.order.epochs import Order
from jdali.readers.order.mixture import MixtureOrder, whole_shares
from jdali.readers.order.windows import RowPacking, WindowOrder, pack

STRATEGIES = ("first_fit", "best_fit")


def packed(lengths, length, strategy):
    """Rows of documents, packed one by one, longest first; rows in the order of their first documents."""
    rows, room = [], []
    for document in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        fitting = [row for row in range(len(rows)) if room[row] >= lengths[document]]
        if not lengths[document]:
            fitting = fitting[:1]
        elif strategy == "best_fit":
            fitting.sort(key=lambda row: room[row])
        if not fitting:
            rows.append([])
            room.append(length)
        row = fitting[0] if fitting else -1
        rows[row].append(document)
        room[row] -= lengths[document]
    return sorted(sorted(row) for row in rows)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_documents_are_packed_as_one_by_one(strategy):
    chance = random.Random(0)
    for case in range(300):
        length = chance.choice([1, 5, 16, 100])
        lengths = [chance.randrange(length + 1) for _ in range(chance.choice([0, 1, 2, 7, 60]))]
        if case % 3 == 0:
            lengths = [max(1, one // 8) for one in lengths]
        rows = pack(np.array(lengths, np.int64), length, strategy)
        want = packed(lengths, length, strategy)
        found = [np.flatnonzero(rows == row).tolist() for row in range(len(want))]
        assert found == want


def test_windows_are_nearly_full():
    """Lengths as those of web pages; the whole epoch at once is the bound."""
    lengths = np.minimum(np.random.default_rng(0).lognormal(5.9, 1, 20_000).astype(int) + 1, 2048)
    window = 128 * 2048 // int(lengths.mean())
    rows = sum(pack(lengths[at : at + window], 2048).max() + 1 for at in range(0, len(lengths), window))
    assert lengths.sum() / (rows * 2048) > 0.99
    assert lengths.sum() / ((pack(lengths, 2048).max() + 1) * 2048) > 0.995


# --- the order ----------------------------------------------------------------------------------
SIZES = (500, 70, 1200)
STARTS = np.cumsum([0, *SIZES])
LENGTHS = np.random.default_rng(1).integers(0, 40, sum(SIZES))


def order_of(shard_id=0, num_shards=1, weights=(1, 1, 1), seed=5, window=64, schedule=(), **options):
    stream = MixtureOrder(
        [Order(size, random_shuffle=True) for size in SIZES],
        [(0, whole_shares(weights)), *((at, whole_shares(own)) for at, own in schedule)],
        shard_id=0, num_shards=1, pad_last_batch=False, seed=seed, seeded=[False] * 3,
    )  # fmt: skip
    rows = RowPacking(LENGTHS, **{"length": 50, "strategy": "first_fit", **options})
    return WindowOrder(stream, rows, window=window, shard_id=shard_id, num_shards=num_shards)


def rows_of(refs):
    return [[int(i) for i in row if i >= 0] for row in refs.members]


def test_rows_are_those_of_windows():
    order, stream = order_of(), order_of()._stream
    got = rows_of(order.take(200))
    want = []
    for start in range(0, 1000, 64):
        documents = stream.refs(np.arange(start, start + 64)).indices
        rows = packed(LENGTHS[documents].tolist(), 50, "first_fit")
        want += [[int(documents[i]) for i in row] for row in rows]
    assert got == want[:200]


def test_a_pass_has_each_document_once():
    order = order_of(weights=SIZES)
    taken = [index for row in rows_of(order.take(order.size)) for index in row]
    assert sorted(taken) == list(range(sum(SIZES)))
    assert order.next_epoch == 1


@pytest.mark.parametrize("shards", [2, 3, 64])
def test_all_shards_together_take_what_one_takes(shards):
    want = rows_of(order_of().take(5 * shards))
    orders = [order_of(shard, shards) for shard in range(shards)]
    got = [rows_of(order.take(2)) + rows_of(order.take(3)) for order in orders]
    assert [got[row % shards][row // shards] for row in range(5 * shards)] == want
    states = [order.get_state() for order in orders]
    assert states == [states[0]] * shards


@pytest.mark.parametrize("kills", [12, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_killed_often_on_any_number_of_shards_with_changing_weights(kills, monkeypatch):
    """Nothing is lost, nothing is doubled, whatever changes; without changes the rows stay as they were."""
    windows = []
    monkeypatch.setattr(of_windows, "pack", lambda *args: windows.append(1) or pack(*args))
    chance = random.Random(kills)
    state, weights, taken = None, (1, 1, 1), []
    whole = rows_of(order_of().take(20_000 if kills > 50 else 2000))
    changed = None
    for kill in range(kills):
        if kill % (kills // 10 or 1) == kills // 10 - 1 and kill > kills // 3:
            weights = tuple(chance.randrange(1, 20) for _ in SIZES)
            changed = len(taken) if changed is None else changed
        shards = chance.choice([1, 2, 3, 7, 16, 64])
        orders = [order_of(i, shards, weights, seed=5 if state is None else 77) for i in range(shards)]
        if state is not None:
            for order in orders:
                order.set_state(state)
            windows.clear()
            orders[0].take(1)
            assert len(windows) <= shards // 20 + 3  # what is restored is found at once
            orders[0].set_state(state)
        batch = chance.choice([1, 2, 3, 8])
        for _ in range(chance.randrange(4)):
            batches = [order.take(batch) for order in orders]
            for row in range(batch):
                for refs in batches:
                    taken.append((int(refs.epochs[row]), rows_of(refs)[row]))
        states = [json.loads(json.dumps(order.get_state())) for order in orders]
        assert all(other == states[0] for other in states)
        state = states[0]
    assert len(json.dumps(state)) < 500
    assert changed is not None
    # Rows change with the next window, not before.
    same = [row for _, row in taken[:changed]]
    assert same == whole[: len(same)]
    documents = [index for _, row in taken for index in row]
    # Finish the window, so that the documents are the first ones of each source's order.
    order = order_of(weights=weights, seed=77)
    order.set_state(state)
    left = order._first + len(order._find(order._next)) - order._next
    documents += [index for row in rows_of(order.take(left)) for index in row]
    for source, size in enumerate(SIZES):
        mine = Counter(i for i in documents if STARTS[source] <= i < STARTS[source + 1])
        passes, rest = divmod(sum(mine.values()), size)
        begun = Order(size, random_shuffle=True, seed=order_of()._stream._orders[source]._seed).whole(passes)
        want = Counter({int(i) + int(STARTS[source]): passes for i in range(size)})
        want.update((begun.at(np.arange(rest)) + STARTS[source]).tolist())
        assert mine == +want


def test_a_restored_order_goes_on():
    schedule = [(100, (0, 1, 1)), (300, (1, 1, 0))]  # both within a window
    for batches in range(0, 40, 3):
        order = order_of(1, 2, schedule=schedule)
        for _ in range(batches):
            order.take(3)
        restored, skipped = order_of(1, 2, schedule=schedule, seed=9), order_of(1, 2, schedule=schedule)
        restored.set_state(json.loads(json.dumps(order.get_state())))
        skipped.skip(batches, 3)
        for _ in range(9):
            want = order.take(3)
            for other in (restored, skipped):
                for a, b in zip(other.take(3), want, strict=True):
                    np.testing.assert_array_equal(a, b)
                assert order.next_epoch == other.next_epoch


def test_a_state_of_other_rows_is_refused():
    state = order_of().get_state()
    for other in ({"length": 60}, {"window": 32}, {"strategy": "best_fit"}):
        with pytest.raises(ValueError, match="the state is of windows of"):
            order_of(**other).set_state(state)


# --- the reader ---------------------------------------------------------------------------------
DOCUMENTS = [
    np.arange(n, dtype=np.int32) + 100 * i + 1 for i, n in enumerate([3, 0, 7, 2, 12, 1, 8, 5, 5, 4])
]


def rows(documents, window, length=8, strategy="first_fit"):
    """Rows, segment ids and positions of documents in their order."""
    found = []
    for start in range(0, len(documents), window):
        part = [one[:length] for one in documents[start : start + window]]
        for row in packed([len(one) for one in part], length, strategy):
            members = [part[i] for i in row]
            with_tokens = [one for one in members if len(one)]
            ids = [np.full(len(one), i) for i, one in enumerate(with_tokens, 1)]
            within = [np.arange(len(one)) for one in members]
            fill = np.zeros(length - sum(map(len, members)), int)
            found.append([np.concatenate([*each, fill]).tolist() for each in (members, ids, within)])
    return found


def divided(documents, length=8):
    """Pieces of documents; an empty one is a piece."""
    return [one[at : at + length] for one in documents for at in range(0, max(len(one), 1), length)]


def packing_of(documents, batch_size, shuffle=False, pipeline=None, **options):
    """A pipeline of packed documents, with options of `pack`, and of the pipeline."""

    @pipeline_def(
        **{"batch_size": batch_size, "num_threads": 2, "device_id": None, "seed": 3, **(pipeline or {})}
    )
    def define():
        source = fn.readers.dataset(dataset=documents, random_shuffle=shuffle)
        return tuple(fn.readers.pack(source, **{"length": 8, "window": 4, "name": "r", **options}))

    return define()


def taken_of(pipe, count):
    """So many rows, each as [tokens, segment ids, positions]."""
    found = []
    while len(found) < count:
        outputs = [output.as_array().tolist() for output in pipe.run()]
        found += [list(row) for row in zip(*outputs, strict=True)]
    return found[:count]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
def test_rows(batch_size, strategy):
    want = rows(DOCUMENTS, 4, strategy=strategy)
    with packing_of(DOCUMENTS, batch_size=batch_size, strategy=strategy) as pipe:
        assert pipe.reader_meta("r")["epoch_size"] == len(want)
        assert pipe.reader_meta("r")["documents"] == 10
        assert taken_of(pipe, 2 * len(want)) == want * 2


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("continued", [False, True])
def test_long_documents_are_divided(strategy, continued):
    documents = [*DOCUMENTS, np.arange(30, dtype=np.int32) + 2000, np.arange(16, dtype=np.int32) + 3000]
    want = []
    for start in range(0, len(documents), 4):
        want += rows(divided(documents[start : start + 4]), 1000, strategy=strategy)
    options = {"long_documents": "split", "continue_positions": continued, "strategy": strategy}
    with packing_of(documents, batch_size=3, **options) as pipe:
        assert pipe.reader_meta("r")["epoch_size"] == len(want)
        assert pipe.reader_meta("r")["documents"] == len(documents)
        found = taken_of(pipe, 2 * len(want))
    want *= 2
    assert [row[:2] for row in found] == [row[:2] for row in want]
    if not continued:
        assert found == want
        return
    # Tokens of a document are numbered from its first one on.
    begins = {int(token): at for one in documents for at, token in enumerate(one)}
    for tokens, segments, positions in found:
        assert positions == [begins[t] if s else 0 for t, s in zip(tokens, segments, strict=True)]


def test_divided_documents_go_on_from_a_state_on_any_number_of_shards():
    documents = [np.arange(n, dtype=np.int32) + 1000 * i + 1 for i, n in enumerate([50, 3, 0, 21, 9, 8, 33])]
    options = {"long_documents": "split", "shuffle": True, "window": 3}
    with packing_of(documents, batch_size=2, **options) as pipe:
        epoch = pipe.reader_meta("r")["epoch_size"]
        whole = taken_of(pipe, 2 * epoch)
    tokens = Counter(token for row in whole[:epoch] for token in row[0] if token)
    assert tokens == Counter(int(token) for one in documents for token in one)
    state, taken = None, []
    for shards in (1, 3, 4, 2, 64, 1):
        found = []
        for shard in range(shards):
            with packing_of(documents, batch_size=1, **options, shard_id=shard, num_shards=shards) as pipe:
                if state is not None:
                    pipe.set_state(state)
                found.append(taken_of(pipe, 2))
                after = pipe.get_state()
        state = json.loads(json.dumps(after))
        taken += [found[row % shards][row // shards] for row in range(2 * shards)]
    assert taken[: len(whole)] == whole[: len(taken)]
    with pytest.raises(StateError, match="long_documents of operator 2, readers.pack, was 'split'"):
        packing_of(documents, batch_size=2, shuffle=True, window=3).set_state(state)


def test_a_document_is_read_once_for_its_pieces_in_a_request():
    asked = []

    class Counting(list):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    documents = Counting([np.arange(20, dtype=np.int32) + 1, np.arange(4, dtype=np.int32) + 100])
    options = {
        "documents": ("readers.dataset", {"dataset": documents}),
        "length": 8,
        "long_documents": "split",
    }
    reader = opened("pack", lengths=[20, 4], **options)
    assert len(reader.load_many(reader.take(3).wanted).columns[0]) == 3
    assert asked == [0, 1]


def test_a_document_that_is_longer_than_its_length_is_no_loss_in_silence():
    documents = [np.arange(20, dtype=np.int32) + 1, np.arange(4, dtype=np.int32) + 100]
    with (
        packing_of(documents, batch_size=3, lengths=[15, 4], long_documents="split") as pipe,
        pytest.raises(OperatorError, match=r"list\[0\] has 20 tokens, more than its length says"),
    ):
        pipe.run()


def test_empty_documents_only():
    with packing_of([np.empty(0, np.int32)] * 3, batch_size=1) as pipe:
        assert taken_of(pipe, 2) == [[[0] * 8] * 3] * 2


def test_empty_documents_take_no_number():
    documents = [np.arange(size, dtype=np.int32) for size in (3, 0, 2, 0)]
    with packing_of(documents, batch_size=1) as pipe:
        assert taken_of(pipe, 1)[0][1] == [1, 1, 1, 2, 2, 0, 0, 0]


def test_a_padding_token_that_the_type_cannot_hold():
    with (
        packing_of([np.zeros(3, np.uint8)], batch_size=1, pad_id=300) as pipe,
        pytest.raises(OperatorError, match="pad_id is 300, uint8 tokens cannot hold it"),
    ):
        pipe.run()


def test_nothing_to_pack():
    with pytest.raises(OperatorError, match="has no elements"), packing_of([], batch_size=1) as pipe:
        pipe.run()


def test_several_outputs_share_the_rows():
    weights = [np.full(len(one), 0.5, np.float32) for one in DOCUMENTS]

    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def define():
        pairs = list(zip(DOCUMENTS, weights, strict=True))
        source = fn.readers.dataset(dataset=pairs, num_outputs=2)
        return tuple(fn.readers.pack(source, length=8, window=5, pad_id=-1))

    with define() as pipe:
        tokens, half, segments, _ = (output.as_array() for output in pipe.run())
    assert (tokens.dtype, half.dtype, segments.dtype) == (np.int32, np.float32, np.int32)
    np.testing.assert_array_equal(half[segments > 0], 0.5)
    np.testing.assert_array_equal(half[segments == 0], -1)
    np.testing.assert_array_equal(tokens[segments == 0], -1)


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [{"workers": 1}, {"num_threads": 4}], ids=str)
def test_threads_and_processes_change_nothing(options):
    with packing_of(DOCUMENTS, batch_size=2, shuffle=True) as pipe:
        want = taken_of(pipe, 12)
    with packing_of(DOCUMENTS, batch_size=2, shuffle=True, pipeline=options) as pipe:
        assert taken_of(pipe, 12) == want


def test_states_and_single_batches():
    with packing_of(DOCUMENTS, batch_size=2, shuffle=True) as pipe:
        pipe.run()
        state = json.loads(json.dumps(pipe.get_state()))
        want = taken_of(pipe, 8)
    with packing_of(DOCUMENTS, batch_size=2, shuffle=True) as pipe:
        pipe.set_state(state)
        assert taken_of(pipe, 8) == want
    shards = []
    for shard in range(4):
        with packing_of(DOCUMENTS, batch_size=1, shuffle=True, shard_id=shard, num_shards=4) as pipe:
            pipe.set_state(state)
            shards.append(taken_of(pipe, 2))
    assert [shards[row % 4][row // 4] for row in range(8)] == want


def test_iterators():
    pipe = packing_of(DOCUMENTS, batch_size=2)
    with DataIterator(pipe, ["tokens", "segments", "positions"], reader_name="r") as iterator:
        batches = list(iterator)
        assert len(batches) == len(iterator) == -(-len(rows(DOCUMENTS, 4)) // 2)
        assert isinstance(batches[0]["tokens"], jax.Array)
        np.testing.assert_array_equal(iterator.batch_at(1)["tokens"], batches[1]["tokens"])
        alone = iterator.sample(2, 0)  # a document by itself
        assert np.asarray(alone["tokens"]).tolist() == [*DOCUMENTS[2].tolist(), 0]


def test_a_mixture_is_packed(tmp_path):
    parts = [DOCUMENTS[:6], DOCUMENTS[6:]]

    @pipeline_def(batch_size=3, num_threads=1, device_id=None, seed=1)
    def define(weights):
        sources = [fn.readers.dataset(dataset=part, random_shuffle=True) for part in parts]
        return tuple(fn.readers.pack(fn.readers.mix(sources, weights=weights), length=12, window=5))

    def firsts(pipe, count):
        return [token // 100 for tokens, _, within in taken_of(pipe, count) for token, at in
                zip(tokens, within, strict=True) if not at and token]  # fmt: skip

    with define([1, 1]) as pipe:
        found = firsts(pipe, 60)
        assert abs(sum(one < 6 for one in found) * 6 / 5 - sum(one >= 6 for one in found)) < 8  # one is empty
        state = pipe.get_state()
    with define([0, 1]) as pipe:
        pipe.set_state(state)
        firsts(pipe, 9)
        assert min(firsts(pipe, 9)) >= 6


def test_a_document_that_cannot_be_read():
    class Damaged:
        def __len__(self):
            return len(DOCUMENTS)

        def __getitem__(self, index):
            if index == 6:
                raise ValueError("damaged")
            return DOCUMENTS[index]

    lengths = [len(one) for one in DOCUMENTS]
    with (
        packing_of(Damaged(), batch_size=4, lengths=lengths) as pipe,
        pytest.raises(Exception, match="damaged"),
    ):
        taken_of(pipe, 12)
    pipe = packing_of(Damaged(), batch_size=2, lengths=lengths, pipeline={"on_error": "mask"})
    with DataIterator(pipe, ["tokens", "segments", "positions"], reader_name="r") as iterator:
        batches = list(iterator)
    masks = np.concatenate([batch["mask"] for batch in batches])
    assert np.count_nonzero(~masks) == 1


def test_lengths_may_be_given():
    lengths = [len(one) for one in DOCUMENTS]
    asked = []

    class Counting(list):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    with packing_of(Counting(DOCUMENTS), batch_size=1, lengths=lengths) as pipe:
        assert asked == []
        assert taken_of(pipe, 4) == rows(DOCUMENTS, 4)[:4]
    wrong = packing_of(DOCUMENTS, batch_size=1, lengths=[0] * 10)
    with wrong as pipe, pytest.raises(OperatorError, match="the lengths are not theirs"):
        pipe.run()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 0}, "length is 0"),
        ({"window": 0}, "window is 0"),
        ({"strategy": "worst_fit"}, "strategy is 'worst_fit'"),
        ({"long_documents": "cut"}, "long_documents is 'cut'"),
        ({"continue_positions": True}, "needs long_documents"),
        ({"eos": 2}, "bos is None and eos is 2; they need tokenizer="),
        ({"lengths": [1, 2]}, "lengths must be 10 numbers"),
        ({"shard_id": 2, "num_shards": 2}, "shard_id is 2 of 2 shards"),
        ({"documents": ("readers.dataset", {"dataset": DOCUMENTS, "num_shards": 2})}, "num_shards is an argument"),
        ({"documents": ("resize", {})}, "is not a reader"),
        ({"documents": ("readers.pack", {"documents": (), "length": 8})}, "is not a reader"),
    ],
    ids=str,
)  # fmt: skip
def test_refused(arguments, message):
    given = {"documents": ("readers.dataset", {"dataset": DOCUMENTS}), "length": 8} | arguments
    with pytest.raises(ValueError, match=message):
        opened("pack", **given)


def test_rows_cannot_be_mixed():
    source = ("readers.pack", {"documents": ("readers.dataset", {"dataset": DOCUMENTS}), "length": 8})
    with pytest.raises(ValueError, match="pack the mixture"):
        opened("mix", sources=[source])


def test_documents_of_two_axes_are_bad_samples():
    with (
        packing_of([np.zeros((2, 2), np.int32)] * 3, batch_size=1) as pipe,
        pytest.raises(OperatorError, match="a document is one row of tokens"),
    ):
        pipe.run()


def test_in_dynamic_mode():
    reader = jd.readers.Pack(documents=("readers.dataset", {"dataset": DOCUMENTS}), length=8, window=4)
    found = [[np.asarray(one).tolist() for one in row] for row in reader.next_epoch()]
    assert found == rows(DOCUMENTS, 4)


# --- texts --------------------------------------------------------------------------------------
TEXTS = ["a dog", "", "the cat and the dog", "a", "a cat", "b " * 20, "cat", "dog"]


@pytest.fixture
def tokenizer(tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    words = {word: i + 1 for i, word in enumerate(["[UNK]", "a", "b", "the", "and", "dog", "cat", "</s>"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_texts_are_tokenized(tokenizer):
    import tokenizers

    theirs = tokenizers.Tokenizer.from_file(str(tokenizer))
    documents = [[*theirs.encode(text).ids[:7], 8] for text in TEXTS]
    with packing_of(TEXTS, batch_size=2, tokenizer=tokenizer, eos="</s>") as pipe:
        want = rows(documents, 4)
        assert taken_of(pipe, len(want)) == want
    with pytest.raises(ValueError, match="only one, texts, can be tokenized"):
        opened("pack", documents=("readers.file", {"files": [str(tokenizer)]}), length=8, tokenizer=tokenizer)


def test_texts_are_divided(tokenizer):
    """The ends of a text are around the whole, not around its pieces."""
    import tokenizers

    theirs = tokenizers.Tokenizer.from_file(str(tokenizer))
    documents = [[*theirs.encode(text).ids, 8] for text in TEXTS]
    options = {"tokenizer": tokenizer, "eos": "</s>", "long_documents": "split"}
    with packing_of(TEXTS, batch_size=2, window=100, **options) as pipe:
        want = rows(divided(documents), 100)
        assert taken_of(pipe, len(want)) == want


@pytest.mark.parametrize("kind", ["array", "expression"])
def test_lengths_of_other_rows_are_others(tmp_path, monkeypatch, kind):
    """Filters that are long, and differ in their middle only."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("jdali._storage.index_cache._SETTLED_NS", 0)
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"n": range(3000), "ids": [[i] * (1 + i // 1500) for i in range(3000)]}), path)
    for middle, length in ((range(100, 1200), 1), (range(1600, 2700), 2)):
        rows = np.array([*range(12), *middle, *range(2988, 3000)])
        chosen = [("n", "in", rows)] if kind == "array" else pc.field("n").isin(pa.array(rows))
        source = ("readers.parquet", {"paths": [path], "columns": ["ids"], "filter": chosen})
        lengths = opened("pack", documents=source, length=8)._order._arrange.lengths
        assert lengths.tolist() == [1] * 12 + [length] * 1100 + [2] * 12


def test_lengths_are_kept_for_files(tokenizer, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import os

    import pyarrow.parquet as pq

    from jdali.readers import pack as module

    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    asked, here = [], threading.current_thread()

    def documents_of(*args, own=module.documents_of):
        if threading.current_thread() is here:  # a pipeline of another test may read ahead
            asked.append(1)
        return own(*args)

    monkeypatch.setattr(module, "documents_of", documents_of)

    def opening(texts, **more):
        path = tmp_path / "texts.parquet"
        if texts is not None:
            pq.write_table(pa.table({"text": texts}), path)
            os.utime(path, (1, 1 + len(texts)))
        asked.clear()
        documents = ("readers.parquet", {"paths": [str(path)], "columns": ["text"]})
        reader = opened("pack", documents=documents, length=8, tokenizer=tokenizer, **more)
        return len(asked), reader._order._arrange.lengths.tolist()

    monkeypatch.setattr("jdali._storage.index_cache._SETTLED_NS", 0)
    assert opening(TEXTS) == (1, [2, 0, 5, 1, 2, 8, 1, 1])
    assert opening(None) == (0, [2, 0, 5, 1, 2, 8, 1, 1])
    assert opening(None, eos=8) == (1, [3, 1, 6, 2, 3, 8, 2, 2])
    assert opening(TEXTS[:3]) == (1, [2, 0, 5])
