"""readers.bucket: batches of like size, each sample once; shards, states, sizes that are found."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest
from support.every_reader import picture
from support.readers import opened

import jdali.dynamic as jd
from jdali import OperatorError, fn, pipeline_def
from jdali.iterator import DataIterator
from jdali.readers.order.epochs import Order
from jdali.readers.order.mixture import MixtureOrder
from jdali.readers.order.windows import SizeBuckets, WindowOrder

COUNT = 203
VALUES = np.random.default_rng(0).integers(0, 1000, COUNT)


def order_of(shard_id=0, num_shards=1, size=8, window=64, seed=5):
    stream = MixtureOrder(
        [Order(COUNT, random_shuffle=True)], [(0, (1,))], shard_id=0, num_shards=1, pad_last_batch=False, seed=seed,
        seeded=[False],
    )  # fmt: skip
    buckets = SizeBuckets(VALUES, size)
    return WindowOrder(stream, buckets, window=window, shard_id=shard_id, num_shards=num_shards)


def test_each_sample_once_a_pass():
    order = order_of()
    for epoch in range(4):
        refs = order.take(COUNT)
        assert sorted(refs.indices.tolist()) == list(range(COUNT))
        assert (refs.epochs == epoch).all()
        assert order.next_epoch == epoch + 1
    assert order.size == COUNT


@pytest.mark.parametrize("size", [1, 2, 8, 300])
def test_buckets_are_parts_of_sorted_windows(size):
    order, stream = order_of(size=size), order_of()._stream
    got = order.take(3 * COUNT).indices
    for start in range(0, 3 * COUNT, COUNT):
        for first in range(start, start + COUNT, 64):
            stop = min(first + 64, start + COUNT)
            documents = stream.refs(np.arange(first, stop)).indices
            assert sorted(got[first:stop].tolist()) == sorted(documents.tolist())
            ranks = {int(index): rank for rank, index in
                     enumerate(documents[np.argsort(VALUES[documents], kind="stable")])}  # fmt: skip
            for begin in range(first // size * size, stop, size):
                bucket = [ranks[int(i)] for i in got[max(begin, first) : min(begin + size, stop)]]
                assert max(bucket) - min(bucket) == len(bucket) - 1


@pytest.mark.parametrize("shards", [2, 4, 64])
def test_all_shards_together_take_what_one_takes(shards):
    want = order_of().take(6 * shards).indices
    got = np.array([order_of(shard, shards).take(6).indices for shard in range(shards)]).T.ravel()
    np.testing.assert_array_equal(got, want)


def test_on_with_other_shards():
    want = order_of().take(400).indices.tolist()
    taken, state = [], None
    for shards in (1, 3, 16, 2, 7, 64, 1):
        orders = [order_of(shard, shards, seed=9 if state else 5) for shard in range(shards)]
        for order in orders:
            if state is not None:
                order.set_state(state)
        taken += np.array([order.take(3).indices for order in orders]).T.ravel().tolist()
        states = [json.loads(json.dumps(order.get_state())) for order in orders]
        assert states == [states[0]] * shards
        state = states[0]
    assert taken == want[: len(taken)]
    with pytest.raises(ValueError, match="the state is of windows of"):
        order_of(size=16).set_state(state)


# --- readers ------------------------------------------------------------------------------------
DOCUMENTS = [np.full(1 + 7 * i % 40, i, np.int32) for i in range(40)]


def bucketing_of(documents, batch_size, pad=False, pipeline=None, subset=None, **options):
    """A pipeline of documents in buckets, with options of `bucket`, and of the pipeline."""

    @pipeline_def(
        **{"batch_size": batch_size, "num_threads": 2, "device_id": None, "seed": 3, **(pipeline or {})}
    )
    def define():
        source = fn.readers.dataset(dataset=documents, random_shuffle=True, subset=subset)
        found = fn.readers.bucket(source, **{"by": "length", "size": 8, "window": 40, "name": "r", **options})
        return fn.pad(found) if pad else found

    return define()


def batches_of(pipe, count):
    return [[one.tolist() for one in pipe.run()[0].to_samples()] for _ in range(count)]


@pytest.mark.parametrize("batch_size", [1, 2, 4, 8])
def test_batches_are_of_like_length(batch_size):
    with bucketing_of(DOCUMENTS, batch_size) as pipe:
        assert pipe.reader_meta("r")["epoch_size"] == 40
        lengths = [[len(one) for one in batch] for batch in batches_of(pipe, 40 // batch_size)]
    assert sorted(n for batch in lengths for n in batch) == sorted(map(len, DOCUMENTS))
    assert all(max(batch) - min(batch) < 8 for batch in lengths)


def test_threads_processes_and_states_change_nothing():
    with bucketing_of(DOCUMENTS, 4) as pipe:
        pipe.run()
        state = json.loads(json.dumps(pipe.get_state()))
        want = batches_of(pipe, 20)
    for options in ({}, {"num_threads": 4}, {"workers": 1}):
        with bucketing_of(DOCUMENTS, 4, pipeline=options) as pipe:
            pipe.set_state(state)
            assert batches_of(pipe, 20) == want


def test_iterators_and_single_batches():
    with DataIterator(bucketing_of(DOCUMENTS, 8, pad=True), ["ids"], reader_name="r") as iterator:
        batches = [np.asarray(batch["ids"]) for batch in iterator]
        assert len(batches) == len(iterator) == 5
        np.testing.assert_array_equal(iterator.batch_at(2)["ids"], batches[2])


def test_bad_samples_are_replaced():
    class Damaged:
        def __len__(self):
            return 40

        def __getitem__(self, index):
            if index == 6:
                raise ValueError("damaged")
            return DOCUMENTS[index]

    lengths = [len(one) for one in DOCUMENTS]
    with DataIterator(
        bucketing_of(Damaged(), 8, pad=True, by=lengths, pipeline={"on_error": "mask"}),
        ["ids"],
        reader_name="r",
    ) as iterator:
        assert sum(int((~np.asarray(batch["mask"])).sum()) for batch in iterator) == 1
    every_second = bucketing_of(
        Damaged(), 4, by=lengths, pipeline={"on_error": "skip"}, subset=range(0, 40, 2)
    )
    with every_second as pipe:
        assert not any(one[0] % 2 for batch in batches_of(pipe, 30) for one in batch)
        assert pipe.errors
        assert pipe.reader_meta("r")["data_set_size"] == 40


def test_pictures_by_aspect_ratio(tmp_path):
    from PIL import Image

    for i in range(12):
        Image.new("RGB", (8 + 8 * (i % 3), 16)).save(tmp_path / f"{i}.png")
    (tmp_path / "bad.png").write_bytes(b"no picture")

    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def define():
        files = fn.readers.file(files=[str(tmp_path / f"{i}.png") for i in range(12)])
        jpegs, labels = fn.readers.bucket(files, by="aspect_ratio", size=4)
        return fn.decoders.image(jpegs, device="cpu"), labels

    with define() as pipe:
        widths = [{one.shape[1] for one in pipe.run()[0].to_samples()} for _ in range(3)]
    assert sorted(map(sorted, widths)) == [[8], [16], [24]]
    reader = opened(
        "bucket", samples=("readers.file", {"files": [str(tmp_path / "bad.png")]}), by="aspect_ratio", size=1
    )
    assert reader._order._arrange.values.tolist() == [0]


def test_a_mixture_and_dicts(tmp_path):
    (tmp_path / "a.png").write_bytes(picture(1))

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        sources = [
            fn.readers.dataset(dataset=part, random_shuffle=True) for part in (DOCUMENTS[:20], DOCUMENTS[20:])
        ]
        return fn.readers.bucket(fn.readers.mix(sources), by="length", size=2)

    with define() as pipe:
        found = [one[0] for batch in batches_of(pipe, 20) for one in batch]
    assert sorted(found) == list(range(40))


@pytest.mark.parametrize("shards", [1, 2])
def test_a_schedule_counts_batches_of_all_shards(shards):
    parts = [DOCUMENTS[:20], DOCUMENTS[20:]]
    for shard in range(shards):

        @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        def define(shard=shard):
            sources = [fn.readers.dataset(dataset=part) for part in parts]
            mixed = fn.readers.mix(sources, weights=[1, 0], schedule={3: [0, 1]})
            size = 2 * shards
            return fn.readers.bucket(
                mixed, by="length", size=size, window=size, shard_id=shard, num_shards=shards
            )

        with define() as pipe:
            assert [one[0] >= 20 for batch in batches_of(pipe, 6) for one in batch] == [False] * 6 + [
                True
            ] * 6


def test_what_the_machine_lacks_is_no_size(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"content")

    def fail(*_, **__):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(OSError, match="Too many open files"):
        opened("bucket", samples=("readers.file", {"files": [str(tmp_path / "a")]}), by="length", size=1)


def test_lengths_are_kept_for_equal_arguments(tmp_path, monkeypatch):
    """Whether equal paths are one object or two."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    from jdali.readers.parquet import ParquetReader

    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("jdali._storage.index_cache._SETTLED_NS", 0)
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"ids": [[1], [2, 2]]}), path)
    read, load_many = [], ParquetReader.load_many
    monkeypatch.setattr(
        ParquetReader, "load_many", lambda self, indices: read.append(1) or load_many(self, indices)
    )
    for paths in ([path, path], [path, str(tmp_path / "x.parquet")]):
        source = ("readers.parquet", {"paths": paths, "columns": ["ids"]})
        reader = opened("bucket", samples=source, by="length", size=1)
        assert reader._order._arrange.values.tolist() == [1, 2, 1, 2]
    assert len(read) == 1


