"""Readers of remote storage: the same samples as from local files, whatever goes wrong on the way."""

import dataclasses
import functools
import io
import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support import records, servers
from support.readers import opened
from support.servers import FAULTS, Server, now_and_then, tree, wait_for
from support.some import some

import jdali
from jdali import SampleError, fn, storage, tfrecord
from jdali._storage import BadRecord, RecordFiles
from jdali.readers.ahead import ReadAhead, reading_ahead

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
SAMPLES = 57


@pytest.fixture(autouse=True)
def _small_and_quick():
    # Blocks of a few records, so that there are many; short waits, and a limit that a busy machine does not reach.
    before = storage.configure(
        first_wait=0.001, longest_wait=0.1, time_limit=60, retries=6, block_size=4096, bytes_ahead=1 << 16
    )
    yield
    storage.configure(**dataclasses.asdict(before))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small data set in all formats."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(3)
    content = [rng.bytes(int(n)) for n in rng.integers(1, 900, SAMPLES)]
    for i, one in enumerate(content):
        (folder / "files" / f"class{i % 3}").mkdir(parents=True, exist_ok=True)
        (folder / "files" / f"class{i % 3}" / f"{i:03}.jpg").write_bytes(one)
        (folder / "arrays").mkdir(exist_ok=True)
        np.save(folder / "arrays" / f"{i:03}.npy", np.frombuffer(one, np.uint8))
    examples = [records.example({"x": [one], "n": [i]}) for i, one in enumerate(content)]
    records.tfrecord(folder / "1.tfrecord", examples[:20])
    records.tfrecord(folder / "2.tfrecord", examples[20:])
    records.recordio(folder / "1.rec", [records.image_record(one, [i]) for i, one in enumerate(content)])
    records.tar(
        folder / "1.tar",
        [m for i, one in enumerate(content) for m in ((f"{i:03}.jpg", one), (f"{i:03}.cls", b"%d" % i))],
    )
    return folder


READERS = {
    "file": lambda at: {"file_root": f"{at}/files"},
    "numpy": lambda at: {"file_root": f"{at}/arrays"},
    "tfrecord": lambda at: {
        "path": [f"{at}/1.tfrecord", f"{at}/2.tfrecord"],
        "features": {
            "x": tfrecord.FixedLenFeature((), tfrecord.string, ""),
            "n": tfrecord.FixedLenFeature([1], tfrecord.int64, 0),
        },
    },
    "mxnet": lambda at: {"path": [f"{at}/1.rec"]},
    "webdataset": lambda at: {"paths": [f"{at}/1.tar"], "ext": ["jpg", "cls"]},
}


def epochs(name, at, *, threads=2, batch=8, count=2 * SAMPLES, **options):
    """Names and bytes of the outputs of `count` samples or a few more, from a pipeline."""

    @jdali.pipeline_def(batch_size=batch, num_threads=threads, device_id=None, seed=5)
    def reads():
        outputs = getattr(fn.readers, name)(name="r", **READERS[name](at), **options)
        return tuple(outputs.values()) if isinstance(outputs, dict) else outputs

    pipe = reads()
    pipe.build()
    got = []
    try:
        while len(got) < count:
            outputs = pipe.run()
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            sources = [s.removeprefix(str(at)) for s in outputs[0].source_info()]
            rows = zip(*[[(a.dtype, a.tobytes()) for a in o.to_samples()] for o in outputs], strict=True)
            got += zip(sources, rows, strict=True)
    finally:
        pipe.close()
    return got


_BEFORE = set()  # threads of other tests, of pipelines that are not collected yet, say


@pytest.fixture(autouse=True)
def _threads_before():
    _BEFORE.clear()
    _BEFORE.update(threading.enumerate())


def npy(values):
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def our_threads():
    return [t for t in threading.enumerate() if t.name.startswith("jdali") and t not in _BEFORE]


@pytest.fixture(scope="module")
def expected(data):
    """What local reading gives, which the readers' own tests compare with other libraries."""
    return functools.cache(lambda name, shuffle: epochs(name, data, random_shuffle=shuffle))


