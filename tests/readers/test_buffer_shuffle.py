"""Readers of records with `random_shuffle`: mixed through a buffer, and read from front to end nevertheless."""

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support import records
from support.readers import check_epochs_and_state, next_samples, opened
from support.servers import Server

from jdali import fn, pipeline_def, storage, tfrecord
from jdali._storage import RecordFiles
from jdali.readers.ahead import ReadAhead, reading_ahead

COUNT = 40
READERS = ["tfrecord", "mxnet", "webdataset", "caffe", "caffe2"]


def content(i):
    return b"%05d" % i * (1 + i % 7)


def write(folder, name, count, content=content):
    """A data set, in two files where the reader takes several; the arguments of the reader."""
    half = count // 2 + 3
    parts = [range(half), range(half, count)]
    if name == "tfrecord":
        for part, numbers in enumerate(parts):
            records.tfrecord(folder / f"{part}.tf", [records.example({"x": [content(i)]}) for i in numbers])
        features = {"x": tfrecord.FixedLenFeature((), tfrecord.string, "")}
        return {"path": [str(folder / "0.tf"), str(folder / "1.tf")], "features": features}
    if name == "mxnet":
        for part, numbers in enumerate(parts):
            records.recordio(folder / f"{part}.rec", [records.image_record(content(i), [i]) for i in numbers])
        return {"path": [str(folder / "0.rec"), str(folder / "1.rec")]}
    if name == "webdataset":
        for part, numbers in enumerate(parts):
            records.tar(
                folder / f"{part}.tar",
                [m for i in numbers for m in ((f"{i:05}.x", content(i)), (f"{i:05}.n", b"%d" % i))],
            )
        return {"paths": [str(folder / "0.tar"), str(folder / "1.tar")], "ext": ["x", "n"]}
    lmdb = pytest.importorskip("lmdb")
    field = records.field
    with lmdb.open(str(folder / name), lock=False) as database, database.begin(write=True) as change:
        for i in range(count):
            value = field(4, content(i)) + field(5, i) + field(7, 1)
            if name == "caffe2":
                value = field(1, field(2, 4) + field(6, content(i))) + field(
                    1, field(2, 2) + field(4, bytes([i]))
                )
            change.put(b"%05d" % i, value)
    return {"path": [str(folder / name)]}


@pytest.fixture
def arguments(tmp_path, request):
    return write(tmp_path, request.param, COUNT)


def numbers(name, count, **args):
    """Which records come, epoch after epoch."""
    reader = opened(name, **args)
    got = [int(sample[0][:5]) for sample in next_samples(reader, count)]
    reader.close()
    return np.array(got)


@pytest.mark.parametrize(
    ("name", "arguments"), list(zip(READERS, READERS, strict=True)), indirect=["arguments"]
)
def test_orders_of_each_reader(name, arguments):
    plain = list(range(COUNT))
    assert numbers(name, COUNT, **arguments).tolist() == plain
    # A buffer of one: as they lie, in each epoch.
    assert numbers(name, 2 * COUNT, random_shuffle=True, initial_fill=1, **arguments).tolist() == 2 * plain
    first, second = numbers(name, 2 * COUNT, random_shuffle=True, initial_fill=6, **arguments).reshape(
        2, COUNT
    )
    for one in (first, second):
        assert sorted(one) == plain
        late = np.arange(COUNT) - one
        assert late.min() > -6
        assert np.abs(late).sum() > 6
        assert late.max() < 12
    assert first.tolist() != second.tolist()
    # One that takes them all, be it by default, and the other order: far from where they lie.
    for options in ({"random_shuffle": True}, {"shuffle_after_epoch": True}):
        all_over = numbers(name, COUNT, **options, **arguments)
        assert sorted(all_over) == plain
        assert np.abs(np.arange(COUNT) - all_over).mean() > COUNT / 6  # a third is expected
    with pytest.raises(ValueError, match="initial_fill is 0; it must be a whole number of samples, from 1"):
        opened(name, random_shuffle=True, initial_fill=0, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments"), list(zip(READERS, READERS, strict=True)), indirect=["arguments"]
)
def test_every_sample_once_and_on_from_any_state(name, arguments):
    check_epochs_and_state(name, initial_fill=4, **arguments)