def test_in_dynamic_mode():
    samples = ("readers.dataset", {"dataset": DOCUMENTS})
    reader = jd.readers.Bucket(samples=samples, by="length", size=8)
    found = [int(np.asarray(one[0] if isinstance(one, tuple) else one)[0]) for one in reader.next_epoch()]
    assert sorted(found) == list(range(40))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size is 0"),
        ({"window": 0}, "window 0"),
        ({"by": "height"}, "by is 'height'"),
        ({"by": [1.0, 2.0]}, "by must be 40 finite numbers"),
        ({"by": [float("nan")] * 40}, "by must be 40 finite numbers"),
        ({"shard_id": 2, "num_shards": 2}, "shard_id is 2 of 2 shards"),
        (
            {
                "samples": (
                    "readers.pack",
                    {"documents": ("readers.dataset", {"dataset": DOCUMENTS}), "length": 8},
                )
            },
            "packed or in buckets already",
        ),
    ],
    ids=str,
)
def test_refused(arguments, message):
    given = {"samples": ("readers.dataset", {"dataset": DOCUMENTS}), "by": "length", "size": 8} | arguments
    with pytest.raises(ValueError, match=message):
        opened("bucket", **given)


def test_nothing_in_the_data_set():
    with pytest.raises(OperatorError, match="has no elements"), bucketing_of([], 1) as pipe:
        pipe.run()