# --- nothing lost, nothing doubled ----------------------------------------------------------
@pytest.mark.cases(2)
@some("name, shuffle", itertools.product(READERS, [False, True]))
def test_faults_change_nothing(name, shuffle, data, expected):
    storage.configure(time_limit=1)  # a slow answer costs all of it; seven in a row would be an error
    with Server(tree(data)) as server:
        server.fault = now_and_then(0.25, seed=7)
        server.slow = 30
        got = epochs(name, server.url, threads=3, random_shuffle=shuffle)
    assert got == expected(name, shuffle)
    assert len({source for source, _ in got}) == SAMPLES
    assert not our_threads()


@some("name, threads", itertools.product(READERS, [1, 4]))
def test_threads_change_nothing(name, threads, data, expected):
    with Server(tree(data)) as server:
        got = epochs(name, server.url, threads=threads)
    assert got == expected(name, False)


@pytest.mark.parametrize(
    "options", [{"shuffle_after_epoch": True}, {"pad_last_batch": True}, {"num_shards": 3}]
)
@pytest.mark.parametrize("name", ["file", "mxnet"])
def test_orders(name, options, data):
    with Server(tree(data)) as server:
        got = epochs(name, server.url, shard_id=0, **options)
    assert got == epochs(name, data, shard_id=0, **options)


@pytest.mark.cases(2)
@some("name, order", itertools.product(READERS, [None, "random_shuffle", "shuffle_after_epoch"]))
def test_what_was_read_once_comes_from_the_disk(name, order, data, tmp_path):
    options = {order: True} if order else {}
    local = epochs(name, data, **options)
    storage.configure(cache_bytes=10 << 20, cache_folder=tmp_path)
    with Server(tree(data)) as server:
        for turn in range(2):
            server.requests.clear()
            assert epochs(name, server.url, **options) == local
            contents = [path for method, path, _ in server.requests if method == "GET" and path[-1] != "/"]
            assert bool(contents) == (turn == 0)