def test_readers_of_separate_files_shuffle_all(tmp_path):
    for i in range(COUNT):
        (tmp_path / f"{i:05}").write_bytes(content(i))
    files = {"files": sorted(str(p) for p in tmp_path.iterdir()), "random_shuffle": True}
    mixed = numbers("file", COUNT, initial_fill=1, **files)
    np.testing.assert_array_equal(mixed, numbers("file", COUNT, **files))
    assert np.abs(np.arange(COUNT) - mixed).mean() > COUNT / 6


@pytest.mark.parametrize("arguments", ["mxnet"], indirect=True)
def test_the_state_of_a_pipeline_says_which_buffer_it_had(arguments):
    def pipeline(fill):
        @pipeline_def(batch_size=5, num_threads=2, device_id=None, seed=3)
        def mixing():
            return fn.readers.mxnet(random_shuffle=True, initial_fill=fill, **arguments)[1]

        return mixing()

    def labels(pipe):
        return [pipe.run()[0].as_numpy().ravel().tolist() for _ in range(20)]

    with pipeline(6) as one, pipeline(6) as same, pipeline(7) as other:
        for _ in range(3):
            one.run()
        state = one.get_state()
        same.set_state(state)
        assert labels(same) == labels(one)
        with pytest.raises(ValueError, match="one with initial_fill=6, this one has one with initial_fill=7"):
            other.set_state(state)


# --- remote ---------------------------------------------------------------------------------
BLOCK = 4096
MANY = 900


@pytest.fixture(scope="module")
def remote(tmp_path_factory):
    """Some hundred records in two RecordIO files behind a server, some 12 to a block."""
    folder = tmp_path_factory.mktemp("remote")
    arguments = write(folder, "mxnet", MANY, lambda i: bytes(200 + 37 * i % 200))
    before = storage.configure(block_size=BLOCK, bytes_ahead=16 * BLOCK, requests=4)
    with Server({f"/{part}.rec": (folder / f"{part}.rec").read_bytes() for part in (0, 1)}) as server:
        yield server, {"path": [f"{server.url}/{part}.rec" for part in (0, 1)]}, arguments
    storage.configure(**dataclasses.asdict(before))