# --- S3 -------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def bucket(data):
    """The data set in a bucket, behind a server that may inject faults."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with servers.bucket(tree(data, "bucket/data")) as server:
        yield server


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", READERS)
def test_s3_with_faults(name, bucket, expected):
    # Slow ones cost the whole time limit, which may not be short for that server: for one reader only.
    bucket.fault = now_and_then(0.2, seed=11, faults=FAULTS if name == "file" else FAULTS[:-1])
    bucket.slow = 30
    storage.configure(time_limit=1.5)
    try:
        assert epochs(name, "s3://bucket/data", threads=3) == expected(name, False)
    finally:
        bucket.fault = lambda method, path: None


@pytest.mark.parametrize(("status", "asked"), [("500", 3), ("403", 1)])
def test_s3_makes_no_requests_behind_our_back(bucket, status, asked):
    storage.configure(retries=2)
    reader = opened("file", files=["s3://bucket/data/files/class0/000.jpg"])
    bucket.requests.clear()
    bucket.fault = lambda method, path: status
    try:
        with pytest.raises(SampleError, match=f"s3://bucket/data/files/class0/000.jpg: .*{status}"):
            reader.load(0)
    finally:
        bucket.fault = lambda method, path: None
    # Given up by a pipeline of another test, requests may still come.
    assert [path for _, path, _ in bucket.requests].count("/bucket/data/files/class0/000.jpg") == asked


def test_s3_missing(bucket):
    reader = opened("file", files=["s3://bucket/nothing.jpg"])
    with pytest.raises(SampleError, match="there is no such file"):
        reader.load(0)
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        opened("mxnet", path=["s3://bucket/nothing.rec"])


# --- lists and indexes from remote storage --------------------------------------------------
def test_file_list_and_indexes_are_remote_too(data, tmp_path):
    files = tree(data)
    names = [n.removeprefix("/files/") for n in files if n.startswith("/files/")]
    files["/files/list.txt"] = "".join(f"{n} {i}\n" for i, n in enumerate(names)).encode()
    offsets = records.recordio(tmp_path / "2.rec", [records.image_record(b"abc", [i]) for i in range(4)])
    files["/2.rec"] = (tmp_path / "2.rec").read_bytes()
    files["/2.idx"] = "".join(f"{i} {o}\n" for i, o in enumerate(offsets)).encode()
    with Server(files) as server:
        reader = opened("file", file_list=server.url + "/files/list.txt")
        assert reader.size == SAMPLES
        assert reader.load(5)[0].tobytes() == files["/files/" + names[5]]
        assert reader.load(5)[1].tolist() == [5]
        reader = opened("mxnet", path=server.url + "/2.rec", index_path=server.url + "/2.idx")
        assert [reader.load(i)[1].tolist() for i in range(4)] == [[0], [1], [2], [3]]
        reader.close()


def test_lmdb_over_http(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    with (
        lmdb.open(str(tmp_path / "db"), map_size=1 << 20, lock=False) as database,
        database.begin(write=True) as t,
    ):
        for i in range(30):
            t.put(b"%08d" % i, records.field(4, b"picture%d" % i) + records.field(5, i) + records.field(7, 1))
    with Server(tree(tmp_path)) as server:
        for path in ("/db/", "/db/data.mdb"):
            reader = opened("caffe", path=server.url + path)
            assert [reader.load(i)[0].tobytes() for i in range(30)] == [b"picture%d" % i for i in range(30)]
            reader.close()


def test_index_is_kept_until_the_file_changes(data, tmp_path):
    with Server({"/1.rec": (data / "1.rec").read_bytes()}) as server:
        opened("mxnet", path=server.url + "/1.rec").close()
        server.requests.clear()
        opened("mxnet", path=server.url + "/1.rec").close()
        assert all(method == "HEAD" for method, _, _ in server.requests)
        records.recordio(tmp_path / "new.rec", [records.image_record(b"new", [1])])
        server.files["/1.rec"] = (tmp_path / "new.rec").read_bytes()
        reader = opened("mxnet", path=server.url + "/1.rec")
        assert reader.size == 1
        assert reader.load(0)[0].tobytes() == b"new"
        reader.close()


# --- samples that cannot be had -------------------------------------------------------------
def test_retries_used_up_names_the_sample_and_others_go_on(data):
    storage.configure(retries=2)
    with Server(tree(data)) as server:
        server.fault = lambda method, path: "500" if path.endswith("/003.jpg") else None

        @jdali.pipeline_def(batch_size=8, num_threads=2, device_id=None, on_error="skip")
        def reads():
            return fn.readers.file(file_root=server.url + "/files")

        pipe = reads()
        seen = [name for _ in range(8) for name in pipe.run()[0].source_info()]
        pipe.close()
        assert f"{server.url}/files/class0/003.jpg" not in seen
        assert len(set(seen)) == SAMPLES - 1
        assert any(
            "003.jpg: the server answered with HTTP status 500 (3 attempts)" in e.reason for e in pipe.errors
        )


def test_dead_block_fails_at_once_for_all_its_records(data):
    storage.configure(retries=1, first_wait=0.01, longest_wait=60)
    with Server(tree(data)) as server:
        reader = opened("mxnet", path=server.url + "/1.rec")
        last = reader.size - 1
        reader.load(0)
        server.fault = lambda method, path: "500"
        asked = len(server.requests)
        for _ in range(10):
            with pytest.raises(
                SampleError, match=rf"1.rec#record {last}, at byte .*HTTP status 500 \(2 attempts\)"
            ):
                reader.load(last)
        assert server.requests[asked:].count(server.requests[-1]) == 2
        reader.close()


def test_dead_block_is_tried_again_later(data):
    storage.configure(retries=0, longest_wait=0.05)
    with Server(tree(data)) as server:
        reader = opened("mxnet", path=server.url + "/1.rec")
        reader.load(0)
        server.fault = lambda method, path: "500"
        with pytest.raises(SampleError, match="500"):
            reader.load(reader.size - 1)
        server.fault = lambda method, path: None
        assert wait_for(lambda: _loads(reader, reader.size - 1))
        reader.close()


def _loads(reader, index):
    try:
        reader.load(index)
    except SampleError:
        return False
    return True


# --- read-ahead -----------------------------------------------------------------------------
def test_samples_are_loaded_before_they_are_asked_for(data):
    storage.configure(requests=8, samples_ahead=20)
    with Server(tree(data), latency=0.01) as server:
        reader = reading_ahead(opened("file", file_root=server.url + "/files"))
        assert isinstance(reader, ReadAhead)
        server.requests.clear()
        first = reader.take(4).indices
        assert wait_for(lambda: len(server.requests) == 24)
        time.sleep(0.05)
        assert len(server.requests) == 24
        assert server.busiest <= 8
        for index in first:
            reader.load(int(index))
        assert len(server.requests) == 24
        reader.close()
    assert not our_threads()


def test_batches_are_loaded_before_they_are_asked_for(data):
    storage.configure(requests=2)
    with Server(tree(data)) as server:
        reader = reading_ahead(opened("file", file_root=server.url + "/files", prefetch_queue_depth=4))
        server.requests.clear()
        reader.take(3)
        assert wait_for(lambda: len(server.requests) == 3 + 5 * 3)
        time.sleep(0.05)
        assert len(server.requests) == 3 + 5 * 3
        reader.close()
    with pytest.raises(ValueError, match="prefetch_queue_depth is 0, it must be at least 1"):
        opened("file", file_root=str(data / "files"), prefetch_queue_depth=0)


def test_documents_of_rows_are_loaded_ahead():
    storage.configure(requests=8, samples_ahead=20)
    documents = [np.arange(i % 9 + 4) + 100 * i for i in range(40)]
    options = {
        "lengths": [len(one) for one in documents],
        "length": 8,
        "window": 6,
        "long_documents": "split",
    }
    with Server({f"/d/{i:03}.npy": npy(one) for i, one in enumerate(documents)}, latency=0.01) as server:
        source = {"file_root": server.url + "/d", "random_shuffle": True, "seed": 2}
        reader = reading_ahead(opened("pack", documents=("readers.numpy", source), **options))
        assert isinstance(reader, ReadAhead)
        memory = ("readers.dataset", {"dataset": documents})
        plain = opened("pack", documents=memory, **options)
        server.requests.clear()
        refs = reader.take(3)
        assert wait_for(lambda: len(server.requests) > len(np.unique(refs.wanted)))
        taken = 0
        for _ in range(30):
            loaded, wanted = reader.load_many(refs.wanted), plain.load_many(refs.wanted)
            assert not loaded.failures
            taken += np.count_nonzero(refs.wanted >= 0)
            for column, other in zip(loaded.columns, wanted.columns, strict=True):
                np.testing.assert_array_equal(column.host_samples(), other.host_samples())
            refs = reader.take(3)
        assert len(server.requests) <= taken + 20 + 8 + 6 * 3  # nothing is read that is in no row
        reader.close()
    assert not our_threads()


def test_lengths_are_found_side_by_side():
    storage.configure(requests=8)
    with Server({f"/d/{i:03}.npy": npy(np.arange(i % 9)) for i in range(40)}, latency=0.05) as server:
        reader = opened(
            "bucket", samples=("readers.numpy", {"file_root": server.url + "/d"}), by="length", size=4
        )
        assert 1 < server.busiest <= 8
        reader.close()


def test_lengths_of_fewer_samples_than_requests_at_once():
    with Server({f"/d/{i}.npy": npy(np.arange(i + 1)) for i in range(3)}) as server:
        mixture = {"sources": [("readers.numpy", {"file_root": server.url + "/d"})]}
        reader = opened("bucket", samples=("readers.mix", mixture), by="length", size=3)
        assert [len(reader.load(i)[0]) for i in range(3)] == [1, 2, 3]
        reader.close()


@pytest.mark.parametrize("over", ["mix", "bucket"])
def test_layouts_stay_behind_what_is_loaded_ahead(over):
    picture = b"P6 2 1 255\n" + bytes(6)
    with Server({f"/d/a/{i}.ppm": picture for i in range(10)}) as server:
        source = ("readers.sequence", {"file_root": server.url + "/d", "sequence_length": 2})
        arguments = {"sources": [source]} if over == "mix" else {"samples": source, "by": "length", "size": 2}
        reader = reading_ahead(opened(over, **arguments))
        assert isinstance(reader, ReadAhead)
        assert reader.load_many(reader.take(2).indices).columns[0].spec.layout == "FHWC"
        reader.close()


def test_bytes_ahead_are_bounded():
    # 40 files of 10 kB, of which 60 kB may be kept.
    storage.configure(requests=2, samples_ahead=40, bytes_ahead=60_000, time_limit=5)
    with Server({f"/d/a/{i:03}.jpg": bytes(10_000) for i in range(40)}) as server:
        reader = reading_ahead(opened("file", file_root=server.url + "/d"))
        server.requests.clear()
        asked = 0
        for _ in range(10):
            indices = reader.take(4).indices
            time.sleep(0.05)
            asked += 4
            # What was asked for and not taken, six kept ones, and those that were under way.
            assert asked - 4 <= len(server.requests) <= asked + 6 + 2
            for index in indices:
                reader.load(int(index))
        reader.close()


def test_blocks_are_fetched_ahead_but_not_without_end(data):
    size = 200_000
    storage.configure(bytes_ahead=10 * 4096, requests=4)
    with Server({"/x": os.urandom(size)}) as server:
        files = RecordFiles("test", [server.url + "/x"])
        server.requests.clear()
        for at in range(0, size, 1000):
            assert files.read(0, at, 1000) == server.files["/x"][at : at + 1000]
            assert len(server.requests) <= (at + 999) // 4096 + 1 + 4
        # Each block was fetched once.
        assert sorted(r for _, _, r in server.requests) == sorted(
            f"bytes={a}-{min(a + 4096, size) - 1}" for a in range(0, size, 4096)
        )
        files.close()
        with pytest.raises(BadRecord, match="closed"):
            files.read(0, 0, 10)


def test_random_reading_fetches_no_more_than_it_needs(data):
    with Server({"/x": os.urandom(100_000)}) as server:
        files = RecordFiles("test", [server.url + "/x"])
        files.in_order = False
        server.requests.clear()
        assert files.read(0, 50_000, 100) == server.files["/x"][50_000:50_100]
        assert server.requests == [("GET", "/x", "bytes=50000-50099")]
        files.close()


def test_state_is_that_of_what_was_given_not_of_what_was_fetched(data):
    with Server(tree(data)) as server:
        arguments = {"file_root": server.url + "/files", "random_shuffle": True, "seed": 4}
        plain, ahead = opened("file", **arguments), reading_ahead(opened("file", **arguments))
        for count in (5, 7, 5, 60, 3):
            np.testing.assert_array_equal(plain.take(count).indices, ahead.take(count).indices)
            assert plain.get_state() == ahead.get_state()
        state = ahead.get_state()
        wanted = ahead.take(9).indices
        ahead.set_state(state)
        again = ahead.take(9).indices
        np.testing.assert_array_equal(wanted, again)
        for index in again:
            assert ahead.load(int(index))[0].tobytes() == plain.load(int(index))[0].tobytes()
        ahead.close()


def test_arguments_by_sample_are_fetched_side_by_side(data):
    with Server(tree(data), latency=0.05) as server:
        reader = reading_ahead(opened("numpy", file_root=server.url + "/arrays"))
        indices = np.array(
            [i for i in range(SAMPLES) if len(np.load(data / "arrays" / f"{i:03}.npy")) > 20][:16]
        )
        starts = np.arange(len(indices))[:, None].astype(np.float32)
        server.busiest = 0
        columns, failures = reader.load_many(indices, roi_start=starts)
        assert not failures
        for i, sample in enumerate(columns[0].host_samples()):
            whole = np.load(data / "arrays" / f"{indices[i]:03}.npy")
            np.testing.assert_array_equal(sample, whole[i:])
        assert server.busiest > 4
        reader.close()


def run_apart(script, arguments):
    """A script in a process of its own, with ARGUMENTS put in."""
    return subprocess.run(
        [sys.executable, "-c", script.replace("ARGUMENTS", repr(arguments))],
        capture_output=True, text=True, timeout=120, check=False,
        cwd=Path(jdali.__file__).parent.parent, env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip


# --- the end --------------------------------------------------------------------------------
def test_close_does_not_wait_for_the_network(data):
    stuck = threading.Event()

    def fault(method, path):
        if path.endswith("/050.jpg"):
            stuck.set()
            return "slow"
        return None

    with Server(tree(data), fault=fault, slow=60) as server:

        @jdali.pipeline_def(batch_size=8, num_threads=2, device_id=None)
        def reads():
            return fn.readers.file(file_root=server.url + "/files")

        pipe = reads()
        pipe.run()
        assert stuck.wait(10)
        begun = time.monotonic()
        pipe.close()
        assert time.monotonic() - begun < 40  # and not the time limit
        assert not our_threads()


def test_interpreter_exits_while_requests_hang(data):
    script = """
import jdali
from jdali import fn, storage
storage.configure(time_limit=600, block_size=4096)
@jdali.pipeline_def(batch_size=8, num_threads=2, device_id=None)
def reads(name, arguments):
    return getattr(fn.readers, name)(**arguments)
pipes = [reads(*arguments) for arguments in ARGUMENTS]
for pipe in pipes:
    pipe.run()
print("read", flush=True)
"""
    with Server(tree(data)) as server:
        blocks = itertools.count()
        # Of the records the index and the first blocks come.
        server.fault = lambda method, path: (
            "slow"
            if method == "GET" and (path.endswith("/020.jpg") or (path == "/1.rec" and next(blocks) > 12))
            else None
        )
        server.slow = 120
        begun = time.monotonic()
        done = run_apart(script, [(name, READERS[name](server.url)) for name in ("file", "mxnet")])
        assert done.stdout == "read\n", done.stderr
        assert done.returncode == 0
        assert "Traceback" not in done.stderr
        assert time.monotonic() - begun < 100  # and not the time limit


def test_readers_that_are_dropped_leave_no_threads(data):
    # In a process of its own: whatever an earlier test left for the debugger may hold a reader's frames.
    script = """
import gc, threading, time
import jdali
from jdali._operators.record import REGISTRY
from jdali.readers.ahead import reading_ahead
def ours():
    return [t.name for t in threading.enumerate() if t.name.startswith("jdali")]