def labels_by_batch(reader, count, batch, threads):
    def load(indices):
        columns, failed = reader.load_many(indices)
        assert not failed
        return [int(label[0]) for label in columns[1].host_samples()]

    labels = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(count // batch // threads):  # as in a pipeline, no thread is left far behind
            batches = [reader.take(batch).indices for _ in range(threads)]
            labels += [label for part in pool.map(load, batches) for label in part]
    return labels


@pytest.mark.cases(2)
@pytest.mark.parametrize("fill", [2, 20, 45])
@pytest.mark.parametrize(("batch", "threads"), [(10, 1), (30, 3)])
def test_no_block_is_fetched_twice(remote, fill, batch, threads):
    server, urls, local = remote
    options = {"random_shuffle": True, "initial_fill": fill, "seed": 5}
    reader = reading_ahead(opened("mxnet", **urls, **options))
    assert not isinstance(reader, ReadAhead)
    server.requests.clear()
    got = labels_by_batch(reader, MANY, batch, threads)
    reader.close()
    assert got == labels_by_batch(opened("mxnet", **local, **options), MANY, 50, 1)
    asked = [(path, part) for _, path, part in server.requests]
    assert len(set(asked)) == len(asked)
    assert len(asked) == sum(-(-len(data) // BLOCK) for data in server.files.values()) < MANY / 10


def test_reading_goes_along_blocks_within_a_window():
    pieces = np.arange(0, 60 * BLOCK, BLOCK // 4)
    before = storage.configure(block_size=BLOCK, bytes_ahead=8 * BLOCK, requests=2)
    with Server({"/x": os.urandom(60 * BLOCK)}) as server:
        files = RecordFiles("test", [f"{server.url}/x"])
        storage.configure(**dataclasses.asdict(before))
        # 29 quarters of a block that follow each other lie in 8 blocks.
        files.expect(29, len(pieces), lambda: (np.zeros(len(pieces), np.int64), pieces, pieces + BLOCK // 4))
        assert files.in_order

        def fetched_after_reading(block):
            assert files.read(0, block * BLOCK, 10) == server.files["/x"][block * BLOCK :][:10]
            for future in files._blocks._kept.values():  # what was begun
                future.result()
            starts = [part.removeprefix("bytes=").split("-")[0] for *_, part in server.requests]
            return sorted(int(start) // BLOCK for start in starts)

        server.requests.clear()
        assert fetched_after_reading(2) == [2]
        # What was passed over and one ahead; then two ahead.
        assert fetched_after_reading(8) == [2, 3, 4, 5, 6, 7, 8, 9]
        assert fetched_after_reading(15) == list(range(2, 18))
        # Back by a window: it is there still, and reading goes on where it was.
        assert fetched_after_reading(8) == list(range(2, 18))
        assert fetched_after_reading(17) == list(range(2, 20))
        # Another part of the file, from the middle of the window.
        assert fetched_after_reading(40) == [*range(2, 20), 40]
        assert fetched_after_reading(34) == [*range(2, 20), 34, 40]
        assert fetched_after_reading(41) == [*range(2, 20), 34, 40, 41, 42]
        files.close()


def test_resuming_fetches_what_lies_around_only(remote):
    server, urls, _ = remote
    options = {"random_shuffle": True, "initial_fill": 20, "seed": 5}
    before = storage.configure(bytes_ahead=4 * BLOCK)
    reader = opened("mxnet", **urls, **options)
    storage.configure(**dataclasses.asdict(before))
    reader.skip(90, 5)
    server.requests.clear()
    labels_by_batch(reader, 50, 5, 1)
    reader.close()
    # 50 records and some 22 before and after them, and three blocks ahead; not half a file before them.
    assert 4 <= len(set(server.requests)) == len(server.requests) <= 13


def test_a_buffer_that_memory_cannot_hold_is_read_record_by_record(remote):
    server, urls, local = remote
    options = {"random_shuffle": True, "initial_fill": 300, "seed": 5}
    before = storage.configure(bytes_ahead=2 * BLOCK, samples_ahead=10)
    reader = reading_ahead(opened("mxnet", **urls, **options))
    storage.configure(**dataclasses.asdict(before))
    assert isinstance(reader, ReadAhead)
    server.requests.clear()
    got = labels_by_batch(reader, 60, 10, 1)
    reader.close()
    assert got == labels_by_batch(opened("mxnet", **local, **options), 60, 10, 1)
    assert 60 <= len(server.requests) <= 60 + 30
    sizes = [
        int(b) - int(a) + 1 for a, b in (r.removeprefix("bytes=").split("-") for *_, r in server.requests)
    ]
    assert max(sizes) < 500


# --- local ----------------------------------------------------------------------------------
MB = 1 << 20


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system takes no advice")
@pytest.mark.parametrize("arguments", ["mxnet", "webdataset"], indirect=True)
def test_advice_is_given_where_records_are_mixed(arguments, monkeypatch):
    name = "mxnet" if "path" in arguments else "webdataset"
    given = []
    advise = os.posix_fadvise

    def record(descriptor, offset, size, advice):
        given.append((os.readlink(f"/proc/self/fd/{descriptor}"), offset, size))
        advise(descriptor, offset, size, advice)

    monkeypatch.setattr(os, "posix_fadvise", record)
    for options, asked in (
        ({"random_shuffle": True, "initial_fill": 6}, True),
        ({"shuffle_after_epoch": True}, False),
        ({}, False),
    ):
        reader = opened(name, **options, **arguments)
        reader.load_many(reader.take(5).indices)
        reader.close()
        assert bool(given) == asked
        if asked:
            paths = arguments.get("path") or arguments["paths"]
            assert given[0][0] == paths[0]
            assert sum(size for *_, size in given) <= sum(map(os.path.getsize, paths))
        given.clear()


@pytest.mark.parametrize("arguments", ["mxnet"], indirect=True)
def test_systems_that_take_no_advice(arguments, monkeypatch):
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    reader = opened("mxnet", random_shuffle=True, initial_fill=6, **arguments)
    assert not reader.load_many(reader.take(5).indices).failures
    reader.close()