for name, arguments in ARGUMENTS:
    reader = reading_ahead(REGISTRY["readers." + name].run(**arguments))
    for index in reader.take(8).indices:
        reader.load(int(index))
    assert ours()
    del reader
    end = time.monotonic() + 60
    # A thread that is just loading still holds the reader: it may be garbage only after that.
    while gc.collect() >= 0 and ours() and time.monotonic() < end:
        time.sleep(0.01)
    assert not ours(), ours()
    print(name, flush=True)
"""
    with Server(tree(data)) as server:
        done = run_apart(script, [(name, READERS[name](server.url)) for name in ("file", "mxnet")])
    assert done.stdout == "file\nmxnet\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_readers_work_in_a_forked_process(data):
    script = """
import os, sys, warnings
warnings.simplefilter("ignore")  # JAX is not used in the child
from jdali import storage
from jdali._operators.record import REGISTRY
import jdali
from jdali.readers.ahead import reading_ahead
storage.configure(samples_ahead=8, block_size=4096)
readers = [reading_ahead(REGISTRY["readers." + name].run(**args)) for name, args in ARGUMENTS]
def check():
    for reader in readers:
        for index in reader.take(12).indices:
            reader.load(int(index))
check()
for reader in readers:
    reader.take(4)  # so that requests are under way
child = os.fork()
if not child:
    check()
    os._exit(0)
for _ in range(300):
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    import time; time.sleep(0.1)
else:
    os.kill(child, 9)
    sys.exit("the child hangs")
check()
for reader in readers: reader.close()
sys.exit(status)
"""
    with Server(tree(data), latency=0.1) as server:
        done = run_apart(script, [(name, READERS[name](server.url)) for name in ("file", "mxnet")])
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_break_the_connections_of_its_parent(data):
    script = """
import gc, os, sys, time, warnings
warnings.simplefilter("ignore")  # JAX is not used in the child
from jdali import storage
import jdali
from jdali._storage import files as _storage
storage.configure(time_limit=30, retries=0)
paths = [value for name, value in ARGUMENTS]
def check():
    for path in paths:
        assert len(_storage.read(path)) > 100
check()
child = os.fork()
if not child:
    check()  # by connections of its own
    gc.collect()
    os._exit(0)
_, status = os.waitpid(child, 0)
begun = time.monotonic()
check()
print(status, time.monotonic() - begun < 20)
"""
    with Server(tree(data)) as server:
        url = f"{server.url}/files/class0/000.jpg"
        done = run_apart(script, [("plain", url), ("cached", f"simplecache::{url}")])
    assert done.stdout == "0 True\n", done.stderr
